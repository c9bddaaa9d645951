//! `hostd:host/badges`: pictures of how jobs stand.

use dispatch::{JobError, Jobs};
use notify::{BadgeError, NewBadge, Notices};
use store::badges::Badge;
use store::notices::Standing;
use wasmtime::component::HasData;

use super::bindings::hostd::host::badges as w;
use super::{CallLinker, Context, internal, wit};
use base::clock;
use identity::Verified;

/// What this interface gets of a call.
pub(super) struct View<'a> {
    context: &'a Context,
    jobs: &'a Jobs,
    notices: &'a Notices,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut CallLinker) -> wasmtime::Result<()> {
    wit::badges::add_to_linker::<_, View<'static>>(linker, |state| View {
        context: &state.data.context,
        jobs: &state.data.services.jobs,
        notices: &state.data.services.notices,
    })
}

impl w::Host for View<'_> {
    async fn list(&mut self) -> Result<Vec<w::Badge>, w::Error> {
        let found = self.notices.badges(self.badge_admin()?.org()).await;
        let found = found.map_err(|e| self.badge_error(e))?;
        Ok(found.into_iter().map(badge).collect())
    }

    async fn create(&mut self, new: w::NewBadge) -> Result<w::Badge, w::Error> {
        let caller = self.badge_admin()?;
        let by = (caller.org(), caller.user());
        let new = NewBadge {
            name: new.name,
            r#ref: new.ref_,
            label: new.label,
        };
        let made = self.notices.badge_create(by, new).await;
        let made = made.map_err(|e| self.badge_error(e))?;
        // Looked for once it is there, so that a job that ends meanwhile is not missed.
        let newest = self
            .jobs
            .newest(&made.org, &made.name, made.r#ref.as_deref());
        let heard = match newest.await.map_err(|e| self.job_error(e))? {
            Some((job, standing)) => self.notices.badge_hear(made, &job, standing).await,
            None => Ok(made),
        };
        heard.map(badge).map_err(|e| self.badge_error(e))
    }

    async fn remove(&mut self, id: String) -> Result<(), w::Error> {
        let caller = self.badge_admin()?;
        let by = (caller.org(), caller.user());
        let removed = self.notices.badge_remove(by, &id).await;
        removed.map_err(|e| self.badge_error(e))
    }

    async fn look(&mut self, id: String) -> Result<w::Shown, w::Error> {
        let found = self.notices.badge(&id).await;
        let found = found.map_err(|e| self.badge_error(e))?;
        Ok(w::Shown {
            word: word(found.standing),
            label: found.label,
        })
    }
}

impl View<'_> {
    fn badge_admin(&self) -> Result<&Verified, w::Error> {
        let doing = "managing badges";
        self.context
            .check_admin(doing)
            .map_err(w::Error::Forbidden)?;
        self.context.caller.as_ref().ok_or(w::Error::NotFound)
    }

    fn badge_error(&self, error: BadgeError) -> w::Error {
        match error {
            BadgeError::NotFound => w::Error::NotFound,
            BadgeError::Full(sentence) => w::Error::Full(sentence),
            BadgeError::Store(error) => w::Error::Other(internal(self.context, "badges", &error)),
        }
    }

    fn job_error(&self, error: JobError) -> w::Error {
        w::Error::Other(internal(self.context, "badges", &error))
    }
}

fn word(standing: Option<Standing>) -> w::Word {
    match standing {
        Some(Standing::Running) => w::Word::Running,
        Some(Standing::Passed) => w::Word::Passing,
        Some(Standing::Failed) => w::Word::Failing,
        Some(Standing::Broken) => w::Word::Infrastructure,
        None | Some(Standing::Queued | Standing::Cancelled) => w::Word::Unknown,
    }
}

fn badge(badge: Badge) -> w::Badge {
    w::Badge {
        word: word(badge.standing),
        id: badge.id,
        name: badge.name,
        ref_: badge.r#ref,
        label: badge.label,
        user: badge.user,
        created_at: clock::text(badge.created_ms),
    }
}
