//! A body or a query as one Rust type: what is read, its bounds, its defaults and its documentation
//! are in one place, so that none can lag behind another.
//!
//! ```
//! guest::members! {
//!     /// A trigger.
//!     #[derive(Debug, PartialEq)]
//!     pub struct Trigger {
//!         /// Logic-analyzer channel.
//!         pub channel: u8 = required(guest::integer(1..=14)),
//!         /// Wait for it, in milliseconds.
//!         pub timeout_ms: u32 = or(guest::integer(1..=600_000), 10_000),
//!     }
//! }
//!
//! let body = guest::Fields::parse(br#"{"channel": 15, "edge": "up"}"#).unwrap();
//! let problems = body.read::<Trigger>().unwrap_err().fields;
//! assert_eq!(problems[0].field, "channel");
//! assert_eq!(problems[1].message, "is not known here");
//! ```

use std::marker::PhantomData;

use schemars::{Schema, json_schema};
use serde_json::{Map, Value};

use crate::{Fields, Shape};

/// A type that [`members!`](crate::members) made: an object that is read member by member.
pub trait Members: Sized {
    /// Read them; none when a problem was noted.
    fn read(fields: &mut Fields) -> Option<Self>;

    /// The members, in order.
    fn members() -> Vec<Member>;

    /// What the object is.
    fn description() -> String;

    /// The object as JSON Schema.
    fn schema() -> Schema {
        object(Self::members(), &Self::description())
    }
}

/// One member or parameter, as it is documented.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    pub name: String,
    pub description: String,
    pub required: bool,
    /// Schema of the value when there is one; it does not include `null`.
    pub schema: Schema,
    pub default: Option<Value>,
}

impl Member {
    /// The schema with its description and default.
    pub(crate) fn documented(&self) -> Schema {
        let mut schema = self.schema.clone();
        if !self.description.is_empty() {
            schema.insert("description".to_owned(), self.description.as_str().into());
        }
        if let Some(default) = &self.default {
            schema.insert("default".to_owned(), default.clone());
        }
        schema
    }
}

/// The schema of an object with these members and no others.
fn object(members: Vec<Member>, description: &str) -> Schema {
    let mut properties = Map::new();
    let mut required: Vec<Value> = Vec::new();
    for mut member in members {
        if member.required {
            required.push(member.name.as_str().into());
        } else {
            member.schema = or_null(member.schema);
        }
        properties.insert(member.name.clone(), member.documented().into());
    }
    let mut schema = json_schema!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false
    });
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    if !description.is_empty() {
        schema.insert("description".to_owned(), description.into());
    }
    schema
}

/// The same, or `null`, which counts as absent.
fn or_null(mut schema: Schema) -> Schema {
    let Some(Value::String(kind)) = schema.get("type").cloned() else {
        return json_schema!({"anyOf": [schema, {"type": "null"}]});
    };
    schema.insert("type".to_owned(), vec![kind, "null".to_owned()].into());
    if let Some(Value::Array(words)) = schema.get_mut("enum") {
        words.push(Value::Null);
    }
    schema
}

/// How a member is read: its shape, and what its absence means.
pub trait Rule {
    type Value;

    /// Read the member; none when a problem was noted.
    fn take(self, name: &str, fields: &mut Fields) -> Option<Self::Value>;

    /// The members that it reads, as they are documented.
    fn members(self, name: &str, description: String) -> Vec<Member>;
}

#[derive(Debug)]
struct Required<S>(S);

/// The member must be present. `null` counts as absent.
pub fn required<S: Shape>(shape: S) -> impl Rule<Value = S::Value> {
    Required(shape)
}

impl<S: Shape> Rule for Required<S> {
    type Value = S::Value;

    fn take(self, name: &str, fields: &mut Fields) -> Option<S::Value> {
        let Some(value) = fields.take(name) else {
            fields.problem(name, "is required");
            return None;
        };
        self.0.read_member(name, value, fields)
    }

    fn members(self, name: &str, description: String) -> Vec<Member> {
        vec![Member {
            name: name.to_owned(),
            description,
            required: true,
            schema: self.0.schema(),
            default: None,
        }]
    }
}

#[derive(Debug)]
struct Optional<S>(S);

/// The member may be absent or `null`.
pub fn optional<S: Shape>(shape: S) -> impl Rule<Value = Option<S::Value>> {
    Optional(shape)
}

impl<S: Shape> Rule for Optional<S> {
    type Value = Option<S::Value>;

    fn take(self, name: &str, fields: &mut Fields) -> Option<Option<S::Value>> {
        let Some(value) = fields.take(name) else {
            return Some(None);
        };
        self.0.read_member(name, value, fields).map(Some)
    }

    fn members(self, name: &str, description: String) -> Vec<Member> {
        let mut members = Required(self.0).members(name, description);
        members[0].required = false;
        members
    }
}

#[derive(Debug)]
struct Or<S: Shape>(S, S::Value);

/// A member that is absent or `null` has the value `default`.
pub fn or<S: Shape>(shape: S, default: S::Value) -> impl Rule<Value = S::Value> {
    Or(shape, default)
}

impl<S: Shape> Rule for Or<S> {
    type Value = S::Value;

    fn take(self, name: &str, fields: &mut Fields) -> Option<S::Value> {
        match fields.take(name) {
            None => Some(self.1),
            Some(value) => self.0.read_member(name, value, fields),
        }
    }

    fn members(self, name: &str, description: String) -> Vec<Member> {
        let default = self.0.written(&self.1);
        let mut members = Optional(self.0).members(name, description);
        members[0].default = default;
        members
    }
}

#[derive(Debug)]
struct Inline<T>(PhantomData<T>);

/// Members that several bodies share, as if they were declared here. The field's own name and
/// comment are not documented.
pub fn inline<T: Members>() -> impl Rule<Value = T> {
    Inline(PhantomData)
}

impl<T: Members> Rule for Inline<T> {
    type Value = T;

    fn take(self, _: &str, fields: &mut Fields) -> Option<T> {
        T::read(fields)
    }

    fn members(self, _: &str, _: String) -> Vec<Member> {
        T::members()
    }
}

#[derive(Debug)]
struct Nested<T>(PhantomData<T>);

/// An object within the object, read as strictly.
pub fn nested<T: Members>() -> impl Shape<Value = T> {
    Nested(PhantomData)
}

impl<T: Members> Shape for Nested<T> {
    type Value = T;

    fn read(&self, value: &Value) -> Result<T, String> {
        let Value::Object(members) = value else {
            return Err("must be an object".to_owned());
        };
        Fields::of(members.clone()).read().map_err(|error| {
            let first = error.fields.into_iter().next();
            first.map_or(error.message, |p| {
                format!("has a wrong {}: {}", p.field, p.message)
            })
        })
    }

    fn read_member(&self, name: &str, value: Value, fields: &mut Fields) -> Option<T> {
        fields.inner(name, value)
    }

    fn schema(&self) -> Schema {
        T::schema()
    }
}

/// The rule itself, for a member of type `T`, so that its numbers are of the right type.
pub fn rule<T, R: Rule<Value = T>>(rule: R) -> R {
    rule
}

/// The lines of a doc comment as one text. Consecutive lines are one paragraph.
#[must_use]
pub fn prose(lines: &[&str]) -> String {
    let paragraphs = lines.split(|line| line.trim().is_empty());
    let paragraphs = paragraphs.filter(|lines| !lines.is_empty());
    let paragraphs = paragraphs.map(|lines| {
        let lines: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
        lines.join(" ")
    });
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

/// The name of a field in JSON: `r#ref` is `ref`.
#[must_use]
pub const fn plain_name(name: &'static str) -> &'static str {
    match name.as_bytes() {
        [b'r', b'#', ..] => name.split_at(2).1,
        _ => name,
    }
}

/// Declares a struct that is read from a JSON object, a form or a query, and documented from the same
/// lines. Each field has a doc comment for the OpenAPI document and, after `=`, the rule by which it is
/// read: `required(shape)`, `optional(shape)` for an `Option`, `or(shape, default)`, or `inline()` for
/// another such struct whose members appear among these. Shapes are [`text`](crate::text),
/// [`integer`](crate::integer), [`nested`] and the like.
///
/// Rules that involve several members are checked on the value that was read.
#[macro_export]
macro_rules! members {
    (
        $(#[doc = $about:literal])*
        $(#[derive($($derive:path),* $(,)?)])?
        $visibility:vis struct $name:ident {
            $(
                $(#[doc = $doc:literal])*
                $member_visibility:vis $member:ident: $type:ty = $presence:ident($($rule:tt)*)
            ),* $(,)?
        }
    ) => {
        $(#[doc = $about])*
        $(#[derive($($derive),*)])?
        $visibility struct $name {
            $(
                $(#[doc = $doc])*
                #[allow(dead_code, reason = "some members are checked and then of no further use")]
                $member_visibility $member: $type,
            )*
        }

        impl $crate::Members for $name {
            fn read(fields: &mut $crate::Fields) -> Option<Self> {
                // All are read before a missing one ends it, so that all problems are reported.
                $(
                    let $member = $crate::Rule::take(
                        $crate::rule::<$type, _>($crate::$presence($($rule)*)),
                        const { $crate::plain_name(stringify!($member)) },
                        fields,
                    );
                )*
                Some(Self { $($member: $member?),* })
            }

            fn members() -> Vec<$crate::Member> {
                let members = [$(
                    $crate::Rule::members(
                        $crate::rule::<$type, _>($crate::$presence($($rule)*)),
                        const { $crate::plain_name(stringify!($member)) },
                        $crate::prose(&[$($doc),*]),
                    )
                ),*];
                members.concat()
            }

            fn description() -> String {
                $crate::prose(&[$($about),*])
            }
        }
    };
}

#[cfg(test)]
mod tests;
