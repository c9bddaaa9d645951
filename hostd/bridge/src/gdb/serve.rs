//! One GDB, from its first packet until it leaves.

use std::io;
use std::time::{Duration, Instant};

use super::packets::{Link, NO_ACKNOWLEDGEMENTS, REFUSED, Said, error_packet, framed};
use super::stub::Stub;
use super::target::GdbTarget;
use super::{DebugError, Debugger};

/// Between two looks at a core that runs, when GDB says nothing.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// After so long without a packet the core is looked at, since a debug session that nobody uses ends.
const KEEP_EVERY: Duration = Duration::from_secs(30);

/// The connection to GDB. Calls block.
pub trait Wire {
    /// Reads what is there, or waits for it this long; `None` if nothing came, 0 bytes at the end.
    ///
    /// # Errors
    /// The connection failed.
    fn read(&mut self, into: &mut [u8], wait: Duration) -> io::Result<Option<usize>>;

    /// # Errors
    /// The connection failed.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()>;
}

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// GDB has detached, and the core runs.
    Detached,
    /// GDB was killed or told to kill; the core runs.
    Gone,
}

/// Why a session ended otherwise.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The target, the probe or the way to it is lost.
    #[error(transparent)]
    Debug(#[from] DebugError),
    /// The connection to GDB failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The library of the protocol failed.
    #[error("GDB's protocol failed: {0}")]
    Protocol(String),
}

/// Serves one GDB. The core is halted at the beginning, as GDB expects, and runs at the end. A packet that cannot be
/// understood or does not arrive whole is refused, and the session goes on.
///
/// # Errors
/// [`ServeError`].
pub fn serve<W: Wire, D: Debugger>(wire: &mut W, debugger: &mut D) -> Result<Ended, ServeError> {
    debugger.halt()?;
    let mut target = GdbTarget::new(debugger);
    let mut link = Link::new(wire);
    match talk(&mut link, &mut target) {
        Err(ServeError::Debug(error)) => {
            // GDB may be gone, too.
            let _ = link.send(&error_packet(&error.to_string()));
            Err(error.into())
        }
        ended => {
            target.leave()?;
            ended
        }
    }
}

fn talk<W: Wire, D: Debugger>(
    link: &mut Link<'_, W>,
    target: &mut GdbTarget<'_, D>,
) -> Result<Ended, ServeError> {
    let mut stub = Stub::new();
    let mut looked = Instant::now();
    loop {
        let wait = match stub.is_running() {
            true => LOOK_EVERY,
            false => KEEP_EVERY,
        };
        match link.next(wait)? {
            Some(said) => {
                if let Some(ended) = hear(link, &mut stub, target, said)? {
                    return Ok(ended);
                }
            }
            None if link.has_ended() => return Ok(Ended::Gone),
            None if stub.is_running() => {
                if let Some(reason) = target.stopped()? {
                    stub.stop(target, reason)?;
                    link.send(&stub.answers())?;
                }
            }
            None => {}
        }
        // Whatever GDB does, the session is used.
        if looked.elapsed() >= KEEP_EVERY {
            target.debugger.is_halted()?;
            looked = Instant::now();
        }
    }
}

/// Answers what GDB said. Says how the session ended, if it has.
fn hear<'a, W: Wire, D: Debugger>(
    link: &mut Link<'_, W>,
    stub: &mut Stub<'a, D>,
    target: &mut GdbTarget<'a, D>,
    said: Said,
) -> Result<Option<Ended>, ServeError> {
    match said {
        Said::Packet(body) => {
            link.acknowledge(true)?;
            let ended = stub.packet(target, &body)?;
            link.send(&stub.answers())?;
            if body == NO_ACKNOWLEDGEMENTS {
                link.stop_acknowledging();
            }
            return Ok(ended);
        }
        Said::Overlong => {
            link.acknowledge(true)?;
            link.send(&framed(REFUSED))?;
        }
        Said::Corrupt => link.acknowledge(false)?,
        Said::Again => link.send_again()?,
        Said::Interrupt if stub.is_running() => {
            let reason = target.interrupt()?;
            stub.stop(target, reason)?;
            link.send(&stub.answers())?;
        }
        // It has stopped before, which GDB knows or is about to read.
        Said::Interrupt => {}
    }
    Ok(None)
}
