//! Rules on captures that are made here: each kind holds and fails by one sample, is what a naive evaluator says, and has its
//! picture.
#![allow(clippy::unwrap_used, reason = "helpers of tests end them")]

mod bus;
mod golden;
mod just;
mod lost;
mod naive;
mod picture;
mod property;
mod support;
