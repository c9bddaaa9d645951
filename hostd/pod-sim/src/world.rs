//! The whole state of a simulated pod and its surroundings.

use std::sync::Arc;

use super::access::Access;
use super::analog::Switches;
use super::board::Board;
use super::can::Can;
use super::capture::Kept;
use super::dac::{Dac, Player, Walk};
use super::frontend::{Hardware, Wires};
use super::gps::Gps;
use super::image::Image;
use super::lines::Levels;
use super::outside::Outside;
use super::pins::Pins;
use super::profile::Profile;
use super::rails::{RailConfig, Rails};
use super::reboot::Boot;
use super::refuse::Refuse;
use super::reset::Reset;
use super::sensor::Sensor;
use super::settings::Settings;
use super::spi::Spi;
use super::stored::Stored;
use super::target::Mounted;
use super::timeline::Timeline;
use super::update::Update;
use super::upload::Upload;
use super::wave::Wave;
use super::{SimConfig, control, noise};

/// The rails, with what the target's board draws.
fn fed(config: &SimConfig) -> [RailConfig; 2] {
    let mut rails = config.rails.clone();
    if let Some(target) = &config.target {
        rails[usize::from(target.wiring.rail == 2)].load_ua = target.board_ua;
    }
    rails
}

/// State behind the lock. Nothing here waits.
pub(crate) struct World {
    pub(crate) config: SimConfig,
    pub(crate) pins: Pins,
    pub(crate) rails: Rails,
    pub(crate) dac: Dac,
    pub(crate) reset: Reset,
    pub(crate) switches: Timeline<Switches>,
    /// Since when a capture holds the hardware.
    capture_since_ns: Option<u64>,
    /// Since when a UART session still has to look at its receive line.
    pub(crate) uart_since_ns: Option<u64>,
    /// Uploads that are arriving; a UART session is silent meanwhile.
    pub(crate) loading: usize,
    pub(crate) image: Image,
    pub(crate) upload: Upload,
    pub(crate) can: Can,
    pub(crate) profile: Option<Profile>,
    /// The last capture that can be read again.
    pub(crate) kept: Option<Arc<Kept>>,
    /// The curve the control loop was last given.
    pub(crate) curve: Arc<[u16]>,
    pub(crate) spi: Spi,
    pub(crate) sensor: Sensor,
    pub(crate) gps: Gps,
    /// What stands outside and drives channels.
    pub(crate) outside: Outside,
    /// The microcontroller on the bench; absent while it runs.
    pub(crate) target: Option<Box<Mounted>>,
    pub(crate) access: Access,
    pub(crate) settings: Settings,
    pub(crate) update: Update,
    pub(crate) boot: Boot,
    pub(crate) hardware: Hardware,
    pub(crate) stored: Stored,
}

impl World {
    pub(crate) fn new(config: SimConfig) -> Self {
        let has_pod_monitor = config.board == Board::V3 || config.board == Board::Digital;
        Self {
            pins: Pins::new(config.la_voltage_mv.unwrap_or(0)),
            rails: Rails::new(fed(&config), noise::mix(config.seed), has_pod_monitor),
            dac: Dac::new(),
            reset: Reset::new(),
            switches: Timeline::new(Switches::PARKED),
            capture_since_ns: None,
            uart_since_ns: None,
            loading: 0,
            image: Image::ControlLoop,
            upload: Upload::default(),
            can: Can::default(),
            profile: None,
            kept: None,
            curve: control::identity(),
            access: Access::default(),
            settings: Settings::default(),
            update: Update::default(),
            spi: Spi::new(config.spi_flash),
            sensor: Sensor::default(),
            gps: Gps::new(config.seed),
            outside: Outside::new(),
            target: config
                .target
                .as_ref()
                .map(|target| Box::new(Mounted::new(target))),
            boot: Boot::first(),
            hardware: Hardware::new(config.board, config.seed),
            stored: Stored::default(),
            config,
        }
    }

    /// Ends what ended by itself and forgets what no capture can show any more.
    pub(crate) fn settle(&mut self, now_ns: u64) {
        self.pins.settle(now_ns);
        let watched = [self.capture_since_ns, self.uart_since_ns];
        let before_ns = watched.into_iter().flatten().min().unwrap_or(now_ns);
        self.pins.prune(before_ns);
        self.outside.prune(before_ns);
        self.gps.prune(before_ns);
        self.spi.prune(before_ns);
        let profiled_ns = self.profile.as_ref().map(Profile::start_ns);
        self.rails
            .prune(profiled_ns.unwrap_or(before_ns).min(before_ns));
        self.settle_dac(before_ns);
        self.reset.prune(before_ns);
        self.switches.prune(before_ns);
    }

    /// Keeps a shot of the ADC as the trace that `replay` plays; an older capture is gone.
    pub(crate) fn keep_trace(&mut self, counts: &[u16]) {
        self.kept = None;
        self.upload.ram = counts
            .iter()
            .flat_map(|count| count.to_le_bytes())
            .collect();
        self.upload.deep = false;
    }

    fn settle_dac(&mut self, before_ns: u64) {
        if before_ns > self.dac.settled_ns() {
            let walk = self.dac_walk(before_ns);
            self.dac.settle(walk);
        }
    }

    /// The DAC's output and what the ADC sees, for a stretch of time.
    pub(crate) fn player(&self, from_ns: u64, to_ns: u64) -> Player {
        let to_ns = to_ns.max(from_ns);
        self.dac
            .player(|since_ns| Wires::new(self, since_ns, to_ns), to_ns)
    }

    /// The DAC's output at an instant.
    pub(crate) fn dac_walk(&self, at_ns: u64) -> Walk {
        let mut player = self.player(at_ns, at_ns);
        player.advance(at_ns);
        player.into_walk()
    }

    /// The level of every channel at an instant.
    pub(crate) fn word(&self, at_ns: u64) -> u16 {
        Levels::new(self, at_ns, at_ns).word()
    }

    /// What the pod drives by formula on these channels, from `from_ns` on.
    pub(crate) fn waves(&self, from_ns: u64, to_ns: u64, channels: u16) -> Vec<Box<dyn Wave>> {
        let spi = self.spi.wave(from_ns, to_ns, channels);
        let gps = self.gps.waves(from_ns, to_ns, channels);
        gps.chain(spi).collect()
    }

    /// Switches an analog path; gives its full name.
    pub(crate) fn route(&mut self, path: &str, now_ns: u64) -> Result<&'static str, Refuse> {
        let before = *self.switches.at(now_ns);
        let (name, after) = before.routed(path).ok_or(Refuse::Bad {
            field: "path",
            want: "off, dac_3v3, dac_5v, dac_12v, adc_ext, cal1, cal2, current_in or current_out",
        })?;
        self.check_switches(after)?;
        self.switch(after, now_ns);
        Ok(name)
    }

    pub(crate) fn switch(&mut self, after: Switches, now_ns: u64) {
        if *self.switches.at(now_ns) != after {
            self.switches.set(now_ns, after);
        }
    }

    /// Takes the capture hardware.
    pub(crate) fn take_capture(&mut self, now_ns: u64) -> Result<(), Refuse> {
        if self.capture_since_ns.is_some() || self.update.stages(now_ns) {
            return Err(Refuse::Busy);
        }
        self.update.overwrite();
        self.capture_since_ns = Some(now_ns);
        Ok(())
    }

    pub(crate) fn capture_is_held(&self) -> bool {
        self.capture_since_ns.is_some()
    }

    pub(crate) fn release_capture(&mut self) {
        self.capture_since_ns = None;
    }
}
