//! From what the YAML crate reads to [`Node`]s: numbers, true and false keep how they are written, so that `1.10` in an
//! environment stays `1.10`, and `True` stays `True`.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Location, Spanned};

use super::{Key, Node, Span, Value};

/// A value as it comes.
pub(super) struct Raw(Spanned<RawValue>);

enum RawValue {
    Null,
    Bool(bool),
    Number(Option<i128>),
    Text(String),
    List(Vec<Raw>),
    Map(Vec<(Spanned<String>, Raw)>),
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Spanned::deserialize(deserializer).map(Self)
    }
}

impl<'de> Deserialize<'de> for RawValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Anything)
    }
}

struct Anything;

impl<'de> Visitor<'de> for Anything {
    type Value = RawValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<RawValue, E> {
        Ok(RawValue::Null)
    }

    fn visit_none<E>(self) -> Result<RawValue, E> {
        Ok(RawValue::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<RawValue, E> {
        Ok(RawValue::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<RawValue, E> {
        Ok(RawValue::Number(Some(value.into())))
    }

    fn visit_u64<E>(self, value: u64) -> Result<RawValue, E> {
        Ok(RawValue::Number(Some(value.into())))
    }

    fn visit_i128<E>(self, value: i128) -> Result<RawValue, E> {
        Ok(RawValue::Number(Some(value)))
    }

    fn visit_u128<E>(self, value: u128) -> Result<RawValue, E> {
        Ok(RawValue::Number(value.try_into().ok()))
    }

    fn visit_f64<E>(self, _: f64) -> Result<RawValue, E> {
        Ok(RawValue::Number(None))
    }

    fn visit_str<E>(self, value: &str) -> Result<RawValue, E> {
        Ok(RawValue::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<RawValue, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element()? {
            values.push(value);
        }
        Ok(RawValue::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawValue, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(RawValue::Map(entries))
    }
}

/// Gives values their numbers and their places in the text.
pub(super) struct Numbering<'t> {
    text: &'t str,
    next: usize,
}

impl<'t> Numbering<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, next: 0 }
    }

    pub(super) fn node(&mut self, Raw(raw): Raw) -> Node {
        let id = self.next;
        self.next += 1;
        let at = raw.defined;
        let mut span = span(at);
        let value = match raw.value {
            RawValue::Null => Value::Null,
            RawValue::Bool(value) => Value::Bool(value, self.written(at)),
            RawValue::Number(value) => Value::Number(value, self.written(at)),
            RawValue::Text(text) => {
                span.width = self.width_on_line(at);
                Value::Text(text)
            }
            RawValue::List(list) => {
                Value::List(list.into_iter().map(|raw| self.node(raw)).collect())
            }
            RawValue::Map(map) => {
                Value::Map(map.into_iter().map(|entry| self.entry(entry)).collect())
            }
        };
        if matches!(value, Value::List(_) | Value::Map(_)) {
            span.width = 1;
        }
        Node { id, span, value }
    }

    fn entry(&mut self, (key, raw): (Spanned<String>, Raw)) -> (Key, Node) {
        let key = Key {
            span: span(key.defined),
            name: key.value,
        };
        (key, self.node(raw))
    }

    fn slice(&self, at: Location) -> &'t str {
        let bounds = at.span().byte_offset().zip(at.span().byte_len());
        let slice = bounds.and_then(|(start, len)| {
            let start = usize::try_from(start).ok()?;
            self.text
                .get(start..start.checked_add(usize::try_from(len).ok()?)?)
        });
        slice.unwrap_or_default()
    }

    fn written(&self, at: Location) -> String {
        self.slice(at).trim().to_owned()
    }

    /// Characters up to the end of the line: a text may have several.
    fn width_on_line(&self, at: Location) -> u32 {
        let line = self.slice(at).lines().next().unwrap_or_default();
        u32::try_from(line.trim_end().chars().count())
            .unwrap_or(1)
            .max(1)
    }
}

/// The place of a token on one line.
pub(super) fn span(at: Location) -> Span {
    let count = |count: u64| u32::try_from(count).unwrap_or(u32::MAX).max(1);
    Span {
        line: count(at.line()),
        column: count(at.column()),
        width: count(at.span().len()),
    }
}
