//! What a pipeline comes to, before it is submitted: it is checked as if it was, and nothing is kept of it.

use base::id;
use pipeline::Requirements;
use store::StoreError;
use store::jobs::Run;

use crate::behind;
use crate::driver::{Event, Prospective};
use crate::error::JobError;
use crate::intake::is_read_in_a_moment;
use crate::service::{Jobs, Submitter};

/// A pipeline that would be taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// What it calls itself.
    pub name: Option<String>,
    /// Each behind those that it needs.
    pub runs: Vec<CheckedRun>,
    /// Names of the secrets that its steps ask for, each once.
    pub secrets: Vec<String>,
    /// Why its job may not run now, though it is right.
    pub warnings: Vec<Warning>,
}

/// A run that a pipeline comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedRun {
    /// As it would be queued.
    pub run: Run,
    /// None for a build.
    pub device: Option<Wish>,
}

/// What a run asks of its device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    /// Its name; none: any that fits.
    pub name: Option<String>,
    /// Capabilities, and what each must be, as `>=4`.
    pub select: Vec<(String, String)>,
}

/// Something that may keep a job from running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// What kind of thing it is.
    pub doubt: Doubt,
    /// Id of the run; none: the job as a whole.
    pub run: Option<String>,
    /// A sentence.
    pub message: String,
}

/// The kinds of things that may keep a job from running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// This machine cannot isolate jobs, so it takes none.
    NoIsolation,
    /// No device of the organisation can ever fit.
    NoMatchingDevice,
    /// Each device that fits is away or in quarantine.
    NoDeviceNow,
}

impl From<&Requirements> for Wish {
    fn from(asked: &Requirements) -> Self {
        let select = asked.select.iter();
        Self {
            name: asked.name.clone(),
            select: select
                .map(|(key, predicate)| (key.clone(), predicate.to_string()))
                .collect(),
        }
    }
}

impl Jobs {
    /// What a pipeline would come to as a job of a branch or tag.
    ///
    /// # Errors
    /// Those of [`submit`](Self::submit) that the pipeline is the reason for, and that too many are taken in.
    pub async fn check(
        &self,
        by: Submitter,
        definition: String,
        reference: Option<String>,
    ) -> Result<Checked, JobError> {
        let place = self.turns.intake(&by).await?;
        let (intake, id, org) = (self.intake.clone(), id::ulid(&self.clock), by.org.clone());
        let is_small = is_read_in_a_moment(&definition);
        let look = move || {
            let _place = place;
            intake.look(&by, &definition, reference.as_deref(), &id)
        };
        let looked = match is_small {
            true => tokio::task::spawn_blocking(look).await.ok(),
            false => behind::run(look).await,
        };
        let (mut checked, wanted) = looked.ok_or(StoreError::Panicked)??;
        let runs = checked.runs.iter().map(|run| run.run.id.clone());
        let job = Prospective {
            org,
            runs: runs.zip(wanted).collect(),
        };
        let asked = self.events.ask(|answer| Event::Prospects(job, answer));
        let prospects = asked.await.flatten()?;
        let lack = self.isolation.lack().await.map(|message| Warning {
            doubt: Doubt::NoIsolation,
            run: None,
            message,
        });
        checked.warnings.extend(lack.into_iter().chain(prospects));
        Ok(checked)
    }
}
