//! The whole state of a simulated pod and its surroundings.

use std::sync::Arc;

mod gate;
mod reboot;

use super::SimConfig;
use super::access::Access;
use super::can::Can;
use super::converters::Converters;
use super::digital::Digital;
use super::image::Image;
use super::kept::Kept;
use super::profile::Profile;
use super::reboot::Boot;
use super::refuse::Refuse;
use super::sender::Sender;
use super::settings::Settings;
use super::target::Mounted;
use super::update::Update;
use super::upload::Upload;

/// State behind the lock. Nothing here waits.
pub(crate) struct World {
    pub(crate) config: SimConfig,
    pub(crate) digital: Digital,
    pub(crate) converters: Converters,
    /// Since when a capture has held the hardware.
    capture_since_ns: Option<u64>,
    /// From when on a UART session still has to read its receive line.
    pub(crate) uart_since_ns: Option<u64>,
    /// What that session sends with.
    pub(crate) uart_sender: Option<Sender>,
    /// Number of uploads in progress; a UART session is silent meanwhile.
    pub(crate) loading: usize,
    pub(crate) image: Image,
    pub(crate) upload: Upload,
    pub(crate) can: Can,
    pub(crate) profile: Option<Profile>,
    /// The last capture that can be read again.
    pub(crate) kept: Option<Arc<Kept>>,
    /// The microcontroller on the bench.
    pub(crate) target: Option<Box<Mounted>>,
    pub(crate) access: Access,
    pub(crate) settings: Settings,
    pub(crate) update: Update,
    pub(crate) boot: Boot,
}

impl World {
    pub(crate) fn new(config: SimConfig) -> Self {
        Self {
            digital: Digital::new(&config),
            converters: Converters::new(&config),
            capture_since_ns: None,
            uart_since_ns: None,
            uart_sender: None,
            loading: 0,
            image: Image::ControlLoop,
            upload: Upload::default(),
            can: Can::default(),
            profile: None,
            kept: None,
            access: Access::default(),
            settings: Settings::default(),
            update: Update::default(),
            target: config
                .target
                .as_ref()
                .map(|target| Box::new(Mounted::new(target))),
            boot: Boot::first(),
            config,
        }
    }

    /// Ends what has finished by itself, and forgets what no capture can show any more.
    pub(crate) fn settle(&mut self, now_ns: u64) {
        self.digital.pins.settle(now_ns);
        let watched = [self.capture_since_ns, self.uart_since_ns];
        let before_ns = watched.into_iter().flatten().min().unwrap_or(now_ns);
        let profiled_ns = self.profile.as_ref().map(Profile::start_ns);
        let rails_before_ns = profiled_ns.unwrap_or(before_ns).min(before_ns);
        self.digital.prune(before_ns, rails_before_ns);
        self.converters.settle(before_ns);
    }

    /// Keeps a shot of the ADC as the trace that `replay` plays; an older capture is dropped.
    pub(crate) fn keep_trace(&mut self, counts: &[u16]) {
        self.kept = None;
        self.upload.ram = counts
            .iter()
            .flat_map(|count| count.to_le_bytes())
            .collect();
        self.upload.deep = false;
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

    /// Brings the target up to an instant, and then the sensor.
    pub(crate) fn catch_up(&mut self, to_ns: u64) {
        if let Some(target) = &mut self.target {
            target.run(&mut self.digital, to_ns);
        }
        self.digital.listen(to_ns);
    }

    /// When to look again at what the target does; `None` if it does nothing by itself.
    pub(crate) fn target_wake_ns(&self, now_ns: u64) -> Option<u64> {
        let target = self.target.as_ref()?;
        target.wake_ns(&self.digital, now_ns)
    }

    /// From when on a debug probe on these channels (clock, data) gets an answer, if it gets one.
    pub(crate) fn swd_answers_from_ns(&self, pins: [u8; 2], now_ns: u64) -> Option<u64> {
        let target = self.target.as_ref()?;
        target.answers_from_ns(&self.digital, pins, now_ns)
    }
}
