//! What a job has recorded, as files beside its report: the bench that kept it goes.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Context;
use base::private;
use jobs::{CaptureEnd, Job};
use lab::captures::Captures;
use lab::captures::export::{Export, Format};
use tokio::runtime::Handle;

/// Letters of a step's name that a file's name has as they are; the others are `_`.
const PLAIN: &str = "-_.";

/// Writes each capture of a job of an organisation once, as `captures/<run>/<step>.sr`.
pub(super) fn keep(
    handle: &Handle,
    captures: &Captures,
    (org, job): (&str, &Job),
    out: &Path,
) -> anyhow::Result<()> {
    let mut written = HashSet::new();
    for run in &job.runs {
        let kept = run.steps.iter().flat_map(|step| &step.captures);
        for capture in kept.filter(|capture| written.insert(capture.id.clone())) {
            let folder = jobs::captures(out).join(&run.id);
            private::make_folder(&folder).context("make a folder for captures")?;
            let path = free(&folder, capture);
            write(handle, captures, (org, &capture.id), &path)
                .with_context(|| format!("write the capture {}", path.display()))?;
        }
    }
    Ok(())
}

/// A name that no other capture of the run has: steps without an id may share one.
fn free(folder: &Path, capture: &CaptureEnd) -> std::path::PathBuf {
    let letter = |c: char| match c.is_ascii_alphanumeric() || PLAIN.contains(c) {
        true => c,
        false => '_',
    };
    let name: String = capture.name.chars().map(letter).collect();
    let path = folder.join(format!("{name}.sr"));
    match path.exists() {
        true => folder.join(format!("{name}-{}.sr", capture.id)),
        false => path,
    }
}

fn write(
    handle: &Handle,
    captures: &Captures,
    (org, id): (&str, &str),
    path: &Path,
) -> anyhow::Result<()> {
    let reader = handle.block_on(captures.read(org, id))?;
    let export = Export::plan(&reader, Format::Sr, None)?;
    let mut out = BufWriter::new(File::create(path)?);
    export.write(&reader, &mut out)?;
    Ok(out.flush()?)
}
