//! What tasks ask of devices, in the scheduler's terms.

use std::collections::BTreeMap;

use pipeline::{Capabilities, Predicate, Requirements};
use scheduler::Requirement;
use serde::{Deserialize, Serialize};

/// The capability that the wiring of a device names.
const TARGET: &str = "target";

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

    fn excludes(&self, device: &Capabilities) -> bool {
        // Names and chips are known of those, too, that are away.
        let Requirements { name, select } = &self.0;
        let Some((key, predicate)) = select.get_key_value(TARGET) else {
            return name.as_ref().is_some_and(|name| *name != device.name);
        };
        let known = Requirements {
            name: name.clone(),
            select: [(key.clone(), predicate.clone())].into(),
        };
        pipeline::matches(&known, device).is_err()
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
    #[test]
    fn a_device_that_was_not_seen_is_judged_by_its_name_and_its_chip() {
        let wants = |name: Option<&str>, select: &[(&str, &str)]| {
            let select = select.iter().map(|(key, text)| {
                let predicate: Predicate = serde_json::from_str(text).unwrap();
                ((*key).to_owned(), predicate)
            });
            Wants(Requirements {
                name: name.map(str::to_owned),
                select: select.collect(),
            })
        };
        let target = pipeline::Capability::Text("stm32f030f4".to_owned());
        let away = Capabilities {
            name: "bench".to_owned(),
            values: [(TARGET.to_owned(), target)].into(),
        };
        let channels = ("la_channels", r#"">=4""#);
        let (right, wrong) = (r#""stm32f030f4""#, r#""stm32g431kb""#);
        for (wants, is_excluded) in [
            (wants(None, &[]), false),
            (wants(Some("bench"), &[channels]), false),
            (wants(Some("other"), &[]), true),
            (wants(None, &[channels, (TARGET, right)]), false),
            (wants(None, &[(TARGET, wrong)]), true),
            (wants(Some("other"), &[(TARGET, right)]), true),
        ] {
            assert_eq!(wants.excludes(&away), is_excluded, "{wants:?}");
        }
    }
}
