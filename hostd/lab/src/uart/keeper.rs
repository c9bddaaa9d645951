//! The task that keeps a line: it owns the pod's session, carries bytes, restarts the session when
//! needed, and waits for a lost pod.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use bytes::{Buf, Bytes};
use pods::protocol::{UART_BAUD_MIN, UART_BREAK_MS};
use pods::{Parity, Pod, PodError, PodState, Session};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::sync::{mpsc, watch};
use tracing::{debug, info};

use super::control::{Because, Code, Notice};
use super::line::{Chunk, End, Line, Request};
use super::{Setting, UartError, Uarts};
use crate::leases::Visit;
use crate::tunnel::escape::{ESCAPE_PAUSE, Escape};

/// Bytes read from the pod at once.
const READ_BYTES: usize = 4 << 10;

/// Time for the pod to take what clients wrote.
const POD_WAIT: Duration = Duration::from_secs(30);

/// How long a pod that is back may refuse to start a session again.
const RETURN_WAIT: Duration = Duration::from_secs(30);

/// Pause between attempts to start again while the loss of the pod is not yet noticed everywhere.
const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// The break of a pod that has no command for it: a zero sent so slowly that its nine low bits last [`UART_BREAK_MS`].
const BREAK_BAUD: u32 = UART_BAUD_MIN;

/// Time until the zero is sent: ten bits and the pod's own delay.
const BREAK_WAIT: Duration = Duration::from_millis(50);

/// The owner of a line.
pub(super) struct Keeper {
    pod: Pod,
    line: Arc<Line>,
    requests: mpsc::Receiver<Request>,
    /// Selected if the bank has no voltage.
    bank_mv: u32,
    session: Option<Session>,
    /// What the session was sent last, and when. A break does not interrupt an escape.
    escape: Escape,
    last: Instant,
    /// If set, a pod that is away is restarting for its update.
    updating: watch::Receiver<bool>,
}

/// Why a session ends while the line goes on.
enum Step {
    Baud(u32),
    Parity(Parity),
    /// A break of so many milliseconds.
    Break(u64),
    /// `+++` has been sent, after which the pod would read commands.
    Escape,
    /// The pod is gone; why, as a fragment.
    Gone(String),
}

/// What a session has transferred.
enum Moved {
    Read(usize),
    Wrote(usize),
}

impl Keeper {
    pub(super) fn new(
        pod: Pod,
        line: Arc<Line>,
        requests: mpsc::Receiver<Request>,
        bank_mv: u32,
        updating: watch::Receiver<bool>,
    ) -> Self {
        Self {
            pod,
            line,
            requests,
            bank_mv,
            session: None,
            escape: Escape::BEGIN,
            last: Instant::now(),
            updating,
        }
    }

    /// Keep the line as long as the visit lasts and somebody uses it.
    pub(super) async fn run(mut self, uarts: Arc<Uarts>, device: String, mut visit: Visit) {
        let line = self.line.clone();
        let unused = async {
            loop {
                line.unused().await;
                if uarts.end_unused(&line) {
                    return End::Unused;
                }
            }
        };
        let end = tokio::select! {
            biased;
            () = visit.over() => End::LeaseLost,
            end = self.keep() => end,
            end = unused => end,
        };
        info!(device, reason = ?end, "UART line ends");
        line.end(end);
        self.close().await;
        drop(visit);
        uarts.retire(&device, &line);
    }

    async fn keep(&mut self) -> End {
        if let Err(error) = self.begin().await {
            return End::Failed(error);
        }
        self.line.opened();
        loop {
            let mut step = self.carry().await;
            if let Step::Break(ms) = &mut step {
                // The pod would read commands by the end of the break.
                let is_escaped = self.escape.is_complete();
                if !is_escaped && self.pod.uart_break(*ms).await.is_ok() {
                    self.tell(&step);
                    continue;
                }
                *ms = UART_BREAK_MS;
            }
            if let Step::Gone(reason) = &step {
                self.line.notices.push(Notice::Error {
                    code: Code::DeviceOffline,
                    message: reason.clone(),
                });
            }
            self.close().await;
            let setting = self.line.setting();
            let begun = match step {
                Step::Baud(baud) => self.change(Setting { baud, ..setting }).await,
                Step::Parity(parity) => {
                    let parity = Some(parity);
                    self.change(Setting { parity, ..setting }).await
                }
                Step::Break(_) => self.send_zero().await,
                Step::Escape => self.begin().await,
                Step::Gone(_) => self.come_back().await,
            };
            // The loss of the pod is noticed only now.
            let begun = match begun {
                Err(UartError::Offline) if !matches!(step, Step::Gone(_)) => self.come_back().await,
                begun => begun,
            };
            match begun {
                Ok(()) => self.tell(&step),
                Err(UartError::Offline) => {
                    return End::Offline("the device is offline".to_owned());
                }
                Err(error) => return End::Refused(error.to_string()),
            }
        }
    }

    /// The session goes on after `step`, perhaps with another setting than it wanted.
    fn tell(&self, step: &Step) {
        let offset = self.line.bytes.end();
        let Setting { baud, parity, .. } = self.line.setting();
        self.line.notices.push(match step {
            Step::Baud(_) => Notice::Baud { baud, offset },
            Step::Parity(_) => Notice::Parity {
                parity: parity.unwrap_or(Parity::None),
                offset,
            },
            Step::Break(ms) => Notice::Break { ms: *ms, offset },
            Step::Escape => Notice::Open {
                because: Because::Escape,
                offset,
            },
            Step::Gone(_) => Notice::Open {
                because: Because::DeviceBack,
                offset,
            },
        });
    }

    /// Begin a session with another setting, or if the device cannot have that, with the one before.
    async fn change(&mut self, to: Setting) -> Result<(), UartError> {
        let before = self.line.setting();
        self.line.set(to);
        let begun = self.begin().await;
        let Err(UartError::Refused(reason)) = begun else {
            return begun;
        };
        self.line.set(before);
        self.line.notices.push(Notice::Error {
            code: Code::SettingRefused,
            message: reason,
        });
        self.begin().await
    }

    /// Begin a session with the line's parameters.
    async fn begin(&mut self) -> Result<(), UartError> {
        self.begin_at(self.line.setting().baud).await
    }

    async fn begin_at(&mut self, baud: u32) -> Result<(), UartError> {
        let Setting { rx, tx, parity, .. } = self.line.setting();
        let begun = match self.pod.uart(rx, tx, baud, parity).await {
            Err(PodError::Refused(_)) if self.bank_is_off().await? => {
                let selected = self.pod.set_la_voltage(self.bank_mv).await;
                selected.map_err(|e| refused(&e))?;
                self.pod.uart(rx, tx, baud, parity).await
            }
            begun => begun,
        };
        self.session = Some(begun.map_err(|e| refused(&e))?);
        self.escape = Escape::BEGIN;
        self.last = Instant::now();
        Ok(())
    }

    /// Whether no voltage is selected; a selected one is selected again if the pod restarts.
    async fn bank_is_off(&mut self) -> Result<bool, UartError> {
        let voltage = self.pod.la_voltage().await.map_err(|e| refused(&e))?;
        if voltage.mv > 0 {
            self.bank_mv = voltage.mv;
        }
        Ok(voltage.mv == 0)
    }

    /// Carry bytes until the session has to end.
    async fn carry(&mut self) -> Step {
        let session = self.session.as_mut().expect("a session was begun");
        let mut buffer = vec![0; READ_BYTES];
        let mut out = Bytes::new();
        let mut write_first = false;
        loop {
            let escaped = out.is_empty() && self.escape.is_complete();
            tokio::select! {
                moved = transfer(session, &mut buffer, &out, write_first) => match moved {
                    Ok(Moved::Read(count @ 1..)) => {
                        write_first = true;
                        self.line.bytes.push(Chunk(buffer[..count].to_vec()));
                    }
                    Ok(Moved::Wrote(count @ 1..)) => {
                        write_first = false;
                        out.advance(count);
                        self.last = Instant::now();
                        let flushed = tokio::time::timeout(POD_WAIT, session.flush()).await;
                        if !matches!(flushed, Ok(Ok(()))) {
                            return Step::Gone("it takes nothing".to_owned());
                        }
                    }
                    Ok(Moved::Read(0) | Moved::Wrote(0)) | Err(_) => {
                        let end = session.end().map(|end| end.to_string());
                        let closed = || "it has closed the connection".to_owned();
                        return Step::Gone(end.unwrap_or_else(closed));
                    }
                },
                request = self.requests.recv(), if out.is_empty() => match request {
                    Some(Request::Write(bytes)) => {
                        self.escape.follow(&bytes, self.last.elapsed());
                        self.last = Instant::now();
                        out = bytes;
                    }
                    Some(Request::Baud(baud)) => return Step::Baud(baud),
                    Some(Request::Parity(parity)) => return Step::Parity(parity),
                    Some(Request::Break(ms)) => return Step::Break(ms),
                    // The line itself can still send.
                    None => std::future::pending().await,
                },
                () = tokio::time::sleep_until((self.last + ESCAPE_PAUSE).into()), if escaped => {
                    return Step::Escape;
                }
                () = tokio::time::sleep_until((self.last + POD_WAIT).into()), if !out.is_empty() => {
                    return Step::Gone("it takes nothing".to_owned());
                }
            }
        }
    }

    /// Hold the target's receive line low without a command for it, then continue as before.
    async fn send_zero(&mut self) -> Result<(), UartError> {
        self.begin_at(BREAK_BAUD).await?;
        if let Some(session) = &mut self.session {
            let sent = async {
                session.write_all(&[0]).await?;
                session.flush().await
            };
            if let Ok(Ok(())) = tokio::time::timeout(POD_WAIT, sent).await {
                tokio::time::sleep(BREAK_WAIT).await;
            }
        }
        self.close().await;
        self.begin().await
    }

    /// Wait for a lost pod, unless its device counts as offline, and restart the session. A pod
    /// that is being updated may take as long as its update.
    async fn come_back(&mut self) -> Result<(), UartError> {
        let mut states = self.pod.watch();
        let mut deadline = tokio::time::Instant::now() + RETURN_WAIT;
        loop {
            let known = states.wait_for(PodState::is_settled);
            let online = match tokio::time::timeout_at(deadline, known).await {
                Ok(Ok(state)) => state.is_online(),
                _ => false,
            };
            if !online && *self.updating.borrow() {
                let is_worth_waiting = tokio::select! {
                    back = states.wait_for(PodState::is_online) => back.is_ok(),
                    over = self.updating.wait_for(|updating| !updating) => over.is_ok(),
                };
                if !is_worth_waiting {
                    return Err(UartError::Offline);
                }
                deadline = tokio::time::Instant::now() + RETURN_WAIT;
                continue;
            }
            if !online {
                return Err(UartError::Offline);
            }
            match self.begin().await {
                Err(UartError::Offline | UartError::Pod(_))
                    if tokio::time::Instant::now() < deadline =>
                {
                    tokio::time::sleep(RETRY_PAUSE).await;
                }
                begun => return begun,
            }
        }
    }

    async fn close(&mut self) {
        if let Some(session) = self.session.take()
            && let Err(error) = session.close().await
        {
            debug!(%error, "a UART session was closed before the pod had let go");
        }
    }
}

fn refused(error: &PodError) -> UartError {
    match error {
        PodError::Offline { .. } | PodError::Ended(_) => UartError::Offline,
        PodError::Busy { .. } | PodError::NoPermit { .. } | PodError::NotReleased { .. } => {
            UartError::InUse(error.to_string())
        }
        PodError::Refused(refusal) => UartError::Refused(refusal.to_string()),
        other => UartError::Pod(other.to_string()),
    }
}

/// Read or write, whichever is possible first; `write_first` decides if both are. Safe to cancel.
async fn transfer(
    session: &mut Session,
    buffer: &mut [u8],
    out: &[u8],
    write_first: bool,
) -> io::Result<Moved> {
    poll_fn(|cx| {
        for writes in [write_first, !write_first] {
            let session = Pin::new(&mut *session);
            if writes {
                if !out.is_empty()
                    && let Poll::Ready(wrote) = session.poll_write(cx, out)
                {
                    return Poll::Ready(wrote.map(Moved::Wrote));
                }
            } else {
                let mut read = ReadBuf::new(buffer);
                if let Poll::Ready(done) = session.poll_read(cx, &mut read) {
                    let count = read.filled().len();
                    return Poll::Ready(done.map(|()| Moved::Read(count)));
                }
            }
        }
        Poll::Pending
    })
    .await
}
