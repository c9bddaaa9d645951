//! The rules: one table of what each looks for, by which formula and whose, and what it assumes. `docs/emi-rules.md` and the
//! assumptions in findings come from it.

mod around;
mod cable_resonance;
mod connector_shield;
mod context;
mod copper_island;
mod crosstalk;
mod crystal;
mod ddr_skew;
mod decoupling;
mod delay;
mod edge_proximity;
mod edge_stitching;
mod emission_cm;
mod emission_dm;
mod esd_protection;
mod impedance;
mod input_filter;
mod loops;
mod pair;
mod pair_skew;
mod parts;
mod plane_cavity;
mod plane_gap;
mod plane_split;
mod radiator;
mod reset_filter;
mod return_via;
mod stackup;
mod stitching;
mod switch_node;
mod trace_stub;
mod transfer;
mod via_stub;
mod walk;

use crate::found::Found;
use crate::observer::Cancelled;

pub(crate) use context::{Context, Scope};
pub(crate) use emission_cm::RULE as EMISSION_CM;
pub(crate) use loops::{Loops, loops};

/// Every rule, in the order of reports.
pub static RULES: &[&Rule] = &[
    &plane_gap::RULE,
    &plane_split::RULE,
    &return_via::RULE,
    &stackup::RULE,
    &stitching::RULE,
    &edge_stitching::RULE,
    &edge_proximity::RULE,
    &radiator::RULE,
    &via_stub::RULE,
    &trace_stub::RULE,
    &impedance::RULE,
    &ddr_skew::RULE,
    &pair::RULE,
    &crosstalk::RULE,
    &decoupling::RULE,
    &plane_cavity::RULE,
    &copper_island::RULE,
    &crystal::RULE,
    &switch_node::RULE,
    &input_filter::RULE,
    &esd_protection::RULE,
    &connector_shield::RULE,
    &reset_filter::RULE,
    &cable_resonance::RULE,
    &emission_dm::RULE,
    &emission_cm::RULE,
];

/// What a rule looks for, and how.
#[derive(Debug)]
pub struct Rule {
    /// What settings and reports call it.
    pub id: &'static str,
    /// One line.
    pub title: &'static str,
    /// Why it matters.
    pub about: &'static str,
    /// How it measures.
    pub formula: &'static str,
    /// Whose formula it is.
    pub source: &'static str,
    /// When a finding is how bad.
    pub severity: &'static str,
    /// Which boards and nets it can say something about.
    pub validity: &'static str,
    /// What can be set.
    pub params: &'static [Param],
    /// What it assumes.
    pub assumes: &'static [Assumption],
    /// Finds.
    pub(crate) check: fn(&Scope<'_>) -> Result<Found, Cancelled>,
}

/// Something that can be set.
#[derive(Debug)]
pub struct Param {
    /// What settings call it. Its ending is its unit.
    pub key: &'static str,
    /// If nobody sets it.
    pub default: f64,
    /// What it does.
    pub about: &'static str,
}

/// What a rule assumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assumption {
    /// The stack-up, where the file has not all of it.
    Stackup,
    /// The highest frequency, where nobody declared it.
    Frequency,
    /// Standard, class and distance, where nobody declared them.
    Limits,
    /// Something that holds for every board.
    Always(&'static str),
}

impl Assumption {
    /// It in words.
    pub fn about(self) -> &'static str {
        match self {
            Self::Stackup => "what of the stack-up is not in the file",
            Self::Frequency => "the highest frequency, where nobody declared it",
            Self::Limits => "the standard, the class and the distance, where nobody declared them",
            Self::Always(text) => text,
        }
    }
}
