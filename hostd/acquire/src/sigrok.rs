//! Whatever libsigrok supports, through an installed `sigrok-cli`: a child process for each capture.
//!
//! Levels come as `-O binary`: samples of as many bytes as all logic channels of the instrument take, which is why all
//! of them are switched on. Analog samples come as `-O wav`, since that is the only format of `sigrok-cli` 0.7 that
//! writes them as they are: its texts are rounded. Both kinds together come as lines.

mod arguments;
mod both;
mod child;
mod driver;
pub(crate) mod fuzzing;
mod mixed;
mod said;
mod shown;
mod stream;
mod wav;

use std::sync::{Arc, Mutex as StdMutex, PoisonError};
use std::time::Duration;

use pod_protocol::LA_CHANNELS;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::timeout;

use crate::capture::{Capture, Plan, Turning};
use crate::error::AcquireError;
use crate::instrument::{Facts, Input, Instrument, Looking, Request, SAMPLES_MAX, Starting};
use crate::trigger::Search;
use crate::volts::{self, VOLT_BYTES};
use crate::wiring::{UNIT_BYTES_MAX, Wiring};

use arguments::{Mode, analog, logic};
use child::Child;
use driver::Driver;
use shown::Shown;
use stream::Stream;

/// The program, where none is configured.
const TOOL: &str = "sigrok-cli";

/// How long the instrument may take to say what it is; some load a firmware first.
const SHOW_WITHIN: Duration = Duration::from_secs(20);

/// Most bytes that it may say about itself.
const SHOWN_BYTES_MAX: usize = 64 * 1024;

/// How long whoever uses the instrument may take to let go of it.
const FREE_WITHIN: Duration = Duration::from_secs(3);

/// How much longer than its samples last a capture may take: a start, and the way out of the instrument's memory.
const SLACK: Duration = Duration::from_secs(30);

/// Volts from zero to either end of an analog input, where none are configured: a count is a millivolt.
const RANGE_V: f64 = 32.768;

/// How an instrument is used.
#[derive(Debug, Clone, Default)]
pub struct SigrokSettings {
    /// The driver of libsigrok with its options: `demo`, `fx2lafw:conn=1.5`, `rigol-ds:conn=tcp-raw/10.0.0.7/5555`.
    pub driver: String,
    /// The instrument's names of the channels that are LA1, LA2 and so on. Empty for the first ones, in their order.
    pub channels: Vec<String>,
    /// The instrument's names of its analog inputs. Empty for all, in their order.
    pub inputs: Vec<String>,
    /// Volts from zero to either end of the analog inputs. `None` for 32.768, which makes a count a millivolt.
    pub range_v: Option<f64>,
    /// The program, where it is not `sigrok-cli` on the search path.
    pub tool: Option<String>,
}

/// An instrument that libsigrok supports.
pub struct Sigrok {
    driver: Driver,
    settings: SigrokSettings,
    range_v: f64,
    /// Held while the instrument is used.
    usage: Arc<Mutex<()>>,
    shown: StdMutex<Option<Arc<Shown>>>,
}

impl Sigrok {
    /// The instrument of these settings. Nothing is started yet.
    ///
    /// # Errors
    /// A setting is malformed.
    pub fn new(settings: SigrokSettings) -> Result<Self, AcquireError> {
        let driver = Driver::parse(&settings.driver)?;
        let range_v = settings.range_v.unwrap_or(RANGE_V);
        if !(range_v.is_finite() && range_v > 0.0) {
            return Err(AcquireError::Setting {
                field: "range_v",
                found: range_v.to_string(),
                form: "a number of volts above 0",
            });
        }
        if settings.channels.len() > usize::from(LA_CHANNELS) {
            return Err(AcquireError::Setting {
                field: "channels",
                found: settings.channels.join(","),
                form: "a list of at most 14 channels",
            });
        }
        Ok(Self {
            driver,
            settings,
            range_v,
            usage: Arc::default(),
            shown: StdMutex::default(),
        })
    }

    fn tool(&self) -> &str {
        self.settings.tool.as_deref().unwrap_or(TOOL)
    }

    /// Waits until nobody uses the instrument.
    async fn claim(&self) -> Result<OwnedMutexGuard<()>, AcquireError> {
        let free = timeout(FREE_WITHIN, Arc::clone(&self.usage).lock_owned()).await;
        free.map_err(|_| AcquireError::Busy {
            what: format!("the instrument {}", self.driver.text()),
        })
    }

    /// Asks the instrument what it is.
    async fn show(&self) -> Result<Arc<Shown>, AcquireError> {
        let guard = self.claim().await?;
        let arguments = [format!("--driver={}", self.driver.text()), "--show".into()];
        let mut child = Child::start(self.tool(), &arguments, guard)?;
        let reading = async {
            let mut text = Vec::new();
            while let Some(bytes) = child.read().await? {
                text.extend(bytes);
                if SHOWN_BYTES_MAX < text.len() {
                    let what = "it says too much about itself".to_owned();
                    return Err(AcquireError::Malformed { what });
                }
            }
            let (status, said) = child.ended().await;
            match status.is_some_and(|status| status.success()) {
                true => Shown::parse(&String::from_utf8_lossy(&text)),
                false => Err(said::why(&self.driver, &said)),
            }
        };
        let late = |_| AcquireError::Silent {
            waited: SHOW_WITHIN,
        };
        let shown = timeout(SHOW_WITHIN, reading).await.map_err(late)??;
        let shown = Arc::new(shown);
        let mut known = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Some(Arc::clone(&shown));
        Ok(shown)
    }

    /// What the instrument said last.
    async fn shown(&self) -> Result<Arc<Shown>, AcquireError> {
        let known = {
            let known = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
            known.clone()
        };
        match known {
            Some(shown) => Ok(shown),
            None => self.show().await,
        }
    }

    fn facts_of(&self, shown: &Shown) -> Result<Facts, AcquireError> {
        let SigrokSettings {
            channels, inputs, ..
        } = &self.settings;
        Ok(Facts {
            model: shown.model.clone(),
            logic: chosen(shown, channels, &shown.logic, usize::from(LA_CHANNELS))?,
            analog: chosen(shown, inputs, &shown.analog, usize::MAX)?,
            fit: volts::fit(self.range_v),
            rates: shown.rates.clone(),
            samples_max: SAMPLES_MAX,
            is_searched: shown.is_continuous,
        })
    }

    async fn start_now(&self, request: Request) -> Result<Capture, AcquireError> {
        let shown = self.shown().await?;
        let facts = self.facts_of(&shown)?;
        request.check(&facts)?;
        let rate_hz = facts.rates.fitting(request.rate_hz);
        match request.input {
            Input::Logic => self.start_logic(&request, &shown, &facts, rate_hz).await,
            Input::Analog(number) => {
                let arguments = analog(
                    &self.driver,
                    &shown,
                    &facts.analog[number],
                    &request,
                    rate_hz,
                );
                let child = Child::start(self.tool(), &arguments, self.claim().await?)?;
                let within = within(
                    request.samples,
                    request.rate_hz.min(rate_hz.map_or(f64::MAX, hertz)),
                );
                let stream = Stream::new(child, self.driver.clone(), None);
                let (stream, header) = timeout(within, stream.behind_header())
                    .await
                    .map_err(|_| AcquireError::Silent { waited: within })??;
                let plan = Plan {
                    unit: VOLT_BYTES,
                    samples: request.samples,
                    rate_hz: f64::from(header.rate_hz),
                    search: None,
                    turning: Turning::Analog(facts.fit),
                    within,
                    beside: None,
                };
                Ok(Capture::spawn(stream, plan))
            }
            Input::Both(beside) => self.start_both(&request, beside, &shown, &facts).await,
        }
    }

    async fn start_logic(
        &self,
        request: &Request,
        shown: &Shown,
        facts: &Facts,
        rate_hz: Option<u64>,
    ) -> Result<Capture, AcquireError> {
        let rate_hz =
            rate_hz.ok_or_else(|| malformed("it tells no sample rates of logic channels"))?;
        let wiring = wiring(shown, facts)?;
        let mode = Mode::of(request, shown, facts)?;
        let arguments = logic(&self.driver, shown, &mode, request.samples, rate_hz);
        let searched = request.trigger.filter(|_| mode == Mode::Searched);
        let search = searched.and_then(|trigger| Search::new(trigger, &wiring, rate_hz));
        let waits = request.trigger.filter(|_| searched.is_none());
        let wait = waits.map_or(Duration::ZERO, |trigger| {
            Duration::from_millis(trigger.timeout_ms.into())
        });
        let child = Child::start(self.tool(), &arguments, self.claim().await?)?;
        let plan = Plan {
            unit: wiring.unit(),
            samples: request.samples,
            rate_hz: hertz(rate_hz),
            search,
            turning: Turning::logic(wiring),
            within: wait + within(request.samples, hertz(rate_hz)),
            beside: None,
        };
        let stream = Stream::new(child, self.driver.clone(), waits);
        Ok(Capture::spawn(stream, plan))
    }
}

impl Instrument for Sigrok {
    fn facts(&self) -> Looking<'_> {
        Box::pin(async { self.facts_of(&*self.show().await?) })
    }

    fn start(&self, request: Request) -> Starting<'_> {
        Box::pin(self.start_now(request))
    }
}

/// The channels that the configuration names, which the instrument must have, or the first of those it has.
fn chosen(
    shown: &Shown,
    named: &[String],
    has: &[String],
    most: usize,
) -> Result<Vec<String>, AcquireError> {
    if named.is_empty() {
        return Ok(has.iter().take(most).cloned().collect());
    }
    match named.iter().find(|name| !has.contains(name)) {
        None => Ok(named.to_vec()),
        Some(name) => Err(AcquireError::NoChannel {
            model: shown.model.clone(),
            name: name.clone(),
            known: has.join(" "),
        }),
    }
}

/// Where the channels lie in samples of all logic channels.
fn wiring(shown: &Shown, facts: &Facts) -> Result<Wiring, AcquireError> {
    let unit = shown.logic.len().div_ceil(8);
    let bit = |name| shown.logic.iter().position(|known| known == name);
    let bits: Option<Vec<usize>> = facts.logic.iter().map(bit).collect();
    let wiring = bits.filter(|_| unit <= UNIT_BYTES_MAX);
    let wiring = wiring.and_then(|bits| Wiring::new(unit, &bits));
    wiring.ok_or_else(|| malformed("the instrument has more than 64 logic channels"))
}

fn malformed(what: &str) -> AcquireError {
    let what = what.to_owned();
    AcquireError::Malformed { what }
}

/// How long so many samples may take.
fn within(samples: u64, rate_hz: f64) -> Duration {
    let seconds = pod_protocol::rates::duration_s(samples, rate_hz);
    // The clocks of instruments are better than that.
    Duration::try_from_secs_f64(seconds * 1.25).unwrap_or(Duration::MAX / 2) + SLACK
}

#[allow(
    clippy::cast_precision_loss,
    reason = "sample rates are far below 2^52"
)]
fn hertz(rate: u64) -> f64 {
    rate as f64
}
