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
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    connector: String,
    length_m: f64,
    #[serde(default)]
    shielded: bool,
}

impl TryFrom<Text> for Cable {
    type Error = InputError;

    fn try_from(text: Text) -> Result<Self, InputError> {
        Ok(Self {
            connector: text.connector,
            length_m: input::within("length_m of a cable", text.length_m, 0.01, 1000.0)?,
            shielded: text.shielded,
        })
    }
}
