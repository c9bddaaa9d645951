//! The compiler of plugins: this program, started once more by the server, with bounds that a hostile component can reach
//! without harm. Component on standard input, machine code on standard output.

use std::io::{Read, Write};

use anyhow::Context as _;
use hostd::plugin::COMPILE_VERB;
use plugins::package::COMPONENT_BYTES_MAX;

/// Take over if this process was started to compile; then it does not return.
pub(crate) fn entry() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_none_or(|verb| verb != COMPILE_VERB) {
        return;
    }
    let code = match compile() {
        Ok(()) => 0,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{error:#}");
            1
        }
    };
    #[expect(
        clippy::exit,
        reason = "nothing else of this program may run in a compiler"
    )]
    std::process::exit(code)
}

fn compile() -> anyhow::Result<()> {
    plugins::compile::confine()?;
    jail::only_compute().context("let the compiler do nothing but compute")?;
    let mut component = Vec::new();
    let most = COMPONENT_BYTES_MAX as u64 + 1;
    std::io::stdin().take(most).read_to_end(&mut component)?;
    let code = runtime::precompile(&component, None).map_err(anyhow::Error::from)?;
    std::io::stdout().write_all(&code)?;
    Ok(())
}
