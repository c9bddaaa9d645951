//! Tables of badges: pictures that anybody may see who knows their id, and how the newest job of each stands.

use serde::{Deserialize, Serialize};

use super::notices::{Notice, Standing};
use super::records::{Records, Unreadable, pair};
use super::snapshot::Source;
use super::{Store, StoreError, Writing};

pub(super) const TABLES: [&str; 2] = ["badges", "badge_orgs"];

/// `org/id` to badge.
const BADGES: Records<Badge> = Records::new(TABLES[0]);

/// Id to organisation, since whoever asks for a badge knows no more.
const ORGS: Records<String> = Records::new(TABLES[1]);

/// A badge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Badge {
    /// Nobody can guess it.
    pub id: String,
    pub org: String,
    /// User who made it.
    pub user: String,
    /// Jobs of this name.
    pub name: String,
    /// Of this branch or tag alone; none = any.
    pub r#ref: Option<String>,
    /// What it says before the word.
    pub label: String,
    /// How the job stands; none when nothing is known of any.
    pub standing: Option<Standing>,
    /// The job that says so.
    pub job: Option<String>,
    pub created_ms: u64,
}

impl Badge {
    fn is_about(&self, notice: &Notice) -> bool {
        notice.name.as_ref() == Some(&self.name)
            && (self.r#ref.is_none() || self.r#ref == notice.r#ref)
    }

    /// Takes in how a job stands; whether that changes anything. The newest job that has ended counts, whenever it
    /// ended; one that is cancelled says nothing, and one that runs only as long as none has ended.
    fn hear(&mut self, job: &str, standing: Standing) -> bool {
        let has_ended = self.standing.is_some_and(Standing::has_ended);
        let is_newer = self.job.as_deref().is_none_or(|own| own <= job);
        let heard = match standing {
            Standing::Queued => return false,
            Standing::Running if has_ended || !is_newer => return false,
            Standing::Cancelled if has_ended || self.job.as_deref() != Some(job) => return false,
            Standing::Cancelled => (None, None),
            _ if has_ended && !is_newer => return false,
            standing => (Some(standing), Some(job.to_owned())),
        };
        let is_news = (self.standing, &self.job) != (heard.0, &heard.1);
        (self.standing, self.job) = heard;
        is_news
    }
}

/// The badges of an organisation, oldest first, without those that cannot be read.
///
/// # Errors
/// The storage failed.
pub fn of_org(from: &impl Source, org: &str) -> Result<Vec<Badge>, StoreError> {
    let mut found = BADGES.readable_of(from, org)?;
    found.sort_by(|a, b| (a.created_ms, &a.id).cmp(&(b.created_ms, &b.id)));
    Ok(found)
}

/// The badge with this id, of whichever organisation.
///
/// # Errors
/// The storage failed.
pub fn by_id(from: &impl Source, id: &str) -> Result<Option<Badge>, StoreError> {
    match ORGS.get_readable(from, id)? {
        Some(org) => BADGES.get_readable(from, &pair(&org, id)),
        None => Ok(None),
    }
}

pub(super) fn unreadable(from: &impl Source) -> Result<Vec<Unreadable>, StoreError> {
    let mut found = BADGES.unreadable(from)?;
    found.append(&mut ORGS.unreadable(from)?);
    Ok(found)
}

/// Whether a badge may show something else since a notice.
pub(super) fn want(from: &impl Source, notice: &Notice) -> Result<bool, StoreError> {
    if notice.standing == Standing::Queued {
        return Ok(false);
    }
    let badges = of_org(from, &notice.org)?;
    Ok(badges.iter().any(|badge| badge.is_about(notice)))
}

/// Show what a notice says.
pub(super) fn hear(w: &Writing<'_>, notice: &Notice) -> Result<(), StoreError> {
    for mut badge in of_org(w, &notice.org)? {
        if badge.is_about(notice) && badge.hear(&notice.job, notice.standing) {
            BADGES.put(w, &pair(&badge.org, &badge.id), &badge)?;
        }
    }
    Ok(())
}

impl Store {
    /// Add a badge; whether there was room for it among `count_max`.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn badge_add(&self, badge: Badge, count_max: usize) -> Result<bool, StoreError> {
        self.write(move |w| {
            if of_org(w, &badge.org)?.len() >= count_max {
                return Ok(false);
            }
            BADGES.put(w, &pair(&badge.org, &badge.id), &badge)?;
            ORGS.put(w, &badge.id, &badge.org)?;
            Ok(true)
        })
        .await
    }

    /// Show how a job stands that ended before the badge was made; the badge as it is then.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn badge_hear(
        &self,
        mut badge: Badge,
        job: &str,
        standing: Standing,
    ) -> Result<Badge, StoreError> {
        let job = job.to_owned();
        self.write(move |w| {
            let key = pair(&badge.org, &badge.id);
            if let Some(there) = BADGES.get(w, &key)? {
                badge = there;
                if badge.hear(&job, standing) {
                    BADGES.put(w, &key, &badge)?;
                }
            }
            Ok(badge.clone())
        })
        .await
    }

    /// Remove a badge; whether the organisation had it.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn badge_remove(&self, org: &str, id: &str) -> Result<bool, StoreError> {
        let (org, id) = (org.to_owned(), id.to_owned());
        self.write(move |w| {
            let was = BADGES.remove(w, &pair(&org, &id))?;
            if was {
                ORGS.remove(w, &id)?;
            }
            Ok(was)
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn badge() -> Badge {
        Badge {
            id: "b".into(),
            org: "o".into(),
            user: "u".into(),
            name: "n".into(),
            r#ref: None,
            label: "n".into(),
            standing: None,
            job: None,
            created_ms: 1,
        }
    }

    #[test]
    fn the_newest_job_that_ended_counts() {
        let mut badge = badge();
        let mut hear = |job: &str, standing| {
            badge.hear(job, standing);
            badge.standing
        };
        assert_eq!(hear("2", Standing::Queued), None);
        assert_eq!(hear("2", Standing::Running), Some(Standing::Running));
        assert_eq!(hear("1", Standing::Cancelled), Some(Standing::Running));
        assert_eq!(hear("2", Standing::Cancelled), None);
        assert_eq!(hear("4", Standing::Running), Some(Standing::Running));
        // An older one that ends while a newer one runs is the newest that has ended.
        assert_eq!(hear("3", Standing::Failed), Some(Standing::Failed));
        assert_eq!(hear("4", Standing::Passed), Some(Standing::Passed));
        assert_eq!(hear("3", Standing::Broken), Some(Standing::Passed));
        assert_eq!(hear("5", Standing::Running), Some(Standing::Passed));
        assert_eq!(hear("5", Standing::Cancelled), Some(Standing::Passed));
        assert_eq!(hear("6", Standing::Broken), Some(Standing::Broken));
    }
}
