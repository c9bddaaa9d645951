//! Following a job over a WebSocket.

use std::collections::BTreeMap;

use serde_json::Value;
use tests::{Socket, can_isolate};
use tungstenite::Message;

use super::{Jobs, build, endless, mark};

/// How far a job is, in order.
const STATES: [&str; 5] = ["queued", "assigned", "running", "stopping", "finished"];

/// What a follower was told.
#[derive(Default)]
struct Told {
    states: Vec<String>,
    /// Of each attempt, all output that came.
    output: BTreeMap<u64, String>,
    streams: Vec<String>,
    last: Value,
}

fn follow(jobs: &Jobs, id: &str) -> Socket {
    let key = format!("ApiKey {}", jobs.server.api_key);
    let path = format!("/api/jobs/{id}/ws");
    let opened = Socket::open(&jobs.server.url, &path, &[("authorization", &key)]);
    opened.unwrap().socket()
}

impl Told {
    /// Reads one message. Whether there will be more.
    fn hear(&mut self, socket: &mut Socket) -> bool {
        let message = match socket.message().unwrap() {
            Message::Text(text) => serde_json::from_str::<Value>(&text).unwrap(),
            Message::Close(frame) => {
                let frame = frame.unwrap();
                assert_eq!(u16::from(frame.code), 1000, "{}", frame.reason);
                assert_eq!(self.last["type"], "end", "closed before the end");
                return false;
            }
            other => panic!("{other:?}"),
        };
        assert_ne!(self.last["type"], "end", "{message} after the end");
        match message["type"].as_str().unwrap() {
            "job" => {
                let state = message["state"].as_str().unwrap().to_owned();
                self.states.push(state);
            }
            "output" => {
                let attempt = message["attempt"].as_u64().unwrap();
                let known = self.output.entry(attempt).or_default();
                assert_eq!(message["offset"], known.len(), "{message}");
                let text = message["text"].as_str().unwrap();
                assert_eq!(message["bytes"], text.len(), "{message}");
                *known += text;
                let stream = message["stream"].as_str().unwrap().to_owned();
                if !self.streams.contains(&stream) {
                    self.streams.push(stream);
                }
            }
            "end" => {}
            other => panic!("{other}"),
        }
        self.last = message;
        true
    }

    /// Whether the output of an attempt has this.
    fn has_said(&self, text: &str) -> bool {
        self.output.values().any(|output| output.contains(text))
    }

    fn check_states(&self) {
        let place = |state: &String| STATES.iter().position(|known| known == state).unwrap();
        let states: Vec<usize> = self.states.iter().map(place).collect();
        assert!(states.is_sorted(), "{:?}", self.states);
        assert_eq!(self.states.last().unwrap(), "finished");
    }
}

#[test]
fn a_follower_is_told_every_state_and_all_output_once() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::one_by_one();
    let before = jobs.submit(&build(&endless(43)));
    jobs.until_said(&before, 1, "\nhere\n");
    let go_on = format!("until test -e go; do : {}; sleep 0.01; done", mark(53));
    let command = format!("for part in 1 2 3; do seq 1 9000; echo part $part >&2; {go_on}; done");
    let id = jobs.submit(&build(&command));
    let mut socket = follow(&jobs, &id);
    let mut told = Told::default();
    assert!(told.hear(&mut socket));
    assert_eq!(told.states, ["queued"]);
    assert_eq!(told.last["id"], *id);
    jobs.post(&before, "cancel").expect(200);
    // States that follow each other faster than they are sent are told as the last of them.
    while !told.states.iter().any(|state| state == "running") || !told.has_said("part 1\n") {
        assert!(told.hear(&mut socket));
    }
    jobs.make("go");
    while told.hear(&mut socket) {}
    told.check_states();
    let log = jobs.get(&id, "/log?attempt=1").text;
    assert_eq!(told.output.len(), 1);
    assert!(told.output[&1] == log, "the output differs from the log");
    for stream in ["output", "error", "server"] {
        assert!(
            told.streams.iter().any(|s| s == stream),
            "{:?}",
            told.streams
        );
    }
    // One who comes later is told the same at once.
    let mut late = Told::default();
    let mut socket = follow(&jobs, &id);
    while late.hear(&mut socket) {}
    assert_eq!(late.states, ["finished"]);
    assert!(late.output == told.output);
}

#[test]
fn a_follower_is_told_of_a_cancelled_job() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("");
    let id = jobs.submit(&build(&endless(44)));
    let mut socket = follow(&jobs, &id);
    let mut told = Told::default();
    while !told.has_said("\nhere\n") {
        assert!(told.hear(&mut socket));
    }
    jobs.post(&id, "cancel").expect(200);
    let mut because = Value::Null;
    while told.hear(&mut socket) {
        if told.last["type"] == "job" {
            because = told.last["ended_because"].clone();
        }
    }
    told.check_states();
    assert_eq!(because, "cancelled");
    assert!(told.output[&1] == jobs.get(&id, "/log?attempt=1").text);
    // The stream is for listeners alone.
    let waiting =
        "version: 1\nbenches: [{ id: b, device: { name: nowhere }, steps: [{ reset: {} }] }]\n";
    let mut socket = follow(&jobs, &jobs.submit(waiting));
    socket.send_text("hello").unwrap();
    assert_eq!(socket.closed().unwrap().0, 1003);
}
