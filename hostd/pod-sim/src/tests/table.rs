//! The table of commands agrees with the simulator: verbs, fields, ranges, replies, gates and
//! refusals, each tried on a fresh pod.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio::time::{Duration, timeout};

mod fields;
mod gates;
mod replies;

use pod_protocol::commands::{Answer, Command, Example, all};

use super::{Client, bench};
use crate::{SimConfig, SimPod};

/// Longer than any answer may take.
const PATIENCE: Duration = Duration::from_secs(7_200);

/// The examples of a command.
fn examples(command: &'static Command) -> impl Iterator<Item = &'static Example> {
    command.examples.iter()
}

pub(super) fn parsed(request: &str) -> Map<String, Value> {
    serde_json::from_str(request).unwrap_or_else(|error| panic!("{request}: {error}"))
}

/// A pod with everything that it can have, and a chip where the examples expect it.
pub(super) fn full_bench() -> Arc<SimPod> {
    bench(full_config())
}

pub(super) fn full_config() -> SimConfig {
    SimConfig {
        spi_flash: Some([1, 2, 3, 4]),
        ..SimConfig::default()
    }
}

/// All lines of the answer to a request; after the line of an upload, its bytes are sent.
pub(super) async fn answer(client: &mut Client, request: &Value) -> Vec<Value> {
    client.send(request).await;
    let mut lines = Vec::new();
    loop {
        let line = timeout(PATIENCE, client.reply()).await;
        let line = line.unwrap_or_else(|_| panic!("no answer to {request}"));
        let line = line.unwrap_or_else(|| panic!("closed on {request}"));
        let ready = line["data"]["ready"].as_u64();
        let more = line["more"] == true;
        if let Some(bytes) = line["raw"].as_u64() {
            client.read_raw(usize::try_from(bytes).unwrap()).await;
        }
        lines.push(line);
        if let Some(bytes) = ready {
            client
                .send_raw(&vec![0; usize::try_from(bytes).unwrap()])
                .await;
            client.reply().await.expect("a line after the upload");
        }
        if !more {
            return lines;
        }
    }
}

/// The answer of `pod` on a fresh connection to `request`, after what must come before it.
pub(super) async fn ask(
    pod: &Arc<SimPod>,
    example: &Example,
    request: &Map<String, Value>,
) -> Vec<Value> {
    let mut client = Client::new(pod).await;
    for before in example.before {
        answer(&mut client, &Value::Object(parsed(before))).await;
    }
    answer(&mut client, &Value::Object(request.clone())).await
}

/// The message of a refusal, if it is one.
pub(super) fn refusal(lines: &[Value]) -> Option<&str> {
    let last = lines.last().expect("an answer has a line");
    (last["status"] == "error").then(|| last["message"].as_str().expect("a refusal has a text"))
}

/// Fails with all problems that were found.
pub(super) fn assert_none(problems: &[String]) {
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[tokio::test(start_paused = true)]
async fn every_verb_is_answered() {
    for command in all() {
        let pod = full_bench();
        let request = json!({"cmd": command.verb});
        let lines = answer(&mut Client::new(&pod).await, &request).await;
        let unknown = refusal(&lines) == Some("unknown cmd");
        assert!(!unknown, "{}", command.verb);
    }
}

#[test]
fn descriptions_are_complete() {
    for command in all() {
        let verb = command.verb;
        assert!(command.meaning.ends_with('.'), "{verb}");
        for example in command.examples {
            assert_eq!(parsed(example.request)["cmd"], verb);
            for field in parsed(example.request).keys().filter(|key| *key != "cmd") {
                let known = command.fields.iter().any(|known| known.name == field);
                assert!(known, "{verb} has no field {field}");
            }
        }
        for field in command.waits {
            let known = command.fields.iter().any(|known| known.name == *field);
            assert!(known, "{verb} waits for {field}, which it does not have");
        }
        let shown = !command.examples.is_empty() || !command.denials.is_empty();
        assert!(
            shown || matches!(verb, "speedtest" | "eth"),
            "{verb} shows nothing"
        );
        if let Answer::Raw(then) = command.answer {
            assert!(!then.is_empty());
        }
    }
}
