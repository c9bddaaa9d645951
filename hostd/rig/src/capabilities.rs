//! What a device says of itself, for finding one that fits a run.

use lab::devices::Device;
use pipeline::{Capabilities, Capability};
use serde_json::Value;

use crate::wiring::Wiring;

/// A device as a pipeline can ask for it: by the names of its record, with `target` for the chip of its wiring. What
/// an offline pod has is not known.
#[must_use]
pub fn capabilities(device: &Device, wiring: &Wiring) -> Capabilities {
    let told = device.capabilities().map(serde_json::to_value);
    let members = match told {
        Some(Ok(Value::Object(members))) => members,
        _ => serde_json::Map::new(),
    };
    let members = members.into_iter();
    let mut values: std::collections::BTreeMap<String, Capability> = members
        .map(|(name, value)| (name, capability(&value)))
        .collect();
    let target = wiring.target.clone();
    values.insert(
        "target".to_owned(),
        target.map_or(Capability::Unknown, Capability::Text),
    );
    Capabilities {
        name: device.record.name.clone(),
        values,
    }
}

fn capability(value: &Value) -> Capability {
    match value {
        Value::Bool(flag) => Capability::Flag(*flag),
        Value::Number(count) => count
            .as_u64()
            .map_or(Capability::Unknown, Capability::Count),
        Value::String(text) => Capability::Text(text.clone()),
        _ => Capability::Unknown,
    }
}
