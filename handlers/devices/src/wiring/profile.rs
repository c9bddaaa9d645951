//! A wiring profile as a member of a body, and as JSON Schema. The rules of both are those of the parent
//! module.

use guest::{ApiError, Fields, Shape, flag, integer, text};
use schemars::{Schema, json_schema};
use serde_json::{Map, Value, json};

use super::{
    BAUD, CHANNELS, DIRECTIONS, I2C_ADDRESSES, NAME_CHARS_MAX, NUMBERS, ROLES, SIGNALS_MAX,
    TARGET_CHARS_MAX, TEXT_CHARS_MAX, check, check_changes, i2c_addresses,
};

/// An object, read as it is.
pub(crate) enum Profile {
    /// One that [`check`] accepts.
    Whole,
    /// One that [`check_changes`] accepts.
    Changes,
}

impl Profile {
    fn check(&self, profile: &Map<String, Value>) -> Result<(), ApiError> {
        match self {
            Self::Whole => check(profile),
            Self::Changes => check_changes(profile),
        }
    }
}

impl Shape for Profile {
    type Value = Map<String, Value>;

    fn read(&self, value: &Value) -> Result<Map<String, Value>, String> {
        let profile = value.as_object().ok_or("must be an object")?;
        self.check(profile)
            .map_err(|error| format!("is wrong: {}", error.message))?;
        Ok(profile.clone())
    }

    fn read_member(
        &self,
        name: &str,
        value: Value,
        fields: &mut Fields,
    ) -> Option<Map<String, Value>> {
        let Value::Object(profile) = value else {
            fields.problem(name, "must be an object");
            return None;
        };
        let Err(error) = self.check(&profile) else {
            return Some(profile);
        };
        for problem in error.fields {
            fields.problem(&format!("{name}.{}", problem.field), &problem.message);
        }
        None
    }

    fn schema(&self) -> Schema {
        let mut members = Map::new();
        for (name, allowed) in NUMBERS {
            members.insert(name.to_owned(), json!({"type": "integer", "enum": allowed}));
        }
        for (role, _) in ROLES {
            let mut channel = integer(CHANNELS).schema();
            channel.insert("type".to_owned(), json!(["integer", "null"]));
            members.insert(role.to_owned(), channel.into());
        }
        let signals = json!({
            "type": "array",
            "maxItems": SIGNALS_MAX,
            "items": signal()
        });
        let number = integer(I2C_ADDRESSES).schema();
        let address = json!({
            "anyOf": [{"type": "string"}, number],
            "description": format!("{}, or its number.", i2c_addresses())
        });
        for (name, schema) in [
            ("uart_baud", integer(BAUD).schema().into()),
            ("i2c_addr", address),
            ("swd_nreset", flag().schema().into()),
            ("swd_target", text(0..=TARGET_CHARS_MAX).schema().into()),
            ("signals", signals),
        ] {
            members.insert(name.to_owned(), schema);
        }
        json_schema!({
            "type": "object",
            "description": "Logic-analyzer channels by role; null = not wired. No channel has two uses. \
                            Unknown members are kept.",
            "properties": members,
            "additionalProperties": true
        })
    }
}

fn signal() -> Value {
    let name = format!("^[A-Za-z][A-Za-z0-9_]{{0,{}}}$", NAME_CHARS_MAX - 1);
    json!({
        "type": "object",
        "required": ["name", "la"],
        "properties": {
            "name": {"type": "string", "pattern": name},
            "la": integer(CHANNELS).schema(),
            "direction": {"type": "string", "enum": DIRECTIONS},
            "active_low": flag().schema(),
            // Of several lines, if somebody wants them.
            "description": {"type": "string", "maxLength": TEXT_CHARS_MAX}
        }
    })
}
