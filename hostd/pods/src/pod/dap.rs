//! A debug-probe session: CMSIS-DAP packets to and from the pod, each in a frame.

use std::time::Duration;

use pod_protocol::dap_frame::{self, DapFrames};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use super::session::Session;
use super::{Pod, PodError, ProtocolError, SessionEnd, SessionKind, commands};

mod blocking;

pub use blocking::{BlockingDap, DapCancel, DapError};

/// Longest time a pod waits for a target to answer before it acknowledges.
const TARGET_WAIT_MAX: Duration = Duration::from_secs(10);

/// Bytes taken from the connection at once: two of the largest frames.
const READ_BYTES: usize = 2 * (dap_frame::DAP_PACKET_BYTES_MAX + 2);

/// The parameters of a debug-probe session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DapRequest {
    /// Channel of SWCLK, from 1.
    pub swclk: u8,
    /// Channel of SWDIO, from 1.
    pub swdio: u8,
    /// Largest packet in bytes; the pod clamps it to 64 to 1024.
    pub(crate) packet_size: u16,
    /// Packets in flight; the pod clamps it to 1 to 4.
    pub(crate) packet_count: u8,
    /// How long the pod may wait for the target to answer; at most 10 s, after which it
    /// acknowledges anyway.
    pub wait: Option<Duration>,
}

impl DapRequest {
    /// The largest and most packets a pod offers, without a wait for the target.
    pub fn new(swclk: u8, swdio: u8) -> Self {
        Self {
            swclk,
            swdio,
            packet_size: 1024,
            packet_count: 4,
            wait: None,
        }
    }
}

/// An open debug-probe session.
pub struct DapSession {
    session: Session,
    frames: DapFrames,
    /// Packets not yet answered.
    in_flight: usize,
    /// A frame was only partly sent.
    torn: bool,
}

impl Pod {
    /// Begins a debug-probe session: a `flash` session.
    ///
    /// # Errors
    /// As [`begin`](Pod::begin), and [`PodError::Refused`] when the pod cannot have the channels.
    pub async fn dap(&self, request: &DapRequest) -> Result<DapSession, PodError> {
        let session = self.begin(SessionKind::Flash).await?;
        DapSession::start(session, request).await
    }
}

impl DapSession {
    /// Turns a `flash` session into a debug-probe session.
    ///
    /// # Errors
    /// [`PodError::Refused`] when the pod cannot have the channels; otherwise why the request failed.
    pub async fn start(session: Session, request: &DapRequest) -> Result<Self, PodError> {
        let wait = request.wait.map(|wait| wait.min(TARGET_WAIT_MAX));
        let mut command = commands::request(
            "dap_start",
            [
                ("swclk", request.swclk.into()),
                ("swdio", request.swdio.into()),
                ("packet_size", request.packet_size.into()),
                ("packet_count", request.packet_count.into()),
            ],
        );
        if let Some(wait) = wait {
            let wait_ms = u64::try_from(wait.as_millis()).expect("at most ten seconds");
            command.insert("wait_ms".to_owned(), wait_ms.into());
        }
        let (session, _) = session.switch(&command).await?;
        Ok(Self {
            session,
            frames: DapFrames::default(),
            in_flight: 0,
            torn: false,
        })
    }

    /// Sends one packet without waiting for its answer. Answers come in the same order.
    ///
    /// # Errors
    /// [`PodError::Protocol`] when the packet is out of bounds or the session out of step;
    /// otherwise why the connection failed.
    pub async fn send(&mut self, packet: &[u8]) -> Result<(), PodError> {
        if self.torn {
            return Err(ProtocolError::OutOfStep.into());
        }
        let frame = dap_frame::encode(packet).map_err(ProtocolError::DapFrame)?;
        self.torn = true;
        let written = async {
            self.session.write_all(&frame).await?;
            self.session.flush().await
        };
        let written = written.await;
        written.map_err(|error| PodError::from_io("dap_start", &error))?;
        self.torn = false;
        self.in_flight += 1;
        Ok(())
    }

    /// The answer to the oldest packet in flight.
    ///
    /// # Errors
    /// [`PodError::Timeout`] when it does not arrive within `wait`, [`PodError::Protocol`] when it
    /// is not a frame or no packet is in flight; otherwise why the connection failed.
    pub async fn receive(&mut self, wait: Duration) -> Result<Vec<u8>, PodError> {
        if self.in_flight == 0 || self.torn {
            return Err(ProtocolError::OutOfStep.into());
        }
        let packet = timeout(wait, self.next_packet())
            .await
            .unwrap_or_else(|_| Err(PodError::timeout("dap_start", wait)));
        match packet {
            Ok(packet) => {
                self.in_flight -= 1;
                Ok(packet)
            }
            Err(error) => {
                self.torn = true;
                Err(error)
            }
        }
    }

    async fn next_packet(&mut self) -> Result<Vec<u8>, PodError> {
        let mut bytes = [0; READ_BYTES];
        loop {
            let packet = self.frames.next_packet().map_err(ProtocolError::DapFrame)?;
            if let Some(packet) = packet {
                return Ok(packet);
            }
            let read = self.session.read(&mut bytes).await;
            match read.map_err(|error| PodError::from_io("dap_start", &error))? {
                0 => return Err(PodError::closed()),
                read => self.frames.push(&bytes[..read]),
            }
        }
    }

    /// Sends one packet and returns its answer. If it fails, or its future is dropped, the session
    /// is unusable: answers could no longer be matched to packets.
    ///
    /// # Errors
    /// As [`send`](Self::send) and [`receive`](Self::receive).
    pub async fn exchange(&mut self, packet: &[u8], wait: Duration) -> Result<Vec<u8>, PodError> {
        if self.in_flight > 0 {
            return Err(ProtocolError::OutOfStep.into());
        }
        let sent = timeout(wait, self.send(packet)).await;
        sent.unwrap_or_else(|_| Err(PodError::timeout("dap_start", wait)))?;
        self.receive(wait).await
    }

    /// Sends packets ahead of their answers, which it returns in the same order. If it fails, or its
    /// future is dropped, the session is unusable.
    ///
    /// # Errors
    /// As [`send`](Self::send) and [`receive`](Self::receive); `wait` is for each answer.
    pub async fn exchange_all(
        &mut self,
        packets: &[Vec<u8>],
        wait: Duration,
    ) -> Result<Vec<Vec<u8>>, PodError> {
        if self.in_flight > 0 {
            return Err(ProtocolError::OutOfStep.into());
        }
        for packet in packets {
            let sent = timeout(wait, self.send(packet)).await;
            sent.unwrap_or_else(|_| Err(PodError::timeout("dap_start", wait)))?;
        }
        let mut answers = Vec::with_capacity(packets.len());
        for _ in packets {
            answers.push(self.receive(wait).await?);
        }
        Ok(answers)
    }

    /// Why it was ended from this side.
    pub fn end(&self) -> Option<SessionEnd> {
        self.session.end()
    }

    /// Closes it and waits until the pod has released the channels.
    ///
    /// # Errors
    /// As [`Session::close`].
    pub async fn close(self) -> Result<(), PodError> {
        self.session.close().await
    }
}
