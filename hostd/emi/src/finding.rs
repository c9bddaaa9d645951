//! What a check finds.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::board::{LayerId, NetId};
use crate::geometry::{Bounds, Point};

/// How bad a finding is, the worst first.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A fast net has a known mistake.
    Critical,
    /// A known mistake.
    Warning,
    /// Worth knowing.
    Info,
}

impl Severity {
    /// All, the worst first.
    pub const ALL: [Self; 3] = [Self::Critical, Self::Warning, Self::Info];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

impl Severity {
    /// What so many of them are called.
    pub(crate) fn counted(self, count: usize) -> &'static str {
        match (self, count) {
            (Self::Critical, _) => "critical",
            (Self::Warning, 1) => "warning",
            (Self::Warning, _) => "warnings",
            (Self::Info, 1) => "info",
            (Self::Info, _) => "infos",
        }
    }
}

/// What a rule found, in terms of the board.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) severity: Severity,
    pub(crate) at: Point,
    pub(crate) title: String,
    pub(crate) detail: String,
    pub(crate) net: Option<NetId>,
    pub(crate) layer: Option<LayerId>,
    pub(crate) bounds: Option<Bounds>,
    pub(crate) footprint: Option<usize>,
    pub(crate) measure: Option<Measure>,
}

/// A value that was compared with a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Measure {
    pub(crate) value: f64,
    pub(crate) limit: f64,
    pub(crate) unit: &'static str,
}

impl Draft {
    pub(crate) fn new(
        severity: Severity,
        at: Point,
        title: impl Into<String>,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            severity,
            at,
            title: title.into(),
            detail: detail.into(),
            net: None,
            layer: None,
            bounds: None,
            footprint: None,
            measure: None,
        }
    }

    pub(crate) fn net(self, net: NetId) -> Self {
        Self {
            net: Some(net),
            ..self
        }
    }

    pub(crate) fn layer(self, layer: LayerId) -> Self {
        Self {
            layer: Some(layer),
            ..self
        }
    }

    pub(crate) fn footprint(self, footprint: usize) -> Self {
        Self {
            footprint: Some(footprint),
            ..self
        }
    }

    pub(crate) fn bounds(self, bounds: Bounds) -> Self {
        Self {
            bounds: Some(bounds),
            ..self
        }
    }

    pub(crate) fn measure(self, value: f64, limit: f64, unit: &'static str) -> Self {
        Self {
            measure: Some(Measure { value, limit, unit }),
            ..self
        }
    }

    /// How far beyond its limit it is; worse is larger.
    pub(crate) fn excess(&self) -> f64 {
        self.measure.map_or(0.0, |measure| {
            // Decibels are ratios already.
            if measure.unit.starts_with("dB") {
                return measure.value - measure.limit;
            }
            let ratio = measure.value / measure.limit;
            // More copper and larger loops are worse, below the limit, too.
            if measure.unit == "mm²" && 0.0 < measure.limit {
                return ratio;
            }
            if measure.limit <= 0.0 || !ratio.is_finite() {
                measure.value.abs()
            } else {
                ratio.max(1.0 / ratio.max(1e-12))
            }
        })
    }
}

/// A finding as reports have it. Lengths are millimetres, `x` and `y` board space: from the bottom left of the outline, y up.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Counts within a report.
    pub id: String,
    /// The same for the same mistake in another version of the board: of rule, net, layer and the square millimetre.
    pub fingerprint: String,
    /// How bad it is.
    pub severity: Severity,
    /// The rule's id.
    pub rule: &'static str,
    /// One line.
    pub title: String,
    /// What was measured.
    pub detail: String,
    /// The net's name; empty if it is about none.
    pub net: String,
    /// The layer's name; empty if it is about none.
    pub layer: String,
    /// Board space.
    pub x: f64,
    /// Board space.
    pub y: f64,
    /// Board space: left, bottom, right, top.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bbox: Option<[f64; 4]>,
    /// The place in the source file.
    pub at: Place,
    /// What was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// What it was compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    /// Of both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<&'static str>,
    /// What was assumed.
    pub assumed: Vec<String>,
}

/// A place in the coordinates of the source file.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Place {
    /// To the right.
    pub x: f64,
    /// Down.
    pub y: f64,
    /// The layer's name there; empty if none.
    pub layer: String,
    /// The part's reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub footprint: Option<String>,
    /// The line of the board's file with the copper that it is about, from 1. Left out if nobody knows: of what is about no
    /// copper, and of boards from files without lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// The fingerprint of a finding: rule, net, layer and the square millimetre in board space.
pub(crate) fn fingerprint(rule: &str, net: &str, layer: &str, at: Point) -> String {
    // A place on the border of two squares must not jump between them when the board is moved.
    let cell = |value: f64| (value + 1e-4).floor();
    let mut hash = Sha256::new();
    for part in [rule, net, layer] {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    hash.update(format!("{} {}", cell(at.x), cell(at.y)));
    hash.finalize()
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decibels_are_worse_by_difference_and_others_by_ratio() {
        let excess = |value, limit, unit| {
            let draft = Draft::new(Severity::Info, Point::default(), "", "");
            draft.measure(value, limit, unit).excess()
        };
        // 4 dB above a high limit are worse than 3 dB above a low one.
        assert!(excess(33.0, 30.0, "dBµV/m") < excess(51.0, 47.0, "dBµV/m"));
        // Below the limit, nearer is worse.
        assert!(excess(40.0, 47.0, "dBµV/m") < excess(29.0, 30.0, "dBµV/m"));
        assert!(excess(51.0, 47.0, "mm") < excess(33.0, 30.0, "mm"));
        // Of areas, more, even below what makes them bad.
        assert!(excess(3.0, 25.0, "mm²") < excess(20.0, 25.0, "mm²"));
        // Of frequencies, less than the limit is what is wrong.
        assert!(excess(3.0, 4.0, "GHz") < excess(1.0, 4.0, "GHz"));
    }
}
