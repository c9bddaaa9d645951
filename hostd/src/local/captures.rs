//! What a job has recorded, as files beside its report: the bench that kept it goes.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Context;
use base::private;
use dispatch::job_captures;
use jobs::{CaptureFile, Job};
use lab::captures::Captures;
use lab::captures::export::{Asked, Export, Format};
use store::captures::Status;
use tokio::runtime::Handle;

/// Writes each capture of a job of an organisation, as `captures/<run>/<step>.sr`, and tells which there are. Here each run
/// is a job of its own to the bench.
pub(super) fn keep(
    handle: &Handle,
    captures: &Captures,
    (org, job): (&str, &Job),
    out: &Path,
) -> anyhow::Result<Vec<CaptureFile>> {
    let mut kept = Vec::new();
    for run in &job.runs {
        let made = handle.block_on(captures.of_job(org, &run.id));
        let made = made.context("find what was recorded")?;
        for capture in job_captures(made) {
            if capture.record.status != Status::Done {
                continue;
            }
            let folder = jobs::captures(out).join(&run.id);
            private::make_folder(&folder).context("make a folder for captures")?;
            let path = folder.join(&capture.file);
            write(handle, captures, (org, &capture.record.id), &path)
                .with_context(|| format!("write the capture {}", path.display()))?;
            kept.push(CaptureFile {
                run: run.id.clone(),
                file: capture.file,
            });
        }
    }
    Ok(kept)
}

fn write(
    handle: &Handle,
    captures: &Captures,
    (org, id): (&str, &str),
    path: &Path,
) -> anyhow::Result<()> {
    let reader = handle.block_on(captures.read(org, id))?;
    let export = Export::plan(&reader, Format::Sr, &Asked::default())?;
    let mut out = BufWriter::new(File::create(path)?);
    export.write(&reader, &mut out)?;
    Ok(out.flush()?)
}
