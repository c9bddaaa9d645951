//! What plugins have to say, and the requests that they make.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use base::reach::{Reach, Refused};
use notify::{Check, NewWebhook, Outgoing, RaiseError, Unanswered};
use serde_json::{Map, json};
use store::webhooks::Event;
use tests::Receiver;
use tests::receiver::Answer;

use crate::stage::{ORG, Stage, limits, local};

/// Longer than an answer takes, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(60);

fn get(url: String, total: Duration, check: Check) -> Outgoing {
    Outgoing {
        method: "GET".into(),
        url,
        headers: Vec::new(),
        body: Vec::new(),
        total,
        answer_bytes_max: 1000,
        check,
    }
}

fn anywhere() -> Check {
    Arc::new(|_: IpAddr| Ok::<_, Refused>(()))
}

#[tokio::test(flavor = "multi_thread")]
async fn room_for_messages_of_jobs_stays() {
    let few = notify::Limits {
        waiting_per_org_max: 4,
        first_pause_ms: 60_000,
        pause_ms_max: 60_000,
        ..limits()
    };
    let stage = Stage::with(few, &local(), &[]).await;
    let receiver = Receiver::start(Answer::Status(500));
    let event = Event::of_plugin("acme.x", "a").unwrap();
    let new = NewWebhook {
        url: receiver.url("/"),
        events: vec![event, Event::JobFinished],
        name: None,
        r#ref: None,
    };
    stage.notices.webhook_create((ORG, "u"), new).await.unwrap();
    let raise = |kind: &'static str| stage.notices.raise(ORG, "acme.x", kind, Map::new());
    assert_eq!(raise("b").await.unwrap(), 0);
    let mut full = None;
    for _ in 0..20 {
        if let Err(error) = raise("a").await {
            full = Some(error);
            break;
        }
        // Each waits for its next attempt before the next one is owed.
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(matches!(full, Some(RaiseError::Full(2))), "{full:?}");
    assert!(matches!(
        raise("A").await,
        Err(RaiseError::Kind(_) | RaiseError::Full(_))
    ));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_bounded_and_as_it_was_sent() {
    let stage = Stage::start().await;
    let receiver = Receiver::start(Answer::With(418, "x-own", "yes".into()));
    let fetch = |total: Duration, check: Check| {
        let outgoing = get(receiver.url("/a"), total, check);
        stage.notices.fetch(outgoing, ())
    };
    let answer = fetch(PATIENCE, anywhere()).await.unwrap();
    assert_eq!(answer.status, 418);
    assert!(answer.headers.contains(&("x-own".into(), "yes".into())));
    let reach = Reach::new("", "", "denied").unwrap();
    let refused = fetch(PATIENCE, Arc::new(move |address| reach.check(address))).await;
    assert!(
        matches!(refused, Err(Unanswered::Forbidden(_))),
        "{refused:?}"
    );
    assert_eq!(receiver.seen().len(), 1);
    let short = Duration::from_millis(500);
    for (way, total, expected) in [
        (Answer::Endless, PATIENCE, Unanswered::TooLarge(1000)),
        (Answer::Slow, short, Unanswered::Timeout),
        (Answer::Silence, short, Unanswered::Timeout),
    ] {
        receiver.answer(way.clone());
        let fetched = fetch(total, anywhere()).await;
        assert_eq!(fetched, Err(expected), "{way:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_place_is_held_until_nothing_is_under_way() {
    let stage = Stage::start().await;
    let receiver = Receiver::start(Answer::Silence);
    let place = Arc::new(json!("a place"));
    let outgoing = get(receiver.url("/"), Duration::from_secs(3), anywhere());
    let fetch = stage.notices.fetch(outgoing, place.clone());
    // Whoever asked goes away.
    let gone = tokio::time::timeout(Duration::from_millis(50), fetch).await;
    assert!(gone.is_err());
    assert_eq!(Arc::strong_count(&place), 2);
    let begun = std::time::Instant::now();
    while Arc::strong_count(&place) > 1 {
        assert!(
            begun.elapsed() < Duration::from_secs(30),
            "it is never given back"
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
