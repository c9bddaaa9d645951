//! Requests to a server that gives prepared answers: what is sent to it, what is tried again, and what is not.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::{self, JoinHandle};

use serde_json::json;

use super::*;

const KEY: &str = "bk_secret";

/// A server that gives each connection the next of these answers, and returns what it was sent.
fn answering(answers: Vec<String>) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let serving = thread::spawn(move || {
        let answer = |text: String| answer(listener.accept().unwrap().0, &text);
        answers.into_iter().map(answer).collect()
    });
    (url, serving)
}

/// Answers one request that has a short body or none.
fn answer(mut connection: TcpStream, text: &str) -> String {
    let mut reader = BufReader::new(connection.try_clone().unwrap());
    let (mut head, mut line) = (String::new(), String::new());
    let mut length = 0;
    while reader.read_line(&mut line).unwrap() > 2 {
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        head += &line;
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    connection.write_all(text.as_bytes()).unwrap();
    head + &String::from_utf8(body).unwrap()
}

fn reply(status: &str, headers: &str, body: &Value) -> String {
    let body = body.to_string();
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n{body}"
    )
}

fn patience(seconds: u64) -> Patience {
    Patience::new(Duration::from_secs(seconds))
}

#[test]
fn a_url_is_completed_and_an_odd_one_refused() {
    for (url, api) in [
        ("http://bench:8800", "http://bench:8800/api"),
        ("https://bench.example/", "https://bench.example/api"),
        ("http://[::1]:1/api/", "http://[::1]:1/api"),
        ("https://example/bench/api", "https://example/bench/api"),
        ("https://example/bench", "https://example/bench/api"),
    ] {
        assert_eq!(Server::new(url, KEY, None).unwrap().api, api);
    }
    for odd in [
        "bench",
        "ftp://bench",
        "http://",
        "http://me:word@bench",
        "http://bench/?a=b",
        "",
    ] {
        assert!(Server::new(odd, KEY, None).is_err(), "{odd}");
    }
}

#[test]
fn the_key_is_in_its_header_and_in_no_error() {
    let (url, serving) = answering(vec![reply("200 OK", "", &json!({"id": "01X"}))]);
    let server = Server::new(&url, KEY, None).unwrap();
    let told = server.post_json(
        "/jobs/submit",
        &[("idempotency-key", "k")],
        &json!({"a": 1}),
    );
    assert_eq!(told.unwrap()["id"], "01X");
    let asked = &serving.join().unwrap()[0];
    assert!(
        asked.starts_with("POST /api/jobs/submit HTTP/1.1\r\n"),
        "{asked}"
    );
    for line in [
        "authorization: ApiKey bk_secret\r\n",
        "idempotency-key: k\r\n",
    ] {
        assert!(asked.contains(line), "{asked}");
    }
    assert!(asked.ends_with(r#"{"a":1}"#), "{asked}");
    assert_eq!(asked.matches(KEY).count(), 1);
    let Err(error) = Server::new(&url, "bk_secret\n", None) else {
        panic!("a key of two lines");
    };
    assert!(!format!("{error:?}").contains(KEY));
}

#[test]
fn what_may_pass_is_tried_again() {
    let busy = json!({"code": "too_many_jobs", "error": "2000 wait"});
    let (url, serving) = answering(vec![
        reply("429 Too Many Requests", "retry-after: 0\r\n", &busy),
        reply("502 Bad Gateway", "", &Value::Null),
        // Half an answer.
        "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{".to_owned(),
        reply("200 OK", "", &json!({"id": "01X"})),
    ]);
    let server = Server::new(&url, KEY, None).unwrap();
    let told = server.get_json("/jobs/01X", &patience(10)).unwrap();
    assert_eq!(told["id"], "01X");
    assert_eq!(serving.join().unwrap().len(), 4);
}

#[test]
fn what_stays_as_it_is_is_not_tried_again() {
    for (status, headers, body, is_asked) in [
        (
            "401 Unauthorized",
            "",
            json!({"code": "unauthorized", "error": "no such key"}),
            true,
        ),
        (
            "422 Unprocessable",
            "",
            json!({"code": "invalid_definition", "error": "x"}),
            true,
        ),
        (
            "302 Found",
            "location: http://elsewhere/\r\n",
            Value::Null,
            false,
        ),
        (
            "500 Internal",
            "",
            json!({"code": "internal", "error": "x"}),
            false,
        ),
        (
            "503 Unavailable",
            "",
            json!({"code": "no_isolation", "error": "x"}),
            false,
        ),
    ] {
        let (url, serving) = answering(vec![reply(status, headers, &body)]);
        let server = Server::new(&url, KEY, None).unwrap();
        let refusal = match server.get_json("/jobs/01X", &patience(60)) {
            Err(Failed::Refused(refusal)) => refusal,
            other => panic!("{status}: {other:?}"),
        };
        assert_eq!(refusal.is_asked(), is_asked, "{status}");
        assert_eq!(refusal.body, body);
        assert_eq!(serving.join().unwrap().len(), 1);
    }
}

#[test]
fn patience_ends() {
    // Nobody listens there any more.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let server = Server::new(&url, KEY, None).unwrap();
    let lost = server.get_json("/jobs/01X", &patience(0));
    assert!(matches!(lost, Err(Failed::Lost(_))), "{lost:?}");
}

#[test]
fn certificates_are_read_from_a_file_that_has_some() {
    let file = tempfile::NamedTempFile::new().unwrap();
    for text in ["", "no certificate"] {
        std::fs::write(file.path(), text).unwrap();
        assert!(
            Server::new("https://bench", KEY, Some(file.path())).is_err(),
            "{text:?}"
        );
    }
    assert!(Server::new("https://bench", KEY, Some(Path::new("/nowhere"))).is_err());
}
