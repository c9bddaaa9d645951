//! Instrument pods: how to reach them, how to speak to them, and one that is simulated.
//!
//! A *pod* is the instrument at a bench: logic analyzer, ADC and DAC, target power, GPIO. It offers
//! many *connections*; each carries newline-terminated JSON commands and, after some of them, raw
//! bytes. One task owns one pod ([`Pod`]): it keeps a command connection open, answers whether the
//! pod is there, and brings the link back after anything that broke it. A capture runs on a
//! connection of its own, so commands keep working beside it.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! use pods::{CaptureRequest, Pod, PodOptions, SimConfig, SimPod};
//!
//! let bench = SimPod::new(SimConfig::default());
//! let pod = Pod::spawn(bench, PodOptions::default());
//! pod.wait_online(pods::DEFAULT_REPLY_TIMEOUT).await?;
//! let voltage = serde_json::json!({"cmd": "la_voltage", "mv": 3300});
//! let voltage = voltage.as_object().cloned().expect("an object");
//! pod.command(voltage, pods::DEFAULT_REPLY_TIMEOUT).await?;
//! let la = CaptureRequest::La { samples: 1000, rate_mhz: 1.0, trigger: None };
//! let mut capture = pod.capture(la).await?;
//! while let Some(frame) = capture.next().await {
//!     let _frame = frame?;
//! }
//! # Ok::<(), pods::PodError>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The protocol in short
//!
//! A request is one compact JSON object in one line of at most
//! [`REQUEST_LINE_BYTES_MAX`](protocol::REQUEST_LINE_BYTES_MAX) bytes, its verb in `cmd`. The reply
//! is one line: `{"status":"ok","data":…}`, or `{"status":"error","message":"…"}` whose text says
//! what kind of refusal it is ([`protocol::RefusalKind`]). Captures answer in several lines, each
//! with `"more":true` but the last: ADC counts as unpadded base64url of little-endian u16 (`b64`),
//! logic-analyzer words as edges (`la_edges`: `[sample, word]` pairs, `la_upto`: samples covered).
//! A word has one bit for each channel, bit n−1 for LA n.
//!
//! This crate knows no HTTP, no wasm, no decoding and no store.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

use std::sync::Arc;

pub mod capabilities;
pub mod capture;
pub mod connection;
#[doc(hidden)]
pub mod fuzzing;
pub mod pod;
pub mod protocol;
pub mod sim;
pub mod tcp;
pub mod tls;

pub use capabilities::Capabilities;
pub use capture::{AdcSource, CaptureRequest, CaptureStream, Edge, Frame, RequestError, Trigger};
pub use connection::{BoxedStream, Transport};
pub use pod::{
    DEFAULT_REPLY_TIMEOUT, OTA_PART_BYTES_MAX, OtaProgress, OtaTarget, Pod, PodError, PodEvent,
    PodFacts, PodIdentity, PodOptions, PodState, Session, SessionEnd, SessionKind,
};
pub use protocol::{Refusal, RefusalKind};
pub use sim::{SimConfig, SimPod};

/// A way to reach pods, by the scheme in front of their address.
pub trait Driver: Sync {
    /// The scheme, without its colon: `sim`, `tcp`, `tls`.
    fn scheme(&self) -> &'static str;

    /// What the rest of the address looks like, for messages and documentation.
    fn address_form(&self) -> &'static str;

    /// Prepares a transport for `address` (what follows the scheme); does not connect yet.
    ///
    /// # Errors
    /// [`AddressError::Malformed`] when the address is not of [`address_form`](Self::address_form).
    fn transport(&self, address: &str) -> Result<Arc<dyn Transport>, AddressError>;
}

/// Every way to reach a pod. A new transport is one file and one line here.
pub static DRIVERS: &[&dyn Driver] = &[&tcp::Driver, &tls::Driver, &sim::Driver];

/// Why a pod address could not be used.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    /// No driver has this scheme.
    #[error("pod address `{address}` has no known scheme (known: {known})")]
    UnknownScheme {
        /// The address as given.
        address: String,
        /// The schemes there are.
        known: String,
    },
    /// The driver does not understand the rest.
    #[error("pod address `{address}` is not of the form `{form}`")]
    Malformed {
        /// The address as given, without the scheme.
        address: String,
        /// The form that was expected.
        form: &'static str,
    },
}

/// Prepares a transport for an address such as `tcp:10.0.0.7:8080` or `sim:v3,seed=7`.
///
/// # Errors
/// [`AddressError`] for an unknown scheme or a malformed rest.
pub fn transport(address: &str) -> Result<Arc<dyn Transport>, AddressError> {
    let found = address.split_once(':').and_then(|(scheme, rest)| {
        let driver = DRIVERS.iter().find(|driver| driver.scheme() == scheme)?;
        Some((driver, rest))
    });
    match found {
        Some((driver, rest)) => driver.transport(rest),
        None => Err(AddressError::UnknownScheme {
            address: address.to_owned(),
            known: DRIVERS
                .iter()
                .map(|driver| driver.scheme())
                .collect::<Vec<_>>()
                .join(", "),
        }),
    }
}

#[cfg(test)]
mod tests;
