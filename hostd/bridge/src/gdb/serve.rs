//! One GDB, from its first packet until it leaves.

use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

use gdbstub::common::Signal;
use gdbstub::conn::Connection;
use gdbstub::stub::state_machine::GdbStubStateMachine;
use gdbstub::stub::{DisconnectReason, GdbStub, GdbStubError, SingleThreadStopReason};

use super::target::GdbTarget;
use super::{DebugError, Debugger};

/// Largest packet that GDB may send and be sent.
const PACKET_BYTES_MAX: usize = 8 << 10;

/// Bytes read at once.
const READ_BYTES: usize = 4 << 10;

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
    /// GDB said what cannot be.
    #[error("GDB said what cannot be understood: {0}")]
    Protocol(String),
}

/// What GDB has sent and is to be sent.
struct Buffered<'w, W> {
    wire: &'w mut W,
    received: VecDeque<u8>,
    sent: Vec<u8>,
    has_ended: bool,
}

impl<W: Wire> Buffered<'_, W> {
    /// The next byte, if one comes in time.
    fn next(&mut self, wait: Duration) -> io::Result<Option<u8>> {
        if self.received.is_empty() && !self.has_ended {
            let mut bytes = [0; READ_BYTES];
            match self.wire.read(&mut bytes, wait)? {
                Some(0) => self.has_ended = true,
                Some(count) => self.received.extend(&bytes[..count]),
                None => {}
            }
        }
        Ok(self.received.pop_front())
    }
}

impl<W: Wire> Connection for Buffered<'_, W> {
    type Error = io::Error;

    fn write(&mut self, byte: u8) -> io::Result<()> {
        self.sent.push(byte);
        Ok(())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sent.extend(bytes);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.wire.write_all(&self.sent)?;
        self.sent.clear();
        Ok(())
    }
}

/// Serves one GDB. The core is halted at the beginning, as GDB expects, and runs at the end.
///
/// # Errors
/// [`ServeError`].
pub fn serve<W: Wire, D: Debugger>(wire: &mut W, debugger: &mut D) -> Result<Ended, ServeError> {
    debugger.halt()?;
    let mut target = GdbTarget::new(debugger);
    let ended = talk(wire, &mut target);
    match ended {
        Err(error @ ServeError::Debug(_)) => Err(error),
        ended => {
            target.leave()?;
            ended
        }
    }
}

fn talk<W: Wire, D: Debugger>(
    wire: &mut W,
    target: &mut GdbTarget<'_, D>,
) -> Result<Ended, ServeError> {
    let connection = Buffered {
        wire,
        received: VecDeque::new(),
        sent: Vec::new(),
        has_ended: false,
    };
    let stub = GdbStub::builder(connection).packet_buffer_size(PACKET_BYTES_MAX);
    let stub = stub
        .build()
        .map_err(|error| ServeError::Protocol(error.to_string()))?;
    let mut state = stub.run_state_machine(target).map_err(failed)?;
    let mut looked = Instant::now();
    loop {
        state = match state {
            GdbStubStateMachine::Idle(mut idle) => {
                let connection = idle.borrow_conn();
                match connection.next(KEEP_EVERY)? {
                    Some(byte) => {
                        // Whatever GDB does, the session is used.
                        if looked.elapsed() >= KEEP_EVERY {
                            target.debugger.is_halted()?;
                            looked = Instant::now();
                        }
                        idle.incoming_data(target, byte).map_err(failed)?
                    }
                    None if connection.has_ended => return Ok(Ended::Gone),
                    None => {
                        target.debugger.is_halted()?;
                        looked = Instant::now();
                        idle.into()
                    }
                }
            }
            GdbStubStateMachine::Running(mut running) => {
                let connection = running.borrow_conn();
                match connection.next(LOOK_EVERY)? {
                    Some(byte) => running.incoming_data(target, byte).map_err(failed)?,
                    None if connection.has_ended => return Ok(Ended::Gone),
                    None => match target.stopped()? {
                        Some(reason) => running.report_stop(target, reason).map_err(failed)?,
                        None => running.into(),
                    },
                }
            }
            GdbStubStateMachine::CtrlCInterrupt(interrupted) => {
                target.debugger.halt()?;
                let reason = Some(SingleThreadStopReason::Signal(Signal::SIGINT));
                interrupted
                    .interrupt_handled(target, reason)
                    .map_err(failed)?
            }
            GdbStubStateMachine::Disconnected(gone) => {
                return Ok(match gone.get_reason() {
                    DisconnectReason::Disconnect => Ended::Detached,
                    _ => Ended::Gone,
                });
            }
        };
    }
}

fn failed(error: GdbStubError<DebugError, io::Error>) -> ServeError {
    if error.is_target_error() {
        let error = error.into_target_error();
        let lost = || DebugError::Lost("the target is lost".to_owned());
        return error.unwrap_or_else(lost).into();
    }
    let sentence = error.to_string();
    match error.into_connection_error() {
        Some((error, _)) => error.into(),
        None => ServeError::Protocol(sentence),
    }
}
