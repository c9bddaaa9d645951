//! What others are told, and who: the sections `webhooks` and `badges`, and the list `commit_status`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::config::networks::Networks;

/// Longest URL of a configuration, in bytes.
const URL_BYTES_MAX: usize = 1000;

/// Webhooks and badges that may be allowed: each is looked at when a job changes.
const COUNT: std::ops::RangeInclusive<u32> = 1..=1000;

/// Sensible pauses before the second attempt.
const RETRY_MS: std::ops::RangeInclusive<u64> = 10..=3_600_000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WebhooksConfig {
    /// Addresses and networks, with commas.
    pub allow: String,
    /// Addresses and networks, with commas; it prevails over `allow`.
    pub deny: String,
    pub retry_ms: u64,
    /// PEM; empty: none but the public authorities.
    pub ca_file: PathBuf,
    /// Of one organisation.
    pub count_max: u32,
}

/// The section `badges`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BadgesConfig {
    /// Of one organisation.
    pub count_max: u32,
}

impl Default for BadgesConfig {
    fn default() -> Self {
        Self { count_max: 100 }
    }
}

impl BadgesConfig {
    /// The first invalid key, and its rule.
    pub(in crate::config) fn check(&self) -> Result<(), (&'static str, String)> {
        check_count("badges.count_max", self.count_max)
    }
}

fn check_count(key: &'static str, count: u32) -> Result<(), (&'static str, String)> {
    match COUNT.contains(&count) {
        true => Ok(()),
        false => Err((key, format!("must be {} to {}", COUNT.start(), COUNT.end()))),
    }
}

impl Default for WebhooksConfig {
    fn default() -> Self {
        Self {
            allow: String::new(),
            deny: String::new(),
            retry_ms: 5_000,
            ca_file: PathBuf::new(),
            count_max: 20,
        }
    }
}

impl WebhooksConfig {
    /// The first invalid key, and its rule.
    pub(in crate::config) fn check(&self) -> Result<(), (&'static str, String)> {
        let lists = [
            ("webhooks.allow", &self.allow),
            ("webhooks.deny", &self.deny),
        ];
        for (key, list) in lists {
            Networks::parse(list).map_err(|rule| (key, rule))?;
        }
        if !RETRY_MS.contains(&self.retry_ms) {
            return Err(("webhooks.retry_ms", "must be 10 to 3600000".to_owned()));
        }
        check_count("webhooks.count_max", self.count_max)
    }
}

/// Whose commits are marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// GitHub, or a GitHub Enterprise Server.
    Github,
    /// GitLab, or one that somebody runs.
    Gitlab,
}

/// One `[[commit_status]]` entry: a repository whose commits say how their jobs stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommitStatusConfig {
    pub provider: Provider,
    /// `owner/name`; for GitLab also with groups in between, or the project's number.
    pub repository: String,
    /// Name of the organisation whose jobs count.
    pub organisation: String,
    /// A file with nothing but the token, which nobody else may read.
    pub token_file: PathBuf,
    /// Only jobs of this name; left out: all.
    #[serde(default)]
    pub pipeline: Option<String>,
    /// Base of the provider's API; left out: that of the public one.
    #[serde(default)]
    pub api_url: Option<String>,
}

impl CommitStatusConfig {
    /// The first invalid key, and its rule.
    pub(in crate::config) fn check(&self) -> Result<(), (&'static str, &'static str)> {
        let is_plain = |part: &str| {
            let plain = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
            !part.is_empty() && part != "." && part != ".." && part.bytes().all(plain)
        };
        let parts = self.repository.split('/').count();
        let fits = match self.provider {
            Provider::Github => parts == 2,
            Provider::Gitlab => parts > 1 || self.repository.bytes().all(|b| b.is_ascii_digit()),
        };
        if !fits
            || self.repository.len() > URL_BYTES_MAX
            || !self.repository.split('/').all(is_plain)
        {
            return Err(("repository", "must be owner/name"));
        }
        if self.organisation.is_empty() {
            return Err(("organisation", "must be the name of an organisation"));
        }
        if self
            .api_url
            .as_ref()
            .is_some_and(|url| url.is_empty() || !is_public_url(url))
        {
            return Err((
                "api_url",
                "must begin with http:// or https:// and have no space, user or query",
            ));
        }
        Ok(())
    }
}

/// Whether this is an address that others can be told: empty, or a URL without user, query and fragment.
pub(in crate::config) fn is_public_url(url: &str) -> bool {
    if url.is_empty() {
        return true;
    }
    let schemes = ["https://", "http://"];
    let rest = schemes.iter().find_map(|scheme| url.strip_prefix(scheme));
    let is_host = |rest: &str| !rest.is_empty() && !rest.starts_with('/');
    let plain = |b: u8| b.is_ascii_graphic() && !b"@?#\"<>\\".contains(&b);
    url.len() <= URL_BYTES_MAX && rest.is_some_and(is_host) && url.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(provider: Provider, repository: &str, api_url: Option<&str>) -> CommitStatusConfig {
        CommitStatusConfig {
            provider,
            repository: repository.to_owned(),
            organisation: "acme".to_owned(),
            token_file: "token".into(),
            pipeline: None,
            api_url: api_url.map(str::to_owned),
        }
    }

    #[test]
    fn as_many_as_can_be_looked_at_are_allowed() {
        for (count, is_fit) in [(0, false), (1, true), (1000, true), (1001, false)] {
            let webhooks = WebhooksConfig {
                count_max: count,
                ..WebhooksConfig::default()
            };
            let badges = BadgesConfig { count_max: count };
            for checked in [webhooks.check(), badges.check()] {
                assert_eq!(checked.is_ok(), is_fit, "{count}: {checked:?}");
            }
        }
    }

    #[test]
    fn repositories_are_named_as_their_providers_do() {
        for (provider, repository) in [
            (Provider::Github, "acme/blinky"),
            (Provider::Gitlab, "acme/blinky"),
            (Provider::Gitlab, "acme/firmware/blinky.v2"),
            (Provider::Gitlab, "1234"),
        ] {
            status(provider, repository, None).check().unwrap();
        }
        for (provider, repository) in [
            (Provider::Github, "acme/firmware/blinky"),
            (Provider::Github, "blinky"),
            (Provider::Github, "acme/.."),
            (Provider::Gitlab, "blinky"),
            (Provider::Gitlab, "acme/a b"),
            (Provider::Gitlab, "acme//b"),
            (Provider::Gitlab, ""),
        ] {
            let wrong = status(provider, repository, None).check().unwrap_err();
            assert_eq!(wrong.0, "repository", "{repository}");
        }
    }

    #[test]
    fn public_addresses_carry_nothing_secret() {
        for good in ["", "https://bench.example", "http://10.0.0.7:8800/hostd/"] {
            assert!(is_public_url(good), "{good}");
        }
        for bad in [
            "bench.example",
            "ftp://bench.example",
            "https://",
            "https:///x",
            "https://u:p@bench.example",
            "https://bench.example/?token=x",
            "https://bench.example/#x",
            "https://bench example",
        ] {
            assert!(!is_public_url(bad), "{bad}");
        }
        let github = |url| status(Provider::Github, "a/b", Some(url)).check();
        assert_eq!(github("").unwrap_err().0, "api_url");
        github("https://github.example/api/v3").unwrap();
    }
}
