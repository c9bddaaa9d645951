//! From values of the document to the types of the format, with every problem at once: a key that is not
//! known is noted and skipped, a value that does not fit is noted and left out of the next pass.
//!
//! Types that take a scalar as it is written (`OPT: 1.10`) ask for the newtype [`AS_WRITTEN`]; those that
//! may hold a placeholder ask for [`TEMPLATED`].

mod access;
mod fault;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use serde::de::{DeserializeOwned, Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use crate::limits::PROBLEMS_MAX;
use crate::path::Path;
use crate::problem::{Code, Finding, did_you_mean, nearest};
use crate::template;
use crate::yaml::{Key, Node, Value};
use access::{List, Map};
pub(crate) use fault::Fault;

/// Newtype whose visitor gets the text of any scalar.
pub(crate) const AS_WRITTEN: &str = "AsWritten";

/// Newtype whose visitor gets a text if it has a placeholder.
pub(crate) const TEMPLATED: &str = "Templated";

/// What was read, as far as it could be.
pub(crate) struct Reading<T> {
    /// None: nothing useful.
    pub(crate) value: Option<T>,
    pub(crate) findings: Vec<Finding>,
    /// An entry of a list was left out: indices in `value` are not those of the document.
    pub(crate) has_holes: bool,
}

/// Reads all of `root`.
pub(crate) fn read<T: DeserializeOwned>(root: &Node) -> Reading<T> {
    let session = Session::default();
    let mut value = None;
    // Each pass but the last leaves out one more value.
    while session.faults.borrow().len() <= PROBLEMS_MAX {
        let reader = Reader::new(root, &session);
        match T::deserialize(reader) {
            Ok(read) => {
                value = Some(read);
                break;
            }
            Err(fault) => {
                let node = fault.node.unwrap_or(root.id);
                session.note(fault, node);
                if !session.skipped.borrow_mut().insert(node) || node == root.id {
                    break;
                }
            }
        }
    }
    let mut faults: BTreeMap<Option<usize>, Vec<Fault>> = BTreeMap::new();
    for fault in session.faults.into_inner() {
        faults.entry(fault.node).or_default().push(fault);
    }
    let mut findings = Vec::new();
    root.walk(&mut |path, node| {
        let here = faults.remove(&Some(node.id)).into_iter().flatten();
        findings.extend(here.map(|fault| fault.at(path)));
    });
    Reading {
        value,
        findings,
        has_holes: session.has_holes.into_inner(),
    }
}

/// Reads a scalar that stood in for a placeholder, as if it were written there.
pub(crate) fn read_text<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let node = Node {
        id: 0,
        span: crate::yaml::Span::START,
        value: Value::Text(text.to_owned()),
    };
    let session = Session::default();
    let reader = Reader {
        is_replaced: true,
        ..Reader::new(&node, &session)
    };
    T::deserialize(reader).map_err(|fault| fault.message)
}

#[derive(Default)]
struct Session {
    faults: RefCell<Vec<Fault>>,
    /// Values that are left out, by id.
    skipped: RefCell<BTreeSet<usize>>,
    has_holes: RefCell<bool>,
}

impl Session {
    fn note(&self, fault: Fault, node: usize) {
        if !fault.is_consequence {
            let fault = Fault {
                node: Some(node),
                ..fault
            };
            self.faults.borrow_mut().push(fault);
        }
    }

    fn skips(&self, node: &Node) -> bool {
        self.skipped.borrow().contains(&node.id)
    }
}

#[derive(Clone, Copy)]
struct Reader<'de> {
    node: &'de Node,
    session: &'de Session,
    /// The value of a placeholder: text may be a number here.
    is_replaced: bool,
}

impl<'de> Reader<'de> {
    fn new(node: &'de Node, session: &'de Session) -> Self {
        Self {
            node,
            session,
            is_replaced: false,
        }
    }

    fn entries(&self) -> Option<&'de [(Key, Node)]> {
        match &self.node.value {
            Value::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// A whole number.
    fn whole(&self) -> Option<i128> {
        match &self.node.value {
            Value::Number(value, _) => *value,
            Value::Text(text) if self.is_replaced => number(text),
            _ => None,
        }
    }

    fn text(&self) -> Option<&'de str> {
        match &self.node.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A scalar as it is written.
    fn written(&self) -> Option<&'de str> {
        match &self.node.value {
            Value::Bool(_, text) | Value::Number(_, text) | Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A text without placeholders: types that replace them ask for [`TEMPLATED`].
    fn plain<'t>(&self, text: &'t str) -> Result<&'t str, Fault> {
        match template::is_one(text) && !self.is_replaced {
            true => Err(Fault::new(Code::TemplateNotHere, template::misplaced(text))),
            false => Ok(text),
        }
    }

    /// The value is something else than `wanted`.
    fn wrong(&self, wanted: &str) -> Fault {
        let found = match &self.node.value {
            Value::Null => {
                return Fault::new(
                    Code::WrongType,
                    format!("there is no value here: it must be {wanted}, or the key must go"),
                );
            }
            Value::Bool(..) => "true or false",
            Value::Number(..) => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        };
        Fault::new(
            Code::WrongType,
            format!("this must be {wanted}, not {found}"),
        )
    }

    fn integer<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.whole() {
            Some(value) => visitor.visit_i128(value),
            None => Err(self.no_integer()),
        }
    }

    /// The value is no whole number, though it may look like one.
    fn no_integer(&self) -> Fault {
        let text = match &self.node.value {
            Value::Number(None, text) => text,
            Value::Text(text) if self.is_replaced => text,
            _ => return self.wrong("a whole number"),
        };
        let shown: String = text.chars().take(NUMBER_CHARS_MAX).collect();
        let message = match behind_zeros(text) {
            Some(digits) => {
                let octal = match digits.bytes().all(|digit| digit < b'8') {
                    true => format!(", or 0o{digits} if it is octal"),
                    false => String::new(),
                };
                format!(
                    "`{shown}` begins with a zero, which some programs take for octal: write {digits}{octal}"
                )
            }
            None => format!("this must be a whole number, not `{shown}`"),
        };
        Fault::new(Code::WrongType, message)
    }
}

/// Characters of a number that a message repeats.
const NUMBER_CHARS_MAX: usize = 40;

fn number(text: &str) -> Option<i128> {
    match text.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).ok(),
        None if behind_zeros(text).is_some() => None,
        None => text.parse().ok(),
    }
}

/// The digits of a decimal number behind zeros that need not be there, if it has such; no more than a message repeats.
fn behind_zeros(text: &str) -> Option<&str> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_decimal = digits.len() > 1 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let rest = digits.strip_prefix('0').filter(|_| is_decimal)?;
    let rest = rest.trim_start_matches('0');
    match rest.len() {
        0 => Some("0"),
        len => Some(&rest[..len.min(NUMBER_CHARS_MAX)]),
    }
}

impl<'de> Deserializer<'de> for Reader<'de> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.node.value {
            Value::Null => Err(self.wrong("given")),
            Value::Bool(value, _) => visitor.visit_bool(*value),
            Value::Number(Some(value), _) => visitor.visit_i128(*value),
            Value::Number(None, text) => visitor.visit_str(text),
            Value::Text(text) => self.plain(text).and_then(|text| visitor.visit_str(text)),
            Value::List(_) => self.deserialize_seq(visitor),
            Value::Map(_) => self.deserialize_map(visitor),
        }
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.integer(visitor)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match (&self.node.value, self.written()) {
            (Value::Bool(value, _), _) => visitor.visit_bool(*value),
            (_, Some(text)) if self.is_replaced && text == "true" => visitor.visit_bool(true),
            (_, Some(text)) if self.is_replaced && text == "false" => visitor.visit_bool(false),
            _ => Err(self.wrong("true or false")),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match (self.text(), self.written()) {
            (Some(text), _) => self.plain(text).and_then(|text| visitor.visit_str(text)),
            (None, Some(text)) => Err(self.wrong(&format!("text: write it in quotes, \"{text}\""))),
            _ => Err(self.wrong("text")),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_string(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match (name, self.written()) {
            (AS_WRITTEN, Some(text)) => self.plain(text).and_then(|text| visitor.visit_str(text)),
            (AS_WRITTEN, None) if self.entries().is_none() => Err(self.wrong("text")),
            (TEMPLATED, Some(text)) if self.text().is_some() && template::is_one(text) => {
                visitor.visit_str(text)
            }
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.node.value {
            Value::List(list) => visitor.visit_seq(List::new(list, self.session)),
            _ => Err(self.wrong("a list, `[…]`")),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.entries() {
            Some(entries) => visitor.visit_map(Map::new(entries, self.session)),
            None => Err(self.wrong("a map of names, `{name: …}`")),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let Some(entries) = self.entries() else {
            let known = fields.join(", ");
            return Err(self.wrong(&format!("a map with keys of {known}")));
        };
        for (key, node) in entries {
            if !fields.contains(&key.name.as_str())
                && self.session.skipped.borrow_mut().insert(node.id)
            {
                self.session.note(unknown_key(key, fields), node.id);
            }
        }
        // A key that is there was left out by an earlier pass; one that is misspelt has been told.
        let is_meant = |key: &str, field: &str| {
            key == field || nearest(key, fields.iter().copied()) == Some(field)
        };
        let is_told = |field: &str| entries.iter().any(|(key, _)| is_meant(&key.name, field));
        let read = visitor.visit_map(Map::new(entries, self.session));
        read.map_err(|fault| Fault {
            is_consequence: fault.is_consequence
                || fault.node.is_none() && fault.missing.is_some_and(is_told),
            ..fault
        })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self.text() {
            Some(text) => visitor.visit_enum(IntoDeserializer::<Fault>::into_deserializer(text)),
            None => Err(self.wrong(&format!("one of {}", variants.join(", ")))),
        }
    }

    fn is_human_readable(&self) -> bool {
        true
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u128 f32 f64 char bytes byte_buf unit unit_struct tuple tuple_struct
        identifier ignored_any
    }
}

fn unknown_key(key: &Key, fields: &[&str]) -> Fault {
    let hint = did_you_mean(&key.name, fields.iter().copied());
    let hint = match hint.is_empty() {
        true => format!("; it may be one of {}", fields.join(", ")),
        false => hint,
    };
    let name: String = key.name.chars().take(64).collect();
    Fault {
        span: Some(key.span),
        ..Fault::new(
            Code::UnknownKey,
            format!("there is no key `{name}` here{hint}"),
        )
    }
}

impl Fault {
    fn at(self, path: &Path) -> Finding {
        Finding {
            span: self.span,
            ..Finding::new(path.clone(), self.code, self.message)
        }
    }
}
