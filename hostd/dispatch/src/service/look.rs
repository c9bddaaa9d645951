//! Looking at jobs: what is stored of them, what they left, and following one.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

use base::clock;
use base::live::BoxedLive;
use bytes::Bytes;
use lab::blobs::FileParts;
use scheduler::{State, Verdict};
use serde_json::Value;
use store::StoreError;
use store::jobs::{self as records, File, Job};
use store::notices::Standing;
use store::users;
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use super::{Jobs, Submitter};
use crate::aside;
use crate::driver::Event;
use crate::error::JobError;
use crate::follow::{Follower, Tell};
use crate::left::{self, artifacts};
use crate::log::{self, Log};
use crate::notice;
use crate::pages::{self, Page, Preparing};
use crate::record;
use crate::why::{self, Why};

/// Which jobs are listed; none: any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// How far they are.
    pub state: Option<State>,
    /// What they say of the firmware.
    pub verdict: Option<Verdict>,
    /// What they are called.
    pub name: Option<String>,
    /// Their branch or tag.
    pub r#ref: Option<String>,
    /// In name, branch or tag, commit or id, whatever the case.
    pub text: Option<String>,
    /// Not older than this: RFC 3339 in UTC, or a day.
    pub since: Option<String>,
}

impl Jobs {
    /// A job.
    ///
    /// # Errors
    /// The organisation has none of this id, or the storage failed.
    pub async fn get(&self, org: &str, id: &str) -> Result<Arc<Job>, JobError> {
        let (org, id) = (org.to_owned(), id.to_owned());
        let job = self
            .store
            .read(move |s| records::by_id(s, &org, &id))
            .await?;
        Ok(Arc::new(aside::told(job.ok_or(JobError::NotFound)?)))
    }

    /// What happens to a job, or what it waits for, or what happened and what to do.
    #[must_use]
    pub fn message(&self, job: &Job) -> String {
        self.board.message(job)
    }

    /// Jobs of an organisation without their runs and attempts, newest first, at most `limit`, those before the job `before` if that is given; and
    /// whether there are more.
    ///
    /// # Errors
    /// Too many look for some of them, or the storage failed.
    pub async fn list(
        &self,
        by: &Submitter,
        filter: Filter,
        limit: usize,
        before: Option<String>,
    ) -> Result<(Vec<Job>, bool), JobError> {
        let place = match filter.is_any() {
            true => None,
            // All that is kept may be looked at, to find little of it.
            false => Some(self.turns.read(by).await?),
        };
        let org = by.org.clone();
        let read = self.store.read(move |s| {
            // It is held until the look has ended, though the caller may have left.
            let _place = place;
            let (sought, since) = (filter.sought(), filter.since.as_deref());
            let mut found = Vec::new();
            records::newest_first_since(s, &org, since, before.as_deref(), |job| {
                let mut job = aside::told(job);
                if sought.fits(&job) {
                    // A list has none of it, and a few hundred jobs may have much.
                    (job.runs, job.attempts) = (Vec::new(), Vec::new());
                    job.queue = job.queue.map(|_| Value::Null);
                    found.push(job);
                }
                match found.len() > limit {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            })?;
            Ok::<_, StoreError>(found)
        });
        let mut found = read.await?;
        let has_more = found.len() > limit;
        found.truncate(limit);
        Ok((found, has_more))
    }

    /// How the newest job of this name, and of this branch or tag if that is given, stands that tells anything: that
    /// has ended and was not cancelled, or runs if there is none. With it its id.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn newest(
        &self,
        org: &str,
        name: &str,
        r#ref: Option<&str>,
    ) -> Result<Option<(String, Standing)>, JobError> {
        let filter = Filter {
            name: Some(name.to_owned()),
            r#ref: r#ref.map(str::to_owned),
            ..Filter::default()
        };
        let org = org.to_owned();
        let read = self.store.read(move |s| {
            let sought = filter.sought();
            let mut running = None;
            let mut ended = None;
            records::newest_first(s, &org, None, |found| {
                let Some(job) = found.job().filter(|job| sought.fits(job)) else {
                    return ControlFlow::Continue(());
                };
                let id = || job.id.clone();
                match notice::standing(job) {
                    Standing::Queued | Standing::Cancelled => ControlFlow::Continue(()),
                    Standing::Running => {
                        running.get_or_insert_with(|| (id(), Standing::Running));
                        ControlFlow::Continue(())
                    }
                    standing => {
                        ended = Some((id(), standing));
                        ControlFlow::Break(())
                    }
                }
            })?;
            Ok::<_, StoreError>(ended.or(running))
        });
        Ok(read.await?)
    }

    /// Why a job does not run yet, or how it ended.
    ///
    /// # Errors
    /// There is none of this id, or the storage failed.
    pub async fn why(&self, org: &str, id: &str) -> Result<Why, JobError> {
        let job = self.get(org, id).await?;
        if job.queue.is_some() {
            let of = id.to_owned();
            if let Some(why) = self.events.ask(|answer| Event::Why(of, answer)).await? {
                return Ok(why);
            }
        }
        Ok(why::of_finished(self.get(org, id).await?))
    }

    /// The files that a job's runs made: run, file, and when.
    ///
    /// # Errors
    /// There is none of this id, or the storage failed.
    pub async fn artifacts(
        &self,
        org: &str,
        id: &str,
    ) -> Result<Vec<(String, File, u64)>, JobError> {
        Ok(artifacts(&*self.get(org, id).await?))
    }

    /// Streams a file that a run made.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub async fn artifact(
        &self,
        org: &str,
        id: &str,
        run: &str,
        name: &str,
    ) -> Result<((String, File, u64), FileParts), JobError> {
        let all = self.artifacts(org, id).await?;
        let found = all
            .into_iter()
            .find(|(of, file, _)| of == run && file.name == name);
        let found = found.ok_or(JobError::NotFound)?;
        let sha256 = &found.1.sha256;
        let parts = self.blobs.read(sha256).await;
        let parts = parts.map_err(JobError::files(self.blobs.path(sha256)))?;
        Ok((found, parts))
    }

    /// The log of an attempt from an offset on, or of all attempts.
    ///
    /// # Errors
    /// There is no such job or attempt, or a file cannot be read.
    pub async fn log(
        &self,
        by: &Submitter,
        id: &str,
        attempt: Option<u32>,
        offset: u64,
    ) -> Result<Log, JobError> {
        let job = self.get(&by.org, id).await?;
        let files = self.files.clone();
        let runtime = Handle::current();
        self.blocking(by, move || {
            log::open(&files, &job, attempt, offset, &runtime)
        })
        .await
    }

    /// A page about a job that has ended, made while it is taken. Dropping what is returned ends the making.
    ///
    /// # Errors
    /// There is none of this id, it has not ended, or a file cannot be read.
    pub async fn page(
        &self,
        by: &Submitter,
        id: &str,
        page: Page,
    ) -> Result<mpsc::Receiver<io::Result<Bytes>>, JobError> {
        let job = self.get(&by.org, id).await?;
        if job.queue.is_some() {
            return Err(JobError::Unfinished);
        }
        let submitted_by = self.login(&job.user).await?;
        let files = self.files.clone();
        let left = match page {
            Page::Report => {
                let captures = self.store.captures_of_job(&job.org, id).await?;
                left::links(&job, captures, &self.public_url)
            }
            Page::Junit | Page::Trace => Vec::new(),
        };
        let base = (&*self.public_url, left);
        let preparing = Preparing::new(files, job, submitted_by, base, page);
        let bits = pages::prepare(preparing, &self.turns, by).await?;
        Ok(pages::stream(bits, self.turns.clone(), by.clone()))
    }

    /// What a user signs in with; the id of one who is gone.
    async fn login(&self, user: &str) -> Result<String, JobError> {
        let id = user.to_owned();
        let found = self.store.read(move |s| users::by_id(s, &id)).await?;
        Ok(found.map_or_else(|| user.to_owned(), |found| found.login))
    }

    /// Follows a job; `tell` says how its record is told.
    ///
    /// # Errors
    /// There is none of this id, or the storage failed.
    pub async fn follow(
        &self,
        org: &str,
        id: &str,
        tell: impl Fn(&Job) -> Value + Send + Sync + 'static,
    ) -> Result<BoxedLive, JobError> {
        // Looked for first, so that nothing that happens afterwards is missed.
        let jobs = self
            .board
            .follow(id)
            .filter(|jobs| jobs.borrow().org == org);
        let job = match &jobs {
            Some(jobs) => jobs.borrow().clone(),
            None => self.get(org, id).await?,
        };
        let board = self.board.clone();
        let tell: Tell = Box::new(move |job| {
            let mut told = tell(job);
            told["message"] = board.message(job).into();
            told
        });
        Ok(Box::new(Follower::new(self.files.clone(), jobs, job, tell)))
    }

    async fn blocking<T: Send + 'static>(
        &self,
        by: &Submitter,
        work: impl FnOnce() -> Result<T, JobError> + Send + 'static,
    ) -> Result<T, JobError> {
        let place = self.turns.read(by).await?;
        let work = move || {
            let _place = place;
            work()
        };
        tokio::task::spawn_blocking(work)
            .await
            .map_err(|_| StoreError::Panicked)?
    }
}

impl Filter {
    /// Whether all jobs are wanted.
    fn is_any(&self) -> bool {
        *self == Self::default()
    }

    /// As it is looked with.
    pub(crate) fn sought(&self) -> Sought<'_> {
        Sought {
            filter: self,
            text: self.text.as_ref().map(|text| text.to_lowercase()),
        }
    }

    fn fits(&self, job: &Job, text: Option<&str>) -> bool {
        let is =
            |wanted: &Option<String>, found: &Option<String>| wanted.is_none() || wanted == found;
        let axes = || record::axes(job);
        self.state.is_none_or(|state| axes().state() == state)
            && self
                .verdict
                .is_none_or(|verdict| axes().verdict() == verdict)
            && is(&self.name, &job.name)
            && is(&self.r#ref, &job.r#ref)
            && text.is_none_or(|text| has_text(job, text))
            && self
                .since
                .as_ref()
                .is_none_or(|since| clock::is_since(job.created_ms, since))
    }
}

/// A filter that jobs are held against.
pub(crate) struct Sought<'f> {
    filter: &'f Filter,
    /// The text in lower case.
    text: Option<String>,
}

impl Sought<'_> {
    /// Whether a job is one of those.
    pub(crate) fn fits(&self, job: &Job) -> bool {
        self.filter.fits(job, self.text.as_deref())
    }
}

/// Whether what people know a job by has this in it, which is in lower case.
fn has_text(job: &Job, text: &str) -> bool {
    let all = [&job.name, &job.r#ref, &job.commit].into_iter().flatten();
    let mut all = all.chain([&job.id]);
    all.any(|one| one.to_lowercase().contains(text))
}
