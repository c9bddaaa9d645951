//! Values of a step's environment: a scalar as it is written, or a map that names a secret.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, Visitor};

use super::{EnvValue, SecretReference};
use crate::reading::AS_WRITTEN;
use crate::scalars::Text;

impl<'de> Deserialize<'de> for EnvValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(AS_WRITTEN, PlainOrSecret)
    }
}

struct PlainOrSecret;

impl<'de> Visitor<'de> for PlainOrSecret {
    type Value = EnvValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text, or a secret as `{secret: NAME}`")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<EnvValue, E> {
        Text::checked(text.to_owned())
            .map(EnvValue::Plain)
            .map_err(E::custom)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<EnvValue, D::Error> {
        SecretReference::deserialize(deserializer)
            .map(|reference| EnvValue::Secret(reference.secret))
    }
}

impl JsonSchema for EnvValue {
    fn schema_name() -> Cow<'static, str> {
        "EnvValue".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let text = generator.subschema_for::<Text>();
        let secret = generator.subschema_for::<SecretReference>();
        json_schema!({
            "description": "Text, or a secret of the organisation: `{secret: NAME}`.",
            "anyOf": [text, secret],
        })
    }
}
