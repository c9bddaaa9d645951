//! Repositories that mark commits, and how each provider wants to be told.

use std::path::PathBuf;
use std::sync::Arc;

use base::config::{CommitStatusConfig, Provider};
use base::private::{self, SecretError};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use store::commit_statuses::{Audience, CommitStatus};
use store::notices::{Notice, Standing};

use crate::message::Links;
use crate::post::Post;

/// Base of GitHub's API.
const GITHUB_URL: &str = "https://api.github.com";

/// Base of GitLab's API.
const GITLAB_URL: &str = "https://gitlab.com/api/v4";

/// Version of GitHub's API.
const GITHUB_VERSION: &str = "2022-11-28";

/// Longest description that GitHub takes, in characters.
const GITHUB_CHARS_MAX: usize = 140;

/// Longest description that GitLab takes, in characters.
const GITLAB_CHARS_MAX: usize = 255;

/// Longest context, in characters.
const CONTEXT_CHARS_MAX: usize = 200;

/// What contexts begin with.
const CONTEXT_PREFIX: &str = "hostd/";

/// The context of jobs without a name.
const CONTEXT_UNNAMED: &str = "job";

/// Hexadecimal characters that name a target.
const ID_CHARS: usize = 16;

/// A repository.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    /// The same after each start.
    pub(crate) id: String,
    provider: Provider,
    api_url: String,
    repository: String,
    hears: Audience,
    token_file: PathBuf,
}

/// Whose commits repositories mark.
#[must_use]
pub fn repositories(configured: &[CommitStatusConfig]) -> Arc<[Audience]> {
    configured.iter().map(audience).collect()
}

fn audience(config: &CommitStatusConfig) -> Audience {
    Audience {
        organisation: config.organisation.clone(),
        pipeline: config.pipeline.clone(),
    }
}

impl Target {
    /// # Errors
    /// The token cannot be read.
    pub(crate) fn open(config: &CommitStatusConfig) -> Result<Self, SecretError> {
        let public = match config.provider {
            Provider::Github => GITHUB_URL,
            Provider::Gitlab => GITLAB_URL,
        };
        let api_url = config.api_url.as_deref().unwrap_or(public);
        let api_url = api_url.trim_end_matches('/').to_owned();
        let whole = format!("{api_url} {}", config.repository);
        let mut id = hex::encode(Sha256::digest(whole));
        id.truncate(ID_CHARS);
        // Read again for each status, so that it can be replaced; a mistake is told at the start.
        private::read_secret(&config.token_file)?;
        Ok(Self {
            id,
            provider: config.provider,
            api_url,
            repository: config.repository.clone(),
            hears: audience(config),
            token_file: config.token_file.clone(),
        })
    }

    /// The repository, for people.
    pub(crate) fn name(&self) -> &str {
        &self.repository
    }

    /// What the repository is to say since this notice; none if it is not about it. `organisation` is the name of the
    /// job's.
    pub(crate) fn status(&self, notice: &Notice, organisation: &str) -> Option<CommitStatus> {
        let commit = notice.commit.as_deref().filter(|commit| is_whole(commit));
        let commit = commit.filter(|_| self.hears.has(notice, organisation))?;
        let name = notice.name.as_deref().unwrap_or(CONTEXT_UNNAMED);
        Some(CommitStatus {
            target: self.id.clone(),
            org: notice.org.clone(),
            commit: commit.to_ascii_lowercase(),
            context: clip(&format!("{CONTEXT_PREFIX}{name}"), CONTEXT_CHARS_MAX),
            job: notice.job.clone(),
            standing: notice.standing,
            message: clip(&notice.message, GITLAB_CHARS_MAX),
            at_ms: notice.at_ms,
            attempts: 0,
            next_ms: Some(notice.at_ms),
            last: None,
        })
    }

    /// The request that tells the provider.
    ///
    /// # Errors
    /// The token cannot be read.
    pub(crate) fn post(&self, status: &CommitStatus, links: &Links) -> Result<Post, SecretError> {
        let token = private::read_secret(&self.token_file)?;
        let report = links.report(&status.job);
        let (url, mut headers, mut body) = match self.provider {
            Provider::Github => self.github(status, &token),
            Provider::Gitlab => self.gitlab(status, token),
        };
        if let Some(report) = report {
            body["target_url"] = report.into();
        }
        headers.push(("content-type", "application/json".to_owned()));
        Ok(Post {
            url,
            headers,
            body: body.to_string(),
            // The configuration names this address, and whoever may change that owns the server.
            reach: None,
        })
    }

    fn github(&self, status: &CommitStatus, token: &str) -> Request {
        let state = match status.standing {
            Standing::Queued | Standing::Running => "pending",
            Standing::Passed => "success",
            Standing::Failed => "failure",
            Standing::Broken | Standing::Cancelled => "error",
        };
        let url = format!(
            "{}/repos/{}/statuses/{}",
            self.api_url, self.repository, status.commit
        );
        let headers = vec![
            ("authorization", format!("Bearer {token}")),
            ("accept", "application/vnd.github+json".to_owned()),
            ("x-github-api-version", GITHUB_VERSION.to_owned()),
        ];
        let description = clip(&status.message, GITHUB_CHARS_MAX);
        let body = json!({"state": state, "context": status.context, "description": description});
        (url, headers, body)
    }

    fn gitlab(&self, status: &CommitStatus, token: String) -> Request {
        let state = match status.standing {
            Standing::Queued => "pending",
            Standing::Running => "running",
            Standing::Passed => "success",
            Standing::Failed | Standing::Broken => "failed",
            Standing::Cancelled => "canceled",
        };
        let project = self.repository.replace('/', "%2F");
        let url = format!(
            "{}/projects/{project}/statuses/{}",
            self.api_url, status.commit
        );
        let headers = vec![("private-token", token)];
        let body = json!({"state": state, "name": status.context, "description": status.message});
        (url, headers, body)
    }
}

type Request = (String, Vec<(&'static str, String)>, Value);

/// Whether this is a commit and no abbreviation, branch or tag.
fn is_whole(commit: &str) -> bool {
    matches!(commit.len(), 40 | 64) && commit.bytes().all(|b| b.is_ascii_hexdigit())
}

/// The beginning of a text, with a sign that there was more.
fn clip(text: &str, chars_max: usize) -> String {
    if text.chars().count() <= chars_max {
        return text.to_owned();
    }
    text.chars().take(chars_max - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const COMMIT: &str = "0123456789ABCDEF0123456789abcdef01234567";

    fn target(provider: Provider, repository: &str, pipeline: Option<&str>) -> Target {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "secret\n").unwrap();
        let (_, token_file) = file.keep().unwrap();
        let config = CommitStatusConfig {
            provider,
            repository: repository.into(),
            organisation: "acme".into(),
            token_file,
            pipeline: pipeline.map(str::to_owned),
            api_url: Some("http://api.example/".into()),
        };
        Target::open(&config).unwrap()
    }

    fn notice(standing: Standing) -> Notice {
        Notice {
            id: "n".into(),
            org: "o".into(),
            job: "j".into(),
            name: Some("blinky".into()),
            r#ref: None,
            commit: Some(COMMIT.into()),
            standing,
            message: "x".repeat(300),
            told: None,
            at_ms: 7,
            devices: Vec::new(),
        }
    }

    #[test]
    fn only_whole_commits_of_the_right_jobs_are_marked() {
        let target = target(Provider::Github, "acme/blinky", Some("blinky"));
        let mut about = notice(Standing::Queued);
        assert!(target.status(&about, "acme").is_some());
        assert!(target.status(&about, "other").is_none());
        for commit in [None, Some("0123456"), Some("main"), Some(&*"g".repeat(40))] {
            about.commit = commit.map(str::to_owned);
            assert!(target.status(&about, "acme").is_none(), "{commit:?}");
        }
        about = notice(Standing::Queued);
        about.name = Some("other".into());
        assert!(target.status(&about, "acme").is_none());
        std::fs::remove_file(&target.token_file).unwrap();
    }

    #[test]
    fn each_provider_is_told_in_its_words() {
        let links = Links::new("https://bench.example");
        let sent = |provider, repository, standing| {
            let target = target(provider, repository, None);
            let status = target.status(&notice(standing), "acme").unwrap();
            let post = target.post(&status, &links).unwrap();
            std::fs::remove_file(&target.token_file).unwrap();
            (
                post.url,
                post.headers,
                serde_json::from_str::<Value>(&post.body).unwrap(),
            )
        };
        let (url, headers, body) = sent(Provider::Github, "acme/blinky", Standing::Broken);
        let commit = COMMIT.to_ascii_lowercase();
        assert_eq!(
            url,
            format!("http://api.example/repos/acme/blinky/statuses/{commit}")
        );
        assert!(headers.contains(&("authorization", "Bearer secret".to_owned())));
        assert_eq!(
            (&body["state"], &body["context"]),
            (&json!("error"), &json!("hostd/blinky"))
        );
        assert_eq!(body["description"].as_str().unwrap().chars().count(), 140);
        assert_eq!(
            body["target_url"],
            "https://bench.example/api/jobs/j/report"
        );
        let (url, headers, body) = sent(Provider::Gitlab, "acme/fw/blinky", Standing::Running);
        assert_eq!(
            url,
            format!("http://api.example/projects/acme%2Ffw%2Fblinky/statuses/{commit}")
        );
        assert!(headers.contains(&("private-token", "secret".to_owned())));
        assert_eq!(
            (&body["state"], &body["name"]),
            (&json!("running"), &json!("hostd/blinky"))
        );
    }

    #[test]
    fn a_token_that_others_can_read_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let token_file = dir.path().join("token");
        std::fs::write(&token_file, "secret").unwrap();
        std::fs::set_permissions(&token_file, std::fs::Permissions::from_mode(0o644)).unwrap();
        let config = CommitStatusConfig {
            provider: Provider::Github,
            repository: "a/b".into(),
            organisation: "acme".into(),
            token_file,
            pipeline: None,
            api_url: None,
        };
        let refused = Target::open(&config).unwrap_err();
        assert!(matches!(refused, SecretError::Shared { .. }));
    }
}
