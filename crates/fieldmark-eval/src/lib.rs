//! fieldmark-eval
