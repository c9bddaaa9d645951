//! The pod protocol: its commands and bounds, the byte formats of requests, replies and captures,
//! and the transport traits.
//!
//! A request is one compact JSON object in one line of at most [`REQUEST_LINE_BYTES_MAX`] bytes, its
//! verb in `cmd`. The reply is one line: `{"status":"ok","data":…}`, or
//! `{"status":"error","message":"…"}` whose text says what kind of refusal it is ([`RefusalKind`]).
//! Captures answer in several lines, all but the last with `"more":true`: ADC counts as unpadded
//! base64url of little-endian u16 (`b64`), logic-analyzer words as edges (`la_edges`:
//! `[sample, word]` pairs, `la_upto`: samples covered). A word has one bit for each channel, bit n−1
//! for LA n.
//!
//! The pod driver and the simulator share this crate and know nothing else of each other. It opens
//! no connection, starts no task and draws no random number.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod capabilities;
pub mod capture;
pub mod chunk;
pub mod commands;
pub mod connection;
pub mod dap_frame;
pub mod dial;
pub mod driver;
pub mod escape;
#[doc(hidden)]
pub mod fuzzing;
mod parity;
pub mod rates;
mod refusal;
mod reply;
pub mod usb;
pub mod verbs;

pub use capabilities::{
    AdcFit, CAPTURE_DUAL, CAPTURE_PRE, CAPTURE_STREAM, Capabilities, MissingPart, TWO_INSTRUMENTS,
};
pub use parity::{Parity, UART_PARITY};
pub use refusal::{Refusal, RefusalKind, missing_part, no_parts, parts_in};
pub use reply::{Reply, ReplyError};

/// Longest request line that a pod accepts, in bytes without the newline.
pub const REQUEST_LINE_BYTES_MAX: usize = 1279;

/// Longest reply line accepted from a pod. Real packets stay far below (256 samples each); pods
/// that send larger ones are fine up to here.
pub const REPLY_LINE_BYTES_MAX: usize = 1024 * 1024;

/// Slowest rate of a UART, in bits per second.
pub const UART_BAUD_MIN: u32 = 300;

/// Fastest rate of a UART, in bits per second.
pub const UART_BAUD_MAX: u32 = 4_000_000;

/// How long a break on a UART may last, in milliseconds.
pub const UART_BREAK_MS_MAX: u64 = 1_000;

/// How long it lasts where nothing else is asked for: nine bits at [`UART_BAUD_MIN`].
pub const UART_BREAK_MS: u64 = 30;

/// Logic-analyzer channels of a pod.
pub const LA_CHANNELS: u8 = 14;

/// The bits of a logic-analyzer word that are channels.
pub const LA_MASK: u16 = (1 << LA_CHANNELS) - 1;

/// Most logic-analyzer samples of a capture without ADC (8 MiB at 2 bytes).
pub const LA_SAMPLES_MAX: u64 = 4_194_304;

/// Most logic-analyzer samples of a capture that is sent while it is taken.
pub const LA_STREAM_SAMPLES_MAX: u64 = 1 << 32;

/// Most samples, both kinds together, of a capture with one trigger for ADC and LA.
pub const DUAL_SAMPLES_MAX: u64 = 4_192_256;

/// Combined rate at which the capture memory takes samples from the ADC and the logic analyzer in
/// one `capture_dual`: the requested rates at [`SAMPLE_BYTES`] per sample.
pub const DUAL_BYTES_PER_S_MAX: u64 = 20_000_000;

/// Bytes of a sample in the capture memory.
pub const SAMPLE_BYTES: u64 = 2;

/// Most samples of a single-shot ADC `capture`; longer ones are dual captures without LA.
pub const ADC_SINGLE_SAMPLES_MAX: u64 = 32_768;

/// Longest capture, in seconds, without the wait for its trigger.
pub const CAPTURE_SECONDS_MAX: u64 = 3_600;

/// Longest wait for a trigger, in milliseconds.
pub const TRIGGER_TIMEOUT_MS_MAX: u32 = 600_000;

/// Longest time in a trigger's condition, in nanoseconds: that of the longest wait.
pub const TRIGGER_NS_MAX: u64 = TRIGGER_TIMEOUT_MS_MAX as u64 * 1_000_000;

/// Most samples of a `measure`.
pub const MEASURE_SAMPLES_MAX: u64 = 2_048;

/// Codes that the small memory of the DAC holds.
pub const REPLAY_SAMPLES_MAX: u64 = 2_048;

/// Codes that the deep memory holds (8 MiB at 2 bytes), shared with captures.
pub const DEEP_REPLAY_SAMPLES_MAX: u64 = 4_194_304;

#[cfg(test)]
mod tests;
