//! Strict reading of a JSON object: a type made with [`members!`](crate::members) takes its members by
//! name and shape, all problems are collected, and an unknown member is an error too.

use serde_json::{Map, Value};

use crate::error::clip;
use crate::{ApiError, FieldProblem, Members};

/// Deepest nesting of a body. Parsing recurses, and a guest's stack is small.
const JSON_DEPTH_MAX: usize = 32;

/// Most problems reported at once.
const PROBLEMS_MAX: usize = 16;

/// Longest name chosen by the caller that an error repeats, in bytes.
pub(crate) const NAME_BYTES_MAX: usize = 64;

/// The members of an object that have not been read yet, and what was wrong with those that have.
#[derive(Debug)]
#[must_use = "problems and unknown members only count in `read`"]
pub struct Fields {
    prefix: String,
    members: Map<String, Value>,
    problems: Vec<FieldProblem>,
    /// All members are text, whatever they stand for.
    texts: bool,
}

impl Fields {
    pub(crate) fn empty() -> Self {
        Self::of(Map::new())
    }

    /// The parts of a form: text, read as query parameters are.
    pub fn of_texts(parts: Vec<(String, String)>) -> Self {
        let members = parts.into_iter();
        let members = members.map(|(name, text)| (name, Value::String(text)));
        Self {
            texts: true,
            ..Self::of(members.collect())
        }
    }

    pub(crate) fn of(members: Map<String, Value>) -> Self {
        Self {
            prefix: String::new(),
            members,
            problems: Vec::new(),
            texts: false,
        }
    }

    /// # Errors
    /// 400: not JSON, nested deeper than 32, or not an object.
    pub fn parse(body: &[u8]) -> Result<Self, ApiError> {
        if depth(body) > JSON_DEPTH_MAX {
            return Err(ApiError::invalid(format!(
                "the body is nested deeper than {JSON_DEPTH_MAX} levels"
            )));
        }
        match serde_json::from_slice(body) {
            Ok(Value::Object(members)) => Ok(Self::of(members)),
            Ok(other) => Err(ApiError::invalid(format!(
                "the body must be a JSON object, not {}",
                kind(&other)
            ))),
            Err(error) => Err(ApiError::invalid(format!(
                "the body is not valid JSON: {error}"
            ))),
        }
    }

    /// The members of `value`, the member `name`, if it is an object.
    pub(crate) fn object_in(&mut self, name: &str, value: Value) -> Option<Map<String, Value>> {
        match value {
            Value::Object(members) => Some(members),
            other => {
                self.problem(name, &format!("must be an object, not {}", kind(&other)));
                None
            }
        }
    }

    /// Every member that was not read, for a body that is an object of somebody else's.
    #[must_use]
    pub fn rest(self) -> Map<String, Value> {
        self.members
    }

    /// Whether the member is given and not `null`, without reading it.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.members.get(name).is_some_and(|value| !value.is_null())
    }

    /// Take the member `alias`, as older clients call it, for `name`. If there are both, `alias` stays, and is not
    /// known.
    pub fn rename(&mut self, alias: &str, name: &str) {
        if self.has(name) {
            return;
        }
        if let Some(value) = self.take(alias) {
            self.members.insert(name.to_owned(), value);
        }
    }

    /// Whether the member is given as an object, without reading it.
    #[must_use]
    pub fn is_object(&self, name: &str) -> bool {
        self.members.get(name).is_some_and(Value::is_object)
    }

    /// Whether members are text, whatever they stand for: those of a form or a query.
    #[must_use]
    pub fn are_texts(&self) -> bool {
        self.texts
    }

    /// Read the whole object as a [`Members`] type.
    ///
    /// # Errors
    /// 400 with all problems, unknown members among them.
    pub fn read<T: Members>(mut self) -> Result<T, ApiError> {
        let read = T::read(&mut self);
        self.checked(read)
    }

    /// Read the members that `T` knows, and return the others as they are.
    ///
    /// # Errors
    /// 400 with all problems.
    pub(crate) fn read_open<T: Members>(mut self) -> Result<(T, Map<String, Value>), ApiError> {
        let read = T::read(&mut self);
        let others = std::mem::take(&mut self.members);
        let known = self.checked(read)?;
        Ok((known, others))
    }

    fn checked<T>(mut self, read: Option<T>) -> Result<T, ApiError> {
        self.reject_unknown();
        if !self.problems.is_empty() {
            return Err(ApiError::fields(self.problems));
        }
        read.ok_or_else(|| ApiError::internal("a member was refused without a reason"))
    }

    /// Read `value`, the member `name`, as strictly as this object.
    pub(crate) fn inner<T: Members>(&mut self, name: &str, value: Value) -> Option<T> {
        let members = self.object_in(name, value)?;
        let mut inner = Fields {
            prefix: format!("{}{name}.", self.prefix),
            members,
            problems: std::mem::take(&mut self.problems),
            texts: false,
        };
        let value = T::read(&mut inner);
        inner.reject_unknown();
        self.problems = inner.problems;
        value
    }

    /// Note that a member is wrong for a reason beyond its own shape. `message` follows its name.
    pub fn problem(&mut self, name: &str, message: &str) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(FieldProblem {
                field: format!("{}{name}", self.prefix),
                message: message.to_owned(),
            });
        }
    }

    fn reject_unknown(&mut self) {
        for (name, _) in std::mem::take(&mut self.members) {
            self.problem(clip(&name, NAME_BYTES_MAX), "is not known here");
        }
    }

    /// Take a member, whatever its type; none when it is absent or `null`.
    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        self.members.remove(name).filter(|value| !value.is_null())
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Deepest nesting of brackets outside strings, whether or not they match.
fn depth(json: &[u8]) -> usize {
    let (mut open, mut deepest) = (0_usize, 0);
    let (mut in_string, mut escaped) = (false, false);
    for &byte in json {
        if in_string {
            in_string = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => {
                open += 1;
                deepest = deepest.max(open);
            }
            b'}' | b']' => open = open.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests;
