//! A program that xtask runs. Failures name the whole command line and, if there is one, a way to
//! fix them, so that nobody has to guess which of twenty child processes it was.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::cache;
use crate::times::{processor, shim};

/// Whether cargo keeps what it needs to recompile a changed package faster the next time.
static INCREMENTAL: AtomicBool = AtomicBool::new(false);

/// Lets every cargo that this process starts compile incrementally, unless its environment says
/// otherwise.
pub(crate) fn compile_incrementally() {
    INCREMENTAL.store(true, Ordering::Relaxed);
}

/// Whether every cargo takes only what processor time others leave.
static YIELDING: AtomicBool = AtomicBool::new(false);

/// Lets every cargo that this process starts before `work` is over take only what processor time others leave.
pub(crate) fn yielding<T>(work: impl FnOnce() -> T) -> T {
    YIELDING.store(true, Ordering::Relaxed);
    let result = work();
    YIELDING.store(false, Ordering::Relaxed);
    result
}

/// The program that starts another one with lower priority, and the lowest priority.
const NICE: (&str, [&str; 2]) = ("nice", ["-n", "19"]);

/// How often a child with a time limit is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A command line under construction, and what to advise when it fails.
pub(crate) struct Tool {
    command: Command,
    advice: Option<String>,
}

impl Tool {
    pub(crate) fn new(program: impl AsRef<OsStr>) -> Self {
        let mut command = Command::new(program);
        // The server would take it for a setting that it does not know.
        command.env_remove(cache::SWITCH);
        Self {
            command,
            advice: None,
        }
    }

    /// The cargo that started this xtask, in the workspace's root.
    pub(crate) fn cargo(root: &Path) -> Self {
        let program = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
        let tool = match YIELDING.load(Ordering::Relaxed) && is_installed(NICE.0) {
            true => Self::new(NICE.0).args(NICE.1).arg(program),
            false => Self::new(program),
        };
        let mut tool = tool.dir(root);
        // Cargo's variables about this package. Build scripts that look at them would run again, and
        // everything that depends on them would be recompiled, whenever calls from here and by hand
        // alternate.
        for (name, _) in std::env::vars_os() {
            let told = name.to_str().is_some_and(|name| {
                name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
            });
            if told {
                tool.command.env_remove(name);
            }
        }
        if INCREMENTAL.load(Ordering::Relaxed) && std::env::var_os("CARGO_INCREMENTAL").is_none() {
            tool.command.env("CARGO_INCREMENTAL", "1");
        }
        tool.command.envs(shim::of_compilers());
        tool
    }

    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    pub(crate) fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.command.args(args);
        self
    }

    pub(crate) fn env(mut self, key: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(key, value);
        self
    }

    pub(crate) fn without_env(mut self, key: &str) -> Self {
        self.command.env_remove(key);
        self
    }

    pub(crate) fn dir(mut self, dir: &Path) -> Self {
        self.command.current_dir(dir);
        self
    }

    /// Writes its standard output to `file`, and its standard error too.
    pub(crate) fn output_to(mut self, file: File) -> Result<Self> {
        let second = file.try_clone().context("failed to open the log twice")?;
        self.command
            .stdin(Stdio::null())
            .stdout(file)
            .stderr(second);
        Ok(self)
    }

    /// What the user can do if this fails.
    pub(crate) fn advice(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }

    /// Runs it with our own standard streams and expects success.
    pub(crate) fn run(mut self) -> Result<()> {
        let status = match processor::is_apart() {
            true => self.wait(None)?,
            false => self.command.status().with_context(|| self.not_started())?,
        };
        self.expect_success(status, "")
    }

    /// Runs it quietly and returns its standard output; standard error joins the message of a failure.
    pub(crate) fn read(mut self) -> Result<String> {
        let output = self
            .command
            .stdin(Stdio::null())
            .output()
            .with_context(|| self.not_started())?;
        self.expect_success(output.status, &String::from_utf8_lossy(&output.stderr))?;
        String::from_utf8(output.stdout)
            .with_context(|| format!("`{}` printed something that is not UTF-8", self.line()))
    }

    /// Runs it with our own standard streams, and kills it when `limit` has passed.
    pub(crate) fn run_within(mut self, limit: Duration) -> Result<()> {
        let status = self.wait(Some(limit))?;
        self.expect_success(status, "")
    }

    /// Runs it to its end, however it ends, and kills it when `limit` has passed.
    pub(crate) fn finish_within(mut self, limit: Duration) -> Result<()> {
        self.wait(Some(limit)).map(drop)
    }

    fn wait(&mut self, limit: Option<Duration>) -> Result<ExitStatus> {
        let mut child = self.command.spawn().with_context(|| self.not_started())?;
        let start = Instant::now();
        loop {
            // Before it is waited for: afterwards the system no longer knows it.
            let ticks = processor::is_apart().then(|| processor::ticks_of(child.id()));
            if let Some(status) = child.try_wait().with_context(|| self.not_started())? {
                processor::count(ticks.flatten());
                return Ok(status);
            }
            if let Some(limit) = limit.filter(|limit| start.elapsed() > *limit) {
                // It may have ended at this very moment; either way it is gone afterwards.
                let _ = child.kill();
                let _ = child.wait();
                processor::count(ticks.flatten());
                bail!("`{}` did not end within {} s", self.line(), limit.as_secs());
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Becomes that program, so that signals and the exit code are the program's own.
    #[cfg(unix)]
    pub(crate) fn replace_this_process(mut self) -> Result<()> {
        use std::os::unix::process::CommandExt;
        let error = self.command.exec();
        Err(error).with_context(|| self.not_started())
    }

    /// Runs that program to its end: this system cannot replace a process.
    #[cfg(not(unix))]
    pub(crate) fn replace_this_process(self) -> Result<()> {
        self.run()
    }

    fn expect_success(&self, status: ExitStatus, stderr: &str) -> Result<()> {
        if status.success() {
            return Ok(());
        }
        let mut message = format!("`{}` ended with {status}", self.line());
        if !stderr.trim().is_empty() {
            message.push_str(": ");
            message.push_str(stderr.trim());
        }
        if let Some(advice) = &self.advice {
            message.push_str("; ");
            message.push_str(advice);
        }
        bail!(message)
    }

    fn not_started(&self) -> String {
        match &self.advice {
            Some(advice) => format!("failed to start `{}`; {advice}", self.line()),
            None => format!("failed to start `{}`", self.line()),
        }
    }

    fn line(&self) -> String {
        let mut line = self.command.get_program().to_string_lossy().into_owned();
        for arg in self.command.get_args() {
            line.push(' ');
            line.push_str(&arg.to_string_lossy());
        }
        line
    }
}

/// Where a program is that is found by its name.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}

/// Whether `program` can be started at all.
pub(crate) fn is_installed(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_the_command_the_cause_and_the_way_out() {
        let error = Tool::new("sh")
            .args(["-c", "echo broken >&2; exit 3"])
            .advice("repair it")
            .read()
            .unwrap_err();
        let message = format!("{error:#}");
        assert!(
            message.contains("`sh -c echo broken >&2; exit 3`"),
            "{message}"
        );
        assert!(
            message.contains("exit status: 3: broken; repair it"),
            "{message}"
        );
    }

    #[test]
    fn no_program_sees_the_switch_of_the_cache() {
        let tool = Tool::new("cargo");
        let mut changed = tool.command.get_envs();
        assert!(changed.any(|(name, value)| name == cache::SWITCH && value.is_none()));
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = Tool::new("no-such-program-here")
            .advice("install it")
            .run()
            .unwrap_err();
        assert!(
            format!("{error:#}").contains("failed to start `no-such-program-here`; install it")
        );
        assert!(!is_installed("no-such-program-here"));
        assert_eq!(find("no-such-program-here"), None);
        assert!(find("sh").is_some_and(|path| path.ends_with("sh")));
    }

    #[test]
    fn a_child_that_hangs_is_ended_at_its_limit() {
        let error = Tool::new("tail")
            .args(["-f", "/dev/null"])
            .run_within(Duration::from_millis(1))
            .unwrap_err();
        assert!(error.to_string().contains("did not end within 0 s"));
    }
}
