//! Reply lines.

use serde_json::{Value, json};

use super::{Reply, ReplyError};
use crate::RefusalKind;

fn parse(line: &str) -> Result<Reply, ReplyError> {
    Reply::parse(line.as_bytes())
}

#[test]
fn replies_are_data_or_a_refusal() {
    let done = |data| Reply::Done(data);
    assert_eq!(
        parse(r#"{"status":"ok","data":[1]}"#).unwrap(),
        done(json!([1]))
    );
    assert_eq!(parse(r#"{"status":"ok"}"#).unwrap(), done(Value::Null));
    let chunk = r#"{"status":"chunk","data":"x","more":false}"#;
    assert_eq!(parse(chunk).unwrap(), done(json!("x")));
    let refused = parse(r#"{"status":"error","message":"unknown cmd"}"#).unwrap();
    let Reply::Refused(refusal) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(refusal.kind, RefusalKind::UnknownCommand);
}

#[test]
fn an_error_repeats_only_the_start_of_a_line_and_nothing_unprintable() {
    let line = format!("\u{7}{}", "ä".repeat(500));
    let error = parse(&line).unwrap_err().to_string();
    assert!(error.chars().count() < 130, "{error}");
    assert!(!error.contains('\u{7}'));
}

#[test]
fn deep_nesting_is_an_error() {
    let line = format!(r#"{{"status":"ok","data":{}"#, "[".repeat(100_000));
    assert!(matches!(parse(&line), Err(ReplyError::NotReply { .. })));
}
