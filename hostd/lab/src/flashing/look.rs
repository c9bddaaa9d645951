//! Looks at firmware files: what they hold, and what they would do to a chip. A few at once, and each organisation's in turn.

use std::sync::Arc;
use std::time::Duration;

use ::flash::Inspection;
use admission::{Admission, Limits, Requester};

use super::{Firmware, FlashingError, blamed, invalid, panicked, read};

/// Files that are looked at at once; each is in memory. One organisation looks at one, and its next ones wait.
const LIMITS: Limits = Limits {
    permits_max: 2,
    per_user_max: 1,
    per_org_max: 1,
    queued_max: 8,
    wait_max: Duration::from_secs(5),
};

/// The places for looks.
#[derive(Debug)]
pub(super) struct Looks(Arc<Admission>);

impl Looks {
    pub(super) fn new() -> Self {
        Self::within(LIMITS)
    }

    fn within(limits: Limits) -> Self {
        Self(Arc::new(Admission::new(limits)))
    }

    /// Looks at a file, and at what it would do to a chip if one is named.
    pub(super) async fn at(
        &self,
        requester: Option<&Requester>,
        firmware: Firmware,
        target: Option<String>,
        load_address: Option<u32>,
    ) -> Result<Inspection, FlashingError> {
        let place = self.0.enter_owned(requester).await;
        let place = place.map_err(|_| FlashingError::Full)?;
        let looked = tokio::task::spawn_blocking(move || {
            // Its file is in memory until it was looked at, even if its caller has left.
            let _place = place;
            let image = read(&firmware, load_address)?;
            let found = ::flash::inspect(&image, target.as_deref(), load_address);
            found.map_err(|error| invalid(blamed(&error), &error))
        });
        looked.await.unwrap_or_else(panicked)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    use super::*;

    /// A file that nobody has read to its end before somebody writes it.
    fn slow(folder: &Path, name: &str) -> Firmware {
        let path = folder.join(name);
        assert!(
            Command::new("mkfifo")
                .arg(&path)
                .status()
                .unwrap()
                .success()
        );
        Firmware {
            name: "x.bin".to_owned(),
            size_bytes: 4,
            sha256: String::new(),
            build: None,
            path,
            staged: None,
        }
    }

    fn of(org: &str) -> Requester {
        Requester {
            org: org.into(),
            user: format!("{org}'s").into(),
        }
    }

    #[tokio::test]
    async fn an_organisation_has_one_place_and_all_have_two() {
        let folder = tempfile::tempdir().unwrap();
        let looks = Arc::new(Looks::within(Limits {
            wait_max: Duration::from_millis(50),
            ..LIMITS
        }));
        let begin = |org: &str, name: &str| {
            let (looks, file, org) = (looks.clone(), slow(folder.path(), name), of(org));
            tokio::spawn(async move { looks.at(Some(&org), file, None, Some(0)).await })
        };
        let is_full = |ended: Result<Inspection, FlashingError>| {
            assert!(matches!(ended, Err(FlashingError::Full)), "{ended:?}");
        };
        let taken = |count: u32| {
            let looks = looks.clone();
            async move {
                while looks.0.taken() != count {
                    tokio::task::yield_now().await;
                }
            }
        };
        let ours = begin("a", "ours");
        taken(1).await;
        is_full(begin("a", "next").await.unwrap());
        let theirs = begin("b", "theirs");
        taken(2).await;
        is_full(begin("c", "third").await.unwrap());
        // Whoever leaves has a place until its file was looked at.
        theirs.abort();
        is_full(begin("c", "again").await.unwrap());
        for name in ["ours", "theirs"] {
            let path = folder.path().join(name);
            tokio::task::spawn_blocking(move || fs::write(path, [1; 4]).unwrap());
        }
        assert_eq!(ours.await.unwrap().unwrap().data_bytes, 4);
        taken(0).await;
    }
}
