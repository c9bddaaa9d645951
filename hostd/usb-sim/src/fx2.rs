//! A simulated logic analyzer with an FX2, the chip that forgets its firmware: it takes one into its memory, leaves the
//! bus and comes back as an analyzer, which samples a known pattern at the rate that it is asked for.
//!
//! It does not run what it is given; any bytes do. Like the real one it has no flow control: what nobody fetches in time
//! stops it, and so does whoever wants it to stop.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex as StdMutex, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

use super::bus::{Answer, Bus, Device, Setup};
use super::descriptors::{Descriptors, Endpoint, Interface, Speed};
use super::endpoint::Input;
use super::vhci::{AttachError, Attached};

/// Requests of the chip and of its firmware.
const REQUEST_MEMORY: u8 = 0xA0;
const REQUEST_VERSION: u8 = 0xB0;
const REQUEST_START: u8 = 0xB1;
const REQUEST_REVISION: u8 = 0xB2;

/// The register whose lowest bit holds the chip's processor.
const PROCESSOR: u16 = 0xE600;

/// Bytes of the chip's memory for programs.
const MEMORY_BYTES: usize = 16 * 1024;

/// How long the chip is off the bus before its firmware comes.
const AWAY: Duration = Duration::from_millis(300);

/// Bytes of a packet; the chip sends no others.
const PACKET_BYTES: u64 = 512;

/// Bytes that the chip holds. A simulated one at high rates holds more, since the clock of an emulated machine is coarse.
const FIFO_BYTES: u64 = 4 * PACKET_BYTES;

/// What a simulated one holds at most: no more than an endpoint does.
const FIFO_BYTES_MAX: u64 = 240 * 1024;

/// How often it sends what it has sampled.
const TICK: Duration = Duration::from_millis(1);

/// The levels of its channels at a sample: a counter that changes with every sixteenth.
#[must_use]
pub fn levels(sample: u64) -> u16 {
    u16::try_from(sample / 16 % (1 << 16)).unwrap_or_default()
}

/// What an analyzer is like.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Vendor and product numbers, without and with the firmware.
    pub ids: (u16, u16),
    /// What the firmware says is its version.
    pub version: (u8, u8),
    /// It comes back with its firmware.
    pub returns: bool,
    /// It stops by itself after about so many bytes, as if they had not been fetched. The first time only.
    pub stops_after: Option<u64>,
}

impl Default for Settings {
    /// A clone of the Saleae Logic.
    fn default() -> Self {
        Self {
            ids: (0x0925, 0x3881),
            version: (1, 4),
            returns: true,
            stops_after: None,
        }
    }
}

/// An analyzer that is plugged in. Dropping it unplugs it.
#[derive(Debug)]
pub struct Analyzer {
    /// Dropped to unplug it.
    plug: Option<Sender<Event>>,
    thread: Option<thread::JoinHandle<()>>,
    image: Arc<StdMutex<Vec<u8>>>,
}

/// What happens to it.
#[derive(Debug)]
enum Event {
    /// Its firmware was started.
    Started,
    /// It is pulled out.
    Unplugged,
}

impl Analyzer {
    /// Plugs one in that has no firmware.
    ///
    /// # Errors
    /// As [`Attached::new`].
    pub fn new(settings: Settings) -> Result<Self, AttachError> {
        let (plug, events) = channel();
        let image = Arc::default();
        let chip = Chip {
            settings,
            image: Arc::clone(&image),
            is_held: false,
            events: plug.clone(),
        };
        let attached = Attached::new(chip)?;
        let live = move || live(attached, settings, &events);
        let thread = thread::Builder::new().name("fx2".to_owned()).spawn(live)?;
        Ok(Self {
            plug: Some(plug),
            thread: Some(thread),
            image,
        })
    }

    /// The firmware that it was given.
    #[must_use]
    pub fn image(&self) -> Vec<u8> {
        let image = self.image.lock().unwrap_or_else(PoisonError::into_inner);
        image.clone()
    }
}

impl Drop for Analyzer {
    fn drop(&mut self) {
        if let Some(plug) = self.plug.take() {
            let _ = plug.send(Event::Unplugged);
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Its life from the first device that it is to the second.
fn live(blank: Attached, settings: Settings, events: &Receiver<Event>) {
    let Ok(Event::Started) = events.recv() else {
        return;
    };
    let port = blank.port();
    drop(blank);
    // Pulled out meanwhile, it does not come back.
    if events.recv_timeout(AWAY).is_ok() {
        return;
    }
    if !settings.returns {
        let _ = events.recv();
        return;
    }
    let running = Running {
        settings,
        input: None,
        waiting: Arc::default(),
    };
    let Ok(_running) = Attached::at(port, running) else {
        return;
    };
    let _ = events.recv();
}

fn descriptors(settings: &Settings, texts: (&str, &str), endpoints: Vec<Endpoint>) -> Descriptors {
    Descriptors {
        ids: settings.ids,
        version: 0x0001,
        class: (0xFF, 0xFF, 0xFF),
        manufacturer: texts.0.into(),
        product: texts.1.into(),
        serial: None,
        speed: Speed::High,
        interfaces: vec![Interface {
            class: (0xFF, 0xFF, 0xFF),
            endpoints,
            ..Interface::default()
        }],
    }
}

/// The chip without a firmware.
struct Chip {
    settings: Settings,
    image: Arc<StdMutex<Vec<u8>>>,
    is_held: bool,
    events: Sender<Event>,
}

impl Chip {
    fn write(&mut self, address: u16, bytes: &[u8]) -> Option<Vec<u8>> {
        if address == PROCESSOR {
            let was_held = self.is_held;
            self.is_held = bytes.first()? & 1 == 1;
            if was_held && !self.is_held {
                self.events.send(Event::Started).ok()?;
            }
            return Some(Vec::new());
        }
        let end = usize::from(address) + bytes.len();
        if !self.is_held || MEMORY_BYTES < end {
            return None;
        }
        let mut image = self.image.lock().unwrap_or_else(PoisonError::into_inner);
        let length = image.len().max(end);
        image.resize(length, 0);
        image[usize::from(address)..end].copy_from_slice(bytes);
        Some(Vec::new())
    }
}

impl Device for Chip {
    fn descriptors(&self) -> Descriptors {
        descriptors(&self.settings, ("", ""), Vec::new())
    }

    fn start(&mut self, _: &mut Bus) {}

    fn control<'a>(&'a mut self, setup: Setup, bytes: &'a [u8]) -> Answer<'a> {
        Box::pin(async move {
            match (setup.request_type, setup.request) {
                (0x40, REQUEST_MEMORY) => self.write(setup.value, bytes),
                _ => None,
            }
        })
    }
}

/// The analyzer that its firmware makes of it.
struct Running {
    settings: Settings,
    /// Held while it samples.
    input: Option<Arc<Mutex<Input>>>,
    /// Starts that wait until it has stopped.
    waiting: Arc<StdMutex<u32>>,
}

impl Device for Running {
    fn descriptors(&self) -> Descriptors {
        let endpoints = vec![Endpoint::Bulk(0x82)];
        descriptors(&self.settings, ("sigrok", "fx2lafw"), endpoints)
    }

    fn start(&mut self, bus: &mut Bus) {
        self.input = Some(Arc::new(Mutex::new(bus.full_input(0x82))));
    }

    fn control<'a>(&'a mut self, setup: Setup, bytes: &'a [u8]) -> Answer<'a> {
        Box::pin(async move {
            match (setup.request_type, setup.request) {
                (0xC0, REQUEST_VERSION) => {
                    let (major, minor) = self.settings.version;
                    Some(vec![major, minor])
                }
                (0xC0, REQUEST_REVISION) => Some(vec![1]),
                (0x40, REQUEST_START) => {
                    let sampling = Sampling::parse(bytes)?;
                    let input = Arc::clone(self.input.as_ref()?);
                    let stops_after = self.settings.stops_after.take();
                    let waiting = Arc::clone(&self.waiting);
                    *waiting.lock().unwrap_or_else(PoisonError::into_inner) += 1;
                    tokio::spawn(sample(sampling, input, waiting, stops_after));
                    Some(Vec::new())
                }
                _ => None,
            }
        })
    }
}

/// How it is asked to sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sampling {
    rate_hz: u64,
    is_wide: bool,
}

impl Sampling {
    /// Flags, then how many periods of the clock lie between samples.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let [flags, high, low] = *bytes else {
            return None;
        };
        // More states than that it does not have.
        if high >= 6 {
            return None;
        }
        let clock_hz: u64 = if flags & 1 << 6 == 0 {
            30_000_000
        } else {
            48_000_000
        };
        Some(Self {
            rate_hz: clock_hz / (u64::from(u16::from_be_bytes([high, low])) + 1),
            is_wide: flags & 1 << 5 != 0,
        })
    }

    fn bytes_per_s(self) -> u64 {
        self.rate_hz * if self.is_wide { 2 } else { 1 }
    }

    /// A packet, the first byte of which has the number `at` of all.
    fn packet(self, at: u64) -> Vec<u8> {
        let samples = match self.is_wide {
            true => at / 2..(at + PACKET_BYTES) / 2,
            false => at..at + PACKET_BYTES,
        };
        let unit = if self.is_wide { 2 } else { 1 };
        let bytes = samples.flat_map(|sample| levels(sample).to_le_bytes().into_iter().take(unit));
        bytes.collect()
    }
}

/// Samples until nobody fetches what it has.
async fn sample(
    sampling: Sampling,
    input: Arc<Mutex<Input>>,
    waiting: Arc<StdMutex<u32>>,
    stops_after: Option<u64>,
) {
    let mut input = input.lock().await;
    *waiting.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
    let bytes_per_s = sampling.bytes_per_s();
    let fifo = (bytes_per_s / 100).clamp(FIFO_BYTES, FIFO_BYTES_MAX);
    let (began, mut made) = (Instant::now(), 0);
    while !input.has_ended() {
        let due = u128::from(bytes_per_s) * began.elapsed().as_micros() / 1_000_000;
        let due = u64::try_from(due).unwrap_or(u64::MAX);
        while made + PACKET_BYTES <= due {
            let is_full = fifo < input.unsent() as u64 + PACKET_BYTES;
            if is_full || stops_after.is_some_and(|bytes| bytes <= made) {
                // The firmware empties the chip, unless it is busy with a start: then what is left comes before the
                // samples of that one.
                if *waiting.lock().unwrap_or_else(PoisonError::into_inner) == 0 {
                    input.clear();
                }
                return;
            }
            if input.send(&sampling.packet(made)).await.is_err() {
                return;
            }
            made += PACKET_BYTES;
        }
        tokio::time::sleep(TICK).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_to_start_have_a_rate_and_a_width() {
        let sampling = |bytes: &[u8]| {
            Sampling::parse(bytes).map(|sampling| (sampling.rate_hz, sampling.is_wide))
        };
        assert_eq!(sampling(&[0x40, 0, 1]), Some((24_000_000, false)));
        assert_eq!(sampling(&[0x60, 0, 3]), Some((12_000_000, true)));
        assert_eq!(sampling(&[0x00, 5, 0xDB]), Some((20_000, false)));
        assert_eq!(sampling(&[0x40, 6, 0]), None);
        assert_eq!(sampling(&[0x40, 0]), None);
    }

    #[test]
    fn packets_follow_each_other() {
        let narrow = Sampling {
            rate_hz: 1,
            is_wide: false,
        };
        let counted: Vec<u8> = (0..32).flat_map(|value| [value; 16]).collect();
        assert_eq!(narrow.packet(0), counted);
        assert_eq!(narrow.packet(512)[0], 32);
        let wide = Sampling {
            is_wide: true,
            ..narrow
        };
        assert_eq!(wide.packet(512)[..2], [16, 0]);
        assert_eq!(wide.packet(512 * 32)[..2], [0, 2]);
    }

    #[test]
    fn a_chip_is_written_only_while_it_is_held() {
        let (events, happened) = channel();
        let mut chip = Chip {
            settings: Settings::default(),
            image: Arc::default(),
            is_held: false,
            events,
        };
        assert_eq!(chip.write(0, &[1]), None);
        assert!(chip.write(PROCESSOR, &[1]).is_some());
        assert!(chip.write(2, &[7, 8]).is_some());
        assert_eq!(chip.write(0x3FFF, &[7, 8]), None);
        assert!(chip.write(PROCESSOR, &[0]).is_some());
        assert!(matches!(happened.try_recv(), Ok(Event::Started)));
        assert_eq!(*chip.image.lock().unwrap(), [0, 0, 7, 8]);
    }
}
