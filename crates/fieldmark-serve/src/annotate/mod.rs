//! The routes of the annotation page.
