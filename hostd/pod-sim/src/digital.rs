//! The channels of the logic analyzer and everything that drives them, with the target's rails and
//! reset line: known for the past and, as far as something is planned, for the future.

use pod_protocol::LA_MASK;

use super::SimConfig;
use super::board::Board;
use super::gps::Gps;
use super::levels::{Levels, Sources, Wiring};
use super::noise;
use super::outside::Outside;
use super::pins::{Pins, bit};
use super::rails::{RailConfig, Rails};
use super::reset::Reset;
use super::sensor::Sensor;
use super::spi::Spi;
use super::wave::Wave;

/// A recording may play forever, so the sensor listens to only this much of it at a time if nobody
/// asked for longer. It always listens to all that clients and simulated targets do.
const PLAYED_NS_MAX: u64 = 1_000_000_000;

pub(crate) struct Digital {
    pub(crate) pins: Pins,
    pub(crate) rails: Rails,
    pub(crate) reset: Reset,
    pub(crate) spi: Spi,
    pub(crate) sensor: Sensor,
    pub(crate) gps: Gps,
    /// What is outside the pod and drives channels.
    pub(crate) outside: Outside,
    wiring: Wiring,
}

/// The rails, with the current of the target's board.
fn fed(config: &SimConfig) -> [RailConfig; 2] {
    let mut rails = config.rails.clone();
    if let Some(target) = &config.target {
        rails[usize::from(target.wiring.rail == 2)].load_ua = target.board_ua;
    }
    rails
}

impl Digital {
    pub(crate) fn new(config: &SimConfig) -> Self {
        let has_pod_monitor = config.board == Board::V3 || config.board == Board::Digital;
        Self {
            pins: Pins::new(config.la_voltage_mv.unwrap_or(0)),
            rails: Rails::new(fed(config), noise::mix(config.seed), has_pod_monitor),
            reset: Reset::new(),
            spi: Spi::new(config.spi_flash),
            sensor: Sensor::default(),
            gps: Gps::new(config.seed),
            outside: Outside::new(),
            wiring: Wiring::new(config.playback.clone(), &config.jumpers, config.nrst_la),
        }
    }

    /// After a restart of the firmware the pod drives nothing; its surroundings carry on.
    pub(crate) fn reboot(&mut self, now_ns: u64) {
        self.pins.reboot(now_ns);
        self.rails.reboot(now_ns);
        self.reset.reboot(now_ns);
        self.spi.end(now_ns);
        self.gps.reboot(now_ns);
        self.sensor = Sensor::default();
    }

    /// Forgets what no capture can show any more: the rails have their own instant.
    pub(crate) fn prune(&mut self, before_ns: u64, rails_before_ns: u64) {
        self.pins.prune(before_ns);
        self.outside.prune(before_ns);
        self.gps.prune(before_ns);
        self.spi.prune(before_ns);
        self.rails.prune(rails_before_ns);
        self.reset.prune(before_ns);
    }

    /// The level of every channel at an instant.
    pub(crate) fn word(&self, at_ns: u64) -> u16 {
        self.levels(at_ns, at_ns).word()
    }

    /// The levels at `from_ns`, and the known changes up to `to_ns`.
    pub(crate) fn levels(&self, from_ns: u64, to_ns: u64) -> Levels {
        self.levels_on(from_ns, to_ns, LA_MASK)
    }

    /// Like [`levels`](Self::levels), but only for `channels`: others have no changes.
    pub(crate) fn levels_on(&self, from_ns: u64, to_ns: u64, channels: u16) -> Levels {
        self.levels_without(from_ns, to_ns, channels, 0)
    }

    /// Like [`levels_on`](Self::levels_on), as if the pod itself did not drive the channels
    /// `silent`.
    fn levels_without(&self, from_ns: u64, to_ns: u64, channels: u16, silent: u16) -> Levels {
        let channels = self.wiring.joined(channels);
        let sources = Sources {
            wiring: &self.wiring,
            pins: &self.pins,
            outside: &self.outside,
            rails: &self.rails,
            reset: &self.reset,
            waves: self.waves(from_ns, to_ns, channels & !silent),
        };
        Levels::new(sources, (from_ns, to_ns), channels, silent)
    }

    /// What the pod drives by formula on these channels, from `from_ns` on.
    fn waves(&self, from_ns: u64, to_ns: u64, channels: u16) -> Vec<Box<dyn Wave>> {
        let spi = self.spi.wave(from_ns, to_ns, channels);
        let gps = self.gps.waves(from_ns, to_ns, channels);
        gps.chain(spi).collect()
    }

    /// Brings the sensor up to an instant.
    pub(crate) fn listen(&mut self, to_ns: u64) {
        let Some(unheard) = self.sensor.unheard(to_ns) else {
            return;
        };
        let sda = bit(unheard.lines.sda);
        let bus = bit(unheard.lines.scl) | sda;
        let from_ns = match self.wiring.played_on(bus) {
            Some(_) => unheard.from_ns.max(to_ns.saturating_sub(PLAYED_NS_MAX)),
            None => unheard.from_ns,
        };
        let levels = self.levels_without(from_ns, to_ns, bus, sda);
        self.sensor.hear(levels, (from_ns, to_ns), &mut self.pins);
    }
}
