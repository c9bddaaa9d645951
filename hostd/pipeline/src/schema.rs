//! The JSON Schema of the format, made from the types that read it.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform as _};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use crate::definition::Definition;

/// JSON Schema 2020-12 of a pipeline: what editors complete and check with. It says all that can be said without
/// looking at two places at once.
#[must_use]
pub fn schema() -> Value {
    of::<Definition>()
}

/// JSON Schema 2020-12 of a type that documents have.
pub(crate) fn of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12();
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    RecursiveTransform(without_null).transform(&mut schema);
    schema.to_value()
}

/// What may be left out may not be null: a key without a value is mostly a forgotten one.
fn without_null(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else {
        return;
    };
    let is_null =
        |value: &Value| *value == "null" || value.get("type").is_some_and(|of| of == "null");
    for key in ["type", "anyOf"] {
        let Some(Value::Array(choices)) = object.get_mut(key) else {
            continue;
        };
        let before = choices.len();
        choices.retain(|choice| !is_null(choice));
        if choices.len() == 1 && before == 2 {
            let only = choices.remove(0);
            object.remove(key);
            match only {
                Value::Object(of) => object.extend(of),
                of => drop(object.insert(key.to_owned(), of)),
            }
        }
    }
}
