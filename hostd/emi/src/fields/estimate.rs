//! A computed number with where it comes from and how far it can be trusted.

use serde::Serialize;

/// How a number was computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Method {
    /// Short name that does not change.
    pub id: &'static str,
    /// The formula as text.
    pub formula: &'static str,
    /// Where the formula is published.
    pub source: &'static str,
    /// What is taken for granted.
    pub assumes: &'static [&'static str],
    /// Where the formula holds, and how well.
    pub range: &'static str,
}

/// An input outside the range in which its method holds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Excess {
    /// The quantity, with its unit unless it is a ratio.
    pub quantity: &'static str,
    /// What was given.
    pub value: f64,
    /// Least value in the range, `None` without a bound.
    pub min: Option<f64>,
    /// Greatest value in the range, `None` without a bound.
    pub max: Option<f64>,
}

/// A value, the method that gave it, and what lies outside the method's range.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Estimate<T> {
    /// The value.
    pub value: T,
    /// How it was computed.
    pub method: &'static Method,
    /// Inputs outside the method's range; empty where the method holds.
    pub outside: Vec<Excess>,
}

impl<T> Estimate<T> {
    pub(crate) fn new(value: T, method: &'static Method) -> Self {
        Self {
            value,
            method,
            outside: Vec::new(),
        }
    }

    /// Notes `value` if it is more than `max`.
    pub(crate) fn at_most(mut self, quantity: &'static str, value: f64, max: f64) -> Self {
        if value > max {
            self.outside.push(Excess {
                quantity,
                value,
                min: None,
                max: Some(max),
            });
        }
        self
    }

    /// Notes `value` if it is less than `min`.
    pub(crate) fn at_least(mut self, quantity: &'static str, value: f64, min: f64) -> Self {
        if value < min {
            self.outside.push(Excess {
                quantity,
                value,
                min: Some(min),
                max: None,
            });
        }
        self
    }

    /// Whether the method does not hold for these inputs, so that the value is only an indication.
    pub fn outside_validity(&self) -> bool {
        !self.outside.is_empty()
    }
}
