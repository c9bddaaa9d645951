//! Cables, as their users declare them.

use serde::Deserialize;

use crate::fields::input::{self, InputError};

/// A cable at a connector of the board.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(try_from = "Text")]
pub struct Cable {
    /// The connector's reference, such as `J3`.
    pub connector: String,
    /// In metres.
    pub length_m: f64,
    /// Whether it has a shield that is joined to the enclosure at both ends.
    pub shielded: bool,
    /// What flows along it, in A (rms), where somebody measured it with a clamp.
    pub common_mode_a: Option<f64>,
    /// What drives it against the board, in V (rms), where somebody knows it.
    pub common_mode_v: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    connector: String,
    length_m: f64,
    #[serde(default)]
    shielded: bool,
    common_mode_a: Option<f64>,
    common_mode_v: Option<f64>,
}

impl TryFrom<Text> for Cable {
    type Error = InputError;

    fn try_from(text: Text) -> Result<Self, InputError> {
        let bounded = |value: Option<f64>, name| {
            value
                .map(|value| input::within(name, value, 1e-12, 1000.0))
                .transpose()
        };
        Ok(Self {
            connector: text.connector,
            length_m: input::within("length_m of a cable", text.length_m, 0.01, 1000.0)?,
            shielded: text.shielded,
            common_mode_a: bounded(text.common_mode_a, "common_mode_a of a cable")?,
            common_mode_v: bounded(text.common_mode_v, "common_mode_v of a cable")?,
        })
    }
}
