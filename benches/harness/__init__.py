"""What `benches/peers` and `benches/equality` share."""
