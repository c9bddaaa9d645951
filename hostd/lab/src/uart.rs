//! UART lines of devices: one pod session for each, shared by all clients.
//!
//! The first client opens the line with its parameters, the others join. The target's output goes
//! into a [`Ring`](base::ring::Ring) that each client follows at its own pace; what clients write
//! goes to the pod in order of arrival. A client that may not drive the device because of a lease
//! may still join and listen. A line lives for `LINGER` after its last client has left, so that a
//! page can be reloaded; work that needs the pod alone does not wait for that.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pods::Pod;
use tokio::sync::watch;

use crate::leases::{Busy, Visit};
use base::clock::Clock;

mod client;
mod control;
mod during;
mod keeper;
mod line;
mod tap;

pub use client::Client;
pub use during::{During, Stage, Work};
pub use pods::Parity;
pub use tap::{Tap, TapEnd};

use keeper::Keeper;
use line::{End, Line, Seat};

/// Clients of one line.
pub(crate) const CLIENTS_MAX: usize = 32;

/// How long a line stays open without a client.
pub(crate) const LINGER: Duration = Duration::from_secs(2);

/// Time for an ending line to be gone, before the next client is refused.
const HANDOVER_WAIT: Duration = Duration::from_secs(5);

/// Why a parity cannot be had.
const NO_PARITY: &str = "the UART of this device has no parity bit, whatever is asked for";

/// Upper bound of positions per millisecond, above the fastest line, so that a later line has
/// higher positions, even after a restart.
const POSITIONS_PER_MS: u64 = 512;

/// Parameters of a line; 8 data bits, one stop bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// Channel that listens to the target, 1 to 14.
    pub rx: u8,
    /// Channel that talks to it.
    pub tx: u8,
    /// Bits per second, [`UART_BAUD_MIN`](pods::protocol::UART_BAUD_MIN) to
    /// [`UART_BAUD_MAX`](pods::protocol::UART_BAUD_MAX).
    pub baud: u32,
    /// What its parity bit is like; none: the device has no such bit, ever.
    pub parity: Option<Parity>,
}

/// What a client that opens a line asks for.
#[derive(Debug, Clone)]
pub struct Wish {
    pub rx: Option<u8>,
    pub tx: Option<u8>,
    pub baud: Option<u32>,
    pub parity: Option<Parity>,
    /// Fills in what is not asked for, if the line is not open yet. The parity is the device's.
    pub default: Setting,
    /// Voltage of the pod's logic bank, selected if none is: 1800 or 3300.
    pub bank_mv: u32,
    /// Position after the last byte that the client has; none for the scrollback.
    pub after: Option<u64>,
}

/// Why a line is not opened.
#[derive(Debug, Clone, thiserror::Error)]
pub enum UartError {
    #[error("the device is offline")]
    Offline,
    #[error("the device is held by another lease")]
    Held(Busy),
    #[error("{0}")]
    InUse(String),
    #[error("the line is open with {0}; ask for the same, or leave it out")]
    Conflict(Setting),
    #[error("{CLIENTS_MAX} clients have the line open already")]
    Full,
    #[error("the pod refused: {0}")]
    Refused(String),
    #[error("the pod failed: {0}")]
    Pod(String),
}

/// All open lines.
#[derive(Debug)]
pub struct Uarts {
    lines: Mutex<HashMap<String, Entry>>,
    clock: Clock,
}

/// The state of a device's line.
#[derive(Debug, Default)]
struct Entry {
    line: Option<Arc<Line>>,
    /// Position after the last byte of earlier lines.
    end: u64,
    /// The pod's firmware is being updated: a pod that is away will come back.
    updating: watch::Sender<bool>,
}

/// The result of joining a line.
enum Joined {
    Seat(Seat),
    /// A line that is ending must be gone first.
    Wait(Arc<Line>, Result<Visit, Busy>),
}

impl Uarts {
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self {
            lines: Mutex::default(),
            clock,
        }
    }

    /// Join the line of a device, or open it. `admitted` says whether the caller may drive the
    /// device; otherwise it can only listen to a line that others have open.
    ///
    /// # Errors
    /// See [`UartError`].
    pub async fn open(
        self: &Arc<Self>,
        device: &str,
        pod: &Pod,
        admitted: Result<Visit, Busy>,
        wish: &Wish,
    ) -> Result<Client, UartError> {
        let mut admitted = admitted;
        let deadline = tokio::time::Instant::now() + HANDOVER_WAIT;
        loop {
            match self.join(device, pod, admitted, wish)? {
                Joined::Seat(seat) => {
                    seat.opened().await?;
                    return Ok(Client::new(device, seat, wish.after));
                }
                Joined::Wait(line, again) => {
                    admitted = again;
                    let gone = tokio::time::timeout_at(deadline, line.gone()).await;
                    gone.map_err(|_| UartError::InUse("a UART session is ending".to_owned()))?;
                }
            }
        }
    }

    fn join(
        self: &Arc<Self>,
        device: &str,
        pod: &Pod,
        admitted: Result<Visit, Busy>,
        wish: &Wish,
    ) -> Result<Joined, UartError> {
        let mut lines = self.lines();
        let entry = lines.entry(device.to_owned()).or_default();
        if let Some(line) = &entry.line {
            let drives = admitted.as_ref().is_ok_and(|v| v.fence() == line.fence());
            if line.is_ending() || (admitted.is_ok() && !drives) {
                admitted
                    .as_ref()
                    .map_err(|busy| UartError::Held(busy.clone()))?;
                return Ok(Joined::Wait(line.clone(), admitted));
            }
            let setting = line.setting();
            if !setting.suits(wish) {
                return Err(UartError::Conflict(setting));
            }
            if line.clients() >= CLIENTS_MAX {
                return Err(UartError::Full);
            }
            return Ok(Joined::Seat(Seat::take(line.clone(), drives)));
        }
        let visit = admitted.map_err(UartError::Held)?;
        let begins = self.clock.now_ms().saturating_mul(POSITIONS_PER_MS);
        let parity = pod
            .status()
            .and_then(|facts| facts.capabilities.uart_parity);
        let setting = wish.setting(parity)?;
        let (line, requests) = Line::new(visit.fence(), setting, entry.end.max(begins));
        let line = Arc::new(line);
        entry.line = Some(line.clone());
        let seat = Seat::take(line.clone(), true);
        let updating = entry.updating.subscribe();
        let keeper = Keeper::new(pod.clone(), line, requests, wish.bank_mv, updating);
        tokio::spawn(keeper.run(self.clone(), device.to_owned(), visit));
        Ok(Joined::Seat(seat))
    }

    /// End a line that has no client; false if one has joined meanwhile.
    fn end_unused(&self, line: &Line) -> bool {
        // Nobody can join while the map is held.
        let _lines = self.lines();
        let unused = line.clients() == 0;
        if unused {
            line.end(End::Unused);
        }
        unused
    }

    /// A line is over and has released the pod.
    fn retire(&self, device: &str, line: &Line) {
        if let Some(entry) = self.lines().get_mut(device) {
            entry.end = line.bytes.end();
            entry.line = None;
        }
        line.retire();
    }

    /// Tell the clients of a device's line what is being done to the device, until the returned
    /// value is dropped.
    #[must_use]
    pub(crate) fn during(self: &Arc<Self>, device: &str, work: Work, id: &str) -> During {
        During::new(self.clone(), device, work, id)
    }

    /// End a line that nobody has open any more, and wait until it has released the pod.
    pub async fn give_way(&self, device: &str) {
        let line = self.lines().get(device).and_then(|e| e.line.clone());
        if let Some(line) = line.filter(|line| line.clients() == 0) {
            line.hurry();
            // If it takes longer, the next request to the pod reports it.
            let _ = tokio::time::timeout(HANDOVER_WAIT, line.gone()).await;
        }
    }

    fn lines(&self) -> MutexGuard<'_, HashMap<String, Entry>> {
        // Each change is one assignment, so a panic elsewhere leaves the map whole.
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Setting {
    /// Whether this matches everything that was asked for.
    fn suits(&self, wish: &Wish) -> bool {
        wish.rx.is_none_or(|rx| rx == self.rx)
            && wish.tx.is_none_or(|tx| tx == self.tx)
            && wish.baud.is_none_or(|baud| baud == self.baud)
            && wish
                .parity
                .is_none_or(|parity| parity == self.parity.unwrap_or(Parity::None))
    }
}

impl Wish {
    /// The setting of a line that is opened for this, on a device with this parity if nothing else is asked for.
    fn setting(&self, own: Option<Parity>) -> Result<Setting, UartError> {
        let has_bit = matches!(self.parity, Some(Parity::Even | Parity::Odd));
        if own.is_none() && has_bit {
            return Err(UartError::Refused(NO_PARITY.to_owned()));
        }
        Ok(Setting {
            rx: self.rx.unwrap_or(self.default.rx),
            tx: self.tx.unwrap_or(self.default.tx),
            baud: self.baud.unwrap_or(self.default.baud),
            parity: own.map(|own| self.parity.unwrap_or(own)),
        })
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            rx,
            tx,
            baud,
            parity,
        } = self;
        write!(f, "rx {rx}, tx {tx}, {baud} baud")?;
        match parity {
            Some(parity) => write!(f, ", parity {}", parity.name()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULT: Setting = Setting {
        rx: 5,
        tx: 4,
        baud: 115_200,
        parity: None,
    };

    fn wish(parity: Option<Parity>) -> Wish {
        Wish {
            rx: None,
            tx: None,
            baud: None,
            parity,
            default: DEFAULT,
            bank_mv: 3300,
            after: None,
        }
    }

    #[test]
    fn a_line_begins_with_the_parity_that_is_asked_for_or_the_device_s_own() {
        let (none, even, odd) = (Parity::None, Parity::Even, Parity::Odd);
        for (asked, own, is) in [
            (None, None, None),
            (None, Some(even), Some(even)),
            (Some(odd), Some(even), Some(odd)),
            (Some(none), Some(even), Some(none)),
            (Some(none), None, None),
        ] {
            let setting = wish(asked).setting(own).unwrap();
            assert_eq!(setting.parity, is, "{asked:?} {own:?}");
            assert!(setting.suits(&wish(asked)));
        }
        let refused = wish(Some(even)).setting(None).unwrap_err();
        assert!(matches!(refused, UartError::Refused(_)), "{refused}");
    }

    #[test]
    fn a_line_with_another_parity_is_a_conflict_that_names_it() {
        let parity = Some(Parity::Odd);
        let line = Setting { parity, ..DEFAULT };
        assert!(line.suits(&wish(None)) && line.suits(&wish(parity)));
        assert!(!line.suits(&wish(Some(Parity::Even))));
        assert_eq!(line.to_string(), "rx 5, tx 4, 115200 baud, parity odd");
        // A pod has no such bit, which is what `none` asks for.
        assert!(DEFAULT.suits(&wish(Some(Parity::None))));
        assert!(!DEFAULT.suits(&wish(parity)));
        assert_eq!(DEFAULT.to_string(), "rx 5, tx 4, 115200 baud");
    }
}
