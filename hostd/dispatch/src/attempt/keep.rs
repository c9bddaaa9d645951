//! What an attempt leaves, as far as its organisation has room for it.

use std::io;

use base::private;
use jobs::RunEnd;
use scheduler::{Ending, Infra};
use store::jobs::File;

use super::{Ended, Tools};
use crate::ending;

/// Bytes of the description of an attempt's end: what reports read at once.
const END_BYTES_MAX: usize = 4 << 20;

/// Keeps it.
///
/// # Errors
/// The disk.
pub(super) fn keep(
    tools: &Tools,
    (job, number): (&str, u32),
    end: &RunEnd,
    ended: &mut Ended,
) -> io::Result<()> {
    // Of the log, its record has the bytes of output.
    let frames = end.log.disk_bytes.saturating_sub(end.log.bytes);
    ended.left.end_bytes = save(tools, job, number, end)?.saturating_add(frames);
    let files = end.artifacts.iter().map(|artifact| artifact.bytes);
    let bytes = files.fold(end.log.disk_bytes, u64::saturating_add);
    if tools.ledger.grow(job, number, bytes) {
        return stage(tools, (job, number), end, ended);
    }
    tools.ledger.grow(job, number, end.log.disk_bytes);
    if ended.told.ending == Ending::Passed {
        ended.told = ending::Told::of(Ending::Infra(Infra::OrgQuota));
    }
    tools.files.drop_artifacts(job, number)
}

/// How the attempt ended, for its reports. On disk before the end is told to anybody. How many bytes that takes.
fn save(tools: &Tools, job: &str, number: u32, end: &RunEnd) -> io::Result<u64> {
    let path = tools.files.end(job, number);
    let text = text_of(end)?;
    private::write_file(&path, &text)?.sync_all()?;
    Ok(end.case_bytes + text.len() as u64)
}

/// The end as it is stored; without pictures, and then without what steps wrote last, if it would be too large.
fn text_of(end: &RunEnd) -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec(end).map_err(io::Error::other)?;
    let mut lighter = end.clone();
    let lighten: [fn(&mut RunEnd); 2] = [RunEnd::drop_pictures, RunEnd::drop_tails];
    for lighten in lighten {
        if text.len() <= END_BYTES_MAX {
            break;
        }
        lighten(&mut lighter);
        text = serde_json::to_vec(&lighter).map_err(io::Error::other)?;
    }
    Ok(text)
}

/// Moves what was made to where blobs are staged.
fn stage(
    tools: &Tools,
    (job, number): (&str, u32),
    end: &RunEnd,
    ended: &mut Ended,
) -> io::Result<()> {
    for artifact in &end.artifacts {
        let staged = tools
            .blobs
            .adopt(&artifact.path, artifact.bytes, &artifact.sha256)?;
        ended.staged.push(staged);
        ended.left.files.push(File {
            name: artifact.name.clone(),
            size_bytes: artifact.bytes,
            sha256: artifact.sha256.clone(),
        });
    }
    tools.files.drop_artifacts(job, number)
}
