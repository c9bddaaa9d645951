//! Parameters of one run, as the body of a request has them.

use std::collections::BTreeMap;

use super::file::{
    BYTES_MAX, BoardText, GroupText, RuleText, SuppressText, Text, VERSION, settings,
};
use super::standard::{Class, Distance, Standard};
use super::{Cable, Clock, RulesFile};
use crate::refusal::{Position, Refusal};

/// What one run asks for.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object of parameters")]
struct ParamsText {
    version: Option<u32>,
    #[serde(default)]
    board: BoardText,
    #[serde(default)]
    rules: BTreeMap<String, RuleText>,
    #[serde(default)]
    groups: Vec<GroupText>,
    #[serde(default)]
    suppress: Vec<SuppressText>,
    #[serde(default)]
    clocks: Vec<Clock>,
    #[serde(default)]
    cables: Vec<Cable>,
    standard: Option<Standard>,
    class: Option<Class>,
    distance_m: Option<Distance>,
    max_frequency_hz: Option<f64>,
    epsilon_r: Option<f64>,
}

impl RulesFile {
    /// Reads the parameters of one run: a JSON object with the keys of a rules file, which mean what they mean there. It
    /// may do without `version`, and have `max_frequency_hz` and `epsilon_r` beside `board` instead of within, but not both.
    ///
    /// # Errors
    /// What is no JSON, an unknown key, one that is in both places, or a value that cannot be.
    pub fn of_params(json: &[u8]) -> Result<Self, Refusal> {
        if json.len() > BYTES_MAX {
            return Err(Refusal::whole(format!(
                "the parameters have more than {BYTES_MAX} bytes"
            )));
        }
        let text: ParamsText = serde_json::from_slice(json).map_err(|error| Refusal {
            at: Some(Position {
                line: error.line(),
                column: error.column(),
            }),
            message: error.to_string().chars().take(300).collect(),
        })?;
        let BoardText {
            max_frequency_hz,
            epsilon_r,
            epsilon_r_at_hz,
        } = text.board;
        settings(Text {
            version: text.version.unwrap_or(VERSION),
            board: BoardText {
                max_frequency_hz: one("max_frequency_hz", text.max_frequency_hz, max_frequency_hz)?,
                epsilon_r: one("epsilon_r", text.epsilon_r, epsilon_r)?,
                epsilon_r_at_hz,
            },
            rules: text.rules,
            groups: text.groups,
            suppress: text.suppress,
            clocks: text.clocks,
            cables: text.cables,
            standard: text.standard,
            class: text.class,
            distance_m: text.distance_m,
        })
    }
}

/// What is in one of two places. Whoever says it twice may mean either.
fn one(name: &str, beside: Option<f64>, within: Option<f64>) -> Result<Option<f64>, Refusal> {
    match (beside, within) {
        (Some(_), Some(_)) => Err(Refusal::whole(format!(
            "`{name}` is given beside `board` and within it"
        ))),
        (beside, within) => Ok(beside.or(within)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_mean_what_they_mean_in_a_rules_file() {
        let json = br#"{"clocks": [{"net": "SCK", "hz": 25e6, "rise_s": 1e-9, "volts": 3.3, "load_ohm": 50}],
            "cables": [{"connector": "J1", "length_m": 1, "common_mode_a": 5e-6}],
            "standard": "fcc-15.109", "class": "A", "distance_m": 10, "max_frequency_hz": 2e9}"#;
        let settings = RulesFile::of_params(json).unwrap().settings;
        assert_eq!(settings.site().table().id, "fcc-15.109-a");
        assert_eq!(settings.clocks()[0].volts, Some(3.3));
        assert_eq!(settings.cables()[0].common_mode_a, Some(5e-6));
        assert_eq!(settings.max_frequency_hz(), (2e9, true));
        assert!(RulesFile::of_params(b"{}").is_ok());
        let json = br#"{"version": 1, "board": {"max_frequency_hz": 3e9, "epsilon_r_at_hz": 1e9}, "epsilon_r": 3.5,
            "rules": {"plane-gap": false, "stackup": {"severity": "info"}}, "groups": [{"match": "SCK", "speed": "fast"}],
            "suppress": [{"rule": "stackup", "reason": "two layers"}]}"#;
        let file = RulesFile::of_params(json).unwrap();
        assert_eq!(file.settings.max_frequency_hz(), (3e9, true));
        assert_eq!(file.settings.epsilon_r, Some(3.5));
        assert!(file.settings.rules["plane-gap"].is_off && file.notes.is_empty());
        assert_eq!(
            (file.settings.groups.len(), file.settings.suppressed.len()),
            (1, 1)
        );
    }

    #[test]
    fn what_cannot_be_is_refused_with_its_place() {
        for (json, part) in [
            ("[]", "an object of parameters"),
            ("{\"clock\": []}", "unknown field"),
            ("{\"class\": \"C\"}", "unknown variant"),
            ("{\"distance_m\": 0}", "distance_m"),
            (
                "{\"cables\": [{\"connector\": \"J1\", \"length_m\": -1}]}",
                "length_m",
            ),
            ("{\"max_frequency_hz\": -1}", "max_frequency_hz"),
            ("{\"version\": 2}", "version 2"),
            (
                "{\"max_frequency_hz\": 1e9, \"board\": {\"max_frequency_hz\": 1e9}}",
                "`max_frequency_hz` is given beside `board` and within it",
            ),
            (
                "{\"board\": {\"epsilon_r\": 4}, \"epsilon_r\": 5}",
                "`epsilon_r` is given beside `board` and within it",
            ),
            ("{\"board\": 5}", "invalid type"),
        ] {
            let refusal = RulesFile::of_params(json.as_bytes()).unwrap_err();
            assert!(refusal.message.contains(part), "{json}: {refusal:?}");
        }
    }
}
