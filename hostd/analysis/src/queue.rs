//! From the queue to the end: each run that is not finished has a task, which waits for a place, stores that the run begins,
//! has it carried out, and stores what came of it.
//!
//! ```text
//! new, retry_pending ── place ──> in_progress (stored) ── runner, a thread of its own ──> done, failed, timed_out (stored)
//!        └── stopped: failed         └── stopping ── the runner is ended ──> failed
//! ```

use std::io::{self, PipeReader};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use admission::Requester;
use base::space;
use blobs::Staged;
use store::StoreError;
use store::emi::runs::{Artifact, End, Failure, Progress, Run, Status};
use store::emi::{EmiError, File, boards};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tracing::{error, info, warn};

use crate::attended::Ticket;
use crate::error::Error;
use crate::runner::{Event, Product, Unfinished, Unwanted, Work, failure};
use crate::runs::stopped;
use crate::service::Analysis;
use crate::uploads::keep;

/// How often a run is begun that restarts of the server keep interrupting.
pub(crate) const ATTEMPTS_MAX: u32 = 3;

/// How often the end of a run is tried to be stored, and how long to wait between.
const END_TRIES: u32 = 60;
const END_WAIT: Duration = Duration::from_secs(5);

/// A run as it was carried out.
struct Carried {
    made: Vec<(Artifact, Staged)>,
    ended: Result<Product, Unfinished>,
}

impl Analysis {
    /// Look after what a restart caught.
    pub(crate) async fn recover(self: &Arc<Self>) -> Result<(), Error> {
        let interrupted = failure(
            "interrupted",
            format!("The server was restarted during each of {ATTEMPTS_MAX} attempts. Try again."),
        );
        let now_ms = self.clock.now_ms();
        let mut tasks = self.tasks.lock().await;
        let waiting = self
            .store
            .emi_runs_recover(ATTEMPTS_MAX, now_ms, interrupted, stopped())
            .await?;
        self.has_settled.store(true, Ordering::SeqCst);
        for run in &waiting {
            self.attend(&mut tasks, run);
        }
        Ok(())
    }

    /// Give a run its task, which was made to wait under the same hold of `tasks`: so it has one task, and a stop meets both
    /// or neither.
    pub(crate) fn attend(self: &Arc<Self>, tasks: &mut JoinSet<()>, run: &Run) {
        if !self.has_settled.load(Ordering::SeqCst) {
            return;
        }
        // Those that have ended.
        while tasks.try_join_next().is_some() {}
        let number = self.meter.next_task();
        let ticket = self.attended.begin(&run.id, number);
        let (this, org, id) = (self.clone(), run.org.clone(), run.id.clone());
        tasks.spawn(async move {
            let seen = this.see_through(&org, &id, ticket).await;
            this.attended.end(&id, number);
            if let Err(error) = seen {
                warn!(run = id, %error, "failed to see a run of an analysis through; it waits for the next start");
            }
        });
    }

    async fn see_through(
        self: &Arc<Self>,
        org: &str,
        id: &str,
        mut ticket: Ticket,
    ) -> Result<(), StoreError> {
        let number = ticket.number;
        // Places are handed on by organisation: however many runs and users one has, the next is another's.
        let requester = Requester {
            org: org.into(),
            user: org.into(),
        };
        let place = tokio::select! {
            place = self.places.enter_owned(Some(&requester)) => place,
            _ = &mut ticket.stopped => return Ok(()),
        };
        let Ok(place) = place else {
            warn!(
                run = id,
                "no place was found for a run; it waits for the next start"
            );
            return Ok(());
        };
        let stopped = match self.attended.start(id, number) {
            Ok(Some(stopped)) => stopped,
            // If it was stopped while its place came, and then asked for again, it is another task's.
            Ok(None) => return Ok(()),
            Err(error) => {
                // It waits in the store, for the next start or until it is stopped.
                warn!(run = id, %error, "failed to begin a run of an analysis");
                return Ok(());
            }
        };
        let Some(work) = self.begin_run(org, id, number).await? else {
            return Ok(());
        };
        let carried = self.carry_out(id, work, stopped).await;
        drop(place);
        // It stays attended until its end is stored: a stop that comes meanwhile leaves the end to this task.
        let progress = self.attended.carried_out(id, number);
        if self.is_stopping.load(Ordering::SeqCst) && carried.ended == Err(Unfinished::Stopped) {
            return self.put_back(org, id).await;
        }
        self.end_run(org, id, progress, carried).await
    }

    /// Store that a run begins, if it still waits, and for this task.
    pub(crate) async fn begin_run(
        &self,
        org: &str,
        id: &str,
        number: u64,
    ) -> Result<Option<Work>, StoreError> {
        if self.is_stopping.load(Ordering::SeqCst) {
            return Ok(None);
        }
        let now_ms = self.clock.now_ms();
        let (attended, of) = (self.attended.clone(), id.to_owned());
        let begun = self.store.emi_run_change(org, id, move |run| {
            // Stopped and then asked for again, it waits for another task.
            if !run.status.waits() || !attended.is_wanted(&of, number) {
                return Err(());
            }
            let waited_ms = now_ms.saturating_sub(run.updated_ms);
            run.status = Status::InProgress;
            run.attempts += 1;
            run.started_ms = Some(now_ms);
            run.updated_ms = now_ms;
            Ok((run.clone(), waited_ms))
        });
        let Some(Ok((run, waited_ms))) = begun.await? else {
            return Ok(None);
        };
        self.meter.waited(waited_ms);
        let (org, board) = (org.to_owned(), run.board.clone());
        let board = self.store.read(move |s| boards::by_id(s, &org, &board));
        Ok(board.await?.map(|board| Work {
            kind: run.kind,
            params: run.params,
            file: self.blobs.path(&board.file.sha256),
            filename: board.filename,
        }))
    }

    /// Have it carried out, on a thread of its own: the kernel ends a child with the thread that started it.
    async fn carry_out(self: &Arc<Self>, id: &str, work: Work, stopped: PipeReader) -> Carried {
        let (this, id) = (self.clone(), id.to_owned());
        let (done, carried) = oneshot::channel();
        let thread = thread::Builder::new().name("analysis".to_owned());
        let spawned = thread.spawn(move || {
            let _ = done.send(this.run_here(&id, &work, &stopped));
        });
        let broken = || Carried {
            made: Vec::new(),
            ended: Err(Unfinished::failed(
                "internal",
                "The server failed to look at the board; its log says why. Try again.",
            )),
        };
        match spawned {
            Ok(_) => carried.await.unwrap_or_else(|_| {
                error!("a thread that carries out a run has panicked");
                broken()
            }),
            Err(error) => {
                warn!(%error, "failed to start a thread for a run");
                broken()
            }
        }
    }

    /// Blocks the thread.
    fn run_here(&self, id: &str, work: &Work, stopped: &PipeReader) -> Carried {
        let mut made = Vec::new();
        let mut trouble = None;
        let mut tell = |event| {
            match event {
                Event::Progress(progress) => self.attended.note(id, progress),
                Event::Made(file) => match self.blobs.write(&file.bytes) {
                    Ok(staged) => made.push((
                        self.artifact_of(file.name, file.content_type, &staged),
                        staged,
                    )),
                    Err(source) => {
                        trouble = Some(source);
                        return Err(Unwanted);
                    }
                },
            }
            Ok(())
        };
        let ended = self.runner.run(work, &mut tell, stopped);
        let ended = match trouble {
            Some(source) => Err(no_room(&source)),
            None => ended,
        };
        Carried { made, ended }
    }

    fn artifact_of(&self, name: String, content_type: String, staged: &Staged) -> Artifact {
        Artifact {
            name,
            content_type,
            file: File {
                sha256: staged.sha256().to_owned(),
                size_bytes: staged.size_bytes(),
            },
            created_ms: self.clock.now_ms(),
        }
    }

    /// The server stops: the run waits for its next start, as if this attempt had not been.
    async fn put_back(&self, org: &str, id: &str) -> Result<(), StoreError> {
        let now_ms = self.clock.now_ms();
        let put = self.store.emi_run_change(org, id, move |run| {
            if run.status != Status::InProgress {
                // Somebody stopped it, which the next start finds.
                return Err(());
            }
            run.status = Status::RetryPending;
            run.attempts = run.attempts.saturating_sub(1);
            run.updated_ms = now_ms;
            Ok(())
        });
        put.await.map(drop)
    }

    /// Store what came of a run; a store that fails for a while is waited for.
    async fn end_run(
        &self,
        org: &str,
        id: &str,
        progress: Progress,
        carried: Carried,
    ) -> Result<(), StoreError> {
        let mut end = self.end_of(&carried);
        for _ in 0..END_TRIES {
            match self.try_to_end(org, id, &progress, &carried, &end).await {
                Ok(ended) => {
                    self.tell_end(id, ended);
                    return Ok(());
                }
                Err(Error::Full { what, max }) => {
                    end = End::Failed(failure(
                        "quota",
                        format!(
                            "The results do not fit: {what}, {max} at most. Delete what is not needed any more, then try again."
                        ),
                    ));
                }
                Err(Error::Blob { source, .. }) => {
                    if let Unfinished::Failed(failure) = no_room(&source) {
                        end = End::Failed(failure);
                    }
                }
                Err(Error::Store(StoreError::Closed)) => return Err(StoreError::Closed),
                Err(error) => {
                    warn!(run = id, %error, "failed to store the end of a run; trying again");
                    tokio::time::sleep(END_WAIT).await;
                }
            }
        }
        error!(
            run = id,
            "the end of a run could not be stored; it waits for the next start"
        );
        Ok(())
    }

    async fn try_to_end(
        &self,
        org: &str,
        id: &str,
        progress: &Progress,
        carried: &Carried,
        end: &End,
    ) -> Result<Option<Run>, Error> {
        let turn = self.blobs.turn().await;
        if matches!(end, End::Done { .. }) {
            for (_, staged) in &carried.made {
                keep(&self.blobs, &turn, staged)?;
            }
        }
        let now_ms = self.clock.now_ms();
        let ended = self.store.emi_run_end(
            org,
            id,
            (end.clone(), progress.clone()),
            now_ms,
            self.quota_bytes(),
        );
        let ended = ended.await.map_err(|error: EmiError| Error::from(error));
        drop(turn);
        ended
    }

    fn end_of(&self, carried: &Carried) -> End {
        match &carried.ended {
            Ok(product) => End::Done {
                summary: product.summary.clone(),
                artifacts: carried.made.iter().map(|(made, _)| made.clone()).collect(),
                facts: product.facts.clone(),
            },
            Err(Unfinished::Stopped) => End::Failed(stopped()),
            Err(Unfinished::TimedOut(seconds)) => End::TimedOut(failure(
                "timed_out",
                format!("The run took more than {seconds} s (emi.run_s_max)."),
            )),
            Err(Unfinished::Failed(failure)) => End::Failed(failure.clone()),
        }
    }

    fn tell_end(&self, id: &str, ended: Option<Run>) {
        // None: it was deleted, or stopped, meanwhile.
        let Some(run) = ended else { return };
        let code = run
            .error
            .as_ref()
            .map_or("done", |error: &Failure| &error.code);
        info!(
            run = id,
            kind = run.kind.name(),
            outcome = run.status.name(),
            code,
            "run ended"
        );
        self.meter.ended(run.kind, run.status);
    }
}

/// Why an artifact is not on disk.
fn no_room(source: &io::Error) -> Unfinished {
    warn!(error = %source, "failed to keep what a run has made");
    if space::is_full(source) {
        return Unfinished::failed(
            "no_space",
            "The server's disk is full, so the results were not kept. Try again when there is room.",
        );
    }
    Unfinished::failed(
        "internal",
        "The server failed to keep the results; its log says why. Try again.",
    )
}
