//! The whole state of a simulated pod and its surroundings.

use std::sync::Arc;

use super::access::Access;
use super::analog::Switches;
use super::can::Can;
use super::capture::Kept;
use super::dac::{Dac, Player, Walk};
use super::digital::Digital;
use super::frontend::{Hardware, Wires};
use super::image::Image;
use super::profile::Profile;
use super::reboot::Boot;
use super::refuse::Refuse;
use super::settings::Settings;
use super::stored::Stored;
use super::target::Mounted;
use super::timeline::Timeline;
use super::update::Update;
use super::upload::Upload;
use super::{SimConfig, control};

/// State behind the lock. Nothing here waits.
pub(crate) struct World {
    pub(crate) config: SimConfig,
    pub(crate) digital: Digital,
    pub(crate) dac: Dac,
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
    /// The microcontroller on the bench.
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
        Self {
            digital: Digital::new(&config),
            dac: Dac::new(),
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
        self.digital.pins.settle(now_ns);
        let watched = [self.capture_since_ns, self.uart_since_ns];
        let before_ns = watched.into_iter().flatten().min().unwrap_or(now_ns);
        let profiled_ns = self.profile.as_ref().map(Profile::start_ns);
        let rails_before_ns = profiled_ns.unwrap_or(before_ns).min(before_ns);
        self.digital.prune(before_ns, rails_before_ns);
        self.settle_dac(before_ns);
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

    /// Brings the target up to an instant, and after it the sensor.
    pub(crate) fn catch_up(&mut self, to_ns: u64) {
        if let Some(target) = &mut self.target {
            target.run(&mut self.digital, to_ns);
        }
        self.digital.listen(to_ns);
    }

    /// When to look again at what the target does; `None` when it does nothing by itself.
    pub(crate) fn target_wake_ns(&self, now_ns: u64) -> Option<u64> {
        let target = self.target.as_ref()?;
        target.wake_ns(&self.digital, now_ns)
    }

    /// From when on a debug probe on the channels clock and data gets an answer, if it does.
    pub(crate) fn swd_answers_from_ns(&self, pins: [u8; 2], now_ns: u64) -> Option<u64> {
        let target = self.target.as_ref()?;
        target.answers_from_ns(&self.digital, pins, now_ns)
    }
}
