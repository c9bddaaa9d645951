//! Placeholders: `{{pack.target}}` in a typed field is replaced once for each cell, and what comes of it is
//! checked like a value that was written there.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error, Visitor};

use crate::definition::{Environment, Pack};
use crate::limits::TEXT_CHARS_MAX;
use crate::problem::{Code, did_you_mean};
use crate::reading::{TEMPLATED, read_text};

/// Bytes of the longest character.
const CHAR_BYTES_MAX: usize = 4;

const OPEN: &str = "{{";
const CLOSE: &str = "}}";

/// Whether a text has a placeholder.
pub(crate) fn is_one(text: &str) -> bool {
    text.contains(OPEN)
}

/// What to do with a placeholder where none is replaced.
pub(crate) fn misplaced(text: &str) -> String {
    let parsed = Template::parse(text).ok();
    let name = parsed.as_ref().and_then(|template| template.names().next());
    let name = name.unwrap_or("name");
    let variable = match name {
        "variant" => "HOSTD_VARIANT",
        "pack.id" => "HOSTD_PACK",
        name => name.rsplit('.').next().unwrap_or(name),
    };
    format!(
        "`{{{{{name}}}}}` is not replaced here; commands have the value in their environment: write \"${variable}\" in the script"
    )
}

/// A text with placeholders.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Template(Vec<Piece>);

#[derive(Debug, Clone, PartialEq)]
enum Piece {
    Text(String),
    Name(String),
}

impl Template {
    fn parse(text: &str) -> Result<Self, String> {
        if text.chars().count() > TEXT_CHARS_MAX {
            return Err(format!(
                "this has more than {TEXT_CHARS_MAX} characters; write less"
            ));
        }
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(OPEN) {
            let Some((name, after)) = after.split_once(CLOSE) else {
                return Err("a placeholder ends with `}}`".to_owned());
            };
            let name = name.trim();
            let is_name = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
            if name.is_empty() || !name.chars().all(is_name) {
                return Err(
                    "a placeholder is a name alone, as `{{pack.target}}`: nothing is computed"
                        .to_owned(),
                );
            }
            pieces.extend([Piece::Text(before.to_owned()), Piece::Name(name.to_owned())]);
            rest = after;
        }
        pieces.push(Piece::Text(rest.to_owned()));
        Ok(Self(pieces))
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Name(name) => Some(name.as_str()),
            Piece::Text(_) => None,
        })
    }
}

/// A value, or a text with placeholders that becomes one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Templated<T> {
    Value(T),
    Template(Template),
}

impl<T: DeserializeOwned + Clone> Templated<T> {
    /// The value in one cell.
    pub(crate) fn resolve(&self, scope: &Scope<'_>) -> Result<T, (Code, String)> {
        match self {
            Self::Value(value) => Ok(value.clone()),
            Self::Template(template) => {
                let text = scope.fill(template)?;
                let because = |message| {
                    format!("with its placeholders replaced this is `{text}`, and {message}")
                };
                read_text(&text).map_err(|message| (Code::InvalidValue, because(message)))
            }
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Templated<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(TEMPLATED, Either(PhantomData))
    }
}

struct Either<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Either<T> {
    type Value = Templated<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value or a placeholder")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Templated<T>, E> {
        Template::parse(text)
            .map(Templated::Template)
            .map_err(E::custom)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<Templated<T>, D::Error> {
        T::deserialize(deserializer).map(Templated::Value)
    }
}

impl<T: JsonSchema> JsonSchema for Templated<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Templated{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let value = generator.subschema_for::<T>();
        json_schema!({"anyOf": [value, {"type": "string", "pattern": r"\{\{.+\}\}"}]})
    }
}

/// What placeholders are replaced by in one cell.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope<'d> {
    pub(crate) vars: &'d Environment,
    pub(crate) variant: Option<&'d str>,
    pub(crate) pack: Option<&'d Pack>,
}

impl Scope<'_> {
    fn fill(&self, template: &Template) -> Result<String, (Code, String)> {
        let mut text = String::new();
        for piece in &template.0 {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Name(name) => match self.value(name) {
                    Some(value) => text.push_str(&value),
                    None => return Err((Code::UnknownName, self.unknown(name))),
                },
            }
            if text.len() > TEXT_CHARS_MAX * CHAR_BYTES_MAX {
                let message = format!(
                    "with its placeholders replaced this is longer than {TEXT_CHARS_MAX} characters"
                );
                return Err((Code::InvalidValue, message));
            }
        }
        Ok(text)
    }

    /// The value of a name. The targets of a pack come as a predicate has them, `a|b`.
    fn value(&self, name: &str) -> Option<Cow<'_, str>> {
        if let Some(name) = name.strip_prefix("vars.") {
            return self.vars.get(name).map(|value| Cow::from(&*value.0));
        }
        if name == "variant" {
            return self.variant.map(Cow::from);
        }
        let pack = self.pack?;
        match name.strip_prefix("pack.")? {
            "id" => Some(Cow::from(&*pack.id)),
            "target" if pack.targets.is_empty() => None,
            "target" => {
                let targets: Vec<&str> = pack.targets.iter().map(|target| &**target).collect();
                Some(Cow::from(targets.join("|")))
            }
            name => {
                let name = name.strip_prefix("config.")?;
                pack.config.get(name).map(|value| Cow::from(&*value.0))
            }
        }
    }

    /// Why there is no such name, and what to do.
    fn unknown(&self, name: &str) -> String {
        if self.pack.is_none() && name.starts_with("pack.") {
            return format!(
                "there is no pack here that `{{{{{name}}}}}` could mean: give the bench a `for_each`, and its build `packs`"
            );
        }
        if self.variant.is_none() && name == "variant" {
            let message =
                "there is no variant here: give the bench a `for_each` of a build with a `matrix`";
            return message.to_owned();
        }
        if let Some(pack) = self.pack.filter(|_| name == "pack.target") {
            return format!(
                "the pack `{}` names no `targets`: add them there",
                pack.id.0
            );
        }
        let known = self.known();
        let names = || known.iter().map(String::as_str);
        let hint = match did_you_mean(name, names()) {
            hint if hint.is_empty() => {
                format!("; there is {}", names().collect::<Vec<_>>().join(", "))
            }
            hint => hint,
        };
        format!("nothing is called `{name}` here{hint}")
    }

    fn known(&self) -> Vec<String> {
        let mut known: Vec<String> = self
            .vars
            .keys()
            .map(|name| format!("vars.{}", name.0))
            .collect();
        known.extend(self.variant.map(|_| "variant".to_owned()));
        if let Some(pack) = self.pack {
            known.push("pack.id".to_owned());
            known.extend((!pack.targets.is_empty()).then(|| "pack.target".to_owned()));
            known.extend(
                pack.config
                    .keys()
                    .map(|name| format!("pack.config.{}", name.0)),
            );
        }
        known
    }
}
