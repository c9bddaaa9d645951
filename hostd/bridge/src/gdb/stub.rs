//! The library's state machine of the protocol. It is gone with the first packet that it does not understand: then a new one
//! goes on where that one was.

use std::cell::RefCell;
use std::convert::Infallible;
use std::rc::Rc;

use gdbstub::conn::Connection;
use gdbstub::stub::state_machine::GdbStubStateMachine;
use gdbstub::stub::{DisconnectReason, GdbStub, GdbStubError, SingleThreadStopReason};

use super::packets::{NO_ACKNOWLEDGEMENTS, PACKET_BYTES_MAX, REFUSED, framed};
use super::serve::{Ended, ServeError};
use super::target::GdbTarget;
use super::{DebugError, Debugger};

/// GDB's packet with what it can do, by its beginning.
const GREETING: &[u8] = b"qSupported";

/// GDB's packet that lets the core run.
const CONTINUE: &[u8] = b"vCont;c";

/// Most bytes that can be read at once: as many as an answer has room for, two digits each.
const READ_BYTES_MAX: u64 = PACKET_BYTES_MAX as u64 / 2;

type Machine<'a, D> = GdbStubStateMachine<'static, GdbTarget<'a, D>, Answers>;
type Failure = GdbStubError<DebugError, Infallible>;

/// What is to be sent to GDB.
#[derive(Debug, Clone, Default)]
struct Answers(Rc<RefCell<Vec<u8>>>);

impl Answers {
    fn put(&self, packet: &[u8]) {
        self.0.borrow_mut().extend(packet);
    }

    fn take(&self) -> Vec<u8> {
        self.0.take()
    }
}

impl Connection for Answers {
    type Error = Infallible;

    fn write(&mut self, byte: u8) -> Result<(), Infallible> {
        self.0.borrow_mut().push(byte);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

/// The protocol, packet by packet.
pub(super) struct Stub<'a, D: Debugger> {
    /// None at the beginning, and after a packet that was not understood.
    machine: Option<Machine<'a, D>>,
    answers: Answers,
    is_running: bool,
    /// What GDB said that it can do.
    greeting: Option<Vec<u8>>,
}

impl<'a, D: Debugger> Stub<'a, D> {
    pub(super) fn new() -> Self {
        Self {
            machine: None,
            answers: Answers::default(),
            is_running: false,
            greeting: None,
        }
    }

    /// GDB has let the core run, and waits until it stops.
    pub(super) fn is_running(&self) -> bool {
        self.is_running
    }

    /// What is to be sent since this was asked.
    pub(super) fn answers(&mut self) -> Vec<u8> {
        self.answers.take()
    }

    /// Carries out a packet. Says how the session ended, if it has.
    ///
    /// # Errors
    /// The target is lost.
    pub(super) fn packet(
        &mut self,
        target: &mut GdbTarget<'a, D>,
        body: &[u8],
    ) -> Result<Option<Ended>, ServeError> {
        if asks_too_much(body) {
            self.answers.put(&framed(REFUSED));
            return Ok(None);
        }
        let machine = self.take(target)?;
        match feed(machine, target, body) {
            Ok(machine) => {
                if body.starts_with(GREETING) {
                    self.greeting = Some(body.to_vec());
                }
                Ok(self.keep(machine))
            }
            Err(failure) => {
                self.refuse(body, failure)?;
                Ok(None)
            }
        }
    }

    /// Tells GDB that the core has stopped.
    ///
    /// # Errors
    /// The library does not take the reason.
    pub(super) fn stop(
        &mut self,
        target: &mut GdbTarget<'a, D>,
        reason: SingleThreadStopReason<u32>,
    ) -> Result<(), ServeError> {
        let stopped = match self.take(target)? {
            Machine::Running(running) => running.report_stop(target, reason).map_err(failed)?,
            machine => machine,
        };
        self.keep(stopped);
        Ok(())
    }

    fn keep(&mut self, machine: Machine<'a, D>) -> Option<Ended> {
        let ended = match &machine {
            Machine::Disconnected(gone) => Some(match gone.get_reason() {
                DisconnectReason::Disconnect => Ended::Detached,
                _ => Ended::Gone,
            }),
            _ => None,
        };
        self.is_running = matches!(machine, Machine::Running(_));
        self.machine = Some(machine);
        ended
    }

    fn take(&mut self, target: &mut GdbTarget<'a, D>) -> Result<Machine<'a, D>, ServeError> {
        match self.machine.take() {
            Some(machine) => Ok(machine),
            None => self.begin(target),
        }
    }

    /// A new machine, told what the one before was told. Packets are acknowledged elsewhere.
    fn begin(&self, target: &mut GdbTarget<'a, D>) -> Result<Machine<'a, D>, ServeError> {
        let before = self.answers.take();
        let stub = GdbStub::builder(self.answers.clone()).packet_buffer_size(PACKET_BYTES_MAX);
        let stub = stub
            .build()
            .map_err(|error| ServeError::Protocol(error.to_string()))?;
        let mut machine = stub.run_state_machine(target).map_err(failed)?;
        let again = [Some(NO_ACKNOWLEDGEMENTS), self.greeting.as_deref()];
        for body in again.into_iter().flatten() {
            machine = feed(machine, target, body).map_err(failed)?;
        }
        if self.is_running {
            target.goes_on = true;
            machine = feed(machine, target, CONTINUE).map_err(failed)?;
        }
        self.answers.take();
        self.answers.put(&before);
        Ok(machine)
    }

    /// Answers a packet with an error.
    fn refuse(&self, body: &[u8], failure: Failure) -> Result<(), ServeError> {
        self.answers.take();
        match failed(failure) {
            ServeError::Debug(DebugError::Refused(why)) => {
                let line = format!("Failed: {why}\n");
                let digits: String = line.bytes().map(|byte| format!("{byte:02x}")).collect();
                self.answers.put(&framed(format!("O{digits}").as_bytes()));
            }
            lost @ ServeError::Debug(DebugError::Lost(_)) => return Err(lost),
            error => {
                let packet = String::from_utf8_lossy(body);
                tracing::debug!(%error, %packet, "refused a packet of GDB");
            }
        }
        self.answers.put(&framed(REFUSED));
        Ok(())
    }
}

/// Gives a packet to the machine, which then is in its next state.
fn feed<'a, D: Debugger>(
    mut machine: Machine<'a, D>,
    target: &mut GdbTarget<'a, D>,
    body: &[u8],
) -> Result<Machine<'a, D>, Failure> {
    for byte in framed(body) {
        machine = match machine {
            Machine::Idle(idle) => idle.incoming_data(target, byte)?,
            Machine::Running(running) => running.incoming_data(target, byte)?,
            other => return Ok(other),
        };
    }
    Ok(machine)
}

/// Whether a packet wants to read more memory than an answer has room for.
fn asks_too_much(body: &[u8]) -> bool {
    let place = body.strip_prefix(b"m").unwrap_or_default();
    let count = place.split(|byte| *byte == b',').nth(1);
    let count = count.and_then(|digits| std::str::from_utf8(digits).ok());
    // The library says what is wrong with others.
    let count = count.and_then(|digits| u64::from_str_radix(digits, 16).ok());
    count.is_some_and(|count| count > READ_BYTES_MAX)
}

fn failed(failure: Failure) -> ServeError {
    if failure.is_target_error() {
        let lost = || DebugError::Lost("the target is lost".to_owned());
        return failure.into_target_error().unwrap_or_else(lost).into();
    }
    ServeError::Protocol(failure.to_string())
}
