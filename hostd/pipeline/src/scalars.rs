//! Texts and numbers with bounds: ids, names, paths, channels. Their checks and their schema stand side by side.

use std::borrow::{Borrow, Cow};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error, Visitor};

use crate::limits::{
    DECIMAL_MAX, ENTRIES_MAX, ID_CHARS_MAX, LABEL_CHARS_MAX, PATH_CHARS_MAX, SCRIPT_CHARS_MAX,
    SECRET_NAME_CHARS_MAX, TEXT_CHARS_MAX,
};
use crate::reading::AS_WRITTEN;

/// What a path below a folder looks like, as [`relative`] checks it.
const RELATIVE: &str = r"^(?!/)(?!(.*/)?\.\.(/|$))[^\x00-\x1f\x7f\\*?]+$";

macro_rules! text {
    ($(#[doc = $doc:literal])+ $name:ident, $max:expr, $pattern:expr, $check:expr) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
        pub(crate) struct $name(pub(crate) String);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                bounded(&text, $max).and_then(|()| $check(&text)).map_err(D::Error::custom)?;
                Ok(Self(text))
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "string",
                    "description": concat!($($doc, "\n"),+).trim(),
                    "minLength": 1,
                    "maxLength": $max,
                    "pattern": $pattern,
                })
            }
        }

        impl Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

text! {
    /// A short name for other places to refer to: letters, digits, `_` and `-`, beginning with a letter or digit.
    Id, ID_CHARS_MAX, "^[A-Za-z0-9][A-Za-z0-9_-]*$", id
}

text! {
    /// The name of a variable: letters, digits and `_`, not beginning with a digit; not `HOSTD_…` or `BENCHPOD_…`.
    Variable, LABEL_CHARS_MAX, "^(?!HOSTD_|BENCHPOD_)[A-Za-z_][A-Za-z0-9_]*$", variable
}

text! {
    /// A name for people, on one line.
    Label, LABEL_CHARS_MAX, r"^[^\x00-\x1f\x7f]+$", label
}

text! {
    /// A path below the job's folder: relative, without `..`.
    RelativePath, PATH_CHARS_MAX, RELATIVE, relative
}

text! {
    /// The name of an artifact: a path below `$HOSTD_OUT`, relative, without `..`.
    Artifact, PATH_CHARS_MAX, RELATIVE, relative
}

text! {
    /// Lines for the shell, `sh -e`. They get values as variables of the environment: `"$NAME"`.
    Script, SCRIPT_CHARS_MAX, r"^[^\x00]+$", no_nul
}

text! {
    /// The name of a container image.
    Image, PATH_CHARS_MAX, r"^[A-Za-z0-9][A-Za-z0-9._/:@-]*$", image
}

text! {
    /// The name of a secret of the organisation: capital letters, digits and `_`, beginning with a letter; not `HOSTD_…` or
    /// `BENCHPOD_…`.
    SecretName, SECRET_NAME_CHARS_MAX, "^(?!HOSTD_|BENCHPOD_)[A-Z][A-Z0-9_]*$", secret
}

/// Whether something may be the name of a secret.
///
/// # Errors
/// It may not, and the message says what to write instead.
pub fn check_secret_name(text: &str) -> Result<(), String> {
    bounded(text, SECRET_NAME_CHARS_MAX)?;
    secret(text)
}

fn bounded(text: &str, max: usize) -> Result<(), String> {
    match text.chars().count() {
        0 => Err(
            "there is nothing between the quotes: write something, or leave the key out".to_owned(),
        ),
        len if len > max => Err(format!(
            "this has {len} characters, more than {max}; write less"
        )),
        _ => Ok(()),
    }
}

fn id(text: &str) -> Result<(), String> {
    let is_rest = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let is_one = text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(is_rest);
    require(
        is_one,
        "an id has letters, digits, `_` and `-` alone, and begins with a letter or digit",
    )
}

fn word(text: &str) -> Result<(), String> {
    let is_rest = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_one = !text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(is_rest);
    require(
        is_one,
        "a name has letters, digits and `_` alone, and does not begin with a digit",
    )
}

fn variable(text: &str) -> Result<(), String> {
    not_ours(text)?;
    word(text)
}

fn secret(text: &str) -> Result<(), String> {
    not_ours(text)?;
    let is_rest = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let is_one = text.starts_with(|c: char| c.is_ascii_uppercase()) && text.chars().all(is_rest);
    require(
        is_one,
        "the name of a secret has capital letters, digits and `_` alone, and begins with a letter",
    )
}

fn not_ours(text: &str) -> Result<(), String> {
    let is_ours = text.starts_with("HOSTD_") || text.starts_with("BENCHPOD_");
    require(
        !is_ours,
        "names that begin with HOSTD_ or BENCHPOD_ are the server's own: take another",
    )
}

fn label(text: &str) -> Result<(), String> {
    require(
        !text.chars().any(|c| c.is_ascii_control()),
        "this must be one line of plain text",
    )
}

fn relative(text: &str) -> Result<(), String> {
    let is_inside = !text.starts_with('/') && !text.split('/').any(|part| part == "..");
    require(
        is_inside,
        "this must stay below the job's folder: a relative path without `..`",
    )?;
    let is_plain = !text.chars().any(|c| c.is_ascii_control() || c == '\\');
    require(
        is_plain,
        "a path has `/` between folders, no `\\` and no control characters",
    )?;
    require(
        !text.contains(['*', '?']),
        "`*` and `?` have no meaning here: write the path itself",
    )
}

fn no_nul(text: &str) -> Result<(), String> {
    require(!text.contains('\0'), "this must not have the character NUL")
}

fn image(text: &str) -> Result<(), String> {
    let is_rest = |c: char| c.is_ascii_alphanumeric() || "._/:@-".contains(c);
    let is_one = text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(is_rest);
    require(is_one, "this is no name of an image, as localhost/arm:12")
}

fn require(holds: bool, message: &str) -> Result<(), String> {
    match holds {
        true => Ok(()),
        false => Err(message.to_owned()),
    }
}

/// A scalar as it is written: text, a number, true or false.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Text(pub(crate) String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = deserializer.deserialize_newtype_struct(AS_WRITTEN, AsWritten)?;
        Self::checked(text).map_err(D::Error::custom)
    }
}

impl Text {
    /// Text of any length up to the bound, none included.
    pub(crate) fn checked(text: String) -> Result<Self, String> {
        if !text.is_empty() {
            bounded(&text, TEXT_CHARS_MAX)?;
        }
        no_nul(&text)?;
        Ok(Self(text))
    }
}

impl JsonSchema for Text {
    fn schema_name() -> Cow<'static, str> {
        "Text".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["string", "number", "boolean"],
            "description": "Text; a number, true or false is taken as it is written.",
            "maxLength": TEXT_CHARS_MAX,
        })
    }
}

struct AsWritten;

impl Visitor<'_> for AsWritten {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text, a number, true or false")
    }

    fn visit_str<E>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }
}

/// A whole number from `MIN` to `MAX`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Whole<const MIN: u64, const MAX: u64>(pub(crate) u64);

impl<'de, const MIN: u64, const MAX: u64> Deserialize<'de> for Whole<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_u64(Number::<MIN, MAX>)
    }
}

struct Number<const MIN: u64, const MAX: u64>;

impl<const MIN: u64, const MAX: u64> Visitor<'_> for Number<MIN, MAX> {
    type Value = Whole<MIN, MAX>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number")
    }

    fn visit_i128<E: Error>(self, value: i128) -> Result<Whole<MIN, MAX>, E> {
        match u64::try_from(value) {
            Ok(value) if MIN <= value && value <= MAX => Ok(Whole(value)),
            _ => Err(E::custom(format!("this must be from {MIN} to {MAX}"))),
        }
    }
}

impl<const MIN: u64, const MAX: u64> JsonSchema for Whole<MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Whole{MIN}To{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer", "minimum": MIN, "maximum": MAX})
    }
}

/// A number, which may have decimals: `3.3`, `-5`, `1e6`. It is no greater than [`DECIMAL_MAX`] in size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Decimal(pub(crate) f64);

impl Decimal {
    fn parse(text: &str) -> Result<Self, String> {
        let is_plain = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
        let number = text
            .parse::<f64>()
            .ok()
            .filter(|_| text.chars().all(is_plain));
        let number = number.ok_or("this must be a number, as 3.3, -5 or 1e6")?;
        match number.abs() <= DECIMAL_MAX {
            true => Ok(Self(number)),
            false => Err(format!("this must be at most {DECIMAL_MAX:e} in size")),
        }
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = deserializer.deserialize_newtype_struct(AS_WRITTEN, AsWritten)?;
        Self::parse(&text).map_err(D::Error::custom)
    }
}

impl JsonSchema for Decimal {
    fn schema_name() -> Cow<'static, str> {
        "Decimal".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["number", "string"],
            "description": "A number, which may have decimals.",
            "minimum": -DECIMAL_MAX,
            "maximum": DECIMAL_MAX,
            "pattern": r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,2})?$",
        })
    }
}

/// A list of at most `MAX` entries.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct List<T, const MAX: usize>(Vec<T>);

impl<T, const MAX: usize> Default for List<T, MAX> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T, const MAX: usize> Deref for List<T, MAX> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<'de, T: Deserialize<'de>, const MAX: usize> Deserialize<'de> for List<T, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let list = Vec::deserialize(deserializer)?;
        match list.len() {
            len if len > MAX => Err(D::Error::custom(format!(
                "this list has {len} entries, more than {MAX}"
            ))),
            _ => Ok(Self(list)),
        }
    }
}

impl<T: JsonSchema, const MAX: usize> JsonSchema for List<T, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("ListOf{MAX}{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let items = generator.subschema_for::<T>();
        json_schema!({"type": "array", "items": items, "maxItems": MAX})
    }
}

/// A map with at most [`ENTRIES_MAX`] names.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Names<K: Ord, T>(BTreeMap<K, T>);

impl<K: Ord, T> Default for Names<K, T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Ord, T> Deref for Names<K, T> {
    type Target = BTreeMap<K, T>;

    fn deref(&self) -> &BTreeMap<K, T> {
        &self.0
    }
}

impl<'de, K: Deserialize<'de> + Ord, T: Deserialize<'de>> Deserialize<'de> for Names<K, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let map = BTreeMap::deserialize(deserializer)?;
        match map.len() {
            len if len > ENTRIES_MAX => Err(D::Error::custom(format!(
                "this map has {len} names, more than {ENTRIES_MAX}"
            ))),
            _ => Ok(Self(map)),
        }
    }
}

impl<K: JsonSchema + Ord, T: JsonSchema> JsonSchema for Names<K, T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("{}To{}", K::schema_name(), T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let names = generator.subschema_for::<K>();
        let values = generator.subschema_for::<T>();
        json_schema!({
            "type": "object",
            "propertyNames": names,
            "additionalProperties": values,
            "maxProperties": ENTRIES_MAX,
        })
    }
}
