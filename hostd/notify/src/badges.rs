//! Badges: pictures for pages that have no credential. Whoever knows an id learns the label and one word, no more.

use base::id;
use store::StoreError;
use store::badges::{self, Badge};
use store::notices::Standing;
use tracing::info;

use crate::service::Notices;

/// Characters of a badge's id: 131 bits.
const ID_CHARS: usize = 22;

/// What a new badge shows.
#[derive(Debug, Clone)]
pub struct NewBadge {
    /// Jobs of this name.
    pub name: String,
    /// Of this branch or tag alone.
    pub r#ref: Option<String>,
    /// What it says before the word.
    pub label: String,
}

/// Why nothing was done.
#[derive(Debug, thiserror::Error)]
pub enum BadgeError {
    /// There is none of this id.
    #[error("there is no such badge")]
    NotFound,
    /// There are as many as may be; a sentence.
    #[error("{0}")]
    Full(String),
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Notices {
    /// The badges of an organisation, oldest first.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn badges(&self, org: &str) -> Result<Vec<Badge>, BadgeError> {
        let org = org.to_owned();
        let found = self.inner.store.read(move |s| badges::of_org(s, &org));
        Ok(found.await?)
    }

    /// The badge with this id, of whichever organisation: nobody asks who cannot know it.
    ///
    /// # Errors
    /// There is none, or the storage failed.
    pub async fn badge(&self, id: &str) -> Result<Badge, BadgeError> {
        if id.len() != ID_CHARS || !id::is_base62(id) {
            return Err(BadgeError::NotFound);
        }
        let id = id.to_owned();
        let found = self.inner.store.read(move |s| badges::by_id(s, &id));
        found.await?.ok_or(BadgeError::NotFound)
    }

    /// Makes a badge, for a user of an organisation. It knows of no job yet.
    ///
    /// # Errors
    /// There are too many, or the storage failed.
    pub async fn badge_create(
        &self,
        (org, user): (&str, &str),
        new: NewBadge,
    ) -> Result<Badge, BadgeError> {
        let badge = Badge {
            id: id::base62(ID_CHARS),
            org: org.to_owned(),
            user: user.to_owned(),
            name: new.name,
            r#ref: new.r#ref,
            label: new.label,
            standing: None,
            job: None,
            created_ms: self.inner.clock.now_ms(),
        };
        let most = self.inner.limits.badges_per_org_max;
        if !self.inner.store.badge_add(badge.clone(), most).await? {
            let told = format!(
                "the organisation has {most} badges, the most that `badges.count_max` allows; remove one first"
            );
            return Err(BadgeError::Full(told));
        }
        // Its id is a secret of whoever shows it.
        info!(org, by = user, name = badge.name, "badge made");
        Ok(badge)
    }

    /// Lets a badge know of a job that was there before it.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn badge_hear(
        &self,
        badge: Badge,
        job: &str,
        standing: Standing,
    ) -> Result<Badge, BadgeError> {
        let heard = self.inner.store.badge_hear(badge, job, standing);
        Ok(heard.await?)
    }

    /// Removes a badge.
    ///
    /// # Errors
    /// The organisation has none of this id, or the storage failed.
    pub async fn badge_remove(
        &self,
        (org, user): (&str, &str),
        id: &str,
    ) -> Result<(), BadgeError> {
        if !self.inner.store.badge_remove(org, id).await? {
            return Err(BadgeError::NotFound);
        }
        info!(org, by = user, "badge removed");
        Ok(())
    }
}
