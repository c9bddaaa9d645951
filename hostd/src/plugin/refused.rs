//! Packages that were not installed, and that nobody waited for.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

/// Most of `plugins.folder` that are kept; further ones are only in the log.
const REFUSED_MAX: usize = 100;

/// Most of requests that are kept, the latest. They never become well, so they have room of their own.
const REQUESTS_MAX: usize = 20;

/// A package that was not installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// Where it came from: the name of a file or folder, or a request.
    pub origin: String,
    pub reason: String,
}

/// All since the server started: by origin, then of requests.
#[derive(Debug, Default)]
pub(super) struct Refusals(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// Of `plugins.folder`, by name.
    named: BTreeMap<String, String>,
    /// Oldest first.
    requests: VecDeque<Refused>,
}

impl Refusals {
    pub(super) fn note(&self, origin: &str, reason: String) {
        let named = &mut self.kept().named;
        if named.len() < REFUSED_MAX || named.contains_key(origin) {
            named.insert(origin.to_owned(), reason);
        }
    }

    pub(super) fn forget(&self, origin: &str) {
        self.kept().named.remove(origin);
    }

    /// A package that came with a request, which is not made again under this id.
    pub(super) fn note_request(&self, id: &str, reason: String) {
        let requests = &mut self.kept().requests;
        if requests.len() == REQUESTS_MAX {
            requests.pop_front();
        }
        let origin = format!("request {id}");
        requests.push_back(Refused { origin, reason });
    }

    pub(super) fn all(&self) -> Vec<Refused> {
        let kept = self.kept();
        let named = kept.named.iter().map(|(origin, reason)| Refused {
            origin: origin.clone(),
            reason: reason.clone(),
        });
        named.chain(kept.requests.iter().cloned()).collect()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_bounded_and_each_origin_has_one_reason() {
        let refusals = Refusals::default();
        for n in 0..=REFUSED_MAX {
            refusals.note(&format!("{n:03}.tar"), "no".to_owned());
        }
        refusals.note("000.tar", "still no".to_owned());
        let all = refusals.all();
        assert_eq!(
            (all.len(), all[0].reason.as_str()),
            (REFUSED_MAX, "still no")
        );
        refusals.forget("000.tar");
        assert_eq!(refusals.all()[0].origin, "001.tar");
    }

    #[test]
    fn requests_take_no_room_from_the_folder_and_the_latest_are_kept() {
        let refusals = Refusals::default();
        for n in 0..=REQUESTS_MAX {
            refusals.note_request(&n.to_string(), "no".to_owned());
        }
        refusals.note("x.tar", "no".to_owned());
        let origins: Vec<_> = refusals.all().into_iter().map(|one| one.origin).collect();
        assert_eq!(origins.len(), REQUESTS_MAX + 1);
        assert_eq!((&*origins[0], &*origins[1]), ("x.tar", "request 1"));
    }
}
