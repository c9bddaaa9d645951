//! An open probe: its driver on a thread of its own, packets to it and answers back.
//!
//! A driver bounds its own waits, but nothing bounds the driver. So whoever uses a probe bounds each wait for it, and
//! gives it up by dropping it: the thread ends with the call that it is in. Until then the device is not opened again, and
//! only so many threads may be left behind.

use std::fmt;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use probe_rs::probe::DebugProbeSelector;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::front::{Front, PACKETS};
use crate::port::Port;
use crate::swd::Swd;
use crate::{jlink, stlink};

/// Time for a driver to open its probe.
const OPEN_MAX: Duration = Duration::from_secs(10);

/// Drivers at once, with those that were given up and have not ended.
const DRIVERS_MAX: usize = 32;

/// Whose protocol a probe speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Driver {
    /// SEGGER's.
    JLink,
    /// ST's.
    StLink,
}

impl Driver {
    const fn name(self) -> &'static str {
        match self {
            Self::JLink => "J-Link",
            Self::StLink => "ST-Link",
        }
    }
}

/// Which device it is, as USB has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Where {
    /// Its vendor number.
    pub vendor: u16,
    /// Its product number.
    pub product: u16,
    /// Its serial number; without one it is any with these numbers.
    pub serial: Option<String>,
}

/// The devices that drivers have in their hands.
static HELD: Mutex<Vec<Where>> = Mutex::new(Vec::new());

fn held() -> MutexGuard<'static, Vec<Where>> {
    // Each change is one call, so a panic elsewhere leaves it valid.
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A driver's hold on a device, until its thread ends.
#[derive(Debug)]
struct Hold(Where);

impl Hold {
    fn take(place: &Where) -> io::Result<Self> {
        let mut held = held();
        check(&held, place)?;
        held.push(place.clone());
        Ok(Self(place.clone()))
    }
}

/// Whether one more driver may be started, for this device.
fn check(held: &[Where], place: &Where) -> io::Result<()> {
    let told = if held.contains(place) {
        "its driver has not let go of it yet: it is tried again".to_owned()
    } else if held.len() >= DRIVERS_MAX {
        format!("{DRIVERS_MAX} drivers of probes do not end: unplug those probes, or restart hostd")
    } else {
        return Ok(());
    };
    Err(io::Error::new(io::ErrorKind::ResourceBusy, told))
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut held = held();
        if let Some(at) = held.iter().position(|place| *place == self.0) {
            held.swap_remove(at);
        }
    }
}

/// A probe that is open. Dropped, it is let go of as soon as its driver returns.
pub struct Probe {
    packets: mpsc::Sender<Vec<u8>>,
    answers: mpsc::Receiver<Result<Vec<u8>, String>>,
    driver: Driver,
}

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Probe").field(&self.driver).finish()
    }
}

impl Probe {
    /// Whether one may be opened.
    ///
    /// # Errors
    /// A driver that was given up still has it, or too many have others.
    pub fn check(place: &Where) -> io::Result<()> {
        check(&held(), place)
    }

    /// Opens a probe.
    ///
    /// # Errors
    /// Why it cannot be used, or that its driver does not answer.
    pub async fn open(driver: Driver, place: Where) -> io::Result<Self> {
        let selector = DebugProbeSelector {
            vendor_id: place.vendor,
            product_id: place.product,
            interface: None,
            serial_number: place.serial.clone(),
        };
        match driver {
            Driver::JLink => {
                let open = move || jlink::Link::open(&selector).map(Swd::new);
                Self::start(driver, place, open).await
            }
            Driver::StLink => {
                let open = move || stlink::Link::open(&selector);
                Self::start(driver, place, open).await
            }
        }
    }

    /// Gives a thread to what is opened there.
    pub(crate) async fn start<P: Port>(
        driver: Driver,
        place: Where,
        open: impl FnOnce() -> Result<P, String> + Send + 'static,
    ) -> io::Result<Self> {
        let hold = Hold::take(&place)?;
        let (packets, from) = mpsc::channel(usize::from(PACKETS));
        let (to, answers) = mpsc::channel(usize::from(PACKETS));
        let (opens, opened) = oneshot::channel();
        let serving = move || {
            let _hold = hold;
            let port = match open() {
                Ok(port) => port,
                Err(reason) => return drop(opens.send(Err(reason))),
            };
            // Whoever opened it may have given up.
            if opens.send(Ok(())).is_ok() {
                serve(Front::new(port, driver.name()), from, &to);
            }
        };
        thread::Builder::new()
            .name("vendor-probe".to_owned())
            .spawn(serving)?;
        let opened = timeout(OPEN_MAX, opened).await;
        let opened = opened.map_err(|_| {
            let told = format!(
                "its driver has not opened it within {} s",
                OPEN_MAX.as_secs()
            );
            io::Error::new(io::ErrorKind::TimedOut, told)
        })?;
        let opened = opened.unwrap_or_else(|_| Err("its driver has failed".to_owned()));
        opened.map_err(io::Error::other)?;
        Ok(Self {
            packets,
            answers,
            driver,
        })
    }

    /// Sends a packet. Waits while as many as the probe takes are under way; the caller bounds that.
    ///
    /// # Errors
    /// The probe is gone.
    pub async fn send(&mut self, packet: Vec<u8>) -> io::Result<()> {
        match self.packets.send(packet).await {
            Ok(()) => Ok(()),
            // The last answer says why.
            Err(_) => loop {
                self.receive().await?;
            },
        }
    }

    /// The answer to the oldest packet that has none; the caller bounds the wait. Cancelling loses nothing.
    ///
    /// # Errors
    /// The probe is gone, and why.
    pub async fn receive(&mut self) -> io::Result<Vec<u8>> {
        let answer = self.answers.recv().await;
        let answer = answer.unwrap_or_else(|| Err("its driver has failed".to_owned()));
        answer.map_err(io::Error::other)
    }
}

/// Answers packets until nobody sends any more, or the probe is gone.
fn serve<P: Port>(
    mut front: Front<P>,
    mut packets: mpsc::Receiver<Vec<u8>>,
    answers: &mpsc::Sender<Result<Vec<u8>, String>>,
) {
    while let Some(packet) = packets.blocking_recv() {
        let answer = front.answer(&packet);
        let is_gone = answer.is_err();
        if answers.blocking_send(answer).is_err() || is_gone {
            return;
        }
    }
}

/// An error with its causes.
pub(crate) fn told(error: &dyn std::error::Error) -> String {
    let mut told = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        // Some repeat what they are caused by.
        if !told.contains(&text) {
            told = format!("{}: {text}", told.trim_end_matches('.'));
        }
        cause = error.source();
    }
    told
}
