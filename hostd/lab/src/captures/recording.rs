//! Samples on their way from the pod to the files: logic words become segments of the requested
//! channels, ADC counts become linear.

use decode::analog::AnalogEncoder;
use decode::segment::{Encoder, EncoderError, EncoderSpec};
use pods::{Capabilities, CaptureRequest, Frame};

use super::files;
use super::framer::{self, Framer};
use super::plan::Plan;
use super::spool::Both;
use store::captures::ChannelRecord;

/// Bits of an ADC count.
const ADC_BITS: u32 = 16;

/// Half the range of counts. The front end wraps there; shifting counts by it makes them linear.
const HALF_RANGE: u16 = 0x8000;

/// The files' contents, and the channels with their achieved rates.
#[derive(Debug)]
pub struct Finished {
    pub channels: Vec<ChannelRecord>,
    /// Content of the logic file.
    pub logic: Option<Vec<u8>>,
    /// Content of the analog file.
    pub(crate) analog: Option<Vec<u8>>,
    /// Contents of their pyramids.
    pub(crate) logic_pyramid: Option<Vec<u8>>,
    pub(crate) analog_pyramid: Option<Vec<u8>>,
}

impl Finished {
    /// Of all files.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        let files = self.files().into_iter().filter_map(|(_, bytes)| bytes);
        files.map(|bytes| bytes.len() as u64).sum()
    }

    /// The files by their kinds, the samples last: a capture whose samples are on disk is whole.
    pub(crate) fn files(&self) -> [(&'static str, Option<&[u8]>); 4] {
        [
            (files::LOGIC_PYRAMID, self.logic_pyramid.as_deref()),
            (files::ANALOG_PYRAMID, self.analog_pyramid.as_deref()),
            (files::LOGIC, self.logic.as_deref()),
            (files::ANALOG, self.analog.as_deref()),
        ]
    }
}

/// Why samples cannot be recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error("record logic samples that were not asked for")]
    Unasked,
    #[error("record logic samples")]
    Logic(#[from] EncoderError),
    #[error("record analog samples")]
    Analog(#[source] EncoderError),
}

/// Takes frames as they come. Holds the encoded samples, bounded by `captures.samples_max`, until the end; those of longer
/// captures are taken from it as they are final.
pub struct Recording {
    channels: Vec<ChannelRecord>,
    /// LA channels in the order of the segment's bits.
    la: Vec<u8>,
    framer: Framer,
    logic: Option<Encoder>,
    analog: Option<AnalogEncoder>,
    adc_rate_hz: Option<f64>,
    la_rate_hz: Option<f64>,
    turn: bool,
}

/// What the capture will hold, before it has run: with the requested rates.
#[must_use]
pub fn channels(plan: &Plan, capabilities: &Capabilities) -> Vec<ChannelRecord> {
    let (adc, mut la) = sizes(&plan.request);
    if let (Some(awaited), Some((samples, _))) = (&plan.awaited, &mut la) {
        *samples = awaited.samples;
    }
    let mut list = Vec::new();
    if let Some((samples, sample_rate_hz)) = adc.filter(|_| plan.has_adc) {
        let fit = capabilities.adc_fit;
        let (a, b) = fit.map_or((0.0, 1.0), |f| (f.a_volts, f.b_volts_per_count));
        let turned = fit.is_some_and(|f| f.unwrap);
        list.push(ChannelRecord {
            la: None,
            name: "ADC".into(),
            unit: if fit.is_some() {
                "V".into()
            } else {
                String::new()
            },
            sample_rate_hz,
            samples,
            bits: ADC_BITS,
            full_scale: b * 65_536.0,
            offset: if turned {
                a + b * f64::from(HALF_RANGE)
            } else {
                a
            },
        });
    }
    if let Some((samples, sample_rate_hz)) = la {
        list.extend(plan.la_channels.iter().map(|channel| ChannelRecord {
            la: Some(*channel),
            name: format!("LA{channel}"),
            unit: String::new(),
            sample_rate_hz,
            samples,
            bits: 1,
            full_scale: 1.0,
            offset: 0.0,
        }));
    }
    list
}

/// Number of samples, and their rate in hertz.
type Size = (u64, f64);

/// What is requested from the ADC and the LA.
fn sizes(request: &CaptureRequest) -> (Option<Size>, Option<Size>) {
    match request {
        CaptureRequest::Scope {
            samples, rate_mhz, ..
        } => (Some((*samples, rate_mhz * 1e6)), None),
        CaptureRequest::La {
            samples, rate_mhz, ..
        }
        | CaptureRequest::Stream {
            samples, rate_mhz, ..
        } => (None, Some((*samples, rate_mhz * 1e6))),
        CaptureRequest::Dual {
            adc_samples,
            adc_rate_mhz,
            la_samples,
            la_rate_mhz,
            ..
        } => (
            (*adc_samples > 0).then_some((*adc_samples, adc_rate_mhz * 1e6)),
            (*la_samples > 0).then_some((*la_samples, la_rate_mhz * 1e6)),
        ),
        CaptureRequest::Measure {
            freq_hz, samples, ..
        } => {
            #[expect(clippy::cast_precision_loss, reason = "a stimulus has few points")]
            let rate_hz = freq_hz * *samples as f64;
            (Some((*samples, rate_hz)), None)
        }
    }
}

impl Recording {
    /// For these channels; `turn` if the pod's counts wrap at half range.
    #[must_use]
    pub fn new(channels: &[ChannelRecord], turn: bool) -> Self {
        Self {
            channels: channels.to_vec(),
            la: channels.iter().filter_map(|c| c.la).collect(),
            framer: Framer::new(channels),
            logic: None,
            analog: None,
            adc_rate_hz: None,
            la_rate_hz: None,
            turn,
        }
    }

    /// Note the achieved rates, as far as the pod has reported them.
    pub(crate) fn set_rates(&mut self, adc_hz: Option<f64>, la_hz: Option<f64>) {
        self.adc_rate_hz = adc_hz.or(self.adc_rate_hz);
        self.la_rate_hz = la_hz.or(self.la_rate_hz);
    }

    /// Take the next frame. The rates must be known by then.
    ///
    /// # Errors
    /// Samples out of order, or of a kind that was not requested.
    pub fn push(&mut self, frame: Frame) -> Result<(), RecordError> {
        match frame {
            Frame::Adc { mut counts, .. } => {
                if self.turn {
                    for count in &mut counts {
                        *count ^= HALF_RANGE;
                    }
                }
                let rate_hz = self.rate_hz(false);
                let encoder = match &mut self.analog {
                    Some(encoder) => encoder,
                    none => {
                        let encoder = AnalogEncoder::new(rate_hz).map_err(RecordError::Analog)?;
                        none.insert(encoder.with_pyramid())
                    }
                };
                encoder.push(&counts);
                self.framer.counts(&counts);
                Ok(())
            }
            Frame::La { edges, upto } => {
                if self.la.is_empty() {
                    return Err(RecordError::Unasked);
                }
                let spec = EncoderSpec {
                    channels: self.la.len(),
                    sample_rate_hz: self.rate_hz(true),
                };
                let edges: Vec<(u64, u64)> = edges
                    .into_iter()
                    .map(|(sample, word)| (sample, self.pick(word)))
                    .collect();
                let encoder = match &mut self.logic {
                    Some(encoder) => encoder,
                    none => none.insert(Encoder::new(spec)?.with_pyramid()),
                };
                encoder.push_edges(&edges, upto)?;
                self.framer.edges(&edges, upto);
                Ok(())
            }
        }
    }

    /// What became final of the logic file and its pyramid since the last call.
    pub(super) fn take_logic(&mut self) -> Both {
        let taken = self.logic.as_mut();
        let taken = taken.map(|encoder| (encoder.take(), encoder.take_pyramid()));
        taken.unwrap_or_default()
    }

    /// The next frame that is complete, in order.
    pub(crate) fn take_frame(&mut self) -> Option<framer::Frame> {
        self.framer.take()
    }

    /// The word reduced to the requested channels, packed.
    fn pick(&self, word: u16) -> u64 {
        self.la.iter().enumerate().fold(0, |picked, (bit, la)| {
            picked | u64::from(word >> (la - 1) & 1) << bit
        })
    }

    fn rate_hz(&self, logic: bool) -> f64 {
        let achieved = if logic {
            self.la_rate_hz
        } else {
            self.adc_rate_hz
        };
        let asked = self.channels.iter().find(|c| c.la.is_some() == logic);
        achieved.or(asked.map(|c| c.sample_rate_hz)).unwrap_or(1.0)
    }

    /// Finish: returns the file contents, and the channels as they turned out.
    #[must_use]
    pub fn finish(self) -> Finished {
        let (adc_rate_hz, la_rate_hz) = (self.rate_hz(false), self.rate_hz(true));
        let logic_samples = self.logic.as_ref().map_or(0, Encoder::samples);
        let analog_samples = self.analog.as_ref().map_or(0, AnalogEncoder::samples);
        let mut channels = self.channels;
        for channel in &mut channels {
            (channel.samples, channel.sample_rate_hz) = if channel.la.is_some() {
                (logic_samples, la_rate_hz)
            } else {
                (analog_samples, adc_rate_hz)
            };
        }
        let (logic, logic_pyramid) = self.logic.map(Encoder::finish_both).unzip();
        let (analog, analog_pyramid) = self.analog.map(AnalogEncoder::finish_both).unzip();
        Finished {
            channels,
            logic,
            analog,
            logic_pyramid,
            analog_pyramid,
        }
    }
}
