//! Finished captures that both the grant and the caller may see.

use serde_json::Value;

use crate::Error;
#[cfg(target_arch = "wasm32")]
use crate::bindings::handler::hostd::plugin::captures as wit;
#[cfg(not(target_arch = "wasm32"))]
use crate::testing::with;

/// Most entries, values or annotations of one call.
pub const LIMIT_MAX: u32 = 65_536;

/// What one input gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Channel {
    /// `LA1`..`LA14`, `ADC`, or as an imported file calls it.
    pub name: String,
    pub digital: bool,
    /// `V`, `A`, or empty for digital.
    pub unit: String,
    pub sample_rate_hz: f64,
    pub samples: u64,
}

/// Some changes of digital channels.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// `distance << 8 | levels`: samples since the entry before (the first: 0), and the level of channel `i` from then on
    /// in bit `i`. Distances of over 24 bits come as several entries that repeat the levels.
    pub packed: Vec<u32>,
    /// The sample at which to go on; none = that was all.
    pub next: Option<u64>,
}

impl Changes {
    /// Samples at which levels change, and the levels from then on; `start` is that of the call.
    pub fn iter_from(&self, start: u64) -> impl Iterator<Item = (u64, u8)> {
        let mut at = start;
        self.packed.iter().map(move |entry| {
            at += u64::from(entry >> 8);
            (at, entry.to_le_bytes()[0])
        })
    }
}

/// What a decoder found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decoded {
    /// First and last sample, counted from the capture's first.
    pub start: u64,
    pub end: u64,
    /// Id of the annotation's class.
    pub class: String,
    pub text: String,
    pub numbers: Vec<u64>,
}

/// What to look for in a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoding {
    pub decoder: String,
    /// Role and name of the channel that plays it.
    pub channels: Vec<(String, String)>,
    pub options: Vec<(String, String)>,
    /// Ids of annotation classes or rows; empty = all.
    pub classes: Vec<String>,
    /// Annotations to leave out at the beginning.
    pub skip: u64,
    pub limit: u32,
}

impl Decoding {
    /// With the decoder `i2c`, `spi` or `uart`, which needs channels.
    #[must_use]
    pub fn new(decoder: &str) -> Self {
        Self {
            decoder: decoder.to_owned(),
            channels: Vec::new(),
            options: Vec::new(),
            classes: Vec::new(),
            skip: 0,
            limit: LIMIT_MAX,
        }
    }

    /// Have a channel of the capture play a role.
    #[must_use]
    pub fn channel(mut self, role: &str, channel: &str) -> Self {
        self.channels.push((role.to_owned(), channel.to_owned()));
        self
    }

    #[must_use]
    pub fn option(mut self, name: &str, value: &str) -> Self {
        self.options.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Keep annotations of this class or row, and of others that are named so.
    #[must_use]
    pub fn class(mut self, id: &str) -> Self {
        self.classes.push(id.to_owned());
        self
    }
}

/// A capture, opened for reading.
#[derive(Debug)]
pub struct Capture {
    #[cfg(target_arch = "wasm32")]
    opened: wit::Capture,
    #[cfg(not(target_arch = "wasm32"))]
    opened: crate::testing::Capture,
}

impl Capture {
    /// ULID.
    #[must_use]
    pub fn id(&self) -> String {
        on!(self.opened.id(), self.opened.id.clone())
    }

    /// What the API's list shows of it.
    #[must_use]
    pub fn json(&self) -> Value {
        let text = on!(self.opened.json(), self.opened.json.to_string());
        serde_json::from_str(&text).unwrap_or_default()
    }

    #[must_use]
    pub fn channels(&self) -> Vec<Channel> {
        on!(
            {
                let channels = self.opened.channels().into_iter();
                let channel = |channel: wit::Channel| Channel {
                    name: channel.name,
                    digital: channel.digital,
                    unit: channel.unit,
                    sample_rate_hz: channel.sample_rate_hz,
                    samples: channel.samples,
                };
                channels.map(channel).collect()
            },
            self.opened.channels.clone()
        )
    }

    /// Decoder roles that it was made for, and their channels.
    #[must_use]
    pub fn roles(&self) -> Vec<(String, String)> {
        on!(self.opened.roles(), self.opened.roles.clone())
    }

    /// Changes of one to eight digital channels from sample `start` on, in at most `limit` entries.
    ///
    /// # Errors
    /// There is no such channel.
    pub fn changes(&self, channels: &[&str], start: u64, limit: u32) -> Result<Changes, Error> {
        on!(
            {
                let channels: Vec<String> = channels.iter().map(|&name| name.to_owned()).collect();
                let (packed, next) = self.opened.changes(&channels, start, limit)?;
                Ok(Changes { packed, next })
            },
            self.opened.changes(channels, start, limit)
        )
    }

    /// Values of an analog channel, in its unit, from sample `start` on, at most `limit`.
    ///
    /// # Errors
    /// There is no such channel.
    pub fn values(&self, channel: &str, start: u64, limit: u32) -> Result<Vec<f32>, Error> {
        on!(
            Ok(self.opened.values(channel, start, limit)?),
            self.opened.values(channel, start, limit)
        )
    }

    /// Lowest and highest value of a channel in each of `points` equal stretches.
    ///
    /// # Errors
    /// There is no such channel.
    pub fn overview(&self, channel: &str, points: u32) -> Result<Vec<(f64, f64)>, Error> {
        on!(
            Ok(self.opened.overview(channel, points)?),
            self.opened.overview(channel, points)
        )
    }
}

/// One by its id.
///
/// # Errors
/// It was not granted, the caller lacks the scope, there is none, or it has not finished.
pub fn open(id: &str) -> Result<Capture, Error> {
    let opened = on!(wit::open(id)?, with(|double| double.capture(id).cloned())?);
    Ok(Capture { opened })
}

/// Ids of finished captures, newest first, at most `limit`: of a device by its id or name, or of all.
///
/// # Errors
/// It was not granted, the caller lacks the scope, or there is no such device.
pub fn recent(device: Option<&str>, limit: u32) -> Result<Vec<String>, Error> {
    on!(
        Ok(wit::recent(device, limit)?),
        with(|double| double.recent(device, limit))
    )
}

/// What a decoder of the host finds in a capture, and whether there is more behind it.
///
/// # Errors
/// As [`open`], or there is no such decoder, channel or option.
pub fn decode(id: &str, decoding: &Decoding) -> Result<(Vec<Decoded>, bool), Error> {
    on!(
        {
            let (found, is_more) = wit::decode(id, &order(decoding))?;
            let found = found.into_iter().map(|one| Decoded {
                start: one.start,
                end: one.end,
                class: one.class,
                text: one.text,
                numbers: one.numbers,
            });
            Ok((found.collect(), is_more))
        },
        with(|double| double.capture(id)?.decode(decoding))
    )
}

#[cfg(target_arch = "wasm32")]
fn order(decoding: &Decoding) -> wit::DecodeOrder {
    wit::DecodeOrder {
        decoder: decoding.decoder.clone(),
        channels: decoding.channels.clone(),
        options: decoding.options.clone(),
        classes: decoding.classes.clone(),
        skip: decoding.skip,
        limit: decoding.limit,
        extra: Vec::new(),
    }
}
