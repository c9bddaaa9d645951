//! Examples are accepted, and their replies contain the fields in the table and no others.

use std::collections::BTreeSet;

use pod_protocol::commands::{Answer, Command, Data, Out, Shape};
use serde_json::{Map, Value};

use super::{all, ask, assert_none, examples, full_bench, parsed, refusal};

/// Fields that no example shows, since more than requests is needed to see them.
const UNSEEN: &[(&str, &str)] = &[
    ("adc_read", "offset_mv"),
    // Only a link that is too slow shows it.
    ("la_capture", "la_gap"),
    // Only the cloud and the USB port set them.
    ("cloud_ca", "certs[].sha256"),
    ("cloud_ca", "certs[].subject"),
    ("cloud_proxy", "auth"),
    ("cloud_proxy", "host"),
    ("cloud_proxy", "port"),
];

/// The fields of an answer, each with its type and in its place.
struct Check {
    verb: &'static str,
    seen: BTreeSet<String>,
    problems: Vec<String>,
}

impl Check {
    fn object(&mut self, path: &str, outs: &'static [Out], object: &Map<String, Value>) {
        for name in object.keys() {
            let listed = outs.iter().any(|out| out.name == name);
            if !listed {
                self.wrong(format!("{path}{name} is not in the table"));
            }
        }
        for out in outs {
            let full = format!("{path}{}", out.name);
            match object.get(out.name) {
                None if out.when.is_empty() => self.wrong(format!("{full} is missing")),
                None => {}
                Some(value) => {
                    self.value(&full, out, value);
                    self.seen.insert(full);
                }
            }
        }
    }

    fn value(&mut self, path: &str, out: &Out, value: &Value) {
        if value.is_null() {
            if !out.nullable {
                self.wrong(format!("{path} is null"));
            }
            return;
        }
        let list =
            |of: fn(&Value) -> bool| value.as_array().is_some_and(|list| list.iter().all(of));
        let fits = match out.shape {
            Shape::Int => value.is_i64() || value.is_u64(),
            Shape::Bit => matches!(value.as_i64(), Some(0 | 1)),
            Shape::Number => value.is_number(),
            Shape::Bool => value.is_boolean(),
            Shape::Text => value.is_string(),
            Shape::Ints => list(Value::is_i64),
            Shape::Numbers => list(Value::is_number),
            Shape::Texts => list(Value::is_string),
            Shape::Edges => list(|pair| pair.as_array().is_some_and(|pair| pair.len() == 2)),
            Shape::Object(outs) => value.as_object().is_some_and(|object| {
                self.object(&format!("{path}."), outs, object);
                true
            }),
            Shape::Objects(outs) => value.as_array().is_some_and(|list| {
                for entry in list {
                    let entry = entry.as_object().expect("a list of objects");
                    self.object(&format!("{path}[]."), outs, entry);
                }
                true
            }),
            Shape::Named => value.is_object(),
        };
        if !fits {
            self.wrong(format!("{path} is {value}, not {:?}", out.shape));
        }
    }

    fn line(&mut self, command: &'static Command, line: &Value) {
        let mut line = line.as_object().expect("a line is an object").clone();
        let status = line.remove("status");
        assert!(matches!(
            status.as_ref().and_then(Value::as_str),
            Some("ok" | "chunk")
        ));
        let single = line.get("data").is_some_and(Value::is_object);
        if command.answer == Answer::Chunks && !single {
            line.remove("more");
            return self.object("", command.chunk, &line);
        }
        let data = line.remove("data").unwrap_or(Value::Null);
        if !line.is_empty() {
            self.wrong(format!("{line:?} beside data"));
        }
        let fits = match command.data {
            Data::Null => data.is_null(),
            Data::Text(text) => data == text,
            Data::Ints => data.is_array(),
            Data::Object(outs) => data.as_object().is_some_and(|object| {
                self.object("", outs, object);
                true
            }),
        };
        if !fits {
            self.wrong(format!("the data is {data}"));
        }
    }

    fn wrong(&mut self, what: String) {
        self.problems.push(format!("{}: {what}", self.verb));
    }
}

fn names(outs: &'static [Out], path: &str, all: &mut BTreeSet<String>) {
    for out in outs {
        let full = format!("{path}{}", out.name);
        match out.shape {
            Shape::Object(inner) => names(inner, &format!("{full}."), all),
            Shape::Objects(inner) => names(inner, &format!("{full}[]."), all),
            _ => {}
        }
        all.insert(full);
    }
}

#[tokio::test(start_paused = true)]
async fn examples_are_taken_and_answered_as_listed() {
    let mut problems = Vec::<String>::new();
    for command in all() {
        let mut check = Check {
            verb: command.verb,
            seen: BTreeSet::new(),
            problems: Vec::new(),
        };
        for example in examples(command) {
            let lines = ask(&full_bench(), example, &parsed(example.request)).await;
            let refused = refusal(&lines);
            if let Some(text) = refused {
                check.wrong(format!("{} is refused: {text}", example.request));
                continue;
            }
            for line in &lines {
                check.line(command, line);
            }
        }
        if command.examples.is_empty() {
            continue;
        }
        let mut listed = BTreeSet::new();
        names(command.chunk, "", &mut listed);
        if let Data::Object(outs) = command.data {
            names(outs, "", &mut listed);
        }
        let unseen = listed.difference(&check.seen);
        let unseen: Vec<_> = unseen
            .filter(|name| !UNSEEN.contains(&(command.verb, name.as_str())))
            .collect();
        if !unseen.is_empty() {
            check
                .problems
                .push(format!("{}: no example shows {unseen:?}", command.verb));
        }
        problems.extend(check.problems);
    }
    assert_none(&problems);
}
