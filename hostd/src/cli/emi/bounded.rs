//! How much memory a look at a board takes. It is done by a process of its own, which is this program once more with the same
//! arguments and a bound that the kernel keeps: what a board asks for beyond it ends that process, and this one says why.

use std::env;
use std::ffi::OsStr;
use std::io::{self, IsTerminal, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{ChildStderr, Command, ExitCode, ExitStatus, Stdio};

use anyhow::{Context, anyhow};
use jail::{REASON_BYTES_MAX, lacks_memory};
use rustix::process::{
    Resource, Rlimit, Signal, getrlimit, set_parent_process_death_signal, setrlimit,
};

use super::super::trouble::Trouble;
use super::{FOUND, LATE};

/// In the environment of the process that is bounded: whether what it says on standard error is shown on a terminal.
const BOUNDED: &str = "HOSTD_EMI_BOUNDED";
const SHOWN: &str = "terminal";
const UNSHOWN: &str = "file";

/// How what Rust says begins when there is no memory. It is said in other words here.
const NO_MEMORY: &[u8] = b"memory allocation of ";

/// Whether this process is the one that is bounded.
pub(super) fn is_inside() -> bool {
    env::var_os(BOUNDED).is_some()
}

/// Whether what is said on standard error is shown on a terminal.
pub(super) fn is_shown() -> bool {
    match env::var_os(BOUNDED) {
        Some(shown) => shown == OsStr::new(SHOWN),
        None => io::stderr().is_terminal(),
    }
}

/// Bounds this process, which leaves no core and ends with the one that started it.
///
/// # Errors
/// The kernel refuses.
pub(super) fn confine(memory_bytes: u64) -> anyhow::Result<()> {
    let lower = |resource: Resource, to: u64| {
        let held = getrlimit(resource);
        let most = held.maximum.map_or(to, |maximum| maximum.min(to));
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        setrlimit(resource, limit)
    };
    set_parent_process_death_signal(Some(Signal::KILL))
        .and_then(|()| lower(Resource::As, memory_bytes))
        .and_then(|()| lower(Resource::Core, 0))
        .context("bound the memory of this process")
}

/// Does what the command line says in a process of its own, and says how that ended.
///
/// # Errors
/// The process cannot be started, or it ended early: at its bound, or in another way.
pub(super) fn run(memory_bytes: u64) -> Result<ExitCode, Trouble> {
    let program = env::current_exe().context("find this program")?;
    let shown = if is_shown() { SHOWN } else { UNSHOWN };
    let mut child = Command::new(program)
        .args(env::args_os().skip(1))
        .env(BOUNDED, shown)
        .stderr(Stdio::piped())
        .spawn()
        .context("start a process that looks at the board")?;
    let said = child.stderr.take().map(hand_on).unwrap_or_default();
    let status = child
        .wait()
        .context("wait for the process that looks at the board")?;
    judge(status, &said, memory_bytes)
}

/// Hands on what is said on standard error, and keeps its end.
fn hand_on(mut from: ChildStderr) -> Vec<u8> {
    let mut said = Vec::new();
    let mut piece = [0; REASON_BYTES_MAX];
    let mut is_out_of_memory = false;
    loop {
        let piece = match from.read(&mut piece) {
            Ok(0) => return said,
            Ok(len) => &piece[..len],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return said,
        };
        let end = memchr::memmem::find(piece, NO_MEMORY);
        if !is_out_of_memory {
            // Whom standard error does not reach, the exit code does.
            let _ = io::stderr().write_all(&piece[..end.unwrap_or(piece.len())]);
        }
        is_out_of_memory |= end.is_some();
        said.extend_from_slice(piece);
        said.drain(..said.len().saturating_sub(REASON_BYTES_MAX));
    }
}

fn judge(status: ExitStatus, said: &[u8], memory_bytes: u64) -> Result<ExitCode, Trouble> {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    match code {
        Some(code) if [0, FOUND, LATE].contains(&code) => Ok(ExitCode::from(code)),
        _ if lacks_memory(&String::from_utf8_lossy(said)) => Err(Trouble::Asked(anyhow!(
            "look at the board: it takes more than {} MiB of memory; --memory-limit of `hostd emi check` sets another limit",
            memory_bytes >> 20
        ))),
        Some(code) => Ok(ExitCode::from(code)),
        None => Err(Trouble::Machine(anyhow!(
            "look at the board: the process that does it was ended by signal {}",
            status.signal().unwrap_or_default()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ended_is_told_by_its_code_and_its_last_words() {
        const MIB: u64 = 512 << 20;
        let aborted = ExitStatus::from_raw(6);
        let out = judge(aborted, b"memory allocation of 9 bytes failed", MIB).unwrap_err();
        let Trouble::Asked(error) = out else {
            panic!("{out:?}");
        };
        assert!(error.to_string().contains("512 MiB"), "{error}");
        assert!(matches!(judge(aborted, b"", MIB), Err(Trouble::Machine(_))));
        // What a board is called says nothing of memory.
        let found = ExitStatus::from_raw(1 << 8);
        assert!(judge(found, b"out of memory", MIB).is_ok());
        assert!(judge(ExitStatus::from_raw(2 << 8), b"no such file", MIB).is_ok());
    }
}
