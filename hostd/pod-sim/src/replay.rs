//! `replay`: plays uploaded codes repeatedly.

use std::sync::Arc;

use pod_protocol::rates;
use serde_json::{Value, json};

use super::args::Args;
use super::dac::Wave;
use super::image::Image;
use super::refuse::Refuse;
use super::world::World;

/// Starts the replay, or arms it for the next capture.
pub(crate) fn replay(world: &mut World, args: &Args<'_>, now_ns: u64) -> Result<Value, Refuse> {
    let (pairs, _odd) = world.upload.last().as_chunks::<2>();
    if pairs.is_empty() {
        return Err(Refuse::NothingUploaded);
    }
    let uploaded = pairs.len() as u64;
    let samples = args.uint("samples", 1..=i64::MAX)?.unwrap_or(uploaded);
    let taken = usize::try_from(samples)
        .ok()
        .and_then(|samples| pairs.get(..samples))
        .ok_or(Refuse::BeyondUpload { samples, uploaded })?;
    let on_capture = args.flag("on_capture")?.unwrap_or(false);
    let deep = world.upload.deep;
    let rate_hz = args.rate_hz("sample_rate_mhz")?;
    let wave = Arc::new(Wave {
        codes: taken.iter().map(|pair| u16::from_le_bytes(*pair)).collect(),
        divider: rates::replay_divider(rate_hz, deep),
    });
    // The image with the control loop accepts a deep replay and stays silent, like the real one.
    if deep && world.image == Image::ControlLoop {
        world.converters.dac.stop(now_ns);
    } else if on_capture {
        world.converters.dac.arm(wave, now_ns, None);
    } else {
        world.converters.dac.play(wave, now_ns, None);
    }
    Ok(json!({"samples": samples, "cotrig": on_capture}))
}
