//! By which limits emission is judged, and how far away.

use serde::Deserialize;

use crate::fields::input::{self, InputError};
use crate::fields::limits::{self, Table};

/// What somebody declared about it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Site {
    pub(super) standard: Option<Standard>,
    pub(super) class: Option<Class>,
    pub(super) distance: Option<Distance>,
}

/// A standard whose limits are known.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
pub(super) enum Standard {
    #[serde(rename = "cispr-32")]
    Cispr32,
    #[serde(rename = "fcc-15.109")]
    Fcc15,
}

/// Of equipment: A for industry, B for homes.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
pub(super) enum Class {
    #[serde(alias = "a")]
    A,
    #[serde(alias = "b")]
    B,
}

/// Of the antenna, in metres.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(try_from = "f64")]
pub(super) struct Distance(f64);

impl TryFrom<f64> for Distance {
    type Error = InputError;

    fn try_from(metres: f64) -> Result<Self, InputError> {
        input::within("distance_m", metres, 0.1, 1000.0).map(Self)
    }
}

impl Site {
    /// Takes in what is more specific.
    pub(super) fn with(self, more: Self) -> Self {
        Self {
            standard: more.standard.or(self.standard),
            class: more.class.or(self.class),
            distance: more.distance.or(self.distance),
        }
    }

    /// Whether nothing has to be assumed.
    pub(crate) fn is_declared(&self) -> bool {
        self.standard.is_some() && self.class.is_some() && self.distance.is_some()
    }

    /// The table of limits: what was declared, and otherwise the strictest class of the standard of most countries.
    pub(crate) fn table(&self) -> &'static Table {
        let standard = match self.standard.unwrap_or(Standard::Cispr32) {
            Standard::Cispr32 => "cispr-32",
            Standard::Fcc15 => "fcc-15.109",
        };
        let class = match self.class.unwrap_or(Class::B) {
            Class::A => "a",
            Class::B => "b",
        };
        limits::table(&format!("{standard}-{class}"))
            .expect("each standard and class has its table")
    }

    /// The distance of the antenna in m.
    pub(crate) fn distance_m(&self) -> f64 {
        self.distance.map_or(3.0, |distance| distance.0)
    }

    /// What the limits are, for people.
    pub(crate) fn text(&self) -> String {
        let table = self.table();
        format!(
            "limits of {} class {} at {} m",
            table.standard,
            table.equipment_class,
            self.distance_m()
        )
    }
}
