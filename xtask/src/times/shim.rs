//! What xtask does in place of a compiler or of a test: it runs that program, and adds to a file how long it took. Cargo calls
//! it by the variable `RUSTC_WRAPPER`, nextest as the runner of a target.
//!
//! Nothing else changes: the program has the same streams, variables and process group, a signal to the group reaches it, and
//! this process ends as the program does.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::OnceLock;

use super::{Spent, log, spent};
use crate::progress;

#[cfg(test)]
mod tests;

/// The first word of a command line that runs a test.
pub(crate) const RUN_TEST: &str = "run-test";

/// Environment variable that names the folder of the files. Without it, nothing is written.
const FOLDER: &str = "XTASK_TIMES";

/// The files, in that folder.
pub(crate) const OF_COMPILERS: &str = "compilers.tsv";
pub(crate) const OF_TESTS: &str = "tests.tsv";

/// Environment variable of cargo that names what runs compilers.
const WRAPPER: &str = "RUSTC_WRAPPER";

/// Environment variables that name other programs which run compilers, such as a cache.
const WRAPPERS: [&str; 2] = [WRAPPER, "CARGO_BUILD_RUSTC_WRAPPER"];

/// Names of a configuration of cargo, in its folder.
const CONFIGURATIONS: [&str; 2] = ["config.toml", "config"];

/// Environment variables by which nextest says which test runs.
const TEST_PROGRAM: &str = "NEXTEST_BINARY_ID";
const TEST_NAME: &str = "NEXTEST_TEST_NAME";

/// The exit code of a program that could not be started, as a shell has it.
const NOT_STARTED: u8 = 127;

/// What this process watches.
static WATCH: OnceLock<Watch> = OnceLock::new();

struct Watch {
    /// Where compilers and tests write.
    folder: PathBuf,
    /// Whether nothing else runs compilers.
    has_compilers: bool,
    /// The target of tests.
    host: String,
}

/// Lets compilers and tests that this process starts from now on through cargo write into `folder` what they took. Compilers
/// do not, if the environment or a configuration of cargo for `root` names something else that runs them.
pub(crate) fn watch(root: &Path, folder: &Path, host: &str) {
    let is_set = WRAPPERS.iter().any(|name| env::var_os(name).is_some());
    let _ = WATCH.set(Watch {
        folder: folder.to_owned(),
        has_compilers: !is_set && !is_configured(root),
        host: host.to_owned(),
    });
}

/// Whether a configuration of cargo, of the user or of a folder around `root`, names something that runs compilers.
fn is_configured(root: &Path) -> bool {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let around = root.ancestors().map(|folder| folder.join(".cargo"));
    let user = env::var_os("HOME").map(|home| Path::new(&home).join(".cargo"));
    let folders = around.chain(home).chain(user);
    let files = folders.flat_map(|folder| CONFIGURATIONS.map(|name| folder.join(name)));
    files
        .filter_map(|file| fs::read_to_string(file).ok())
        .any(|text| text.contains("rustc-wrapper"))
}

/// Variables of a cargo whose compilers are watched; none where they are not.
pub(crate) fn of_compilers() -> Vec<(&'static str, OsString)> {
    let watch = WATCH.get().filter(|watch| watch.has_compilers);
    match watch.zip(env::current_exe().ok()) {
        Some((watch, xtask)) => vec![(WRAPPER, xtask.into()), folder_of(watch)],
        None => Vec::new(),
    }
}

/// Variables of a nextest whose tests are watched; none where they are not, where they have another runner, or where this
/// program's path has a space, at which cargo would split it.
pub(crate) fn of_tests() -> Vec<(String, OsString)> {
    let Some(watch) = WATCH.get() else {
        return Vec::new();
    };
    let runner = runner(&watch.host);
    let xtask = env::current_exe().ok();
    let xtask = xtask.as_deref().and_then(Path::to_str);
    match xtask.filter(|path| !path.contains(char::is_whitespace)) {
        Some(path) if env::var_os(&runner).is_none() => {
            let (name, folder) = folder_of(watch);
            let command = format!("{path} {RUN_TEST}");
            vec![(runner, command.into()), (name.to_owned(), folder)]
        }
        _ => Vec::new(),
    }
}

fn folder_of(watch: &Watch) -> (&'static str, OsString) {
    (FOLDER, watch.folder.clone().into())
}

/// Environment variable of cargo that names what runs programs for a target.
fn runner(target: &str) -> String {
    let target = target.to_uppercase().replace(['-', '.'], "_");
    format!("CARGO_TARGET_{target}_RUNNER")
}

/// Runs a compiler or a test, if that is what the command line asks for, and returns the exit code.
pub(crate) fn run(words: &[OsString]) -> Option<u8> {
    let (file, what, words) = match words {
        [mark, words @ ..] if mark == RUN_TEST => (OF_TESTS, test(), words),
        [program, rest @ ..] if is_compiler(program) => (OF_COMPILERS, compiled(rest), words),
        _ => return None,
    };
    let [program, arguments @ ..] = words else {
        return None;
    };
    let mut command = Command::new(program);
    command.args(arguments);
    if file == OF_TESTS {
        hide(&mut command);
    }
    let (ended, spent) = spent(|| command.status());
    if let Some((folder, what)) = env::var_os(FOLDER).zip(what) {
        keep(&Path::new(&folder).join(file), &what, &spent);
    }
    Some(end_as(program, ended))
}

/// Whether the first word is a compiler, as cargo gives it: by its path, or `rustc`.
fn is_compiler(word: &OsStr) -> bool {
    let path = Path::new(word);
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    path.components().count() > 1 || stem.starts_with("rustc")
}

/// Takes this program out of the variables: a test may call cargo, and what that starts is not counted beside the test.
fn hide(command: &mut Command) {
    let xtask = env::current_exe().unwrap_or_default();
    for (name, value) in env::vars_os() {
        let runs_tests = value.to_string_lossy().ends_with(&format!(" {RUN_TEST}"));
        if name == FOLDER || runs_tests || (name == WRAPPER && Path::new(&value) == xtask) {
            command.env_remove(name);
        }
    }
}

/// A build does not fail because nobody can read how long it took.
fn keep(file: &Path, what: &str, spent: &Spent) {
    if let Err(error) = log::add(file, what, spent) {
        progress::detail(&format!("failed to write {}: {error}", file.display()));
    }
}

/// The test that runs. None while tests are listed.
fn test() -> Option<String> {
    let variable = |name| env::var(name).ok();
    let (program, name) = variable(TEST_PROGRAM).zip(variable(TEST_NAME))?;
    Some(format!("{program} {name}"))
}

/// What a compiler is asked to make: a crate's name, and its kind. None where it is only asked about itself.
fn compiled(arguments: &[OsString]) -> Option<String> {
    let package = env::var("CARGO_PKG_NAME").ok();
    let arguments: Vec<_> = arguments
        .iter()
        .map(|word| word.to_string_lossy())
        .collect();
    crate_of(&arguments, package.as_deref())
}

fn crate_of(arguments: &[impl AsRef<str>], package: Option<&str>) -> Option<String> {
    let words: Vec<&str> = arguments.iter().map(AsRef::as_ref).collect();
    let value = |option: &str| {
        let at = words.iter().position(|word| *word == option);
        let joined = words
            .iter()
            .find_map(|word| word.strip_prefix(option)?.strip_prefix('='));
        joined.or_else(|| words.get(at? + 1).copied())
    };
    let name = value("--crate-name").filter(|name| *name != "___")?;
    let emits = value("--emit").unwrap_or("link");
    let kind = match value("--crate-type") {
        _ if !emits.split(',').any(|what| what == "link") => "check",
        Some("bin") if name.starts_with("build_script_") => {
            return Some(format!("{} (build script)", package.unwrap_or(name)));
        }
        _ if words.contains(&"--test") => "test",
        None | Some("bin") => "bin",
        Some("proc-macro") => "macro",
        Some(_) => "lib",
    };
    Some(format!("{name} ({kind})"))
}

/// The end of this process: the program's exit code, or the signal that ended it.
fn end_as(program: &OsStr, ended: io::Result<ExitStatus>) -> u8 {
    let status = match ended {
        Ok(status) => status,
        Err(error) => {
            let program = program.to_string_lossy();
            progress::failure(&anyhow::anyhow!("failed to start `{program}`: {error}"));
            return NOT_STARTED;
        }
    };
    if let Some(signal) = status.signal() {
        // A shell ends itself by the signal, since that takes no unsafe code. It leaves no second image of memory behind.
        let kill = format!("ulimit -c 0; kill -{signal} $$");
        let error = Command::new("sh").args(["-c", &kill]).exec();
        progress::failure(&anyhow::anyhow!("failed to start `sh`: {error}"));
    }
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.unwrap_or(1)
}
