//! The link to a probe: CMSIS-DAP packets out, answers back. The probe's owner implements [`DapLink`];
//! the flashing code sees it only through a [`Line`], which stops on request and remembers why.

use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

use crate::stop::{Stop, Stopped};

/// Why no answer came.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// Somebody cancelled it.
    #[error("cancelled")]
    Cancelled,
    /// Its time is over.
    #[error("out of time")]
    Deadline,
    /// The probe or the link to it failed.
    #[error("failed to exchange packets with the probe")]
    Lost(#[source] Box<dyn Error + Send + Sync>),
}

impl LinkError {
    /// A failure of the probe or of the link to it.
    pub fn lost(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Lost(cause.into())
    }
}

/// A debug probe that speaks CMSIS-DAP. Calls block.
pub trait DapLink: Send + 'static {
    /// Sends one packet and returns its answer. Packets are no longer than the probe stated in its
    /// answer to `DAP_Info` (64 bytes until then).
    ///
    /// # Errors
    /// [`LinkError`]. Nothing is sent afterwards.
    fn exchange(&mut self, packet: &[u8]) -> Result<Vec<u8>, LinkError>;

    /// Sends several packets and returns their answers in the same order. There are at most as many as
    /// the probe accepts in flight, so a link should send them all before it waits, if it can.
    ///
    /// # Errors
    /// [`LinkError`]. Nothing is sent afterwards.
    fn exchange_all(&mut self, packets: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, LinkError> {
        packets.iter().map(|packet| self.exchange(packet)).collect()
    }
}

impl<L: DapLink + ?Sized> DapLink for Box<L> {
    fn exchange(&mut self, packet: &[u8]) -> Result<Vec<u8>, LinkError> {
        (**self).exchange(packet)
    }

    fn exchange_all(&mut self, packets: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, LinkError> {
        (**self).exchange_all(packets)
    }
}

impl From<Stopped> for LinkError {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Cancelled => Self::Cancelled,
            Stopped::Deadline => Self::Deadline,
        }
    }
}

/// What is known about a line after the library that used it has given up. The library's own errors do
/// not distinguish a dead target from a dead link.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory(Arc<Mutex<Remembered>>);

#[derive(Debug, Default)]
struct Remembered {
    failure: Option<LinkError>,
    is_failed: bool,
    has_target_answered: bool,
    is_target_silent: bool,
}

impl Memory {
    fn with<T>(&self, act: impl FnOnce(&mut Remembered) -> T) -> T {
        // Every change is a single assignment, so a panic elsewhere leaves nothing half done.
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The first failure of the link, once.
    pub(crate) fn take_failure(&self) -> Option<LinkError> {
        self.with(|memory| memory.failure.take())
    }

    /// Whether the target ever acknowledged a transfer.
    pub(crate) fn has_target_answered(&self) -> bool {
        self.with(|memory| memory.has_target_answered)
    }

    /// Whether the target left the last transfer without an answer.
    pub(crate) fn is_target_silent(&self) -> bool {
        self.with(|memory| memory.is_target_silent)
    }

    /// Records whether the target answered a transfer.
    pub(crate) fn note_answer(&self, answered: bool) {
        self.with(|memory| {
            memory.has_target_answered |= answered;
            memory.is_target_silent = !answered;
        });
    }
}

/// The line to the probe had already failed.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the line to the probe is closed")]
pub(crate) struct LineClosed;

/// A link that carries nothing more once it has failed or was told to stop.
pub(crate) struct Line {
    link: Box<dyn DapLink>,
    stop: Stop,
    memory: Memory,
}

impl Line {
    pub(crate) fn new(link: Box<dyn DapLink>, stop: Stop) -> Self {
        let memory = Memory::default();
        Self { link, stop, memory }
    }

    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The answers to these packets. The cause of a failure stays in the [`Memory`].
    pub(crate) fn exchange(&mut self, packets: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, LineClosed> {
        if self.memory.with(|memory| memory.is_failed) {
            return Err(LineClosed);
        }
        let answers = match self.stop.check() {
            Err(stopped) => Err(stopped.into()),
            Ok(()) => match packets {
                [packet] => self.link.exchange(packet).map(|answer| vec![answer]),
                packets => self.link.exchange_all(packets),
            },
        };
        answers.map_err(|failure| {
            self.memory.with(|memory| {
                memory.is_failed = true;
                memory.failure = Some(failure);
            });
            LineClosed
        })
    }
}
