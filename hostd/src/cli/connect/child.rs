//! The command of `--exec`: it runs while the bridges are up, and gets its time to end when they are not.

use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use rustix::process::{Pid, Signal, kill_process};

use super::over::{Ending, Over};

/// Between two looks whether it has ended.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Time for it to end by itself once it was told to.
const END_WAIT: Duration = Duration::from_secs(5);

/// What a shell adds to the number of the signal that ended a command.
const SIGNALLED: i32 = 128;

/// Runs a command to its end, or until everything is over.
pub(super) async fn run(
    command: &[String],
    variables: &[(&'static str, String)],
    ending: &Ending,
) -> Over {
    let [program, arguments @ ..] = command else {
        return Over::asked(anyhow!("run a command: --exec has none"));
    };
    let mut started = Command::new(program);
    started.args(arguments).envs(variables.iter().cloned());
    let mut child = match started.spawn().with_context(|| format!("run `{program}`")) {
        Ok(child) => Running(child),
        Err(error) => return Over::asked(error),
    };
    let over = tokio::select! {
        over = ending.over() => over,
        code = child.ended() => return Over::Command(code),
    };
    child.terminate();
    let end = Instant::now() + END_WAIT;
    while child.code().is_none() && Instant::now() < end {
        tokio::time::sleep(LOOK_EVERY).await;
    }
    over
}

/// A command that runs. Killed when dropped.
struct Running(Child);

impl Running {
    async fn ended(&mut self) -> u8 {
        loop {
            if let Some(code) = self.code() {
                return code;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// How it ended, if it has.
    fn code(&mut self) -> Option<u8> {
        let status = self.0.try_wait().ok()??;
        Some(code(status))
    }

    fn terminate(&self) {
        let pid = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid {
            // One that is gone cannot be told.
            let _ = kill_process(pid, Signal::TERM);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Gone already is fine.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn code(status: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt;
    let signalled = || Some(SIGNALLED + status.signal()?);
    let code = status.code().or_else(signalled);
    code.and_then(|code| u8::try_from(code).ok())
        .unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Vec<String> {
        ["sh", "-c", script].map(str::to_owned).to_vec()
    }

    #[tokio::test]
    async fn a_command_ends_with_its_own_code() {
        let ending = Ending::default();
        let variables = [("HOSTD_UART", "127.0.0.1:4000".to_owned())];
        for (script, code) in [
            ("test \"$HOSTD_UART\" = 127.0.0.1:4000", 0),
            ("exit 7", 7),
            ("kill -9 $$", 137),
        ] {
            let over = run(&sh(script), &variables, &ending).await;
            assert_eq!(over.code(), code, "{script}");
        }
        let missing = run(&["/nonexistent".to_owned()], &[], &ending).await;
        assert_eq!(missing.code(), 2);
    }

    #[tokio::test]
    async fn a_command_is_told_when_it_is_over() {
        let folder = tempfile::tempdir().unwrap();
        let told = folder.path().join("told");
        let script = format!(
            "trap 'echo told > {0}; exit 0' TERM; echo > {0}.ready; while :; do sleep 0.02; done",
            told.display()
        );
        let ending = Ending::default();
        let command = sh(&script);
        let running = run(&command, &[], &ending);
        let end = async {
            while !folder.path().join("told.ready").exists() {
                tokio::time::sleep(LOOK_EVERY).await;
            }
            ending.end(Over::Device("it is away".into()));
        };
        let (over, ()) = tokio::join!(running, end);
        assert_eq!(over.code(), 6);
        assert_eq!(std::fs::read_to_string(told).unwrap(), "told\n");
    }
}
