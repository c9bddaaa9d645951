//! The end of a job's log, in lines.

use std::collections::VecDeque;

use dispatch::{Log, Submitter};
use store::jobs::{Attempt, Job};

use super::super::{offers, refusal};
use crate::host::internal;
use crate::plugin::sight::Sight;
use offers::types::Error;

/// Lines of one call.
const LINES_MAX: u32 = 1_000;

/// Longest line in bytes; the rest is cut.
const LINE_BYTES_MAX: usize = 4 << 10;

/// Bytes that are read of the end of one attempt's log.
const TAIL_BYTES: u64 = 256 << 10;

/// The last `limit` lines of the logs of all attempts, each under its heading.
pub(super) async fn of(sight: &Sight<'_>, job: &Job, limit: u32) -> Result<Vec<String>, Error> {
    let limit = limit.clamp(1, LINES_MAX) as usize;
    let mut lines: VecDeque<String> = VecDeque::new();
    for attempt in job.attempts.iter().rev() {
        let text = text(sight, job, attempt).await?;
        let own = text.lines().rev().map(cut);
        for line in own.chain([heading(job, attempt)]) {
            if lines.len() == limit {
                return Ok(lines.into());
            }
            lines.push_front(line);
        }
    }
    Ok(lines.into())
}

fn heading(job: &Job, attempt: &Attempt) -> String {
    let run = job.runs.get(attempt.run as usize);
    let run = run.map_or("", |run| run.id.as_str());
    format!("=== {run}, attempt {}", attempt.number)
}

fn cut(line: &str) -> String {
    line[..line.floor_char_boundary(LINE_BYTES_MAX)].to_owned()
}

async fn open(
    sight: &Sight<'_>,
    by: &Submitter,
    job: &Job,
    attempt: &Attempt,
    offset: u64,
) -> Result<Log, Error> {
    let jobs = &sight.services.jobs;
    let log = jobs.log(by, &job.id, Some(attempt.number), offset).await;
    log.map_err(|error| sight.job_error(&job.id, &error))
}

/// The end of an attempt's log, from the beginning of a line on.
async fn text(sight: &Sight<'_>, job: &Job, attempt: &Attempt) -> Result<String, Error> {
    let user = sight.context.caller.as_ref().map(|caller| caller.user());
    let by = Submitter {
        org: sight.acting.org().to_owned(),
        user: user.unwrap_or(sight.acting.plugin()).to_owned(),
    };
    let end = open(sight, &by, job, attempt, u64::MAX).await?.bytes;
    let from = end.saturating_sub(TAIL_BYTES);
    let mut parts = open(sight, &by, job, attempt, from).await?.parts;
    let mut bytes = Vec::new();
    while let Some(part) = parts.recv().await {
        let part =
            part.map_err(|error| refusal("internal", internal(sight.context, "jobs", &error)))?;
        let room = usize::try_from(TAIL_BYTES).unwrap_or(usize::MAX) - bytes.len();
        bytes.extend_from_slice(&part[..part.len().min(room)]);
        if part.len() >= room {
            break;
        }
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let whole = match (from, text.find('\n')) {
        (0, _) | (_, None) => 0,
        (_, Some(at)) => at + 1,
    };
    Ok(text[whole..].to_owned())
}
