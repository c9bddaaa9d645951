//! What a client makes of a server that answers, ends or never was one, and what an answer is cut into.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread;

use tempfile::TempDir;

use super::*;
use crate::operator::Hidden;

fn order_key_list() -> Order {
    serde_json::from_str(r#"{"key":"list"}"#).unwrap()
}

/// What the client makes of a server that does `serve` with its one connection.
fn asked(serve: impl FnOnce(UnixStream) + Send + 'static) -> anyhow::Result<Option<String>> {
    let dir = TempDir::new().unwrap();
    let listener = UnixListener::bind(dir.path().join(NAME)).unwrap();
    let server = thread::spawn(move || serve(listener.accept().unwrap().0));
    let answer = order(dir.path(), &order_key_list());
    server.join().unwrap();
    answer
}

fn line(stream: &UnixStream) -> String {
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    line
}

#[test]
fn a_server_that_ends_before_it_reads_is_none() {
    // Killed with the request unread: the connection is reset.
    assert!(asked(drop).unwrap().is_none());
    let dir = TempDir::new().unwrap();
    assert!(order(dir.path(), &order_key_list()).unwrap().is_none());
    // Killed, and its socket left behind.
    drop(UnixListener::bind(dir.path().join(NAME)).unwrap());
    assert!(order(dir.path(), &order_key_list()).unwrap().is_none());
    let missing = dir.path().join("missing");
    assert!(order(&missing, &order_key_list()).unwrap().is_none());
}

#[test]
fn a_server_that_ends_after_it_read_may_have_done_it() {
    let ended = asked(|stream| drop(line(&stream))).unwrap_err().to_string();
    assert!(ended.contains("look whether it did"), "{ended}");
    let cut = asked(|mut stream| {
        line(&stream);
        writeln!(stream, r#"{{"text":"half"}}"#).unwrap();
    });
    let cut = cut.unwrap_err().to_string();
    assert!(cut.contains("ended before it answered"), "{cut}");
}

#[test]
fn pieces_become_the_text_and_an_error_is_one() {
    let text = asked(|mut stream| {
        assert_eq!(line(&stream), "{\"order\":{\"key\":\"list\"}}\n");
        for line in [
            r#""working""#,
            r#"{"text":"a\n"}"#,
            r#"{"text":"b\n"}"#,
            r#""end""#,
        ] {
            writeln!(stream, "{line}").unwrap();
        }
    });
    assert_eq!(text.unwrap().unwrap(), "a\nb\n");
    let refused = asked(|mut stream| {
        line(&stream);
        writeln!(stream, r#"{{"error":"find the user bob"}}"#).unwrap();
    });
    assert_eq!(refused.unwrap_err().to_string(), "find the user bob");
}

#[test]
fn an_answer_is_cut_between_characters_and_bounded() {
    let text = format!("a{}", "µ".repeat(PIECE_BYTES_MAX));
    let lines = pieces(&text);
    let mut joined = String::new();
    for line in &lines[..lines.len() - 1] {
        let Line::Text(piece) = line else {
            panic!("{line:?}");
        };
        assert!((1..=PIECE_BYTES_MAX).contains(&piece.len()));
        joined.push_str(piece);
    }
    assert_eq!(joined, text);
    assert!(matches!(lines.last(), Some(Line::End)));
    assert!(matches!(pieces("")[..], [Line::End]));
    let long = pieces(&"x".repeat(ANSWER_BYTES_MAX + 1));
    assert!(matches!(&long[..], [Line::Error(error)] if error.contains("more than")));
}

#[test]
fn the_longest_secret_fits_a_request_and_is_not_shown() {
    let value = "\u{1}".repeat(*vault::VALUE_BYTES.end());
    let text = r#"{"secret":{"set":[{"named":{"name":"CAL","org":"default"},"refs":[],"all_refs":false},""]}}"#;
    let mut order: serde_json::Value = serde_json::from_str(text).unwrap();
    order["secret"]["set"][1] = value.into();
    let order: Order = serde_json::from_value(order).unwrap();
    let request = serde_json::to_string(&Request::Order(Box::new(order))).unwrap();
    assert!((request.len() as u64) < LINE_BYTES_MAX);
    let shown = format!("{:?}", Hidden::new("correct horse".into()));
    assert!(!shown.contains("horse"), "{shown}");
}
