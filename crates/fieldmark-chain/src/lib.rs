//! fieldmark-chain
