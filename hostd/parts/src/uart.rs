//! The serial port of a bench: opened by a task of its own, which reads it all the time, and used by one session at a
//! time. What arrives while nobody listens is forgotten.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::config::{self, UartPart};
use pod_protocol::escape::Escape;
use pod_protocol::{Parity, UART_BAUD_MAX, UART_BAUD_MIN, UART_BREAK_MS, UART_BREAK_MS_MAX};
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::{Duration, Instant, sleep, sleep_until, timeout};

use crate::args::Args;
use crate::bench::PIPE_BYTES;
use crate::client::{Client, Gone};
use crate::presence::{Part, Presences};
use crate::refuse::Refuse;
use crate::tty::{Setting, Tty};

mod line_break;

use line_break::{AHEAD_MAX, Break, unsent};

const BAUD: std::ops::RangeInclusive<i64> = UART_BAUD_MIN as i64..=UART_BAUD_MAX as i64;
const DEFAULT_BAUD: u32 = 115_200;
const BREAK_MS: std::ops::RangeInclusive<i64> = 1..=UART_BREAK_MS_MAX.cast_signed();

/// Bits of a frame on the line: start, eight of data, parity perhaps, stop.
const FRAME_BITS: u64 = 11;

/// Bytes read from the port or the connection at once.
const READ_BYTES: usize = 4096;

/// Pieces that wait for a session. One that takes nothing holds up the port, and the kernel's buffer overflows.
const PIECES_MAX: usize = 16;

/// Pause before a port that could not be opened is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// Longest wait for a port to take bytes; none is slower than this for a kernel's buffer at 300 baud.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// Longest wait at the end of a session for its last bytes to be sent, so that the next rate does not garble them.
const DRAIN_MAX: Duration = Duration::from_secs(1);

/// What a port may take, beside [`AHEAD_MAX`] and the break itself, to begin a break and to end it.
const BREAK_SLACK: Duration = Duration::from_secs(5);

/// How often one who waits for the end of a session tries again.
const TAKE_EVERY: Duration = Duration::from_millis(20);

/// The serial port of a bench.
#[derive(Debug)]
pub(crate) struct Uart {
    plan: UartPart,
    presences: Arc<Presences>,
    state: Mutex<State>,
    /// Nothing can be done with the open port any more.
    given_up: Notify,
}

#[derive(Debug, Default)]
struct State {
    port: Option<Arc<Tty>>,
    session: Option<Session>,
}

/// What others see of the open session.
#[derive(Debug)]
struct Session {
    /// Takes what arrives.
    received: mpsc::Sender<Vec<u8>>,
    /// Takes wishes for a break.
    breaks: mpsc::Sender<Break>,
    /// The channels that it was asked for.
    channels: (u8, u8),
}

impl Uart {
    pub(crate) fn new(plan: UartPart, presences: Arc<Presences>) -> Self {
        Self {
            plan,
            presences,
            state: Mutex::default(),
            given_up: Notify::new(),
        }
    }

    /// The channels that the open session was asked for: `rx` and `tx`.
    pub(crate) fn channels(&self) -> Option<(u8, u8)> {
        self.state()
            .session
            .as_ref()
            .map(|session| session.channels)
    }

    /// The parity that it has if nothing else is asked for.
    pub(crate) fn parity(&self) -> Parity {
        match self.plan.parity {
            config::Parity::None => Parity::None,
            config::Parity::Even => Parity::Even,
            config::Parity::Odd => Parity::Odd,
        }
    }

    /// Opens the port and reads it, for ever.
    pub(crate) async fn keep(&self) {
        loop {
            let setting = Setting {
                baud: DEFAULT_BAUD,
                parity: self.parity(),
            };
            let opened = Tty::open(Path::new(&self.plan.path), setting).await;
            let ended = match opened {
                Ok(port) => {
                    let port = Arc::new(port);
                    let given_up = self.given_up.notified();
                    self.state().port = Some(port.clone());
                    self.presences.there(Part::Uart);
                    let ended = tokio::select! {
                        ended = self.read(&port) => ended,
                        () = given_up => io::Error::other("the serial port did not end a break"),
                    };
                    let mut state = self.state();
                    state.port = None;
                    // It ends, since nobody sends it anything any more.
                    state.session = None;
                    ended
                }
                Err(error) => error,
            };
            self.presences.away(Part::Uart, ended.to_string());
            sleep(RETRY).await;
        }
    }

    /// Passes on what arrives until the port is gone.
    async fn read(&self, port: &Tty) -> io::Error {
        let mut buffer = vec![0; READ_BYTES];
        loop {
            let count = match port.read(&mut buffer).await {
                Ok(0) => return io::Error::other(format!("{} was unplugged", self.plan.path)),
                Ok(count) => count,
                Err(error) => return error,
            };
            let session = self
                .state()
                .session
                .as_ref()
                .map(|session| session.received.clone());
            if let Some(session) = session {
                // It may have ended meanwhile.
                let _ = session.send(buffer[..count].to_vec()).await;
            }
        }
    }

    /// Has a port opened anew, which sets everything about it, unless that was done since.
    fn give_up(&self, port: &Arc<Tty>) {
        let present = self.state().port.clone();
        if present.is_some_and(|present| Arc::ptr_eq(&present, port)) {
            self.given_up.notify_waiters();
        }
    }

    /// Begins a session, or refuses.
    pub(crate) async fn start(self: &Arc<Self>, args: &Args<'_>) -> Result<Opened, Refuse> {
        let channels = (args.la("rx")?, args.la("tx")?);
        let baud = args.uint("baud", BAUD)?.unwrap_or(DEFAULT_BAUD);
        let parity = args.text("parity")?.map(|name| {
            let (field, want) = ("parity", "none, even or odd");
            Parity::named(name).ok_or(Refuse::Bad { field, want })
        });
        let parity = parity.transpose()?.unwrap_or_else(|| self.parity());
        let (sender, received) = mpsc::channel(PIECES_MAX);
        let (wishes, breaks) = mpsc::channel(1);
        // One that is ending still sends its last bytes.
        let until = Instant::now() + 2 * DRAIN_MAX;
        while self.channels().is_some() && Instant::now() < until {
            sleep(TAKE_EVERY).await;
        }
        let port = self.take(Session {
            received: sender,
            breaks: wishes,
            channels,
        })?;
        let opened = Opened {
            uart: self.clone(),
            port,
            received,
            breaks,
            baud,
            sent: Instant::now(),
        };
        match opened.port.set(Setting { baud, parity }).await {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                return Err(Refuse::Part(error.to_string()));
            }
            Err(error) => return Err(Refuse::away(Part::Uart, error.to_string())),
        }
        opened.port.forget_input();
        Ok(opened)
    }

    /// Has the open session hold the target's receive line low.
    pub(crate) async fn send_break(&self, args: &Args<'_>) -> Result<Value, Refuse> {
        let ms = args.uint("ms", BREAK_MS)?.unwrap_or(UART_BREAK_MS);
        let session = self
            .state()
            .session
            .as_ref()
            .map(|session| session.breaks.clone());
        let session = session.ok_or(Refuse::NoUart)?;
        let (done, is_done) = oneshot::channel();
        let lasts = Duration::from_millis(ms);
        let held = async {
            let asked = session.send(Break { lasts, done }).await;
            asked.map_err(|_| Refuse::NoUart)?;
            is_done.await.map_err(|_| Refuse::NoUart)
        };
        match timeout(AHEAD_MAX + lasts + BREAK_SLACK, held).await {
            Ok(held) => match held? {
                Ok(()) => Ok(Value::Null),
                Err(error) => Err(Refuse::Part(error.to_string())),
            },
            Err(_) => Err(Refuse::Part(unsent().to_string())),
        }
    }

    /// The port, for one session.
    fn take(&self, session: Session) -> Result<Arc<Tty>, Refuse> {
        let mut state = self.state();
        let port = state.port.clone().ok_or_else(|| self.away())?;
        if state.session.is_some() {
            return Err(Refuse::UartBusy);
        }
        state.session = Some(session);
        Ok(port)
    }

    fn away(&self) -> Refuse {
        match self.presences.lack(Part::Uart) {
            Some(lack) => Refuse::lack(Part::Uart, lack),
            None => Refuse::away(Part::Uart, "it is being opened".to_owned()),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Each change is one assignment, so a panic elsewhere leaves a valid state.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An open session; the port is free again when it is dropped.
pub(crate) struct Opened {
    uart: Arc<Uart>,
    port: Arc<Tty>,
    received: mpsc::Receiver<Vec<u8>>,
    breaks: mpsc::Receiver<Break>,
    baud: u32,
    /// When the line is done with what was written.
    sent: Instant,
}

impl Opened {
    /// Carries bytes until the client closes or escapes, or the port is gone.
    pub(crate) async fn run(mut self, client: &mut Client) -> Result<(), Gone> {
        client.reply(Ok(json!("uart ready"))).await?;
        let ended = self.carry(client).await;
        let drained = self.sent.min(Instant::now() + DRAIN_MAX);
        sleep_until(drained).await;
        ended
    }

    async fn carry(&mut self, client: &mut Client) -> Result<(), Gone> {
        let mut escape = Escape::new();
        loop {
            tokio::select! {
                received = self.received.recv() => match received {
                    Some(bytes) => client.write_raw(&bytes).await?,
                    None => return Err(Gone),
                },
                bytes = client.read_raw(READ_BYTES) => {
                    let bytes = bytes?;
                    escape.sent(&bytes);
                    self.write(&bytes, client).await?;
                }
                Some(wish) = self.breaks.recv() => {
                    // What the client sent before comes first.
                    let mut left = PIPE_BYTES;
                    while left > 0
                        && let Ok(bytes) = timeout(Duration::ZERO, client.read_raw(READ_BYTES)).await
                    {
                        let bytes = bytes?;
                        left = left.saturating_sub(bytes.len());
                        escape.sent(&bytes);
                        self.write(&bytes, client).await?;
                    }
                    self.send_break(wish, client).await?;
                }
                () = sleep_until(escape.complete()), if escape.is_pending() => return Ok(()),
            }
        }
    }

    /// Holds the line low once all was sent; what arrives meanwhile goes to the client.
    async fn send_break(&mut self, wish: Break, client: &mut Client) -> Result<(), Gone> {
        let (uart, port, sent) = (self.uart.clone(), self.port.clone(), self.sent);
        let (over, mut is_over) = oneshot::channel::<()>();
        // A task of its own: neither a client that takes nothing nor the end of this session makes it longer.
        tokio::spawn(async move {
            let held = wish.hold(&uart, &port, sent).await;
            // Who asked may have gone.
            let _ = wish.done.send(held);
            drop(over);
        });
        let passed = loop {
            let received = tokio::select! {
                received = self.received.recv() => received,
                _ = &mut is_over => return Ok(()),
            };
            let passed = match received {
                Some(bytes) => client.write_raw(&bytes).await,
                None => Err(Gone),
            };
            if passed.is_err() {
                break passed;
            }
        };
        // The port is not free before.
        let _ = is_over.await;
        passed
    }

    /// Writes all bytes; what arrives meanwhile goes to the client, so that neither waits for the other.
    async fn write(&mut self, mut bytes: &[u8], client: &mut Client) -> Result<(), Gone> {
        let frames = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let micros = frames * FRAME_BITS * 1_000_000 / u64::from(self.baud);
        self.sent = self.sent.max(Instant::now()) + Duration::from_micros(micros);
        while !bytes.is_empty() {
            tokio::select! {
                wrote = timeout(WRITE_TIMEOUT, self.port.write(bytes)) => match wrote {
                    Ok(Ok(count @ 1..)) => bytes = &bytes[count..],
                    _ => return Err(Gone),
                },
                received = self.received.recv() => match received {
                    Some(bytes) => client.write_raw(&bytes).await?,
                    None => return Err(Gone),
                },
            }
        }
        Ok(())
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        let mut state = self.uart.state();
        let is_mine = |session: &Session| session.received.is_closed();
        // The sender of another session is open.
        self.received.close();
        if state.session.as_ref().is_some_and(is_mine) {
            state.session = None;
        }
    }
}
