//! What a member of a body or a query parameter must look like: its type and bounds, in one place. The
//! reader, the sentence for the caller and the JSON Schema all come from here.

use std::ops::RangeInclusive;

use schemars::{Schema, json_schema};
use serde_json::{Map, Value};

use crate::{Fields, Like};

/// Largest integer that a JSON number carries exactly in every implementation, 2^53 - 1.
const INTEGER_EXACT_MAX: f64 = 9_007_199_254_740_991.0;

/// Reads one value. Errors are fragments that follow the member's name: `must be …`.
///
/// The functions that describe a shape are only called where the OpenAPI document is made, so a
/// component does not carry them.
pub trait Shape {
    type Value;

    /// # Errors
    /// The value has another type or is out of bounds.
    fn read(&self, value: &Value) -> Result<Self::Value, String>;

    /// From a query parameter.
    ///
    /// # Errors
    /// As [`Shape::read`].
    fn read_text(&self, text: &str) -> Result<Self::Value, String> {
        self.read(&Value::String(text.to_owned()))
    }

    /// The same as JSON Schema.
    fn schema(&self) -> Schema;

    /// A value as the caller would write it, for the default of a member; none when there is no way
    /// to write it.
    fn written(&self, _value: &Self::Value) -> Option<Value> {
        None
    }

    /// Read a value that is the member `name` of `fields`; problems go there.
    fn read_member(&self, name: &str, value: Value, fields: &mut Fields) -> Option<Self::Value> {
        let read = match &value {
            Value::String(text) if fields.are_texts() => self.read_text(text),
            value => self.read(value),
        };
        read.map_err(|message| fields.problem(name, &message)).ok()
    }
}

#[derive(Debug)]
struct Integer<T>(RangeInclusive<T>);

/// A whole number within bounds.
pub fn integer<T>(range: RangeInclusive<T>) -> impl Shape<Value = T>
where
    T: Copy + Into<u64> + TryFrom<u64>,
{
    Integer(range)
}

impl<T: Copy + Into<u64> + TryFrom<u64>> Integer<T> {
    fn checked(&self, number: Option<u64>) -> Result<T, String> {
        let (low, high): (u64, u64) = ((*self.0.start()).into(), (*self.0.end()).into());
        number
            .filter(|n| (low..=high).contains(n))
            .and_then(|n| T::try_from(n).ok())
            .ok_or_else(|| format!("must be an integer, {low}..={high}"))
    }
}

impl<T: Copy + Into<u64> + TryFrom<u64>> Shape for Integer<T> {
    type Value = T;

    fn read(&self, value: &Value) -> Result<T, String> {
        self.checked(value.as_u64().or_else(|| value.as_f64().and_then(whole)))
    }

    fn read_text(&self, text: &str) -> Result<T, String> {
        self.checked(text.parse().ok())
    }

    fn schema(&self) -> Schema {
        let (low, high): (u64, u64) = ((*self.0.start()).into(), (*self.0.end()).into());
        json_schema!({"type": "integer", "minimum": low, "maximum": high})
    }

    fn written(&self, value: &T) -> Option<Value> {
        let number: u64 = (*value).into();
        Some(number.into())
    }
}

/// JSON knows one kind of number, so `256.0` is the integer 256.
fn whole(number: f64) -> Option<u64> {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be whole and within 0..2^53"
    )]
    (number.fract() == 0.0 && (0.0..=INTEGER_EXACT_MAX).contains(&number)).then_some(number as u64)
}

#[derive(Debug)]
struct Number {
    above: f64,
    up_to: f64,
}

/// A number greater than `above` and at most `up_to`.
pub fn number(above: f64, up_to: f64) -> impl Shape<Value = f64> {
    Number { above, up_to }
}

impl Number {
    fn checked(&self, number: Option<f64>) -> Result<f64, String> {
        number
            .filter(|&n| n > self.above && n <= self.up_to)
            .ok_or_else(|| {
                format!(
                    "must be a number greater than {} and at most {}",
                    plain(self.above),
                    plain(self.up_to)
                )
            })
    }
}

/// A bound as people write it. It goes through JSON, whose number formatting is in a component
/// anyway; the standard library's would add 20 KB.
fn plain(bound: f64) -> String {
    let text = Value::from(bound).to_string();
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

impl Shape for Number {
    type Value = f64;

    fn read(&self, value: &Value) -> Result<f64, String> {
        self.checked(value.as_f64())
    }

    fn read_text(&self, text: &str) -> Result<f64, String> {
        self.checked(text.parse().ok())
    }

    fn schema(&self) -> Schema {
        json_schema!({"type": "number", "exclusiveMinimum": self.above, "maximum": self.up_to})
    }

    fn written(&self, value: &f64) -> Option<Value> {
        Some((*value).into())
    }
}

/// The text of a value.
fn string(value: &Value) -> Result<&str, String> {
    value.as_str().ok_or_else(|| "must be a string".to_owned())
}

#[derive(Debug)]
struct Text(RangeInclusive<usize>);

/// Strings without control characters, as a pattern of JSON Schema.
const NO_CONTROL: &str = r"^[^\u0000-\u001f\u007f-\u009f]*$";

/// A string with this many characters and no control characters.
pub fn text(chars: RangeInclusive<usize>) -> impl Shape<Value = String> {
    Text(chars)
}

impl Shape for Text {
    type Value = String;

    fn read(&self, value: &Value) -> Result<String, String> {
        self.read_text(string(value)?)
    }

    fn read_text(&self, text: &str) -> Result<String, String> {
        counted(text, &self.0)?;
        if text.chars().any(char::is_control) {
            return Err("must not contain control characters".to_owned());
        }
        Ok(text.to_owned())
    }

    fn schema(&self) -> Schema {
        let (least, most) = (*self.0.start(), *self.0.end());
        let mut schema = json_schema!({"type": "string", "pattern": NO_CONTROL});
        if least > 0 {
            schema.insert("minLength".to_owned(), least.into());
        }
        if most < usize::MAX {
            schema.insert("maxLength".to_owned(), most.into());
        }
        schema
    }

    fn written(&self, value: &String) -> Option<Value> {
        (!value.is_empty()).then(|| value.as_str().into())
    }
}

/// Whether a text has this many characters.
fn counted(text: &str, chars: &RangeInclusive<usize>) -> Result<(), String> {
    let (least, most) = (chars.start(), chars.end());
    match chars.contains(&text.chars().count()) {
        true => Ok(()),
        false if least == most => Err(format!("must have {least} characters")),
        false => Err(format!("must have {least}..={most} characters")),
    }
}

#[derive(Debug)]
struct Lines(RangeInclusive<usize>);

/// The text of a file, with this many characters: control characters are for who reads it.
pub fn lines(chars: RangeInclusive<usize>) -> impl Shape<Value = String> {
    Lines(chars)
}

impl Shape for Lines {
    type Value = String;

    fn read(&self, value: &Value) -> Result<String, String> {
        let text = string(value)?;
        counted(text, &self.0)?;
        Ok(text.to_owned())
    }

    fn schema(&self) -> Schema {
        json_schema!({"type": "string", "minLength": self.0.start(), "maxLength": self.0.end()})
    }
}

#[derive(Debug)]
struct Alike {
    text: Text,
    like: &'static Like,
}

/// A string with this many characters, as `like` says.
pub fn alike(chars: RangeInclusive<usize>, like: &'static Like) -> impl Shape<Value = String> {
    Alike {
        text: Text(chars),
        like,
    }
}

impl Shape for Alike {
    type Value = String;

    fn read(&self, value: &Value) -> Result<String, String> {
        self.read_text(string(value)?)
    }

    fn read_text(&self, text: &str) -> Result<String, String> {
        let text = self.text.read_text(text)?;
        match (self.like.fits)(&text) {
            true => Ok(text),
            false => Err(self.like.rule.to_owned()),
        }
    }

    fn schema(&self) -> Schema {
        let mut schema = self.text.schema();
        schema.insert("pattern".to_owned(), self.like.pattern.into());
        schema.insert("examples".to_owned(), [self.like.example].as_slice().into());
        schema
    }

    fn written(&self, value: &String) -> Option<Value> {
        Some(value.as_str().into())
    }
}

/// Longest id of something that the server made, in characters.
const ID_CHARS_MAX: usize = 64;

/// An id that the server gave to something.
pub fn id() -> impl Shape<Value = String> {
    text(1..=ID_CHARS_MAX)
}

#[derive(Debug)]
struct Spelled {
    len: RangeInclusive<usize>,
    class: &'static str,
}

/// A string of this many characters of a class, such as `A-Za-z0-9._-`.
pub fn spelled(len: RangeInclusive<usize>, class: &'static str) -> impl Shape<Value = String> {
    Spelled { len, class }
}

impl Spelled {
    fn has(&self, c: char) -> bool {
        let mut rest = self.class;
        while let Some(low) = rest.chars().next() {
            rest = &rest[low.len_utf8()..];
            let high = rest
                .strip_prefix('-')
                .and_then(|after| after.chars().next());
            if let Some(high) = high {
                rest = &rest['-'.len_utf8() + high.len_utf8()..];
            }
            if (low..=high.unwrap_or(low)).contains(&c) {
                return true;
            }
        }
        false
    }

    /// The number of characters, as people write it and as patterns do.
    fn counts(&self) -> (String, String) {
        let (least, most) = (self.len.start(), self.len.end());
        if least == most {
            (least.to_string(), least.to_string())
        } else {
            (format!("{least}..={most}"), format!("{least},{most}"))
        }
    }
}

impl Shape for Spelled {
    type Value = String;

    fn read(&self, value: &Value) -> Result<String, String> {
        self.read_text(string(value)?)
    }

    fn read_text(&self, text: &str) -> Result<String, String> {
        let fits = self.len.contains(&text.chars().count()) && text.chars().all(|c| self.has(c));
        fits.then(|| text.to_owned())
            .ok_or_else(|| format!("must be {} characters of {}", self.counts().0, self.class))
    }

    fn schema(&self) -> Schema {
        let pattern = format!("^[{}]{{{}}}$", self.class, self.counts().1);
        json_schema!({"type": "string", "pattern": pattern})
    }

    fn written(&self, value: &String) -> Option<Value> {
        Some(value.as_str().into())
    }
}

#[derive(Debug)]
struct Flag;

/// `true` or `false`.
pub fn flag() -> impl Shape<Value = bool> {
    Flag
}

impl Shape for Flag {
    type Value = bool;

    fn read(&self, value: &Value) -> Result<bool, String> {
        value
            .as_bool()
            .ok_or_else(|| "must be true or false".to_owned())
    }

    fn read_text(&self, text: &str) -> Result<bool, String> {
        text.parse().map_err(|_| "must be true or false".to_owned())
    }

    fn schema(&self) -> Schema {
        json_schema!({"type": "boolean"})
    }

    fn written(&self, value: &bool) -> Option<Value> {
        Some((*value).into())
    }
}

#[derive(Debug)]
struct Object;

/// An object with members of any name and kind, which the host judges.
pub fn object() -> impl Shape<Value = Map<String, Value>> {
    Object
}

impl Shape for Object {
    type Value = Map<String, Value>;

    fn read(&self, value: &Value) -> Result<Map<String, Value>, String> {
        let members = value.as_object().ok_or("must be an object")?;
        Ok(members.clone())
    }

    fn schema(&self) -> Schema {
        json_schema!({"type": "object"})
    }
}

#[derive(Debug)]
struct Choice<T: 'static>(&'static [(&'static str, T)]);

/// One of several words, each standing for a value. `words` must not be empty.
pub fn choice<T: Copy + PartialEq>(words: &'static [(&'static str, T)]) -> impl Shape<Value = T> {
    assert!(!words.is_empty(), "a choice offers at least one word");
    Choice(words)
}

impl<T: Copy + PartialEq> Shape for Choice<T> {
    type Value = T;

    fn read(&self, value: &Value) -> Result<T, String> {
        let found = value
            .as_str()
            .and_then(|text| self.0.iter().find(|(word, _)| *word == text));
        found.map(|&(_, value)| value).ok_or_else(|| {
            let words: Vec<&str> = self.0.iter().map(|&(word, _)| word).collect();
            format!("must be one of {}", words.join(", "))
        })
    }

    fn schema(&self) -> Schema {
        let words: Vec<&str> = self.0.iter().map(|&(word, _)| word).collect();
        json_schema!({"type": "string", "enum": words})
    }

    fn written(&self, value: &T) -> Option<Value> {
        let found = self.0.iter().find(|(_, known)| known == value);
        found.map(|&(word, _)| word.into())
    }
}

#[derive(Debug)]
struct List<S> {
    item: S,
    len: RangeInclusive<usize>,
}

/// A list with this many items.
pub fn list<S: Shape>(item: S, len: RangeInclusive<usize>) -> impl Shape<Value = Vec<S::Value>> {
    List { item, len }
}

impl<S: Shape> Shape for List<S> {
    type Value = Vec<S::Value>;

    fn read(&self, value: &Value) -> Result<Vec<S::Value>, String> {
        let items = value
            .as_array()
            .ok_or_else(|| "must be a list".to_owned())?;
        if !self.len.contains(&items.len()) {
            return Err(format!(
                "must have {}..={} items",
                self.len.start(),
                self.len.end()
            ));
        }
        items
            .iter()
            .enumerate()
            .map(|(index, item)| {
                self.item
                    .read(item)
                    .map_err(|problem| format!("item {index} {problem}"))
            })
            .collect()
    }

    fn schema(&self) -> Schema {
        let (least, most) = (*self.len.start(), *self.len.end());
        let items = self.item.schema();
        json_schema!({"type": "array", "items": items, "minItems": least, "maxItems": most})
    }

    fn written(&self, values: &Vec<S::Value>) -> Option<Value> {
        let items = values.iter().map(|item| self.item.written(item));
        items.collect::<Option<Vec<Value>>>().map(Value::Array)
    }
}
