//! Search in captures that are made here: the language, what is found, and that it is what a naive search finds.

#![allow(clippy::unwrap_used, reason = "it is a test")]

mod ends;
mod garbage;
mod language;
mod lost;
mod naive;
mod property;
mod support;
