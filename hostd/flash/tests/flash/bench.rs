//! A simulated chip and probe that a job and its test share, with faults to switch on.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use flash::{DapLink, Image, LinkError, Stop};
use target_sim::chip::{FlashTimes, Part, PinChange, SentWord};
use target_sim::dap::Probe;
use target_sim::firmware::DEMO_ELF;
use target_sim::target::{Board, Inputs, Target};

pub(crate) const FAST: FlashTimes = FlashTimes {
    program_ns: 100,
    erase_ns: 1000,
};

pub(crate) fn demo() -> Image {
    Image::parse(DEMO_ELF, "demo.elf", None).unwrap()
}

/// Bytes that are not erased flash.
pub(crate) fn noise(count: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let bytes = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    });
    bytes.take(count).collect()
}

#[derive(Default)]
pub(crate) struct Console(Vec<u8>);

impl Board for Console {
    fn pin_changed(&mut self, _: PinChange, _: &mut Inputs) {}

    fn word_sent(&mut self, word: SentWord) {
        self.0.push(word.value.to_le_bytes()[0]);
    }
}

/// What happens instead of, or before, the packet with a number.
pub(crate) enum Fault {
    LinkBreaks,
    /// The link itself says so.
    LinkCancels,
    Cancel(Stop),
    PowerFails,
    /// The answer takes until then.
    SlowUntil(Instant),
    /// Every answer from here on is this.
    Answers(Vec<u8>),
    /// The cell is changed whenever a packet comes.
    Cell(usize, u8),
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Traffic {
    pub(crate) packets: usize,
    /// How often the job had to wait for an answer.
    pub(crate) waits: usize,
    pub(crate) most_in_flight: usize,
    pub(crate) longest_bytes: usize,
}

pub(crate) struct World {
    target: Target,
    probe: Probe,
    /// Its answers are filled up with zeros, as those in reports of fixed length are.
    pads: bool,
    console: Console,
    traffic: Traffic,
    fault: Option<(usize, Fault)>,
    pressed_reset: bool,
}

#[derive(Clone)]
pub(crate) struct Bench(Arc<Mutex<World>>);

pub(crate) struct BenchLink(Bench);

impl Bench {
    pub(crate) fn unpowered(part: Part) -> Self {
        let mut target = Target::new(part);
        target.chip().set_flash_times(FAST);
        Self(Arc::new(Mutex::new(World {
            target,
            probe: Probe::new(512, 1),
            pads: false,
            console: Console::default(),
            traffic: Traffic::default(),
            fault: None,
            pressed_reset: false,
        })))
    }

    pub(crate) fn powered(part: Part) -> Self {
        let bench = Self::unpowered(part);
        bench.with(|target, console| target.set_power(true, console));
        bench
    }

    pub(crate) fn with_probe(part: Part, packet_bytes: usize, packet_count: u8) -> Self {
        let bench = Self::powered(part);
        bench.lock().probe = Probe::new(packet_bytes, packet_count);
        bench
    }

    /// A probe of the first version of CMSIS-DAP.
    pub(crate) fn with_reports(part: Part, packet_bytes: usize) -> Self {
        let bench = Self::with_probe(part, packet_bytes, 1);
        bench.lock().pads = true;
        bench
    }

    pub(crate) fn failing(part: Part, from_packet: usize, fault: Fault) -> Self {
        let bench = Self::powered(part);
        bench.lock().fault = Some((from_packet, fault));
        bench
    }

    /// From here on everything works.
    pub(crate) fn repair(&self) {
        self.lock().fault = None;
    }

    fn lock(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn link(&self) -> BenchLink {
        BenchLink(self.clone())
    }

    pub(crate) fn with<T>(&self, act: impl FnOnce(&mut Target, &mut Console) -> T) -> T {
        let world = &mut *self.lock();
        act(&mut world.target, &mut world.console)
    }

    pub(crate) fn traffic(&self) -> Traffic {
        self.lock().traffic
    }

    pub(crate) fn pressed_reset(&self) -> bool {
        self.lock().pressed_reset
    }

    /// What firmware has printed in all, some milliseconds from now.
    pub(crate) fn text_after_ms(&self, duration_ms: u64) -> String {
        self.with(|target, console| {
            let until_ns = target.now_ns() + duration_ms * 1_000_000;
            target.run_until(until_ns, console);
            String::from_utf8_lossy(&console.0).into_owned()
        })
    }
}

impl World {
    fn packet(&mut self, packet: &[u8]) -> Result<Vec<u8>, LinkError> {
        let number = self.traffic.packets;
        self.traffic.packets += 1;
        self.pressed_reset |= matches!(packet, [0x10, 0, 0x80, ..]);
        match &self.fault {
            Some((from, fault)) if *from <= number => match fault {
                Fault::LinkBreaks => {
                    assert_eq!(*from, number, "nothing is sent over a broken link");
                    return Err(LinkError::lost("the cable was pulled"));
                }
                Fault::LinkCancels => return Err(LinkError::Cancelled),
                Fault::Cancel(stop) => {
                    assert_eq!(*from, number, "nothing is sent after a cancel");
                    stop.cancel();
                }
                Fault::PowerFails => self.target.set_power(false, &mut self.console),
                Fault::SlowUntil(instant) => while Instant::now() < *instant {},
                Fault::Answers(answer) => return Ok(answer.clone()),
                Fault::Cell(place, value) => self.target.chip().flash_mut()[*place] = *value,
            },
            _ => {}
        }
        let mut answer = Vec::new();
        let (target, console) = (&mut self.target, &mut self.console);
        self.probe.process(target, console, packet, &mut answer);
        let longest = packet.len().max(answer.len());
        self.traffic.longest_bytes = self.traffic.longest_bytes.max(longest);
        assert!(longest <= self.probe.packet_bytes());
        if self.pads {
            answer.resize(self.probe.packet_bytes(), 0);
        }
        Ok(answer)
    }
}

impl DapLink for BenchLink {
    fn exchange(&mut self, packet: &[u8]) -> Result<Vec<u8>, LinkError> {
        self.exchange_all(&[packet.to_vec()])
            .map(|mut answers| answers.remove(0))
    }

    fn exchange_all(&mut self, packets: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, LinkError> {
        let mut world = self.0.lock();
        world.traffic.waits += 1;
        world.traffic.most_in_flight = world.traffic.most_in_flight.max(packets.len());
        packets.iter().map(|packet| world.packet(packet)).collect()
    }
}

impl Drop for BenchLink {
    fn drop(&mut self) {
        let world = &mut *self.0.lock();
        world.probe.release(&mut world.target, &mut world.console);
    }
}
