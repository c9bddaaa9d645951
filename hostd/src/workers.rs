//! The workers: this program, started once more by the server to do one piece of work on a stranger's bytes, with bounds that
//! hostile ones can reach without harm. Input on standard input, results on standard output.
//!
//! One compiles a plugin: a component becomes machine code. One looks at a board: a request and a board become frames.

use std::io::{Read, Write};

use anyhow::Context as _;
use hostd::plugin::COMPILE_VERB;
use plugins::package::COMPONENT_BYTES_MAX;

/// Take over if this process was started to work; then it does not return.
pub(crate) fn entry() {
    let verb = std::env::args_os().nth(1);
    let work = match verb.as_deref().and_then(std::ffi::OsStr::to_str) {
        Some(COMPILE_VERB) => compile,
        Some(analysis::VERB) => analyze,
        _ => return,
    };
    let code = match confine().and_then(|()| work()) {
        Ok(()) => 0,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{error:#}");
            1
        }
    };
    #[expect(
        clippy::exit,
        reason = "nothing else of this program may run in a worker"
    )]
    std::process::exit(code)
}

fn confine() -> anyhow::Result<()> {
    jail::confine()?;
    jail::only_compute().context("let the worker do nothing but compute")
}

fn compile() -> anyhow::Result<()> {
    let mut component = Vec::new();
    let most = COMPONENT_BYTES_MAX as u64 + 1;
    std::io::stdin().take(most).read_to_end(&mut component)?;
    let code = runtime::precompile(&component, None).map_err(anyhow::Error::from)?;
    std::io::stdout().write_all(&code)?;
    Ok(())
}

fn analyze() -> anyhow::Result<()> {
    let (mut input, mut output) = (std::io::stdin(), std::io::stdout());
    analysis::serve(&mut input, &mut output).context("look at a board")
}
