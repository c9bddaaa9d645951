//! Programs that compute the same in another way.

use std::path::Path;
use std::process::Command;

/// What `program` prints, or `None` with a line on standard error where it is not installed.
pub(crate) fn run(program: &str, arguments: &[&str], folder: &Path) -> Option<String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output();
    match output {
        Ok(output) => {
            assert!(output.status.success(), "{program} failed: {output:?}");
            Some(String::from_utf8(output.stdout).unwrap())
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            #[allow(clippy::print_stderr, reason = "says why nothing was tested")]
            {
                eprintln!("skipped: {program} is not installed (Debian package of the same name)");
            }
            None
        }
        Err(error) => panic!("{program}: {error}"),
    }
}
