//! Who may have a job taken in, or read logs and pages of one, at once: each borrows a blocking thread. Places are
//! shared between users and organisations, so that nobody's hundred requests hold up somebody's one.

use std::sync::Arc;
use std::time::Duration;

use admission::{Admission, Limits, OwnedPermit, Requester};

use crate::error::JobError;
use crate::service::Submitter;

/// Jobs that are taken in at once; of them one organisation's, and one user's.
const INTAKES_MAX: u32 = 4;
const INTAKES_PER_ORG_MAX: u32 = 2;
const INTAKES_PER_USER_MAX: u32 = 1;

/// Logs and pages that are opened at once; of them one organisation's, and one user's.
const READS_MAX: u32 = 4;
const READS_PER_ORG_MAX: u32 = 3;
const READS_PER_USER_MAX: u32 = 2;

/// Requests of each kind that wait for their turn, and how long; a handler's deadline may be shorter.
const QUEUED_MAX: u32 = 1024;
const WAIT_MAX: Duration = Duration::from_secs(60);

/// The places.
#[derive(Debug)]
pub(crate) struct Turns {
    intakes: Arc<Admission>,
    reads: Arc<Admission>,
}

impl Turns {
    pub(crate) fn new() -> Self {
        let places = |permits_max, per_org_max, per_user_max| {
            Arc::new(Admission::new(Limits {
                permits_max,
                per_user_max,
                per_org_max,
                queued_max: QUEUED_MAX,
                wait_max: WAIT_MAX,
            }))
        };
        Self {
            intakes: places(INTAKES_MAX, INTAKES_PER_ORG_MAX, INTAKES_PER_USER_MAX),
            reads: places(READS_MAX, READS_PER_ORG_MAX, READS_PER_USER_MAX),
        }
    }

    /// A place to have a job taken in.
    pub(crate) async fn intake(&self, by: &Submitter) -> Result<OwnedPermit, JobError> {
        enter(&self.intakes, by, "have their job taken in").await
    }

    /// A place to read what a job left.
    pub(crate) async fn read(&self, by: &Submitter) -> Result<OwnedPermit, JobError> {
        enter(&self.reads, by, "read logs and pages of jobs").await
    }
}

async fn enter(
    places: &Arc<Admission>,
    by: &Submitter,
    what: &str,
) -> Result<OwnedPermit, JobError> {
    let requester = Requester {
        org: by.org.as_str().into(),
        user: by.user.as_str().into(),
    };
    let entered = places.enter_owned(Some(&requester)).await;
    entered.map_err(|_| {
        JobError::Full(format!(
            "too many requests wait to {what}; try again in a while"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(org: &str, user: u32) -> Submitter {
        Submitter {
            org: org.to_owned(),
            user: format!("{org}-{user}"),
        }
    }

    /// An organisation that fills every place it can get with users who never leave, and has hundreds more wait, delays
    /// nobody else; nor do two, beyond their share.
    #[tokio::test(start_paused = true)]
    async fn an_organisation_that_takes_all_it_can_holds_up_no_other() {
        let turns = Arc::new(Turns::new());
        let mut held = Vec::new();
        for user in 0..INTAKES_PER_ORG_MAX {
            held.push(turns.intake(&of("hostile", user)).await.unwrap());
        }
        let mut waiting = Vec::new();
        for user in 0..300 {
            let turns = turns.clone();
            waiting.push(tokio::spawn(async move {
                turns.intake(&of("hostile", user)).await.map(drop)
            }));
        }
        tokio::task::yield_now().await;
        assert_eq!(turns.intakes.taken(), INTAKES_PER_ORG_MAX);
        let began = tokio::time::Instant::now();
        for org in ["a", "b", "c"] {
            for user in 0..5 {
                drop(turns.intake(&of(org, user)).await.unwrap());
            }
        }
        // The clock stands still while anything can go on, so none of them has waited.
        assert_eq!(began.elapsed(), Duration::ZERO);
        assert!(waiting.iter().all(|task| !task.is_finished()));
        // Those who wait are told so in the end.
        for task in waiting {
            assert!(matches!(task.await.unwrap(), Err(JobError::Full(_))));
        }
        assert_eq!(began.elapsed(), WAIT_MAX);
    }

    #[tokio::test(start_paused = true)]
    async fn of_one_organisation_those_who_wait_come_in_turn_by_user() {
        let turns = Arc::new(Turns::new());
        let mut held = Vec::new();
        for user in 0..INTAKES_PER_ORG_MAX {
            held.push(turns.intake(&of("o", user)).await.unwrap());
        }
        let order = Arc::new(std::sync::Mutex::new(Vec::new()));
        let mut waiting = Vec::new();
        for user in [7, 7, 7, 8, 9] {
            let (turns, order) = (turns.clone(), order.clone());
            waiting.push(tokio::spawn(async move {
                let place = turns.intake(&of("o", user)).await.unwrap();
                order.lock().unwrap().push(user);
                drop(place);
            }));
            tokio::task::yield_now().await;
        }
        held.pop();
        for task in waiting {
            task.await.unwrap();
        }
        assert_eq!(*order.lock().unwrap(), [7, 8, 9, 7, 7]);
    }

    #[tokio::test(start_paused = true)]
    async fn readers_share_as_well() {
        let turns = Turns::new();
        let mut held = Vec::new();
        for place in 0..READS_PER_ORG_MAX {
            let reader = of("hostile", place / READS_PER_USER_MAX);
            held.push(turns.read(&reader).await.unwrap());
        }
        let began = tokio::time::Instant::now();
        drop(turns.read(&of("other", 0)).await.unwrap());
        assert_eq!(began.elapsed(), Duration::ZERO);
        assert!(turns.read(&of("hostile", 9)).await.is_err());
    }
}
