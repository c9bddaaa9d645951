//! Logic analyzers with the firmware fx2lafw, natively over USB: the cheapest analyzers there are, up to 24 MS/s.
//!
//! They come without a firmware and forget the one they are given, so it is loaded first; the analyzer then leaves the
//! bus and comes back as another device on the same port. It samples from the request to start on, sends raw samples
//! without frames, and knows neither triggers nor a request to stop: when nobody fetches its samples it stops by itself.
//! That is also how it shows that samples were lost.

mod boot;
mod firmware;
pub(crate) mod fuzzing;
mod model;
mod plugged;
mod stream;
mod timing;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pod_protocol::{LA_CHANNELS, rates};
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::{Instant, sleep_until, timeout};

use crate::capture::{Capture, Plan, Turning};
use crate::error::AcquireError;
use crate::instrument::{Facts, Instrument, Looking, Request, SAMPLES_MAX, Starting};
use crate::trigger::Search;
use crate::volts;
use crate::wiring::Wiring;

use model::Model;
use plugged::Plugged;
use stream::Stream;

/// How long whoever uses the analyzer may take to let go of it.
const FREE_WITHIN: Duration = Duration::from_secs(3);

/// How much longer than its samples last a capture may take.
const SLACK: Duration = Duration::from_secs(10);

/// The slowest rate, at which an analyzer runs longest after nobody fetches its samples.
const SLOWEST_BYTES_PER_S: u64 = 20_000;

/// Which analyzer is used, and how.
#[derive(Debug, Clone, Default)]
pub struct Fx2lafwSettings {
    /// The USB port that it is plugged into, as the kernel names it: `1-2.3`. `None` for the first analyzer.
    pub port: Option<String>,
    /// How many channels to sample, 8 or 16; 16 halve the rates. `None` for all that it has.
    pub channels: Option<u8>,
    /// Where its firmware is, or the folder that has it. `None` for the places of Debian's package.
    pub firmware: Option<PathBuf>,
}

/// An analyzer with the firmware fx2lafw, or one that could run it.
pub struct Fx2lafw {
    settings: Fx2lafwSettings,
    usage: Arc<Mutex<Usage>>,
}

/// Held while the analyzer is used.
#[derive(Debug, Default)]
pub(crate) struct Usage {
    /// When it has stopped sampling for the use before. `None` when it is not known what it does.
    pub(crate) idle_from: Option<Instant>,
}

impl Fx2lafw {
    /// The analyzer of these settings. Nothing is opened yet.
    ///
    /// # Errors
    /// A setting is malformed.
    pub fn new(settings: Fx2lafwSettings) -> Result<Self, AcquireError> {
        if let Some(channels) = settings
            .channels
            .filter(|channels| ![8, 16].contains(channels))
        {
            return Err(AcquireError::Setting {
                field: "channels",
                found: channels.to_string(),
                form: "8 or 16",
            });
        }
        if let Some(port) = &settings.port
            && !usb_host::is_port(port)
        {
            return Err(AcquireError::Setting {
                field: "port",
                found: port.chars().take(64).collect(),
                form: "a USB port as the kernel names it, such as \"1-2.3\"",
            });
        }
        Ok(Self {
            settings,
            usage: Arc::default(),
        })
    }

    /// What people call the analyzers with these vendor and product numbers, if they are known to run the firmware.
    #[must_use]
    pub fn model(ids: (u16, u16)) -> Option<&'static str> {
        Model::of(ids).map(|model| model.name)
    }

    /// Vendor and product numbers of all analyzers that are known to run the firmware.
    pub fn models() -> impl Iterator<Item = (u16, u16)> {
        model::MODELS.iter().map(|model| model.ids)
    }

    /// Whether samples have 16 bits.
    fn is_wide(&self, found: &Plugged) -> Result<bool, AcquireError> {
        let has = found.model.channels;
        let wanted = self.settings.channels.unwrap_or(has);
        if has < wanted {
            return Err(AcquireError::Setting {
                field: "channels",
                found: wanted.to_string(),
                form: "8, and this analyzer has no more",
            });
        }
        Ok(wanted == 16)
    }

    async fn look(&self) -> Result<(Plugged, Facts), AcquireError> {
        let found = plugged::find(self.settings.port.as_deref()).await?;
        if !found.is_running {
            firmware::find(found.model, self.settings.firmware.as_deref())?;
        }
        let is_wide = self.is_wide(&found)?;
        let channels = if is_wide { LA_CHANNELS } else { 8 };
        let facts = Facts {
            model: found.model.name.to_owned(),
            logic: (0..channels).map(|number| format!("D{number}")).collect(),
            analog: Vec::new(),
            fit: volts::fit(1.0),
            rates: timing::rates(is_wide),
            samples_max: SAMPLES_MAX,
            is_searched: true,
        };
        Ok((found, facts))
    }

    async fn start_now(&self, request: Request) -> Result<Capture, AcquireError> {
        let mut usage = self.claim().await?;
        let (found, facts) = self.look().await?;
        request.check(&facts)?;
        let malformed = || AcquireError::Rate;
        let rate_hz = facts.rates.fitting(request.rate_hz).ok_or_else(malformed)?;
        let is_wide = self.is_wide(&found)?;
        let start = timing::start(rate_hz, is_wide).ok_or_else(malformed)?;
        let unit = if is_wide { 2 } else { 1 };
        let bits: Vec<usize> = (0..facts.logic.len()).collect();
        let wiring = Wiring::new(unit, &bits).ok_or_else(malformed)?;

        let found = boot::running(found, self.settings.firmware.as_deref(), &mut usage).await?;
        let interface = plugged::open(&found).await?;
        boot::check_version(&found, &interface).await?;
        let unknown = || Instant::now() + timing::running_dry(SLOWEST_BYTES_PER_S);
        sleep_until(usage.idle_from.unwrap_or_else(unknown)).await;
        let stream = Stream::start(&found, &interface, start, rate_hz, unit as u64, usage).await?;
        let search = request
            .trigger
            .and_then(|trigger| Search::new(trigger, &wiring, rate_hz));
        #[allow(
            clippy::cast_precision_loss,
            reason = "sample rates are far below 2^52"
        )]
        let rate_hz = rate_hz as f64;
        let seconds = rates::duration_s(request.samples, rate_hz);
        let plan = Plan {
            unit,
            samples: request.samples,
            rate_hz,
            search,
            turning: Turning::logic(wiring),
            // Its quartz is better than that.
            within: Duration::from_secs_f64(seconds * 1.25) + SLACK,
            beside: None,
        };
        Ok(Capture::spawn(stream, plan))
    }

    /// Waits until nobody uses the analyzer.
    async fn claim(&self) -> Result<OwnedMutexGuard<Usage>, AcquireError> {
        let free = timeout(FREE_WITHIN, Arc::clone(&self.usage).lock_owned()).await;
        free.map_err(|_| AcquireError::Busy {
            what: "the analyzer".to_owned(),
        })
    }
}

impl Instrument for Fx2lafw {
    fn facts(&self) -> Looking<'_> {
        Box::pin(async { Ok(self.look().await?.1) })
    }

    fn start(&self, request: Request) -> Starting<'_> {
        Box::pin(self.start_now(request))
    }
}
