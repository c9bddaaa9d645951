//! A delivery, as the endpoints tell it.

use guest::webhooks::{Delivery, Phase};
use guest::{Time, words};
use schemars::JsonSchema;
use serde::Serialize;

words! {
    const PHASES: Phase = {
        Waiting = "waiting",
        Delivered = "delivered",
        Failed = "failed",
        Dropped = "dropped",
    };
}

/// A message to a webhook, and what became of it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Delivery")]
pub(crate) struct Record<'a> {
    /// The header `webhook-id` of the message, however often it is sent.
    id: &'a str,
    /// `job.finished`, or `webhook.test`.
    event: &'a str,
    /// Job id.
    job: Option<&'a str>,
    /// `failed` was given up, `dropped` gave way to newer ones.
    #[schemars(extend("enum" = PHASES.all()))]
    phase: &'static str,
    attempts: u32,
    #[schemars(with = "Time")]
    created_at: &'a str,
    /// The last attempt.
    #[schemars(with = "Option<Time>")]
    tried_at: Option<&'a str>,
    /// Status of the last answer; null = there was none.
    status: Option<u16>,
    /// Why the last attempt failed.
    error: Option<&'a str>,
    /// The next attempt.
    #[schemars(with = "Option<Time>")]
    next_at: Option<&'a str>,
}

impl<'a> From<&'a Delivery> for Record<'a> {
    fn from(delivery: &'a Delivery) -> Self {
        Self {
            id: &delivery.id,
            event: &delivery.event,
            job: delivery.job.as_deref(),
            phase: PHASES.word(delivery.phase),
            attempts: delivery.attempts,
            created_at: &delivery.created_at,
            tried_at: delivery.tried_at.as_deref(),
            status: delivery.status,
            error: delivery.error.as_deref(),
            next_at: delivery.next_at.as_deref(),
        }
    }
}

/// A delivery, for the documentation.
pub(crate) fn example() -> Delivery {
    Delivery {
        id: "msg_01JGZ5V9T3N8W2K4Q7R6D1M0XY".into(),
        event: "job.finished".into(),
        job: Some("01JGZ5V9T3N8W2K4Q7R6D1M0XJ".into()),
        phase: Phase::Waiting,
        attempts: 1,
        created_at: "2026-01-02T03:04:05Z".into(),
        tried_at: Some("2026-01-02T03:04:06Z".into()),
        status: Some(502),
        error: Some("The receiver answered 502.".into()),
        next_at: Some("2026-01-02T03:04:11Z".into()),
    }
}

/// A test that was just queued, for the documentation.
pub(crate) fn queued() -> Delivery {
    Delivery {
        event: "webhook.test".into(),
        job: None,
        attempts: 0,
        tried_at: None,
        status: None,
        error: None,
        next_at: Some("2026-01-02T03:04:05Z".into()),
        ..example()
    }
}
