//! A job followed to its end, over as many connections as it takes; and cancelled when its user wants that.

use http::StatusCode;
use serde_json::{Value, json};
use ureq::SendBody;

use super::ended::text;
use super::patience::{Patience, Tries, tell};
use super::server::{self, Failed, Server, retried};
use super::socket::Socket;
use super::story::Story;

/// A job that is followed.
pub(super) struct Following<'a> {
    server: &'a Server,
    patience: &'a Patience,
    /// The job's id.
    id: &'a str,
    story: &'a mut Story,
    /// Signals that were obeyed.
    stops: u32,
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

    /// Follows over one connection, to the end of the job.
    fn connection(&mut self, tries: &mut Tries) -> Result<(), Failed> {
        let mut socket = Socket::open(self.server, &format!("/jobs/{}/ws", self.id))?;
        self.story.begin_again();
        loop {
            self.obey()?;
            let Some(told) = socket.next().map_err(Failed::Lost)? else {
                continue;
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
