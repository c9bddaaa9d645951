//! Marking commits.

use store::StoreError;
use store::commit_statuses::{self, CommitStatus};
use store::webhooks::Attempt;
use tracing::warn;

use crate::answer::{Answer, Silence};
use crate::backoff;
use crate::service::Inner;
use crate::target::Target;

impl Inner {
    /// Tells a repository what it is to say of a commit. When to try again, if it must be.
    ///
    /// # Errors
    /// The storage failed.
    pub(crate) async fn mark(&self, target: &str, key: &str) -> Result<Option<u64>, StoreError> {
        let owned = key.to_owned();
        let found = self.store.read(move |s| commit_statuses::by_key(s, &owned));
        let found = found.await?.filter(|status| status.next_ms.is_some());
        let Some((status, target)) = found.zip(self.targets.get(target)) else {
            return Ok(None);
        };
        let post = match target.post(&status, &self.links) {
            Ok(post) => post,
            Err(error) => {
                warn!(repository = target.name(), %error, "failed to read the token of a repository");
                let told = "The token of the repository cannot be read.".to_owned();
                return self.unmarked(status, None, told, None).await;
            }
        };
        match post.send(&self.limits, &self.tls).await {
            Ok(answer) if answer.is_success() => {
                let attempt = Attempt {
                    at_ms: self.clock.now_ms(),
                    status: Some(answer.status),
                    error: None,
                };
                self.store.status_settle(status, attempt, None).await
            }
            Ok(answer) if is_final(answer) => {
                warn!(
                    repository = target.name(),
                    job = status.job,
                    status = answer.status,
                    "a repository does not take a commit status"
                );
                let attempt = Attempt {
                    at_ms: self.clock.now_ms(),
                    status: Some(answer.status),
                    error: Some(answer.sentence()),
                };
                self.store.status_settle(status, attempt, None).await
            }
            Ok(answer) => {
                let now_ms = self.clock.now_ms();
                let wish = answer.wish.map(|wish| wish.seconds(now_ms));
                let code = Some(answer.status);
                self.failed(target, status, code, answer.sentence(), wish)
                    .await
            }
            Err(silence) => {
                let told = Silence::to_string(&silence);
                self.failed(target, status, None, told, None).await
            }
        }
    }

    async fn failed(
        &self,
        target: &Target,
        status: CommitStatus,
        code: Option<u16>,
        told: String,
        wish_s: Option<u64>,
    ) -> Result<Option<u64>, StoreError> {
        if status.attempts == 0 {
            warn!(
                repository = target.name(),
                job = status.job,
                error = told,
                "failed to tell a repository how a job stands"
            );
        }
        self.unmarked(status, code, told, wish_s).await
    }

    async fn unmarked(
        &self,
        status: CommitStatus,
        code: Option<u16>,
        told: String,
        wish_s: Option<u64>,
    ) -> Result<Option<u64>, StoreError> {
        let now_ms = self.clock.now_ms();
        let tried = (status.at_ms, status.attempts.saturating_add(1));
        let next_ms = backoff::next_ms(&self.limits, tried, wish_s, now_ms);
        let attempt = Attempt {
            at_ms: now_ms,
            status: code,
            error: Some(told),
        };
        self.store.status_settle(status, attempt, next_ms).await
    }
}

/// Whether the same request would be answered the same way for ever. A missing right can be given, so it is not.
fn is_final(answer: Answer) -> bool {
    (400..500).contains(&answer.status)
        && !matches!(answer.status, 401 | 403 | 404 | 408 | 425 | 429)
}
