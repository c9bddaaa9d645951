//! How long and how often receivers are asked.

use std::time::Duration;

use base::config::{BadgesConfig, WebhooksConfig};

/// Bounds of deliveries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Before the second attempt. Each further pause is twice as long.
    pub first_pause_ms: u64,
    /// Longest pause, whatever the receiver asks for.
    pub pause_ms_max: u64,
    /// Attempts at one message.
    pub attempts_max: u32,
    /// After this a message is given up.
    pub age_ms_max: u64,
    /// A webhook is disabled after this many failed attempts in a row,
    pub failures_max: u32,
    /// if the first of them is as long ago.
    pub failing_ms_max: u64,
    /// Messages of one organisation that wait. The oldest gives way to one more.
    pub waiting_per_org_max: usize,
    /// Webhooks of one organisation.
    pub webhooks_per_org_max: usize,
    /// Badges of one organisation.
    pub badges_per_org_max: usize,
    /// For the name, and again for the connection.
    pub connect: Duration,
    /// From the sent request to the head of the answer.
    pub answer: Duration,
    /// For one attempt in all.
    pub total: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            first_pause_ms: 5_000,
            pause_ms_max: 3_600_000,
            attempts_max: 32,
            age_ms_max: 24 * 3_600_000,
            failures_max: 20,
            failing_ms_max: 3 * 24 * 3_600_000,
            waiting_per_org_max: 1000,
            webhooks_per_org_max: WebhooksConfig::default().count_max as usize,
            badges_per_org_max: BadgesConfig::default().count_max as usize,
            connect: Duration::from_secs(5),
            answer: Duration::from_secs(10),
            total: Duration::from_secs(15),
        }
    }
}
