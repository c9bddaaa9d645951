//! `precompile --target TRIPLE OUT_DIR FILE.wasm…`: compiles components ahead of time, each to
//! `OUT_DIR/<stem>.cwasm`. Outputs newer than their input and this program are left alone.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, bail};

fn main() -> anyhow::Result<()> {
    let mut args = std::env::args_os().skip(1);
    let mut target = None;
    let mut paths: Vec<PathBuf> = Vec::new();
    while let Some(arg) = args.next() {
        if arg == "--target" {
            let triple = args.next().context("--target needs a triple")?;
            target = Some(
                triple
                    .into_string()
                    .ok()
                    .context("read the target triple")?,
            );
        } else {
            paths.push(arg.into());
        }
    }
    let [out_dir, files @ ..] = paths.as_slice() else {
        bail!("usage: precompile [--target TRIPLE] OUT_DIR FILE.wasm…");
    };
    std::fs::create_dir_all(out_dir).with_context(|| format!("create {}", out_dir.display()))?;
    let program = std::env::current_exe().ok().and_then(|exe| modified(&exe));
    for file in files {
        compile(file, out_dir, target.as_deref(), program)
            .with_context(|| format!("failed to precompile {}", file.display()))?;
    }
    Ok(())
}

fn compile(
    file: &Path,
    out_dir: &Path,
    target: Option<&str>,
    program: Option<SystemTime>,
) -> anyhow::Result<()> {
    let stem = file.file_stem().context("the input has no file name")?;
    let output = out_dir.join(stem).with_extension("cwasm");
    let newest_input = modified(file).max(program);
    if modified(&output).is_some_and(|made| Some(made) > newest_input) {
        return Ok(());
    }
    let wasm = std::fs::read(file).context("read it")?;
    let code = runtime::precompile(&wasm, target)?;
    if std::fs::read(&output).is_ok_and(|old| old == code) {
        // Same code: touch it, so that next time comparing dates is enough.
        let old = std::fs::File::options().append(true).open(&output)?;
        return Ok(old.set_modified(SystemTime::now())?);
    }
    // A loaded file must never change under its reader, so it is replaced, not overwritten.
    let partial = output.with_extension("cwasm.partial");
    std::fs::write(&partial, code).with_context(|| format!("write {}", partial.display()))?;
    std::fs::rename(&partial, &output).with_context(|| format!("write {}", output.display()))
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata().ok()?.modified().ok()
}
