//! The plugin beside a double of the host.

use hostd_plugin::Event;
use hostd_plugin::http_out::{Answer, Request};
use hostd_plugin::testing::{Double, with};
use serde_json::{Value, json};

use crate::on_event;

const URL: &str = "https://hooks.slack.com/services/T0/B0/secret";

fn chat(config: Value) {
    let secret = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let double = Double {
        config,
        secrets: [secret("CHAT_URL", URL), secret("CHAT_TOKEN", "syt_token")].into(),
        ..Double::default()
    };
    double.install();
}

fn slack() {
    chat(json!({"chat": "slack", "homeserver": "", "room": ""}));
}

fn matrix() {
    chat(json!({"chat": "matrix", "homeserver": "https://m.example/", "room": "!a/b:m.example"}));
}

fn event(kind: &str, json: Value) -> Event {
    Event {
        id: "01E".into(),
        kind: kind.into(),
        at_ms: 1,
        org: "o".into(),
        subject: "01J".into(),
        json,
    }
}

fn failed(name: &str) -> Event {
    let job = json!({"id": "01J", "name": name, "ref": "main", "verdict": "failure", "ended_because": "completed",
        "message": "1 of 2 runs failed"});
    event(
        "job.finished",
        json!({"job": job, "links": {"report": "https://bench.example/api/jobs/01J/report"}}),
    )
}

/// The one request that was sent.
fn sent() -> Request {
    with(|double| {
        assert_eq!(double.requests.len(), 1);
        double.requests.remove(0)
    })
}

fn body(request: &Request) -> Value {
    serde_json::from_slice(&request.body).unwrap()
}

#[test]
fn slack_gets_a_text_without_markup() {
    slack();
    on_event(&failed("<!channel> & *co*")).unwrap();
    let request = sent();
    assert_eq!(
        (request.method.as_str(), request.url.as_str()),
        ("POST", URL)
    );
    assert_eq!(
        body(&request),
        json!({
            "text": "Job &lt;!channel&gt; &amp; *co* (main) failed: 1 of 2 runs failed https://bench.example/api/jobs/01J/report",
            "mrkdwn": false,
        })
    );
}

#[test]
fn a_room_gets_a_notice_once_however_often_it_is_told() {
    matrix();
    for _ in 0..2 {
        on_event(&failed("\"a\"<b>")).unwrap();
    }
    let requests = with(|double| std::mem::take(&mut double.requests));
    assert_eq!(requests[0], requests[1]);
    let request = &requests[0];
    assert_eq!(request.method, "PUT");
    assert_eq!(
        request.url,
        "https://m.example/_matrix/client/v3/rooms/%21a%2Fb%3Am.example/send/m.room.message/01E"
    );
    let bearer = ("authorization".to_owned(), "Bearer syt_token".to_owned());
    assert!(request.headers.contains(&bearer));
    let body = body(request);
    assert_eq!(body["msgtype"], "m.notice");
    assert!(
        body["body"]
            .as_str()
            .unwrap()
            .starts_with("Job \"a\"<b> (main) failed")
    );
    let html = body["formatted_body"].as_str().unwrap();
    assert!(
        html.contains("Job &quot;a&quot;&lt;b&gt; (main)</a></b> failed"),
        "{html}"
    );
}

#[test]
fn hookshot_gets_text_and_html_of_a_device_in_quarantine() {
    chat(json!({"chat": "hookshot", "homeserver": "", "room": ""}));
    let told =
        json!({"device": {"id": "d", "name": "bench-1"}, "reason": "3 jobs\nlost it", "jobs": []});
    on_event(&event("device.quarantined", told)).unwrap();
    assert_eq!(
        body(&sent()),
        json!({
            "text": "Device bench-1 is in quarantine: 3 jobs lost it",
            "html": "<b>Device bench-1</b> is in quarantine: 3 jobs lost it",
            "username": "hostd",
        })
    );
}

#[test]
fn what_went_well_or_was_cancelled_is_nobodys_to_read() {
    slack();
    for job in [
        json!({"verdict": "success", "ended_because": "completed"}),
        json!({"verdict": "pending", "ended_because": "cancelled"}),
    ] {
        on_event(&event("job.finished", json!({"job": job}))).unwrap();
    }
    on_event(&event("lease.taken", json!({}))).unwrap();
    assert!(with(|double| double.requests.is_empty()));
}

#[test]
fn a_chat_that_refuses_is_asked_again_and_the_secret_stays_one() {
    slack();
    with(|double| {
        double
            .answers
            .push_back(Ok(Answer::new(500, "text/plain", URL)))
    });
    let error = on_event(&failed("blinky")).unwrap_err();
    assert_eq!(
        (error.code.as_str(), error.message.as_str()),
        ("refused", "the chat answered 500")
    );
    assert!(with(|double| double
        .log
        .iter()
        .all(|(_, line)| !line.contains("secret"))));
}

#[test]
fn a_room_that_is_not_set_is_said() {
    chat(json!({"chat": "matrix", "homeserver": "", "room": ""}));
    assert_eq!(on_event(&failed("blinky")).unwrap_err().code, "bad_config");
}
