//! Table of notices: what happened to jobs and has not been told to others yet. A notice is stored with what it is
//! about, in one transaction, and leaves in the one that stores who is to be told.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::commit_statuses::{self, Audience, CommitStatus};
use super::plugins::events;
use super::records::{Records, Unreadable};
use super::snapshot::Source;
use super::webhooks::{self, Delivery};
use super::{Store, StoreError, Writing, badges, orgs};

pub(super) const TABLES: [&str; 1] = ["job_notices"];

/// Id to notice; ids sort by time.
const NOTICES: Records<Notice> = Records::new(TABLES[0]);

/// How a job stands, to those who are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It waits.
    Queued,
    /// It has a place, or runs.
    Running,
    /// It ended, and nothing failed.
    Passed,
    /// It ended, and the firmware or the pipeline is to blame.
    Failed,
    /// It ended, and the bench or the server is to blame.
    Broken,
    /// Somebody ended it.
    Cancelled,
}

impl Standing {
    /// Whether the job is over.
    #[must_use]
    pub fn has_ended(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }

    /// Which of two of the same job is the later one.
    pub(super) fn rank(self) -> u8 {
        match self {
            Self::Queued => 0,
            Self::Running => 1,
            Self::Passed | Self::Failed | Self::Broken | Self::Cancelled => 2,
        }
    }
}

/// Something that happened to a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Notice {
    /// ULID.
    pub id: String,
    pub org: String,
    /// Job id.
    pub job: String,
    pub name: Option<String>,
    /// Branch or tag.
    pub r#ref: Option<String>,
    pub commit: Option<String>,
    pub standing: Standing,
    /// What happens, or what happened and what to do.
    pub message: String,
    /// The job as receivers are told of it; none until it is over.
    pub told: Option<Value>,
    pub at_ms: u64,
    /// Ids of the devices that it has used.
    #[serde(default)]
    pub devices: Vec<String>,
}

/// A notice, and what it comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct Spread {
    pub notice: Notice,
    /// Body of the message for webhooks; none if they are not told.
    pub body: Option<String>,
    /// What plugins are told: a JSON object; none if they are not.
    pub told: Option<String>,
    pub statuses: Vec<CommitStatus>,
}

/// What is owed since notices were spread.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Owed {
    pub deliveries: Vec<Delivery>,
    /// Those that are newer than what was there.
    pub statuses: Vec<CommitStatus>,
    /// How many events plugins are to be told of.
    pub events: usize,
}

/// Stores a notice if anybody listens: a repository, a webhook, a badge or a plugin.
pub(super) fn put(
    w: &Writing<'_>,
    notice: &Notice,
    repositories: &[Audience],
) -> Result<(), StoreError> {
    let is_heard = marks(w, notice, repositories)?
        || webhooks::want(w, notice)?
        || badges::want(w, notice)?
        || events::want(w, notice)?;
    if is_heard {
        NOTICES.put(w, &notice.id, notice)?;
    }
    Ok(())
}

/// Whether a repository may mark the commit of a notice.
fn marks(w: &Writing<'_>, notice: &Notice, repositories: &[Audience]) -> Result<bool, StoreError> {
    if notice.commit.is_none() || repositories.is_empty() {
        return Ok(false);
    }
    let org = orgs::by_id(w, &notice.org)?;
    let name = org.map_or_else(String::new, |org| org.name);
    Ok(repositories.iter().any(|one| one.has(notice, &name)))
}

/// The oldest notices that can be read, at most `limit`.
///
/// # Errors
/// The storage failed.
pub fn oldest(from: &impl Source, limit: usize) -> Result<Vec<Notice>, StoreError> {
    let mut found = Vec::new();
    NOTICES.each_readable(from, super::snapshot::Range::ALL, |_, notice| {
        found.push(notice);
        match found.len() < limit {
            true => std::ops::ControlFlow::Continue(()),
            false => std::ops::ControlFlow::Break(()),
        }
    })?;
    Ok(found)
}

/// What of notices, and of what became of them, cannot be read. It is left as it is, and held up by nobody.
///
/// # Errors
/// The storage failed.
pub fn unreadable(from: &impl Source) -> Result<Vec<Unreadable>, StoreError> {
    let mut found = NOTICES.unreadable(from)?;
    found.append(&mut webhooks::unreadable(from)?);
    found.append(&mut commit_statuses::unreadable(from)?);
    found.append(&mut badges::unreadable(from)?);
    Ok(found)
}

impl Store {
    /// Turn notices into what is owed to each who is to be told, and into what badges show. One that is gone already
    /// comes to nothing.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn notices_spread(&self, spreads: Vec<Spread>) -> Result<Owed, StoreError> {
        self.write(move |w| {
            let mut owed = Owed::default();
            for spread in &spreads {
                let notice = &spread.notice;
                if !NOTICES.remove(w, &notice.id)? {
                    continue;
                }
                if let Some(body) = &spread.body {
                    owed.deliveries.extend(webhooks::owe(w, notice, body)?);
                }
                for status in &spread.statuses {
                    if commit_statuses::owe(w, status)? {
                        owed.statuses.push(status.clone());
                    }
                }
                badges::hear(w, notice)?;
                if let Some(told) = &spread.told {
                    owed.events += events::owe(w, notice, told)?;
                }
            }
            Ok(owed)
        })
        .await
    }
}
