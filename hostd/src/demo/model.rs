//! Simulated benches: pods whose logic analyzer sees a real I²C bus, with targets that have not been flashed.

use std::sync::Arc;

use anyhow::Context;
use pod_sim::{
    Board, Playback, Recording, SimConfig, SimPod, TargetConfig, TargetPart, TargetWiring,
};
use serde_json::{Map, Value, json};

/// A real-time clock chip read over I²C, 200 kHz sampling, public domain; see
/// `decode/testdata/captures/README.md`.
const RECORDING: &[u8] =
    include_bytes!("../../decode/testdata/captures/i2c_ds1307/rtc_ds1307_200khz.sr");

/// Channels of the recording that are SCL and SDA.
const RECORDED: [usize; 2] = [0, 1];

/// Edges of the recording at most; it has fewer than two thousand.
const EDGES_MAX: usize = 100_000;

/// A simulated pod with a target.
#[derive(Debug, Clone, Copy)]
pub struct Model {
    /// What its device is called.
    pub name: &'static str,
    board: Board,
    chip: &'static str,
    /// Every start shows the same world, with the same identity.
    seed: u64,
}

/// The first one is that of `serve --demo`; each of the others has something that those before it lack.
pub static MODELS: [Model; 5] = [
    Model {
        name: "demo",
        board: Board::V3,
        chip: "STM32F030R8",
        seed: 1,
    },
    Model {
        name: "demo-rc",
        board: Board::V3,
        chip: "STM32F030RC",
        seed: 2,
    },
    Model {
        name: "demo-v2",
        board: Board::V2,
        chip: "STM32F030R8",
        seed: 3,
    },
    Model {
        name: "demo-digital",
        board: Board::Digital,
        chip: "STM32F030R8",
        seed: 4,
    },
    Model {
        name: "demo-f446",
        board: Board::V3,
        chip: "STM32F446RE",
        seed: 5,
    },
];

/// The target's I²C is on LA5 and LA6, separate from the recorded one.
fn pins() -> TargetWiring {
    TargetWiring {
        scl: 5,
        sda: 6,
        ..TargetWiring::default()
    }
}

impl Model {
    /// A new one.
    ///
    /// # Errors
    /// The recording in the binary is damaged.
    pub fn pod(&self) -> anyhow::Result<Arc<SimPod>> {
        let part = TargetPart::named(self.chip);
        let target = TargetConfig {
            wiring: pins(),
            part: part.with_context(|| format!("simulate an {}", self.chip))?,
            ..TargetConfig::blank()
        };
        Ok(SimPod::new(SimConfig {
            seed: self.seed,
            board: self.board,
            playback: Some(playback()?),
            target: Some(target),
            ..SimConfig::default()
        }))
    }

    /// What its pod is wired to, as a profile of a device.
    #[must_use]
    pub fn wiring(&self) -> Map<String, Value> {
        let pins = pins();
        let profile = [
            ("swd_target", json!(self.chip)),
            ("swd_swclk", json!(pins.swclk)),
            ("swd_swdio", json!(pins.swdio)),
            // Where the pod listens, the target talks.
            ("uart_rx", json!(pins.tx)),
            ("uart_tx", json!(pins.rx)),
            // The recorded bus, which is there without firmware.
            ("i2c_scl", json!(RECORDED[0] + 1)),
            ("i2c_sda", json!(RECORDED[1] + 1)),
            ("efuse", json!(pins.rail)),
        ];
        let profile = profile.map(|(name, value)| (name.to_owned(), value));
        profile.into_iter().collect()
    }
}

/// LA1 = SCL, LA2 = SDA, looped over the part with traffic.
fn playback() -> anyhow::Result<Playback> {
    let archive = decode::sr::Archive::parse(RECORDING, &decode::sr::Limits::default())
        .context("read the demo recording")?;
    let recording = decode::sr::load_edges(&archive, &RECORDED, EDGES_MAX)
        .context("read the demo recording")?;
    let recording = Recording {
        sample_rate_hz: recording
            .sample_rate_hz
            .context("the demo recording has no sample rate")?,
        samples: recording.samples,
        edges: recording.edges,
    };
    Playback::new(&recording, &[(0, 1), (1, 2)], None).context("play the demo recording")
}

#[cfg(test)]
mod tests {
    use super::MODELS;

    #[test]
    fn every_model_is_there_under_its_own_name() {
        for (place, model) in MODELS.iter().enumerate() {
            model.pod().unwrap();
            assert_eq!(model.wiring()["swd_target"], model.chip);
            let others = &MODELS[..place];
            assert!(others.iter().all(|other| other.name != model.name));
        }
    }
}
