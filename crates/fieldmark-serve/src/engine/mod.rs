//! A project at work.
