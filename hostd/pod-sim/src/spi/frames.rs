//! Frames of the SPI master on its channels. A frame is stored as its bytes and its start; each
//! clock edge is computed from them when a capture needs it.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::levels::Levels;
use crate::pins::bit;
use crate::wave::Wave;

/// Frames that are kept for running captures; beyond this, the oldest are forgotten.
const FRAMES_MAX: usize = 1 << 14;

/// Consecutive bytes from select to release, or for as long as the chip stays selected.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub(super) start_ns: u64,
    /// Clock, output, input, select.
    pub(super) pins: [u8; 4],
    pub(super) hz: u32,
    /// The clock idles high (mode 3).
    pub(super) idle_high: bool,
    pub(super) sent: Arc<[u8]>,
    /// The chip's answer; without a chip, the input has whatever level is on the line.
    pub(super) answered: Option<Arc<[u8]>>,
    pub(super) releases: bool,
    /// Number of bytes after which the clock pauses.
    pub(super) burst: u64,
    pub(super) pause_ns: u64,
    /// When the session ended, in the middle of the frame or after it.
    pub(super) until_ns: Option<u64>,
}

/// The levels of a frame at one of its steps.
struct Step {
    sck: bool,
    /// The bit on the line, if there has been one.
    bit: Option<u64>,
    selected: bool,
}

impl Frame {
    fn bytes(&self) -> u64 {
        self.sent.len() as u64
    }

    fn bursts(&self) -> u64 {
        self.bytes().div_ceil(self.burst)
    }

    /// Number of steps: select, two half periods per bit and an idle one at the end of each burst,
    /// release.
    fn steps(&self) -> u64 {
        1 + 16 * self.bytes() + self.bursts() + u64::from(self.releases)
    }

    fn is_release(&self, step: u64) -> bool {
        self.releases && step + 1 == self.steps()
    }

    /// Burst and half period of a step between select and release.
    fn place(&self, step: u64) -> (u64, u64) {
        let per_burst = 16 * self.burst + 1;
        ((step - 1) / per_burst, (step - 1) % per_burst)
    }

    fn halves_ns(&self, halves: u64) -> u64 {
        halves * 500_000_000 / u64::from(self.hz)
    }

    /// When a step begins.
    fn time(&self, step: u64) -> u64 {
        if step == 0 {
            return self.start_ns;
        }
        let (halves, bursts) = if self.is_release(step) {
            (2 + 16 * self.bytes(), self.bursts().saturating_sub(1))
        } else {
            let (burst, half) = self.place(step);
            (1 + 16 * self.burst * burst + half, burst)
        };
        self.start_ns + self.halves_ns(halves) + bursts * self.pause_ns
    }

    /// When the next frame may begin.
    pub(super) fn end_ns(&self) -> u64 {
        self.time(self.steps() - 1) + self.halves_ns(1)
    }

    fn at(&self, step: u64) -> Step {
        let last_bit = (8 * self.bytes()).checked_sub(1);
        if step == 0 || self.is_release(step) {
            return Step {
                sck: self.idle_high,
                bit: last_bit.filter(|_| step > 0),
                selected: step == 0,
            };
        }
        let (burst, half) = self.place(step);
        let bytes = self.burst.min(self.bytes() - burst * self.burst);
        let idle = half == 16 * bytes;
        let first = burst * self.burst * 8;
        Step {
            sck: if idle { self.idle_high } else { half % 2 == 1 },
            bit: Some(first + (half / 2).min(8 * bytes - 1)),
            selected: true,
        }
    }

    /// The channels that are driven at a step, and those of them that are high.
    fn drive(&self, step: u64) -> (u16, u16) {
        let [sck, mosi, miso, cs] = self.pins.map(bit);
        let at = self.at(step);
        let is_high = |bytes: &[u8]| at.bit.is_some_and(|index| level(bytes, index));
        let mut driven = sck | mosi | cs;
        let mut high = 0;
        for (line, is_high) in [
            (sck, at.sck),
            (mosi, is_high(&self.sent)),
            (cs, !at.selected),
        ] {
            high |= if is_high { line } else { 0 };
        }
        if let Some(answered) = self.answered.as_ref().filter(|_| at.selected) {
            driven |= miso;
            high |= if is_high(answered) { miso } else { 0 };
        }
        (driven, high)
    }

    /// What the master reads from a line that no chip drives: sampled at each rising clock edge.
    pub(super) fn sample(&self, levels: impl FnOnce(u64, u64, u16) -> Levels) -> Vec<u8> {
        let miso = bit(self.pins[2]);
        let mut levels = levels(self.start_ns, self.end_ns(), miso);
        let bytes = (0..self.bytes()).map(|index| {
            (0..8).fold(0, |byte, position| {
                // Select, then two steps per bit, the second of which raises the clock.
                let halves = 2 * (8 * index + position) + 1;
                let bursts = index / self.burst;
                levels.advance_to(self.time(1 + halves + bursts));
                byte << 1 | u8::from(levels.word() & miso != 0)
            })
        });
        bytes.collect()
    }
}

/// A bit of the bytes, from the highest bit of the first byte on.
fn level(bytes: &[u8], index: u64) -> bool {
    let byte = usize::try_from(index / 8).ok().and_then(|at| bytes.get(at));
    byte.is_some_and(|byte| byte >> (7 - index % 8) & 1 == 1)
}

/// The frames that a capture may still show, and always the last one: its levels stay on the
/// channels.
#[derive(Debug, Default)]
pub(super) struct Frames(VecDeque<Arc<Frame>>);

impl Frames {
    pub(super) fn push(&mut self, frame: Arc<Frame>) {
        self.0.push_back(frame);
        if self.0.len() > FRAMES_MAX {
            self.0.pop_front();
        }
    }

    /// The session ends: nothing is driven any more.
    pub(super) fn end(&mut self, now_ns: u64) {
        for frame in self.0.iter_mut().rev() {
            if frame.until_ns.is_some() {
                break;
            }
            Arc::make_mut(frame).until_ns = Some(now_ns);
        }
        self.0.retain(|frame| frame.start_ns <= now_ns);
    }

    pub(super) fn prune(&mut self, before_ns: u64) {
        while self.0.get(1).is_some_and(|next| next.start_ns <= before_ns) {
            self.0.pop_front();
        }
        let ended = |frame: &Arc<Frame>| frame.until_ns.is_some_and(|until| until <= before_ns);
        self.0.retain(|frame| !ended(frame));
    }

    /// What is driven from `from_ns` to `to_ns`, if any of it is on these channels.
    pub(super) fn wave(&self, from_ns: u64, to_ns: u64, channels: u16) -> Option<Box<dyn Wave>> {
        let after = self.0.partition_point(|frame| frame.start_ns <= from_ns);
        let end = self.0.partition_point(|frame| frame.start_ns <= to_ns);
        let frames: Vec<_> = self
            .0
            .range(after.saturating_sub(1)..end)
            .cloned()
            .collect();
        let mut pins = frames.iter().flat_map(|frame| frame.pins);
        let heard = pins.any(|la| bit(la) & channels != 0);
        heard.then(|| Box::new(Cursor::new(frames, from_ns)) as Box<dyn Wave>)
    }
}

/// A position in consecutive frames.
struct Cursor {
    frames: Vec<Arc<Frame>>,
    /// The frame that began last.
    index: Option<usize>,
    step: u64,
    /// Whether its session has ended.
    ended: bool,
    next_ns: Option<u64>,
}

impl Cursor {
    fn new(frames: Vec<Arc<Frame>>, at_ns: u64) -> Self {
        let mut cursor = Self {
            index: None,
            step: 0,
            ended: false,
            next_ns: None,
            frames,
        };
        if let Some(first) = cursor
            .frames
            .first()
            .filter(|first| first.start_ns <= at_ns)
        {
            let (mut low, mut high) = (0, first.steps() - 1);
            while low < high {
                let middle = (low + high).div_ceil(2);
                if first.time(middle) <= at_ns {
                    low = middle;
                } else {
                    high = middle - 1;
                }
            }
            cursor.ended = first.until_ns.is_some_and(|until| until <= at_ns);
            (cursor.index, cursor.step) = (Some(0), low);
        }
        cursor.next_ns = cursor.time_of_next();
        cursor
    }

    fn frame(&self) -> Option<&Arc<Frame>> {
        self.index.map(|index| &self.frames[index])
    }

    fn next_step_ns(&self) -> Option<u64> {
        let frame = self.frame().filter(|_| !self.ended)?;
        (self.step + 1 < frame.steps()).then(|| frame.time(self.step + 1))
    }

    fn end_ns(&self) -> Option<u64> {
        self.frame().filter(|_| !self.ended)?.until_ns
    }

    fn time_of_next(&self) -> Option<u64> {
        let following = self.frames.get(self.index.map_or(0, |index| index + 1));
        let following = following.map(|frame| frame.start_ns);
        let times = [self.next_step_ns(), self.end_ns(), following];
        times.into_iter().flatten().min()
    }
}

impl Wave for Cursor {
    fn drive(&self) -> (u16, u16) {
        let frame = self.frame().filter(|_| !self.ended);
        frame.map_or((0, 0), |frame| frame.drive(self.step))
    }

    fn next_ns(&self) -> Option<u64> {
        self.next_ns
    }

    fn advance(&mut self) {
        if self.next_ns == self.end_ns() {
            self.ended = true;
        } else if self.next_ns == self.next_step_ns() {
            self.step += 1;
        } else {
            self.index = Some(self.index.map_or(0, |index| index + 1));
            self.step = 0;
            self.ended = false;
        }
        self.next_ns = self.time_of_next();
    }
}
