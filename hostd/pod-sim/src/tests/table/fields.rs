//! What the table says about request fields: ranges, types, and which are required.

use pod_protocol::commands::{Command, Example, Field, Kind, Need, Outside};
use serde_json::{Map, Value, json};

use super::{all, ask, assert_none, examples, full_bench, parsed, refusal};

/// Fields whose range is narrowed by other fields or by the pod's state.
const NARROWED: &[(&str, &str)] = &[
    ("load", "offset"),
    ("spi_flash", "len"),
    ("sensor_regs", "len"),
    ("dac_loop_input", "step"),
    ("dac_control_loop", "in_mv_per_unit"),
    ("dac_control_loop", "in_min"),
    ("dac_control_loop", "in_max"),
    ("dac_control_loop", "in_trip"),
    ("dac_limits", "min_mv"),
    ("dac_limits", "max_mv"),
    ("capture", "pre_samples"),
    ("stream", "pre_samples"),
    ("la_capture", "pre_samples"),
    ("capture_dual", "pre_samples"),
];

/// The example for trying a field: one that has it, otherwise the first.
fn example_with(command: &'static Command, field: &Field) -> Option<&'static Example> {
    let has = |example: &&Example| parsed(example.request).contains_key(field.name);
    let with = examples(command).find(has);
    with.or(examples(command).next())
}

/// The message with which a pod refuses an example whose field is replaced.
async fn tried(command: &'static Command, field: &Field, value: &Value) -> Option<String> {
    let example = example_with(command, field)?;
    let mut request = parsed(example.request);
    request.insert(field.name.to_owned(), value.clone());
    let lines = ask(&full_bench(), example, &request).await;
    refusal(&lines).map(str::to_owned)
}

/// Whether a refusal is about the value of this field rather than about something else.
fn is_about(text: &str, field: &Field) -> bool {
    let named = |words: &str| text.starts_with(&format!("{}{words}", field.name));
    named(" out of range") || text.starts_with(&format!("bad {}:", field.name))
}

fn values_at_the_ends(kind: Kind) -> Vec<Value> {
    match kind {
        Kind::Int(min, max) | Kind::HexOrInt(min, max) => vec![json!(min), json!(max)],
        Kind::OneOf(numbers) => numbers.iter().map(|number| json!(number)).collect(),
        Kind::Number(min, max) => vec![json!(min), json!(max)],
        Kind::Positive => vec![json!(0.5)],
        Kind::Flag => vec![json!(true), json!(false), json!(0), json!(1)],
        Kind::Word(words) => words.iter().map(|word| json!(word)).collect(),
        Kind::La => vec![json!(1), json!(14)],
        Kind::Las => vec![json!(1), json!([14, 2])],
        Kind::ByteList => vec![json!([]), json!([0, 1, 2, 3, 4, 5, 6, 255])],
        Kind::Bytes(..) | Kind::Text | Kind::Trigger | Kind::Mixed => Vec::new(),
    }
}

fn values_outside(field: &Field) -> Vec<Value> {
    let below = matches!(field.outside, Outside::Refused | Outside::ClampedAbove);
    let above = matches!(field.outside, Outside::Refused | Outside::ClampedBelow);
    let ends = |low: Value, high: Value| {
        let values = [(below, low), (above, high)];
        values
            .into_iter()
            .filter(|(out, _)| *out)
            .map(|(_, value)| value)
    };
    match field.kind {
        Kind::Int(min, max) => ends(json!(min - 1), json!(max + 1)).collect(),
        Kind::HexOrInt(min, max) => vec![json!(min - 1), json!(max + 1), json!("0xzz")],
        Kind::OneOf(numbers) => {
            vec![json!(numbers[0] + 1), json!(numbers[numbers.len() - 1] + 1)]
        }
        Kind::Number(min, max) => ends(json!(min - 0.25), json!(max + 0.25)).collect(),
        Kind::Positive => vec![json!(0.0), json!(-1.0)],
        Kind::Flag => vec![json!(2)],
        Kind::Word(_) => vec![json!("warp")],
        Kind::La => vec![json!(0), json!(15)],
        Kind::Las => vec![json!(0), json!([1, 15]), json!([])],
        Kind::ByteList => vec![json!([256]), json!([0, 0, 0, 0, 0, 0, 0, 0, 0])],
        Kind::Bytes(min, max) => {
            let letters = |bytes: usize| json!("A".repeat((bytes * 4).div_ceil(3)));
            let short = (min > 0).then(|| letters(min - 1));
            let long = (max < 900).then(|| letters(max + 1));
            short.into_iter().chain(long).chain([json!("!!")]).collect()
        }
        Kind::Trigger => vec![
            json!({"la": 15}),
            json!({"la": 1, "edge": "warp"}),
            json!({}),
        ],
        Kind::Text | Kind::Mixed => Vec::new(),
    }
}

fn value_of_wrong_type(kind: Kind) -> Option<Value> {
    match kind {
        Kind::Mixed => None,
        Kind::Word(_) | Kind::Text | Kind::Bytes(..) | Kind::Trigger => Some(json!(5)),
        _ => Some(json!("warp")),
    }
}

#[tokio::test(start_paused = true)]
async fn what_lies_within_a_range_is_not_refused_for_it() {
    let mut problems = Vec::new();
    for command in all() {
        for field in command.fields {
            for value in values_at_the_ends(field.kind) {
                let refused = tried(command, field, &value).await;
                let narrowed = NARROWED.contains(&(command.verb, field.name));
                let for_it =
                    refused.as_ref().is_some_and(|text| is_about(text, field)) && !narrowed;
                if for_it {
                    problems.push(format!(
                        "{} {}={value}: {refused:?}",
                        command.verb, field.name
                    ));
                }
            }
        }
    }
    assert_none(&problems);
}

#[tokio::test(start_paused = true)]
async fn what_lies_outside_is_refused_or_clamped() {
    let mut problems = Vec::new();
    for command in all().filter(|command| !command.examples.is_empty()) {
        for field in command.fields {
            let wrong = value_of_wrong_type(field.kind);
            for value in values_outside(field).into_iter().chain(wrong) {
                let refused = tried(command, field, &value).await;
                if refused.is_none() {
                    problems.push(format!("{} {}={value} is taken", command.verb, field.name));
                }
            }
            if let (Kind::Int(min, max), true) = (field.kind, field.outside != Outside::Refused) {
                let clamped = match field.outside {
                    Outside::ClampedAbove => vec![max + 1],
                    Outside::ClampedBelow => vec![min - 1],
                    Outside::Clamped | Outside::Refused => vec![min - 1, max + 1],
                };
                for value in clamped {
                    let refused = tried(command, field, &json!(value)).await;
                    if refused.is_some() {
                        problems.push(format!(
                            "{} {}={value}: {refused:?}",
                            command.verb, field.name
                        ));
                    }
                }
            }
        }
    }
    assert_none(&problems);
}

fn needs(field: &Field, request: &Map<String, Value>) -> bool {
    match field.need {
        Need::Required => true,
        Need::With(other) => request.contains_key(other),
        Need::When(other, words) => {
            let word = request.get(other).and_then(Value::as_str);
            word.is_some_and(|word| words.contains(&word))
        }
        Need::Optional(_) => false,
    }
}

#[tokio::test(start_paused = true)]
async fn a_required_field_that_is_left_out_is_refused() {
    let mut problems = Vec::new();
    for command in all() {
        for example in examples(command) {
            let request = parsed(example.request);
            for field in command.fields.iter().filter(|field| needs(field, &request)) {
                let mut without = request.clone();
                let was = without.remove(field.name);
                assert!(was.is_some(), "{}: no {}", example.request, field.name);
                let lines = ask(&full_bench(), example, &without).await;
                let text = refusal(&lines);
                let names_it = text.is_some_and(|text| text.contains(field.name));
                if !names_it {
                    problems.push(format!(
                        "{} without {}: {text:?}",
                        example.request, field.name
                    ));
                }
            }
        }
    }
    assert_none(&problems);
}

#[tokio::test(start_paused = true)]
async fn refusals_are_as_listed() {
    let mut problems = Vec::new();
    for command in all() {
        for denied in command.denials {
            let Some((last, before)) = denied.provoke.split_last() else {
                continue;
            };
            let example = Example::after(before, last);
            let lines = ask(&full_bench(), &example, &parsed(last)).await;
            let text = refusal(&lines);
            if !text.is_some_and(|text| text.contains(denied.text)) {
                problems.push(format!("{last}: {text:?}, not {}", denied.text));
            }
        }
    }
    assert_none(&problems);
}
