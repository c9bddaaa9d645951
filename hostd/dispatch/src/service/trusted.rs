//! The refs that an organisation trusts, as its members and administrators see and change them.

use store::orgs;
use tracing::info;

use super::{Jobs, Submitter};
use crate::error::JobError;
use crate::trust;

impl Jobs {
    /// Patterns of the refs that an organisation trusts.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn trusted_refs(&self, org: &str) -> Result<Vec<String>, JobError> {
        let org = org.to_owned();
        let found = self.store.read(move |s| orgs::by_id(s, &org)).await?;
        Ok(found.map(|org| org.trusted_refs).unwrap_or_default())
    }

    /// Replaces these patterns: at most `pipeline::refs::REFS_MAX`. Attempts that begin from now on follow them.
    ///
    /// # Errors
    /// One is no pattern, there are too many, or the storage failed.
    pub async fn trust_refs(
        &self,
        by: &Submitter,
        patterns: Vec<String>,
    ) -> Result<Vec<String>, JobError> {
        trust::trust(&self.store, &by.org, patterns.clone()).await?;
        let (org, user) = (&by.org, &by.user);
        info!(org, user, refs = patterns.join(" "), "trusted refs changed");
        Ok(patterns)
    }
}
