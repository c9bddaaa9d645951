//! The `hostd` binary: arguments in, exit code out.

use std::process::ExitCode;

use clap::Parser;
use hostd::cli::Cli;

mod embedded;

fn main() -> ExitCode {
    match Cli::parse().run(embedded::HANDLERS) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            #[expect(clippy::print_stderr, reason = "the one place that reports a failure")]
            {
                eprintln!("hostd: failed to {error:#}");
            }
            ExitCode::FAILURE
        }
    }
}
