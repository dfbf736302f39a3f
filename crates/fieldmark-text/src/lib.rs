//! fieldmark-text
