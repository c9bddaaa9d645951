//! Attacks a server of its own over loopback and judges what the server's honest callers notice.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::args::{Attack, Options};
use crate::metadata::Metadata;
use crate::tool::Tool;
use crate::{progress, server};

/// The bench target of `tests` that attacks.
const BENCH: &str = "attack";

/// Environment variable that tells the bench which server to start.
const BINARY: &str = "TESTS_HOSTD";

/// Runs what `attack` asks for, on a server that is built first unless the command line names one.
pub(crate) fn run(attack: &Attack, options: &Options) -> Result<()> {
    match &attack.hostd {
        None => server::build(options).map(drop)?,
        Some(path) if !Path::new(path).is_file() => bail!("there is no file {path} to attack"),
        Some(_) => {}
    }
    run_prepared(attack, options)
}

/// Runs the attacks once the server is built.
pub(crate) fn run_prepared(attack: &Attack, options: &Options) -> Result<()> {
    let root = Metadata::load()?.root;
    progress::step("building the attacks and running them");
    // The whole workspace is selected for the same reason as in `host::build`.
    let cargo = Tool::cargo(&root).args(["bench", "--workspace", "--bench", BENCH, "--"]);
    let cargo = match &attack.hostd {
        Some(path) => {
            let path = Path::new(path).canonicalize();
            cargo.env(BINARY, path.context("failed to find the server to attack")?)
        }
        None => cargo,
    };
    cargo
        .args(&attack.name)
        .args(attack.short.then_some("--short"))
        .args(&options.passed_on)
        .advice("the lines above name each attack and what it did")
        .run()
}
