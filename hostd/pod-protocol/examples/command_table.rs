//! Writes the table of commands into the page named on the command line: `cargo xtask docs` runs it.

use std::process::ExitCode;

use pod_protocol::commands::markdown;

fn main() -> ExitCode {
    match std::env::args_os().nth(1).map(std::path::PathBuf::from) {
        None => fail("the page to renew is missing: command_table PAGE"),
        Some(page) => match renew(&page) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(&format!("failed to renew {}: {error}", page.display())),
        },
    }
}

fn renew(page: &std::path::Path) -> std::io::Result<()> {
    let text = std::fs::read_to_string(page)?;
    let renewed = markdown::renewed(&text)
        .ok_or_else(|| std::io::Error::other("it has no place for the table"))?;
    std::fs::write(page, renewed)
}

fn fail(message: &str) -> ExitCode {
    use std::io::Write as _;
    // If standard error is closed, nothing is left to do.
    let _ = writeln!(std::io::stderr(), "{message}");
    ExitCode::FAILURE
}
