//! Programs that switch the power: run without a shell, within time and output, and ended with all that they started.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep_until, timeout};

use super::answer::shown;
use super::source::Trouble;

/// Longest run of a program.
const RUN_MAX: Duration = Duration::from_secs(10);

/// What is kept of what it writes, for a message; the rest is read and forgotten.
const OUTPUT_BYTES_MAX: usize = 4096;

/// Time for the last of its output to be read once it has ended.
const REST_WAIT: Duration = Duration::from_millis(100);

/// What is run.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    on: Vec<String>,
    off: Vec<String>,
}

impl Plan {
    pub(super) fn new(on: &[String], off: &[String]) -> Self {
        Self {
            on: on.to_vec(),
            off: off.to_vec(),
        }
    }
}

/// Programs that can be run.
#[derive(Debug)]
pub(super) struct Programs {
    plan: Plan,
}

impl Programs {
    pub(super) fn open(plan: &Plan) -> Result<Self, Trouble> {
        let programs = Self { plan: plan.clone() };
        programs.look()?;
        Ok(programs)
    }

    /// Whether they are installed.
    pub(super) fn look(&self) -> Result<(), Trouble> {
        for words in [&self.plan.on, &self.plan.off] {
            let program = &words[0];
            if !is_installed(program) {
                return Err(Trouble::Away(format!(
                    "the program {program} is not installed"
                )));
            }
        }
        Ok(())
    }

    pub(super) async fn switch(&mut self, on: bool) -> Result<(), Trouble> {
        let words = if on { &self.plan.on } else { &self.plan.off };
        run(words, RUN_MAX).await
    }
}

fn is_installed(program: &str) -> bool {
    if program.contains('/') {
        return std::path::Path::new(program).is_file();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&path);
    folders.any(|folder| folder.join(program).is_file())
}

/// Runs a program to its end, at most for so long.
async fn run(words: &[String], run_max: Duration) -> Result<(), Trouble> {
    let program = &words[0];
    let failed = |error: io::Error| Trouble::Refused(format!("cannot run {program}: {error}"));
    let (output, input) = io::pipe().map_err(failed)?;
    let mut command = Command::new(program);
    command
        .args(&words[1..])
        .process_group(0)
        .stdin(Stdio::null());
    command
        .stdout(input.try_clone().map_err(failed)?)
        .stderr(input);
    let mut child = command.spawn().map_err(failed)?;
    // With it goes this side's end for writing.
    drop(command);
    let leader = Pid::from_child(&child);
    let mut group = Group(Some(leader));
    let mut ended = spawn_blocking(move || {
        // What it leaves behind is ended before its number is given to others.
        let waited = waitid(
            WaitId::Pid(leader),
            WaitIdOptions::EXITED | WaitIdOptions::NOWAIT,
        );
        let _ = kill_process_group(leader, Signal::KILL);
        waited?;
        child.wait()
    });
    let mut output = pipe::Receiver::from_owned_fd(output.into()).map_err(failed)?;
    let mut said = Vec::new();
    let deadline = Instant::now() + run_max;
    let status = loop {
        tokio::select! {
            status = &mut ended => break status,
            more = read(&mut output, &mut said) => if !more {
                tokio::select! {
                    status = &mut ended => break status,
                    () = sleep_until(deadline) => {}
                }
            },
            () = sleep_until(deadline) => {}
        }
        if Instant::now() >= deadline {
            group.kill();
            let _ = ended.await;
            let seconds = run_max.as_secs_f32();
            return Err(Trouble::Refused(format!(
                "{program} did not end within {seconds} s"
            )));
        }
    };
    // Its number may be another's from now on.
    group.0 = None;
    let status = status
        .map_err(io::Error::other)
        .and_then(|status| status)
        .map_err(failed)?;
    if status.success() {
        return Ok(());
    }
    let rest = async { while read(&mut output, &mut said).await {} };
    let _ = timeout(REST_WAIT, rest).await;
    let said = shown(&String::from_utf8_lossy(&said));
    Err(Trouble::Refused(format!(
        "{program} failed ({status}): {said}"
    )))
}

/// Reads some of what a program writes; false at its end.
async fn read(output: &mut pipe::Receiver, said: &mut Vec<u8>) -> bool {
    let mut buffer = [0; 1024];
    match output.read(&mut buffer).await {
        Ok(count @ 1..) => {
            let room = OUTPUT_BYTES_MAX.saturating_sub(said.len());
            said.extend(&buffer[..count.min(room)]);
            true
        }
        Ok(0) | Err(_) => false,
    }
}

/// The processes of a program, killed when nobody waits for it any more.
struct Group(Option<Pid>);

impl Group {
    fn kill(&mut self) {
        if let Some(leader) = self.0.take() {
            // They may have ended by themselves.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn words(script: &str) -> Vec<String> {
        ["sh", "-c", script].map(str::to_owned).to_vec()
    }

    async fn outcome(script: &str, wait: Duration) -> Result<(), String> {
        run(&words(script), wait)
            .await
            .map_err(|trouble| trouble.to_string())
    }

    #[tokio::test]
    async fn a_program_does_it_or_says_why_not() {
        assert_eq!(outcome("exit 0", RUN_MAX).await, Ok(()));
        let failed = outcome("echo no such port >&2; exit 3", RUN_MAX)
            .await
            .unwrap_err();
        assert!(
            failed.contains("exit status: 3") && failed.contains("no such port"),
            "{failed}"
        );
        let missing = run(&["/no/such".to_owned()], RUN_MAX).await.unwrap_err();
        assert!(matches!(missing, Trouble::Refused(_)), "{missing}");
        // More than a pipe holds.
        assert_eq!(outcome("head -c 300000 /dev/zero", RUN_MAX).await, Ok(()));
    }

    #[tokio::test]
    async fn what_it_starts_ends_with_it() {
        let dir = tempfile::tempdir().unwrap();
        let pid = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
        let is_gone = |pid: &str| {
            let status =
                std::fs::read_to_string(Path::new("/proc").join(pid.trim()).join("status"));
            status.is_err() || status.is_ok_and(|status| status.contains("State:\tZ"))
        };
        let file = |name: &str| dir.path().join(name).display().to_string();
        let left = outcome(&format!("sleep 600 & echo $! > {}", file("left")), RUN_MAX).await;
        assert_eq!(left, Ok(()));
        let began = Instant::now();
        let script = format!("sleep 600 & echo $! > {}; wait", file("late"));
        // Far longer than it takes to start.
        let late = outcome(&script, Duration::from_secs(3)).await.unwrap_err();
        assert!(
            late.contains("did not end") && began.elapsed() < Duration::from_secs(60),
            "{late}"
        );
        for name in ["left", "late"] {
            let pid = pid(name);
            let until = Instant::now() + Duration::from_secs(60);
            while !is_gone(&pid) {
                assert!(Instant::now() < until, "{name} still runs");
                tokio::task::yield_now().await;
            }
        }
    }

    #[test]
    fn a_program_that_is_not_installed_is_away() {
        let plan = |program: &str| Plan::new(&[program.to_owned()], &["sh".to_owned()]);
        assert!(Programs::open(&plan("sh")).is_ok());
        for missing in ["no-such-program-here", "/no/such/program"] {
            let error = Programs::open(&plan(missing)).unwrap_err();
            assert!(matches!(error, Trouble::Away(_)) && error.to_string().contains(missing));
        }
    }
}
