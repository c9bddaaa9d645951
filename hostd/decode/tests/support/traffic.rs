//! Generated signals: orderly traffic of each protocol, and noise. Seeded, so every run is the same.

/// Marsaglia's xorshift64*.
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 1
    }

    /// A number in `from..to`.
    pub(crate) fn range(&mut self, from: u64, to: u64) -> u64 {
        from + self.next() % (to - from)
    }

    pub(crate) fn byte(&mut self) -> u8 {
        self.range(0, 256).to_le_bytes()[0]
    }
}

/// One-byte samples, being drawn.
pub(crate) struct Drawing {
    pub(crate) samples: Vec<u8>,
    limit: usize,
    levels: u8,
}

impl Drawing {
    pub(crate) fn new(limit: usize, levels: u8) -> Self {
        Self {
            samples: Vec::with_capacity(limit),
            limit,
            levels,
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.samples.len() >= self.limit
    }

    /// Sets a line's level from the next sample on.
    pub(crate) fn set(&mut self, line: u8, high: bool) {
        self.levels = self.levels & !(1 << line) | u8::from(high) << line;
    }

    /// Holds all lines for some samples.
    pub(crate) fn hold(&mut self, samples: u64) {
        let room = self.limit.saturating_sub(self.samples.len());
        let samples = usize::try_from(samples).unwrap_or(room).min(room);
        self.samples
            .resize(self.samples.len() + samples, self.levels);
    }
}

/// How much of the time an I²C bus is busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Load {
    Dense,
    Mixed,
    Sparse,
}

const SCL: u8 = 0;
const SDA: u8 = 1;

fn i2c_bit(drawing: &mut Drawing, rng: &mut Rng, bit: bool) {
    let jitter = rng.range(0, 3);
    drawing.set(SCL, false);
    drawing.hold(8 + jitter);
    drawing.set(SDA, bit);
    drawing.hold(27 - jitter + rng.range(0, 2));
    drawing.set(SCL, true);
    drawing.hold(24 + rng.range(0, 2));
}

fn i2c_byte(drawing: &mut Drawing, rng: &mut Rng, byte: u8, nack: bool) {
    for index in (0..8).rev() {
        i2c_bit(drawing, rng, byte >> index & 1 != 0);
    }
    i2c_bit(drawing, rng, nack);
}

/// A STOP, or a START if `stop` is false, from a low clock or an idle bus.
fn i2c_condition(drawing: &mut Drawing, stop: bool) {
    drawing.set(SCL, false);
    drawing.hold(10);
    drawing.set(SDA, !stop);
    drawing.hold(25);
    drawing.set(SCL, true);
    drawing.hold(20);
    drawing.set(SDA, stop);
    drawing.hold(20);
}

/// An I²C bus at 400 kHz sampled at 24 MHz, SCL on bit 0 and SDA on bit 1: writes, reads with
/// repeated START, NACKs, clock stretching, jitter.
pub(crate) fn i2c(samples: usize, load: Load, seed: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    let mut drawing = Drawing::new(samples, 0b11);
    drawing.hold(rng.range(100, 400));
    while !drawing.is_full() {
        drawing.set(SDA, false);
        drawing.hold(20);
        let address = rng.range(8, 120).to_le_bytes()[0];
        let kind = rng.range(0, 100);
        if kind < 3 {
            i2c_byte(&mut drawing, &mut rng, address << 1, true);
        } else if kind < 45 {
            i2c_byte(&mut drawing, &mut rng, address << 1, false);
            for _ in 0..rng.range(1, 33) {
                let byte = rng.byte();
                i2c_byte(&mut drawing, &mut rng, byte, false);
                if rng.range(0, 50) == 0 {
                    drawing.set(SCL, false);
                    drawing.hold(rng.range(200, 2000));
                }
            }
        } else {
            i2c_byte(&mut drawing, &mut rng, address << 1, false);
            let register = rng.byte();
            i2c_byte(&mut drawing, &mut rng, register, false);
            i2c_condition(&mut drawing, false);
            i2c_byte(&mut drawing, &mut rng, address << 1 | 1, false);
            let count = rng.range(1, 65);
            for index in 1..=count {
                let byte = rng.byte();
                i2c_byte(&mut drawing, &mut rng, byte, index == count);
            }
        }
        i2c_condition(&mut drawing, true);
        let gap = match load {
            Load::Dense => rng.range(40, 120),
            Load::Sparse => rng.range(200_000, 2_000_000),
            Load::Mixed => match rng.range(0, 10) {
                0 => rng.range(100_000, 400_000),
                1..=3 => rng.range(2000, 20_000),
                _ => rng.range(40, 300),
            },
        };
        drawing.hold(gap);
    }
    drawing.samples
}

/// 8N1 bytes on bit 0, `width` samples per bit, with idle gaps shorter than `gap` samples.
pub(crate) fn uart(samples: usize, width: f64, gap: u64, seed: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    let mut drawing = Drawing::new(samples, 1);
    drawing.hold(100);
    while !drawing.is_full() {
        let byte = u16::from(rng.byte());
        let frame = byte << 1 | 1 << 9;
        let mut end = 0.0;
        let mut drawn = 0;
        for index in 0..10 {
            drawing.set(0, frame >> index & 1 != 0);
            end += width;
            let samples = whole(end) - drawn;
            drawing.hold(samples);
            drawn += samples;
        }
        if gap > 0 {
            drawing.hold(rng.range(0, gap));
        }
    }
    drawing.samples
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positive and small"
)]
fn whole(samples: f64) -> u64 {
    samples.round() as u64
}

/// SPI mode 0: clock on bit 0, CS on 1, MOSI on 2, MISO on 3, `half` samples per half-clock.
pub(crate) fn spi(samples: usize, half: u64, seed: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    let mut drawing = Drawing::new(samples, 0b0010);
    drawing.hold(rng.range(1, 100));
    while !drawing.is_full() {
        drawing.set(1, false);
        drawing.hold(half);
        // Now and then a transfer ends in the middle of a word.
        let bits = rng.range(1, 12) * 8 + u64::from(rng.range(0, 8) == 0) * rng.range(1, 8);
        for _ in 0..bits {
            drawing.set(2, rng.range(0, 2) == 0);
            drawing.set(3, rng.range(0, 2) == 0);
            drawing.hold(half);
            drawing.set(0, true);
            drawing.hold(half);
            drawing.set(0, false);
        }
        drawing.hold(half);
        drawing.set(1, true);
        drawing.hold(rng.range(1, 300));
    }
    drawing.samples
}

/// Random levels on all lines: in each sample, each line changes with a chance of one in `rarity`.
pub(crate) fn noise(samples: usize, rarity: u64, seed: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    let mut levels = rng.byte();
    let mut samples_left = Vec::with_capacity(samples);
    for _ in 0..samples {
        for line in 0..4 {
            if rng.range(0, rarity) == 0 {
                levels ^= 1 << line;
            }
        }
        samples_left.push(levels);
    }
    samples_left
}
