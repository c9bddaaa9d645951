//! The decoders again, one sample at a time and without optimisations: the reference for the fast
//! ones. Written from the protocols, not from the crate.

use decode::{Annotation, Value};

fn annotation(start: u64, end: u64, class: u8, value: Value) -> Annotation {
    Annotation {
        start,
        end,
        class,
        value,
    }
}

/// A line's level in the last sample.
struct Level {
    last: bool,
}

impl Level {
    fn new(first: bool) -> Self {
        Self { last: first }
    }

    /// Whether the line rose and whether it fell.
    fn step(&mut self, now: bool) -> (bool, bool) {
        let moved = (now && !self.last, !now && self.last);
        self.last = now;
        moved
    }
}

/// I²C with SCL on bit 0 and SDA on bit 1; all classes, shifted addresses.
pub(crate) fn i2c(samples: &[u8]) -> Vec<Annotation> {
    let bit = |sample: u8, line: u8| sample >> line & 1 != 0;
    let mut out = Vec::new();
    let Some(&first) = samples.first() else {
        return out;
    };
    let (mut scl, mut sda) = (Level::new(bit(first, 0)), Level::new(bit(first, 1)));
    // `None` while no exchange is in progress; otherwise whether the next byte is an address.
    let mut expects_address = None;
    let mut bits: Vec<(u64, bool)> = Vec::new();
    let mut width = 0;
    let mut reading = false;
    for (at, &sample) in (0u64..).zip(samples) {
        let (scl_rose, _) = scl.step(bit(sample, 0));
        let (sda_rose, sda_fell) = sda.step(bit(sample, 1));
        let is_bit = scl_rose && expects_address.is_some();
        if !is_bit && scl.last && sda_fell && (!scl_rose || expects_address.is_none()) {
            let class = u8::from(expects_address.is_some());
            out.push(annotation(at, at, class, Value::Mark));
            expects_address = Some(true);
            bits.clear();
        } else if scl.last && !scl_rose && sda_rose {
            if expects_address.take().is_some() {
                out.push(annotation(at, at, 2, Value::Mark));
            }
            bits.clear();
        } else if is_bit && bits.len() == 8 {
            out.push(annotation(
                at,
                at + width,
                3 + u8::from(sda.last),
                Value::Mark,
            ));
            bits.clear();
            expects_address = Some(false);
        } else if is_bit {
            bits.push((at, sda.last));
            if bits.len() == 8 {
                width = bits[7].0 - bits[6].0;
                let end = at + width;
                for index in (0..8).rev() {
                    let next = bits.get(index + 1).map_or(end, |next| next.0);
                    out.push(annotation(
                        bits[index].0,
                        next,
                        5,
                        Value::Bit(bits[index].1),
                    ));
                }
                let byte = bits
                    .iter()
                    .fold(0, |byte, (_, bit)| byte * 2 + u64::from(*bit));
                if expects_address == Some(true) {
                    reading = byte % 2 == 1;
                    let class = if reading { 6 } else { 7 };
                    out.push(annotation(at, end, class, Value::Direction));
                    out.push(annotation(bits[0].0, at, class, Value::Number(byte / 2)));
                } else {
                    let class = if reading { 8 } else { 9 };
                    out.push(annotation(bits[0].0, end, class, Value::Number(byte)));
                }
            }
        }
    }
    out
}

/// Options of the naive SPI decoder.
#[derive(Clone, Copy)]
pub(crate) struct SpiRules {
    pub(crate) has_cs: bool,
    pub(crate) sample_rising: bool,
    pub(crate) lsb_first: bool,
    pub(crate) word_bits: usize,
}

/// SPI with the clock on bit 0, CS on 1, MOSI on 2 and MISO on 3; all classes.
pub(crate) fn spi(samples: &[u8], rules: SpiRules) -> Vec<Annotation> {
    let bit = |sample: u8, line: u8| sample >> line & 1 != 0;
    let mut out = Vec::new();
    let Some(&first) = samples.first() else {
        return out;
    };
    let (mut clk, mut cs) = (Level::new(bit(first, 0)), Level::new(bit(first, 1)));
    let mut selected_at = (rules.has_cs && !bit(first, 1)).then_some(0);
    let mut words: Vec<[u64; 2]> = Vec::new();
    let mut bits: Vec<(u64, [bool; 2])> = Vec::new();
    for (at, &sample) in (0u64..).zip(samples) {
        let (rose, fell) = clk.step(bit(sample, 0));
        let (deselected, selected) = cs.step(bit(sample, 1));
        if rules.has_cs && selected {
            selected_at = Some(at);
            bits.clear();
        }
        if rules.has_cs && deselected {
            if let Some(start) = selected_at.take() {
                for (line, class) in [(0, 5), (1, 6)] {
                    let line: Box<[u64]> = words.iter().map(|word| word[line]).collect();
                    out.push(annotation(start, at, class, Value::Words(line)));
                }
            }
            words.clear();
            bits.clear();
        }
        let samples_now = if rules.sample_rising { rose } else { fell };
        if !samples_now || rules.has_cs && cs.last {
            continue;
        }
        bits.push((at, [bit(sample, 3), bit(sample, 2)]));
        if bits.len() < rules.word_bits {
            continue;
        }
        let end = if bits.len() > 1 {
            at + (at - bits[bits.len() - 2].0)
        } else {
            at
        };
        let mut word = [0; 2];
        for (line, class) in [(0, 2), (1, 3)] {
            for index in (0..bits.len()).rev() {
                let next = bits.get(index + 1).map_or(end, |next| next.0);
                out.push(annotation(
                    bits[index].0,
                    next,
                    class,
                    Value::Bit(bits[index].1[line]),
                ));
            }
            let value = |word: u64, bit: &(u64, [bool; 2])| word * 2 + u64::from(bit.1[line]);
            word[line] = if rules.lsb_first {
                bits.iter().rev().fold(0, value)
            } else {
                bits.iter().fold(0, value)
            };
        }
        for line in [0u8, 1] {
            let value = Value::Number(word[usize::from(line)]);
            out.push(annotation(bits[0].0, end, line, value));
        }
        if selected_at.is_some() {
            words.push(word);
        }
        bits.clear();
    }
    out
}

/// Options of the naive UART decoder.
#[derive(Clone, Copy)]
pub(crate) struct UartRules {
    /// Samples per bit.
    pub(crate) width: f64,
    pub(crate) data_bits: u32,
    /// Whether there is an even parity bit.
    pub(crate) even_parity: bool,
    /// Minimum length of a break, in bits.
    pub(crate) frame_bits: f64,
}

/// UART with RX on bit 0 and TX on bit 1; all classes but packets.
pub(crate) fn uart(samples: &[u8], rules: UartRules) -> Vec<Annotation> {
    let mut keyed = Vec::new();
    for line in [0, 1] {
        uart_line(samples, line, rules, &mut keyed);
    }
    keyed.sort_by_key(|((at, line, is_break), _)| (*at, *line, *is_break));
    keyed
        .into_iter()
        .map(|(_, annotation)| annotation)
        .collect()
}

type Keyed = ((u64, u8, bool), Annotation);

/// How long a line has been low.
struct Low {
    fell_at: Option<u64>,
}

impl Low {
    /// Returns how long the line was low, when it rises after a fall.
    fn step(&mut self, at: u64, rose: bool, fell: bool) -> Option<u64> {
        if fell {
            self.fell_at = Some(at);
        }
        if rose {
            self.fell_at.take().map(|fell_at| at - fell_at)
        } else {
            None
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "small positive numbers"
)]
fn uart_line(samples: &[u8], line: u8, rules: UartRules, out: &mut Vec<Keyed>) {
    let level = |sample: u8| sample >> line & 1 != 0;
    let Some(&first) = samples.first() else {
        return;
    };
    let before = (rules.width / 2.0).floor() as u64;
    let after = (rules.width / 2.0).ceil() as u64;
    let stop = rules.data_bits + u32::from(rules.even_parity) + 1;
    let mut edges = Level::new(level(first));
    let mut low = Low { fell_at: None };
    let mut frame_start = 0;
    // Start of the frame and the bits sampled so far.
    let mut frame: Option<(u64, Vec<bool>)> = None;
    for (at, &sample) in (0u64..).zip(samples) {
        let now = level(sample);
        let (rose, fell) = edges.step(now);
        if fell && frame.is_none() {
            frame = Some((at, Vec::new()));
            frame_start = at;
        }
        let lasted = low.step(at, rose, fell);
        let is_break = lasted.is_some_and(|low| low as f64 >= rules.frame_bits * rules.width);
        if is_break {
            out.push((
                (at, line, true),
                annotation(frame_start, at, 14 + line, Value::Mark),
            ));
        }
        // A break ends the frame, but the bit due at its very end is still sampled.
        let Some((start, mut bits)) = frame.take() else {
            continue;
        };
        let index = bits.len() as u32;
        let point = start as f64 + (rules.width - 1.0) / 2.0 + f64::from(index) * rules.width;
        if at != point.ceil() as u64 {
            frame = (!is_break).then_some((start, bits));
            continue;
        }
        let extent = (at - before, at + after);
        let mut put = |start: u64, class: u8, value: Value| {
            let annotation = annotation(start, extent.1, class + line, value);
            out.push(((at, line, false), annotation));
        };
        bits.push(now);
        if index == 0 && now {
            put(extent.0, 10, Value::Mark);
            continue;
        } else if index == 0 {
            put(extent.0, 2, Value::Mark);
        } else if index <= rules.data_bits {
            put(extent.0, 12, Value::Bit(now));
            if index == rules.data_bits {
                let data = bits[1..].iter().rev();
                let word = data.fold(0, |word, bit| word * 2 + u64::from(*bit));
                let first = start as f64 + (rules.width - 1.0) / 2.0 + rules.width;
                put(first.ceil() as u64 - before, 0, Value::Number(word));
            }
        } else if index < stop {
            let ones = bits[1..].iter().filter(|bit| **bit).count();
            put(extent.0, if ones % 2 == 0 { 4 } else { 6 }, Value::Mark);
        } else {
            if !now {
                put(extent.0, 10, Value::Mark);
            }
            put(extent.0, 8, Value::Mark);
            continue;
        }
        frame = (!is_break).then_some((start, bits));
    }
}
