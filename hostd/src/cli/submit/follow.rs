//! A job followed to its end, over as many connections as it takes; and cancelled when its user wants that.
//!
//! Its stream is a WebSocket. Where something on the way lets none through, the log is fetched piece by piece.

use std::collections::BTreeSet;
use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};
use ureq::SendBody;

use super::ended::text;
use super::patience::{Patience, Tries, tell};
use super::piece;
use super::server::{self, Failed, Server, retried};
use super::socket::{Socket, Unopened};
use super::story::Story;

/// Between two looks at a job that has no stream.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// A job that is followed.
pub(super) struct Following<'a> {
    server: &'a Server,
    patience: &'a Patience,
    /// The job's id.
    id: &'a str,
    story: &'a mut Story,
    /// Signals that were obeyed.
    stops: u32,
    /// No stream gets through, though the server is there.
    is_barred: bool,
}

/// Why a stream is over.
enum Over {
    /// It may go on over another one.
    Failed(Failed),
    /// Nothing ever came of it.
    Barred(Failed),
}

impl From<Failed> for Over {
    fn from(failed: Failed) -> Self {
        Self::Failed(failed)
    }
}

impl<'a> Following<'a> {
    pub(super) fn new(
        server: &'a Server,
        patience: &'a Patience,
        id: &'a str,
        story: &'a mut Story,
    ) -> Self {
        Self {
            server,
            patience,
            id,
            story,
            stops: 0,
            is_barred: false,
        }
    }

    /// Prints all that happens, to the end.
    ///
    /// # Errors
    /// The server cannot be reached any more, or somebody does not want to wait for the end.
    pub(super) fn finish(mut self) -> Result<(), Failed> {
        let mut tries = self.patience.tries();
        loop {
            let failed = match self.connection(&mut tries) {
                Ok(()) => return Ok(()),
                Err(failed) => failed,
            };
            let Some(pause) = failed.may_pass().and_then(|asked| tries.next(asked)) else {
                return Err(failed);
            };
            tell(&format!("failed to {failed}; trying again in {pause:?}"));
            // Whatever interrupts the pause is looked at next.
            self.patience.wait(self.stops, pause);
            self.obey()?;
        }
    }

    /// Follows to the end of the job, or until something fails.
    fn connection(&mut self, tries: &mut Tries) -> Result<(), Failed> {
        if !self.is_barred {
            match self.stream(tries) {
                Ok(()) => return Ok(()),
                Err(Over::Failed(failed)) => return Err(failed),
                Err(Over::Barred(failed)) => {
                    // Where the server says no, it says so again; and where it is not there, nothing is known.
                    self.record()?;
                    self.is_barred = true;
                    tell(&format!(
                        "failed to {failed}; no WebSocket gets through, so the log is fetched every {LOOK_EVERY:?}"
                    ));
                }
            }
        }
        self.look_on(tries)
    }

    /// Follows over one WebSocket, to the end of the job.
    fn stream(&mut self, tries: &mut Tries) -> Result<(), Over> {
        let socket = Socket::open(self.server, &format!("/jobs/{}/ws", self.id));
        let mut socket = socket.map_err(|unopened| match unopened {
            Unopened::Unreached(failed) => Over::Failed(failed),
            Unopened::Barred(failed) => Over::Barred(failed),
        })?;
        self.story.begin_again();
        loop {
            self.obey()?;
            let told = match socket.next().map_err(Failed::Lost) {
                Ok(Some(told)) => told,
                Ok(None) => continue,
                Err(failed) if socket.has_heard() => return Err(failed.into()),
                Err(failed) => return Err(Over::Barred(failed)),
            };
            if text(&told, "type") == "job" {
                // The record has more than the message.
                self.story.hear_job(self.record()?);
            } else if self.story.hear(&told) {
                return Ok(());
            }
            // A connection that tells nothing new is no better than none.
            if self.story.take_news() {
                *tries = self.patience.tries();
            }
        }
    }

    /// Looks again and again how the job is and what was written, to its end.
    fn look_on(&mut self, tries: &mut Tries) -> Result<(), Failed> {
        let mut whole = BTreeSet::new();
        loop {
            self.obey()?;
            let job = self.record()?;
            // What is read after the job was over is all that there will be.
            let is_over = text(&job, "state") == "finished";
            let attempts = job["attempts"].as_array().into_iter().flatten();
            let attempts: Vec<u64> = attempts
                .filter_map(|attempt| attempt["number"].as_u64())
                .collect();
            self.story.hear_job(job);
            for number in attempts {
                if whole.contains(&number) {
                    continue;
                }
                let offset = self.story.offset(number);
                let piece = piece::fetch(self.server, self.id, number, offset)?;
                self.story.hear_text(number, &piece.text, piece.end);
                if piece.is_last {
                    whole.insert(number);
                }
            }
            if is_over {
                self.story.finish();
                return Ok(());
            }
            *tries = self.patience.tries();
            self.patience.wait(self.stops, LOOK_EVERY);
        }
    }

    fn record(&self) -> Result<Value, Failed> {
        let path = format!("/jobs/{}", self.id);
        server::json(self.server.send("GET", &path, &[], SendBody::none())?)
    }

    /// The first signal cancels the job, the second leaves it.
    fn obey(&mut self) -> Result<(), Failed> {
        let stops = self.patience.stops();
        if stops == self.stops {
            return Ok(());
        }
        if self.stops > 0 {
            return Err(Failed::Stopped);
        }
        self.stops = 1;
        tell("cancelling the job; once more, and its end is not waited for");
        cancel(self.server, self.patience, self.id)
    }
}

/// Cancels a job. One that has ended is none to cancel.
pub(super) fn cancel(server: &Server, patience: &Patience, id: &str) -> Result<(), Failed> {
    let path = format!("/jobs/{id}/cancel");
    let cancelled = retried(patience, || server.post_json(&path, &[], &json!({})));
    match cancelled {
        Err(Failed::Refused(refusal)) if refusal.status == StatusCode::CONFLICT => Ok(()),
        other => other.map(|_: Value| ()),
    }
}

/// Cancels a job whose submission was sent and never answered. Asked for once more under the same key, the server tells
/// which one it is; one that it had not heard of before ends before it begins.
pub(super) fn withdraw(
    server: &Server,
    patience: &Patience,
    submit: impl Fn(&Patience) -> Result<Value, Failed>,
) -> Result<(), Failed> {
    tell("the server may have queued the job; cancelling it; once more, and it stays");
    let submitted = submit(patience)?;
    let id = text(&submitted, "id");
    cancel(server, patience, id)?;
    tell(&format!("the job {id} was cancelled"));
    Ok(())
}
