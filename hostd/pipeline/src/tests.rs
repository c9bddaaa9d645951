//! Pipelines as people write them, right and wrong; both by the parser and by the schema.

mod agreement;
mod bombs;
mod chips;
mod document;
mod expansion;
mod images;
mod network;
mod patterns;
mod refusals;
mod rule_steps;
mod rules;
mod secrets;
mod values;
mod words;

use std::sync::LazyLock;

use serde_json::{Map, Value};

use crate::plan::Plan;
use crate::yaml::{self, Node};
use crate::{Caps, Pipeline, Report, expand, parse};

/// A whole pipeline.
const EXAMPLE: &str = include_str!("tests/example.yaml");

fn read(text: &str) -> Result<Pipeline, Box<Report>> {
    parse(text, &Caps::default())
}

/// The plan of a pipeline that must be right.
fn plan(text: &str) -> Plan {
    match read(text) {
        Ok(pipeline) => expand(&pipeline, &Caps::default()),
        Err(report) => panic!("{}", report.render("ci.yml")),
    }
}

/// Codes, lines and paths of what is wrong.
fn wrong(text: &str) -> Vec<String> {
    let report = read(text).expect_err(text);
    let told = report.problems.iter();
    told.map(|problem| {
        format!(
            "{} {}:{} {}",
            problem.code.as_str(),
            problem.line,
            problem.column,
            problem.path
        )
    })
    .collect()
}

/// A pipeline with one build and these steps.
fn build_steps(steps: &str) -> String {
    format!("version: 1\nbuilds:\n- id: fw\n  steps:\n{steps}")
}

/// A pipeline with one bench and these steps, from line 7 on.
fn bench_steps(steps: &str) -> String {
    format!(
        "version: 1\nvars: {{ N: 3, T: text }}\nbenches:\n- id: smoke\n  device: {{ name: a }}\n  steps:\n{steps}"
    )
}

/// Whether the schema takes a document.
fn fits_schema(text: &str) -> bool {
    static SCHEMA: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
        jsonschema::draft202012::new(&crate::schema()).expect("the schema is one")
    });
    let Ok(root) = yaml::read(text) else {
        return false;
    };
    SCHEMA.is_valid(&json(&root))
}

fn json(node: &Node) -> Value {
    match &node.value {
        yaml::Value::Null => Value::Null,
        yaml::Value::Bool(value, _) => Value::Bool(*value),
        yaml::Value::Number(Some(value), _) => {
            i64::try_from(*value).map_or(Value::from(f64::MAX), Value::from)
        }
        yaml::Value::Number(None, _) => Value::from(0.5),
        yaml::Value::Text(text) => Value::from(text.as_str()),
        yaml::Value::List(list) => list.iter().map(json).collect(),
        yaml::Value::Map(map) => {
            let entries = map.iter().map(|(key, node)| (key.name.clone(), json(node)));
            Value::Object(entries.collect::<Map<_, _>>())
        }
    }
}
