//! The refusals that handlers make themselves: the status and stable word of each are here, and what
//! they mean is in `docs/http-status.md`.

macro_rules! refusals {
    ($($name:ident = $status:literal $word:literal),* $(,)?) => {
        /// A refusal of a route's own.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Refusal {
            $($name),*
        }

        impl Refusal {
            /// All of them.
            pub const ALL: &[Refusal] = &[$(Self::$name),*];

            /// Status of the answer.
            #[must_use]
            pub const fn status(self) -> u16 {
                match self {
                    $(Self::$name => $status),*
                }
            }

            /// `code` of the answer.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$name => $word),*
                }
            }
        }
    };
}

refusals! {
    Ambiguous = 409 "ambiguous",
    ArchiveRefused = 422 "archive_refused",
    ArchiveTooLarge = 413 "archive_too_large",
    DecoderFailed = 502 "decoder_failed",
    DecoderTimeout = 504 "decoder_timeout",
    DeviceBusy = 409 "device_busy",
    DeviceOffline = 503 "device_offline",
    DeviceTimeout = 504 "device_timeout",
    Finished = 409 "finished",
    Forbidden = 403 "forbidden",
    IdempotencyKeyReused = 409 "idempotency_key_reused",
    InvalidCredential = 401 "invalid_credential",
    InvalidDefinition = 422 "invalid_definition",
    KeysUnavailable = 503 "keys_unavailable",
    LastOwner = 409 "last_owner",
    LeaseHeld = 409 "lease_held",
    LeaseLost = 409 "lease_lost",
    LoginTaken = 409 "login_taken",
    NameTaken = 409 "name_taken",
    NeedsTunnel = 400 "needs_tunnel",
    NoIsolation = 503 "no_isolation",
    NotCapable = 400 "not_capable",
    LinkRefused = 403 "link_refused",
    NotGranted = 403 "not_granted",
    NotFound = 404 "not_found",
    NotOffered = 403 "not_offered",
    NotReceived = 409 "not_received",
    NotTrusted = 403 "not_trusted",
    Overloaded = 503 "overloaded",
    PluginRefused = 422 "plugin_refused",
    PluginFailed = 502 "plugin_failed",
    PluginUnavailable = 503 "plugin_unavailable",
    PodProtocol = 502 "pod_protocol",
    PodRefused = 502 "pod_refused",
    QuotaExceeded = 409 "quota_exceeded",
    RateLimited = 429 "rate_limited",
    SecretsUnavailable = 503 "secrets_unavailable",
    Stopping = 503 "stopping",
    TooManyJobs = 429 "too_many_jobs",
    TooManyStreams = 429 "too_many_streams",
    TooManyRuns = 429 "too_many_runs",
    UartConflict = 409 "uart_conflict",
    Unfinished = 409 "unfinished",
    UnsupportedMediaType = 415 "unsupported_media_type",
    WrongDigest = 422 "wrong_digest",
    WrongState = 409 "wrong_state",
}

#[cfg(test)]
mod tests {
    use super::Refusal;

    #[test]
    fn each_is_on_the_page_with_its_status() {
        let page = include_str!("../../../docs/http-status.md");
        for refusal in Refusal::ALL {
            let (status, word) = (refusal.status(), format!("`{}`", refusal.word()));
            let row = page.lines().find(|line| line.contains(&word));
            let row = row.unwrap_or_else(|| panic!("{word} is not on the page"));
            assert!(row.starts_with(&format!("| {status} |")), "{row}");
        }
    }
}
