//! `cargo xtask`: the one place that knows how this project is built, checked and started. CI, the
//! README and people all call these commands, so what works for one works for all.

mod args;
mod component;
mod handlers;
mod host;
mod metadata;
mod progress;
mod tool;
mod toolchain;

use std::process::ExitCode;

use args::Command;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let outcome = Command::parse(&words)
        .map_err(anyhow::Error::from)
        .and_then(run);
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            progress::failure(&error);
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Help => {
            progress::text(args::HELP);
            Ok(())
        }
        Command::Handlers(options) => handlers::build(&options).map(drop),
    }
}
