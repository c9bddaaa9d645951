//! Instrument pods: how to reach them over the network, on USB and where they dial in, and one task for each pod that
//! drives it.
//!
//! A *pod* is the instrument at a bench: logic analyzer, ADC and DAC, target power, GPIO. It offers
//! many *connections*; each carries newline-terminated JSON commands and, after some of them, raw
//! bytes. One task owns one pod ([`Pod`]): it keeps a command connection open, knows whether the
//! pod is online, and restores the link after a failure. A capture runs on a connection of its own,
//! so commands keep working beside it.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! use pod_sim::{SimConfig, SimPod};
//! use pods::{CaptureRequest, Pod, PodOptions};
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
//! What goes over the connections is in `pod-protocol`, re-exported here as [`protocol`]. This
//! crate knows no HTTP, no wasm, no decoding, no store and no simulation.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod capture_stream;
pub mod dial;
pub mod pod;
pub mod tcp;
pub mod tls;
pub mod usb;

pub use capture_stream::CaptureStream;
pub use pod::{
    DEFAULT_REPLY_TIMEOUT, OTA_PART_BYTES_MAX, OtaProgress, OtaTarget, Pod, PodError, PodEvent,
    PodFacts, PodIdentity, PodOptions, PodState, PowerStatus, RailReading, Session, SessionEnd,
    SessionKind,
};
// Types that callers exchange with a pod, so that they need not depend on `pod-protocol`
// themselves.
pub use pod_protocol as protocol;
pub use pod_protocol::capture::{
    AdcSource, CaptureRequest, Condition, ConditionKind, Edge, Frame, Length, RequestError, Trigger,
};
pub use pod_protocol::connection::{BoxedStream, Transport};
pub use pod_protocol::driver::{AddressError, Driver, transport};
pub use pod_protocol::{Capabilities, Parity, Refusal, RefusalKind};

#[cfg(test)]
mod tests;
