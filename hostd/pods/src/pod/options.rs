//! Options of a pod's owner: every wait and interval, by name.

use std::time::Duration;

/// How long a reply may take beyond its command's deliberate wait.
pub const DEFAULT_REPLY_TIMEOUT: Duration = Duration::from_secs(30);

/// Longest timeout of one command.
pub const REPLY_TIMEOUT_MAX: Duration = Duration::from_secs(120);

/// Commands that may wait for a pod.
pub const COMMAND_QUEUE_MAX: usize = 64;

/// How long a pod may be away before it counts as offline.
pub const DEFAULT_GRACE: Duration = Duration::from_secs(10);

/// Options of a pod's owner.
#[derive(Debug, Clone)]
pub struct PodOptions {
    /// How long opening a connection may take.
    pub connect_timeout: Duration,
    /// How long the pod may take to report its identity and its status after connecting, each.
    pub greeting_timeout: Duration,
    /// How long a pod that lost its link may be away while commands wait. Zero: not at all.
    pub grace: Duration,
    /// How often an idle pod is pinged.
    pub ping_interval: Duration,
    /// How long a ping may take.
    pub ping_timeout: Duration,
    /// How often an idle pod is asked for its status instead.
    pub status_interval: Duration,
    /// Pause after a failed attempt to connect; doubled each time, and shortened at random.
    pub backoff_min: Duration,
    /// The longest such pause.
    pub backoff_max: Duration,
    /// How long a session waits for one of the pod's connections.
    pub permit_timeout: Duration,
    /// How long a closed session's channels may take to be free.
    pub release_wait: Duration,
    /// Longest gap between two packets of a capture.
    pub packet_timeout: Duration,
    /// Public key the pod must have; another one counts as offline. `None` takes the first one seen.
    pub expected_public_key: Option<String>,
}

impl Default for PodOptions {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(5),
            greeting_timeout: Duration::from_secs(5),
            grace: DEFAULT_GRACE,
            ping_interval: Duration::from_secs(5),
            ping_timeout: Duration::from_secs(5),
            status_interval: Duration::from_secs(60),
            backoff_min: Duration::from_millis(100),
            backoff_max: Duration::from_secs(5),
            permit_timeout: Duration::from_secs(5),
            release_wait: Duration::from_secs(5),
            packet_timeout: DEFAULT_REPLY_TIMEOUT,
            expected_public_key: None,
        }
    }
}
