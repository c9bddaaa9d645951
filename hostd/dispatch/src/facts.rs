//! What tasks ask of devices, in the scheduler's terms.

use std::collections::BTreeMap;

use pipeline::{Capabilities, Predicate, Requirements};
use scheduler::Requirement;
use serde::{Deserialize, Serialize};

/// What a bench run asks of its device. Stored as it is written in a pipeline.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub(crate) struct Wants(pub(crate) Requirements);

#[derive(Serialize, Deserialize)]
struct Written {
    name: Option<String>,
    select: BTreeMap<String, Text>,
}

/// A predicate as text.
#[derive(Deserialize)]
#[serde(transparent)]
struct Text(Predicate);

impl Serialize for Text {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl From<Written> for Wants {
    fn from(written: Written) -> Self {
        let select = written.select.into_iter();
        Self(Requirements {
            name: written.name,
            select: select
                .map(|(key, Text(predicate))| (key, predicate))
                .collect(),
        })
    }
}

impl From<Wants> for Written {
    fn from(Wants(wants): Wants) -> Self {
        let select = wants.select.into_iter();
        Self {
            name: wants.name,
            select: select
                .map(|(key, predicate)| (key, Text(predicate)))
                .collect(),
        }
    }
}

impl Requirement for Wants {
    type Device = Capabilities;

    fn misfit(&self, device: &Capabilities) -> Option<String> {
        let mismatch = pipeline::matches(&self.0, device).err()?;
        Some(mismatch.to_string())
    }

    fn rank(device: &Capabilities) -> u32 {
        device.rank()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_is_stored_as_it_is_written() {
        let select = [
            ("la_channels", r#"">=4""#),
            ("target", r#""stm32f030f4|stm32g431kb""#),
            ("uart", "true"),
        ];
        let select = select.map(|(key, text)| {
            let predicate: Predicate = serde_json::from_str(text).unwrap();
            (key.to_owned(), predicate)
        });
        let wants = Wants(Requirements {
            name: Some("bench".into()),
            select: select.into(),
        });
        let text = serde_json::to_string(&wants).unwrap();
        assert_eq!(
            text,
            r#"{"name":"bench","select":{"la_channels":">=4","target":"stm32f030f4|stm32g431kb","uart":"true"}}"#
        );
        assert_eq!(serde_json::from_str::<Wants>(&text).unwrap(), wants);
    }
}
