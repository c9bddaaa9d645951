//! What a decoder reports about a range of samples: one row of its output, before it becomes text.

/// One statement of a decoder about the samples `start..=end`. The numbers follow sigrok: `end` is
/// the first sample of whatever comes next, and both are equal for conditions that take no time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// First sample, counted from the start of the capture.
    pub start: u64,
    /// Last sample, counted from the start of the capture. May lie up to a bit width past the last
    /// sample of the capture, since a bit's length is known only from its neighbours.
    pub end: u64,
    /// Index into the `classes` of the decoder.
    pub class: u8,
    /// What was seen; the class determines how to read it.
    pub value: Value,
}

/// The content of an annotation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// No value: the class is enough (a START condition, a frame error).
    Mark,
    /// The R/W bit of an I²C address.
    Direction,
    /// A single bit.
    Bit(bool),
    /// A byte, an address, or a word of up to 64 bits.
    Number(u64),
    /// Several words (an SPI transfer, a UART packet), in the order in which they were sent.
    Words(Box<[u64]>),
    /// Text of a decoder from elsewhere: one line without control characters.
    Text(Box<str>),
    /// What was said to a part on a bus.
    Access(Box<Access>),
}

/// What was said to a part: one line without quotes, backslashes and control characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// For people: `BME280 0x76: write ctrl_meas = 0x27 (mode normal)`.
    pub text: Box<str>,
    /// Members of a JSON object, without the braces: `"device":118,"part":"bme280","value":39`.
    pub members: Box<str>,
}

impl Annotation {
    pub(crate) fn mark(start: u64, end: u64, class: u8) -> Self {
        Self {
            start,
            end,
            class,
            value: Value::Mark,
        }
    }

    pub(crate) fn bit(start: u64, end: u64, class: u8, bit: bool) -> Self {
        Self {
            start,
            end,
            class,
            value: Value::Bit(bit),
        }
    }

    pub(crate) fn number(start: u64, end: u64, class: u8, number: u64) -> Self {
        Self {
            start,
            end,
            class,
            value: Value::Number(number),
        }
    }
}

/// A set of annotation classes of one decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClassSet(u64);

impl ClassSet {
    pub(crate) const EMPTY: Self = Self(0);
    pub(crate) const ALL: Self = Self(u64::MAX);

    pub(crate) const fn with(self, class: u8) -> Self {
        Self(self.0 | 1 << class)
    }

    pub(crate) const fn without(self, class: u8) -> Self {
        Self(self.0 & !(1 << class))
    }

    #[inline]
    pub(crate) const fn has(self, class: u8) -> bool {
        self.0 >> class & 1 != 0
    }
}
