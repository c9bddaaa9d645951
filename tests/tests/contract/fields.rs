//! Every field that the document describes for a route, and requests that differ from a good one in
//! that field alone.

use std::fmt;

use serde_json::{Map, Value};

use crate::call::Call;
use crate::document::{Document, Operation};
use crate::edges::{alternatives, sample, types};

/// A member of a body, a part of a form, or a parameter.
#[derive(Debug)]
pub(crate) struct Field<'d> {
    pub(crate) place: Place,
    path: Vec<Step>,
    pub(crate) schema: &'d Value,
    /// The schema of the whole body; for a parameter, its own.
    root: &'d Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Query,
    Header,
    Json,
    Form,
}

/// A step into a schema.
#[derive(Debug, Clone, PartialEq)]
enum Step {
    Member(String),
    /// One of several schemas, of which a value must fit one.
    Alternative(usize),
    /// The first item of a list.
    Item,
}

impl<'d> Field<'d> {
    /// All fields of an operation except those in its path: an id that does not exist is simply not
    /// found.
    pub(crate) fn all(operation: &'d Operation) -> Vec<Self> {
        let mut all = Vec::new();
        for parameter in operation.parameters() {
            let place = match parameter["in"].as_str() {
                Some("query") => Place::Query,
                Some("header") => Place::Header,
                _ => continue,
            };
            let name = parameter["name"].as_str().expect("a parameter has a name");
            let schema = &parameter["schema"];
            all.push(Self {
                place,
                path: vec![Step::Member(name.to_owned())],
                schema,
                root: schema,
            });
        }
        let bodies = [
            (Place::Json, "application/json"),
            (Place::Form, "multipart/form-data"),
        ];
        for (place, media_type) in bodies {
            if let Some(root) = operation.body(media_type) {
                let mut below = Vec::new();
                walk(root, &mut Vec::new(), &mut below);
                all.extend(below.into_iter().map(|(path, schema)| Self {
                    place,
                    path,
                    schema,
                    root,
                }));
            }
        }
        all
    }

    /// Whether its value is sent as plain text, whatever it stands for.
    pub(crate) fn is_text(&self) -> bool {
        self.place != Place::Json
    }

    /// Its name in a refusal by the server: items go by the name of their list.
    pub(crate) fn told(&self) -> String {
        let outer = self.path.iter().take_while(|step| **step != Step::Item);
        let names = outer.filter_map(|step| match step {
            Step::Member(name) => Some(name.as_str()),
            _ => None,
        });
        names.collect::<Vec<_>>().join(".")
    }

    /// The good request that comes closest to having the field, with `value` in it.
    pub(crate) fn call(
        &self,
        document: &Document,
        operation: &Operation,
        good: &[&Call],
        value: &Value,
    ) -> Call {
        let text = || match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        match self.place {
            Place::Query => good[0].with_parameter(&self.told(), &text()),
            Place::Header => unreachable!("no header has bounds"),
            Place::Form => {
                let form = good.iter().find(|call| call.is_form());
                let form = form.expect("a form is among the rows");
                form.with_part(&self.told(), &text())
            }
            Place::Json => {
                let (call, mut body) = self.nearest(document, operation, good);
                put(document, &mut body, self.root, &self.path, value);
                call.with_json(&body)
            }
        }
    }

    /// A request whose body has the field, with `value` in it, and `null` in every other member that may
    /// be `null`.
    pub(crate) fn alone(&self, document: &Document, good: &Call, value: &Value) -> Call {
        let mut body = sample(self.root, 0);
        put(document, &mut body, self.root, &self.path, value);
        let (mut node, mut schema) = (&mut body, self.root);
        for step in &self.path {
            let Step::Member(name) = step else {
                break;
            };
            for (name, beside) in schema["properties"].as_object().into_iter().flatten() {
                if types(beside).any(|kind| kind == "null") && node[name].is_null() {
                    node[name] = Value::Null;
                }
            }
            (node, schema) = (&mut node[name], &schema["properties"][name]);
        }
        good.with_json(&body)
    }

    /// The first request whose body contains the longest part of the field's path; if none has a body,
    /// one with the documented example.
    fn nearest<'c>(
        &self,
        document: &Document,
        operation: &Operation,
        good: &[&'c Call],
    ) -> (&'c Call, Value) {
        let bodies = good
            .iter()
            .filter_map(|call| Some((*call, call.json_body()?)));
        let mut nearest: Option<(usize, &Call, Value)> = None;
        for (call, body) in bodies {
            let reach = reach(document, &body, self.root, &self.path);
            if nearest.as_ref().is_none_or(|(best, ..)| reach > *best) {
                nearest = Some((reach, call, body));
            }
        }
        let nearest = nearest.map(|(_, call, body)| (call, body));
        nearest.unwrap_or_else(|| {
            let example = operation.example.clone();
            (good[0], example.unwrap_or(Value::Object(Map::new())))
        })
    }
}

impl fmt::Display for Field<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match self.place {
            Place::Query => "?",
            Place::Header => "header ",
            Place::Json => "",
            Place::Form => "form ",
        };
        out.write_str(place)?;
        for (index, step) in self.path.iter().enumerate() {
            match step {
                Step::Member(name) if index == 0 => write!(out, "{name}")?,
                Step::Member(name) => write!(out, ".{name}")?,
                Step::Alternative(number) => write!(out, "|{number}")?,
                Step::Item => write!(out, "[]")?,
            }
        }
        Ok(())
    }
}

/// The fields below a schema.
fn walk<'d>(schema: &'d Value, path: &mut Vec<Step>, all: &mut Vec<(Vec<Step>, &'d Value)>) {
    let mut into = |step: Step, schema: &'d Value, is_field: bool| {
        path.push(step);
        if is_field {
            all.push((path.clone(), schema));
        }
        walk(schema, path, all);
        path.pop();
    };
    for (number, one) in alternatives(schema).enumerate() {
        into(Step::Alternative(number), one, false);
    }
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        into(Step::Member(name.clone()), member, true);
    }
    if schema["items"]["properties"].is_object() {
        into(Step::Item, &schema["items"], false);
    }
}

/// How many steps of `path` lead somewhere in `node`.
fn reach(document: &Document, node: &Value, schema: &Value, path: &[Step]) -> usize {
    let Some((step, rest)) = path.split_first() else {
        return 0;
    };
    let (node, schema) = match step {
        Step::Member(name) => (node.get(name), &schema["properties"][name]),
        Step::Item => (node.get(0), &schema["items"]),
        Step::Alternative(number) => {
            let one = alternatives(schema).nth(*number).expect("as walked");
            (
                Some(node).filter(|node| document.fits(one, node).is_ok()),
                one,
            )
        }
    };
    node.filter(|node| !node.is_null())
        .map_or(0, |node| 1 + reach(document, node, schema, rest))
}

/// Put `value` where `path` leads, and create what is missing on the way.
fn put(document: &Document, node: &mut Value, schema: &Value, path: &[Step], value: &Value) {
    let Some((step, rest)) = path.split_first() else {
        *node = value.clone();
        return;
    };
    let (node, schema) = match step {
        Step::Member(name) => {
            if !node.is_object() {
                *node = sample(schema, 0);
            }
            let members = node.as_object_mut().expect("a sample of an object");
            let member = members.entry(name.clone()).or_insert(Value::Null);
            (member, &schema["properties"][name])
        }
        Step::Item => {
            if node.get(0).is_none() {
                *node = vec![sample(&schema["items"], 0)].into();
            }
            (&mut node[0], &schema["items"])
        }
        Step::Alternative(number) => {
            let one = alternatives(schema).nth(*number).expect("as walked");
            if document.fits(one, node).is_err() {
                *node = sample(one, 0);
            }
            (node, one)
        }
    };
    put(document, node, schema, rest, value);
}
