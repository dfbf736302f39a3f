//! A project in its database.
