//! Which refs an organisation trusts: what their jobs keep is there for all its jobs.

use jobs::{CacheOwner, Layer};
use pipeline::refs;
use store::{Store, StoreError, orgs};
use tracing::warn;

use crate::error::JobError;

/// Whose caches a job uses that `user` has submitted, where `trusted` are the organisation's patterns.
fn owner(org: &str, user: &str, reference: Option<&str>, trusted: &[String]) -> CacheOwner {
    let layer = match reference {
        _ if refs::any_has(trusted, reference) => Layer::Shared,
        Some(reference) => Layer::Ref(reference.to_owned()),
        None => Layer::User(user.to_owned()),
    };
    CacheOwner::new(org, layer)
}

/// As [`owner`], by what the organisation trusts now. Blocks on the disk.
pub(crate) fn owner_now(
    store: &Store,
    org: &str,
    user: &str,
    reference: Option<&str>,
) -> CacheOwner {
    let found = store.snapshot().and_then(|s| orgs::by_id(&s, org));
    let trusted = found.unwrap_or_else(|error| {
        warn!(org, %error, "failed to read which refs are trusted; none is for this attempt");
        None
    });
    let trusted = trusted.map(|org| org.trusted_refs).unwrap_or_default();
    owner(org, user, reference, &trusted)
}

/// Replaces the patterns of the refs that an organisation trusts: at most [`refs::REFS_MAX`].
///
/// # Errors
/// One is no pattern, there are too many, there is no such organisation, or the storage failed.
pub async fn trust(store: &Store, org: &str, patterns: Vec<String>) -> Result<(), JobError> {
    refs::check(&patterns).map_err(|message| JobError::Invalid {
        field: "refs",
        message,
    })?;
    let changed: Result<bool, StoreError> = store.org_trust_refs(org, patterns).await;
    match changed? {
        true => Ok(()),
        false => Err(JobError::NotFound),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ref_writes_what_all_read_only_if_its_organisation_trusts_it() {
        let acme = ["main", "v*"].map(str::to_owned);
        let own = |reference: &str| Layer::Ref(reference.to_owned());
        for (trusted, reference, layer) in [
            (&acme[..], Some("main"), Layer::Shared),
            (&acme, Some("v1.2"), Layer::Shared),
            (&acme, Some("topic"), own("topic")),
            (&acme, Some("main/x"), own("main/x")),
            (&acme, Some("refs/heads/main"), own("refs/heads/main")),
            (&acme, None, Layer::User("ann".to_owned())),
            // An organisation that names none trusts none.
            (&[], Some("main"), own("main")),
            (&[], None, Layer::User("ann".to_owned())),
        ] {
            let expected = CacheOwner::new("acme", layer);
            assert_eq!(owner("acme", "ann", reference, trusted), expected);
        }
    }
}
