//! The `hostd` binary: arguments in, exit code out.

use std::process::ExitCode;

use base::logging;
use clap::Parser;
use hostd::cli::{Cli, out};

mod embedded;
mod workers;

#[cfg(test)]
mod tests;

fn main() -> ExitCode {
    // Before any thread starts: jails are made by executing this program anew.
    jail::entry();
    workers::entry();
    logging::tell_panics();
    match Cli::parse().run(embedded::HANDLERS) {
        Ok(code) => code,
        Err(error) if out::is_unread(&error) => ExitCode::from(out::UNREAD),
        Err(error) => {
            #[expect(clippy::print_stderr, reason = "the one place that reports a failure")]
            {
                let text = format!("hostd: failed to {error:#}");
                eprintln!(
                    "{}",
                    String::from_utf8_lossy(&logging::redact(text.as_bytes()))
                );
            }
            ExitCode::FAILURE
        }
    }
}
