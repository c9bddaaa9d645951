//! Webhooks: what arrives, and what becomes of what does not.

use std::time::{Duration, Instant, SystemTime};

use base::config::WebhooksConfig;
use notify::{Edit, Limits, NewWebhook, WebhookError};
use store::webhooks::{Event, Phase};
use tests::Receiver;
use tests::receiver::Answer;

use crate::stage::{ORG, Stage, impatient, limits, local};

#[tokio::test(flavor = "multi_thread")]
async fn a_message_arrives_once_with_its_id_and_signature() {
    let stage = Stage::start().await;
    let receiver = Receiver::start(Answer::Status(204));
    let made = stage.webhook(ORG, receiver.url("/hook?token=x")).await;
    let notice = stage.ended(ORG);
    stage.tell(vec![notice.clone()]).await;
    let seen = receiver.wait_for(1);
    assert_eq!(
        (&*seen[0].method, &*seen[0].path),
        ("POST", "/hook?token=x")
    );
    assert_eq!(seen[0].header("content-type"), Some("application/json"));
    let id = format!("msg_{}", notice.id);
    assert_eq!(seen[0].header("webhook-id"), Some(&*id));
    assert!(
        seen[0]
            .header("webhook-signature")
            .unwrap()
            .starts_with("v1,")
    );
    let body = seen[0].json();
    assert_eq!(body["data"]["job"]["id"], notice.job);
    let done = stage.until_phase(&made.webhook.id, Phase::Delivered).await;
    assert_eq!((done.id, done.attempts, done.next_ms), (id, 1, None));
    assert_eq!(done.last.unwrap().status, Some(204));
    assert_eq!(receiver.seen().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fails_is_sent_again_under_the_same_id() {
    let stage = Stage::start().await;
    let receiver = Receiver::start(Answer::Status(500));
    let made = stage.webhook(ORG, receiver.url("/")).await;
    stage.tell(vec![stage.ended(ORG)]).await;
    let _ = receiver.wait_for(2);
    let waits = stage.until(&made.webhook.id, |d| d.attempts > 0).await;
    assert_eq!(waits.phase, Phase::Waiting);
    assert_eq!(
        waits.last.unwrap().error.unwrap(),
        "The receiver answered 500."
    );
    receiver.answer(Answer::Status(200));
    let done = stage.until_phase(&made.webhook.id, Phase::Delivered).await;
    let seen = receiver.seen();
    assert_eq!(u32::try_from(seen.len()).unwrap(), done.attempts);
    assert!(
        seen.iter()
            .all(|one| one.header("webhook-id") == Some(&*done.id))
    );
    assert!(seen.iter().all(|one| one.body == seen[0].body));
    let webhook = stage.notices.webhook(ORG, &made.webhook.id).await.unwrap();
    assert_eq!((webhook.failures, webhook.failing_since_ms), (0, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_does_not_behave_costs_a_bounded_time() {
    for (answer, error) in [
        (Answer::Silence, "did not answer in time"),
        (Answer::Slow, "did not answer in time"),
        (Answer::Garbage, "does not speak HTTP"),
        (
            Answer::With(302, "location", "http://127.0.0.1:1/".into()),
            "redirects are not followed",
        ),
    ] {
        let stage = Stage::with(impatient(), &local(), &[]).await;
        let receiver = Receiver::start(answer.clone());
        let made = stage.webhook(ORG, receiver.url("/")).await;
        stage.tell(vec![stage.ended(ORG)]).await;
        let begun = Instant::now();
        let tried = stage.until(&made.webhook.id, |d| d.attempts > 0).await;
        assert!(begun.elapsed() < Duration::from_secs(10), "{answer:?}");
        let told = tried.last.unwrap().error.unwrap();
        assert!(told.contains(error), "{answer:?}: {told}");
        assert!(!told.contains("127.0.0.1"), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endless_body_is_not_read() {
    let stage = Stage::start().await;
    let receiver = Receiver::start(Answer::Endless);
    let made = stage.webhook(ORG, receiver.url("/")).await;
    stage.tell(vec![stage.ended(ORG)]).await;
    let done = stage.until_phase(&made.webhook.id, Phase::Delivered).await;
    assert_eq!(done.attempts, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_is_gone_is_disabled_with_all_that_waits_for_it() {
    let stage = Stage::start().await;
    let receiver = Receiver::start(Answer::Status(410));
    let made = stage.webhook(ORG, receiver.url("/")).await;
    stage.tell((0..3).map(|_| stage.ended(ORG)).collect()).await;
    let id = &made.webhook.id;
    let failed = stage.until_phase(id, Phase::Failed).await;
    let webhook = stage.notices.webhook(ORG, id).await.unwrap();
    assert!(!webhook.enabled && failed.next_ms.is_none());
    assert!(webhook.disabled_because.unwrap().contains("410"));
    let all = stage.deliveries(ORG, id).await;
    assert!(all.iter().all(|one| one.phase == Phase::Failed), "{all:?}");
    assert_eq!((all.len(), receiver.seen().len()), (3, 1));
    // Nothing is owed to it any more, until somebody enables it.
    stage.tell(vec![stage.ended(ORG)]).await;
    stage.until_spread().await;
    let refused = stage.notices.webhook_test(ORG, id).await;
    assert!(matches!(refused, Err(WebhookError::Disabled)));
    receiver.answer(Answer::Status(200));
    let edit = Edit {
        enabled: Some(true),
        ..Edit::default()
    };
    let webhook = stage.notices.webhook_edit((ORG, "u"), id, edit).await;
    assert_eq!(webhook.unwrap().disabled_because, None);
    stage.notices.webhook_test(ORG, id).await.unwrap();
    let done = stage.until_phase(id, Phase::Delivered).await;
    assert_eq!(done.event, Event::Test);
    assert_eq!(stage.deliveries(ORG, id).await.len(), 4);
    // What was given up can be asked for again.
    let again = stage.notices.redeliver(ORG, id, &failed.id).await.unwrap();
    assert_eq!((again.id, again.phase), (failed.id.clone(), Phase::Waiting));
    let seen = receiver.wait_for(3);
    assert_eq!(seen[2].header("webhook-id"), Some(&*failed.id));
}

#[tokio::test(flavor = "multi_thread")]
async fn many_failures_disable_and_too_many_attempts_give_up() {
    let hopeless = Limits {
        failures_max: 4,
        failing_ms_max: 0,
        ..limits()
    };
    let stage = Stage::with(hopeless, &local(), &[]).await;
    let receiver = Receiver::start(Answer::Status(503));
    let made = stage.webhook(ORG, receiver.url("/")).await;
    stage.tell(vec![stage.ended(ORG)]).await;
    stage.until_phase(&made.webhook.id, Phase::Failed).await;
    let webhook = stage.notices.webhook(ORG, &made.webhook.id).await.unwrap();
    assert!(!webhook.enabled);
    let why = webhook.disabled_because.unwrap();
    assert!(
        why.contains("in 4 attempts") && why.contains("503"),
        "{why}"
    );
    let few = Limits {
        attempts_max: 2,
        ..limits()
    };
    let stage = Stage::with(few, &local(), &[]).await;
    let made = stage.webhook(ORG, receiver.url("/")).await;
    stage.tell(vec![stage.ended(ORG)]).await;
    let failed = stage.until_phase(&made.webhook.id, Phase::Failed).await;
    assert_eq!(failed.attempts, 2);
    let webhook = stage.notices.webhook(ORG, &made.webhook.id).await.unwrap();
    assert!(webhook.enabled);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_may_ask_for_time() {
    let patient = Limits {
        pause_ms_max: 2_000,
        ..limits()
    };
    let stage = Stage::with(patient, &local(), &[]).await;
    let receiver = Receiver::start(Answer::With(429, "retry-after", "1".into()));
    let made = stage.webhook(ORG, receiver.url("/")).await;
    stage.tell(vec![stage.ended(ORG)]).await;
    let _ = receiver.wait_for(1);
    receiver.answer(Answer::Status(200));
    stage.until_phase(&made.webhook.id, Phase::Delivered).await;
    let seen = receiver.seen();
    let pause = seen[1].at.duration_since(seen[0].at);
    assert!(pause >= Duration::from_millis(900), "{pause:?}");
}

/// How long a receiver that asks for this time is left alone, and when it is asked again.
async fn left_alone(wish: &str, pause_ms_max: u64) -> (Duration, SystemTime) {
    let patient = Limits {
        pause_ms_max,
        ..limits()
    };
    let stage = Stage::with(patient, &local(), &[]).await;
    let receiver = Receiver::start(Answer::With(503, "retry-after", wish.to_owned()));
    let made = stage.webhook(ORG, receiver.url("/")).await;
    stage.tell(vec![stage.ended(ORG)]).await;
    let _ = receiver.wait_for(1);
    receiver.answer(Answer::Status(200));
    stage.until_phase(&made.webhook.id, Phase::Delivered).await;
    let seen = receiver.seen();
    let pause = seen[1].at.duration_since(seen[0].at);
    (pause, SystemTime::now() - seen[1].at.elapsed())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_may_ask_for_time_until_a_date_within_bounds() {
    let later = |wait: Duration| SystemTime::now() + wait;
    // Dates have whole seconds.
    let wish = httpdate::fmt_http_date(later(Duration::from_secs(3)));
    let date = httpdate::parse_http_date(&wish).unwrap();
    let (_, asked) = left_alone(&wish, 40_000).await;
    // Two clocks were read, one after the other.
    assert!(asked + Duration::from_millis(100) > date, "{asked:?}");
    let far = httpdate::fmt_http_date(later(Duration::from_secs(1_000_000)));
    let (pause, _) = left_alone(&far, 2_000).await;
    assert!(pause > Duration::from_millis(1_900), "{pause:?}");
    // Far less than the longest pause.
    let (pause, _) = left_alone("soon", 40_000).await;
    assert!(pause < Duration::from_secs(30), "{pause:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_receiver_holds_up_nobody_else() {
    let patient = Limits {
        answer: Duration::from_secs(300),
        total: Duration::from_secs(300),
        ..limits()
    };
    let stage = Stage::with(patient, &local(), &[]).await;
    let silent = Receiver::start(Answer::Silence);
    let heard = Receiver::start(Answer::Status(200));
    for _ in 0..8 {
        stage.webhook(ORG, silent.url("/")).await;
    }
    let made = stage.webhook("o2", heard.url("/")).await;
    let many = (0..20).map(|_| stage.ended(ORG));
    stage.tell(many.chain([stage.ended("o2")]).collect()).await;
    // Sooner than the silent one is given up.
    let _ = heard.wait_for(1);
    // Four of the eight, since an organisation may have four attempts at once.
    let _ = silent.wait_for(4);
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(silent.seen().len(), 4);
    let own = stage.deliveries("o2", &made.webhook.id).await;
    assert_eq!(own.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_oldest_give_way_when_too_many_wait() {
    let narrow = Limits {
        waiting_per_org_max: 3,
        first_pause_ms: 60_000,
        pause_ms_max: 60_000,
        ..limits()
    };
    let stage = Stage::with(narrow, &local(), &[]).await;
    let receiver = Receiver::start(Answer::Status(500));
    let made = stage.webhook(ORG, receiver.url("/")).await;
    let all: Vec<_> = (0..10).map(|_| stage.ended(ORG)).collect();
    stage.tell(all).await;
    let id = &made.webhook.id;
    let is_dropped = |phase: Phase| phase == Phase::Dropped;
    let begun = Instant::now();
    let found = loop {
        let found = stage.deliveries(ORG, id).await;
        if found.iter().filter(|one| is_dropped(one.phase)).count() == 7 {
            break found;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{found:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    // Newest first.
    assert!(
        found[3..].iter().all(|one| is_dropped(one.phase)),
        "{found:?}"
    );
    let told = found[9].last.as_ref().unwrap().error.as_ref().unwrap();
    assert!(told.contains("newer ones"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_owed_is_told_by_the_next_process() {
    let slow = Limits {
        first_pause_ms: 50,
        ..limits()
    };
    let stage = Stage::with(slow.clone(), &local(), &[]).await;
    let receiver = Receiver::start(Answer::Silence);
    let made = stage.webhook(ORG, receiver.url("/")).await;
    stage.tell(vec![stage.ended(ORG)]).await;
    let first = receiver.wait_for(1);
    let kept = stage.kept();
    // It ends while the receiver thinks; one more notice is stored that nobody has looked at.
    drop(stage.notices);
    receiver.answer(Answer::Status(200));
    let stage = Stage::on(kept, slow, &local(), &[]);
    let done = stage.until_phase(&made.webhook.id, Phase::Delivered).await;
    let seen = receiver.seen();
    assert!(seen.len() >= 2);
    let id = first[0].header("webhook-id");
    assert!(seen.iter().all(|one| one.header("webhook-id") == id));
    assert_eq!(id, Some(&*done.id));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notice_that_nobody_spread_is_not_lost() {
    let stage = Stage::start().await;
    let receiver = Receiver::start(Answer::Status(200));
    stage.webhook(ORG, receiver.url("/")).await;
    let (kept, notice) = (stage.kept(), stage.ended(ORG));
    drop(stage.notices);
    let changes = store::jobs::Changes {
        notices: vec![notice.clone()],
        ..Default::default()
    };
    kept.store.jobs_change(changes).await.unwrap();
    let _stage = Stage::on(kept, limits(), &local(), &[]);
    let seen = receiver.wait_for(1);
    assert_eq!(seen[0].json()["data"]["job"]["id"], notice.job);
}

#[tokio::test(flavor = "multi_thread")]
async fn names_that_lead_to_this_machine_are_refused_when_they_are_used() {
    let stage = Stage::with(limits(), &WebhooksConfig::default(), &[]).await;
    let receiver = Receiver::start(Answer::Status(200));
    // A name passes at first, since it may lead elsewhere tomorrow; its address does not.
    let url = receiver.url("/").replace("127.0.0.1", "localhost");
    let made = stage.webhook(ORG, url).await;
    stage.tell(vec![stage.ended(ORG)]).await;
    let tried = stage.until(&made.webhook.id, |d| d.attempts > 0).await;
    let told = tried.last.unwrap().error.unwrap();
    assert!(told.contains("loopback"), "{told}");
    let new = NewWebhook {
        url: receiver.url("/"),
        events: vec![Event::JobFinished],
        name: None,
        r#ref: None,
    };
    let refused = stage.notices.webhook_create((ORG, "u"), new).await;
    assert!(matches!(
        refused,
        Err(WebhookError::Invalid { field: "url", .. })
    ));
    assert_eq!(receiver.seen().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_is_wanted_is_told() {
    let stage = Stage::start().await;
    let receiver = Receiver::start(Answer::Status(200));
    let new = NewWebhook {
        url: receiver.url("/"),
        events: vec![Event::JobFinished],
        name: Some("blinky".into()),
        r#ref: Some("main".into()),
    };
    let made = stage.notices.webhook_create((ORG, "u"), new).await.unwrap();
    let mut others = [stage.ended(ORG), stage.ended(ORG), stage.ended("o2")];
    others[0].name = Some("other".into());
    others[1].r#ref = None;
    let mut queued = stage.ended(ORG);
    queued.standing = store::notices::Standing::Queued;
    queued.told = None;
    let wanted = stage.ended(ORG);
    let all = others.into_iter().chain([queued, wanted.clone()]);
    stage.tell(all.collect()).await;
    stage.until_phase(&made.webhook.id, Phase::Delivered).await;
    let found = stage.deliveries(ORG, &made.webhook.id).await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].job, Some(wanted.job));
    let elsewhere = stage.notices.webhook("o2", &made.webhook.id).await;
    assert!(matches!(elsewhere, Err(WebhookError::NotFound)));
}
