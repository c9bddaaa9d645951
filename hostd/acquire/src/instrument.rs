//! What is the same for all instruments: their facts, and what they are asked for.

use std::pin::Pin;

use pod_protocol::capture::{Condition, Length, Trigger};
use pod_protocol::{AdcFit, LA_CHANNELS, LA_SAMPLES_MAX, TRIGGER_NS_MAX, TRIGGER_TIMEOUT_MS_MAX};

use crate::capture::Capture;
use crate::error::AcquireError;
use crate::rates::Rates;

/// Most samples of one capture, which is what a pod takes.
pub const SAMPLES_MAX: u64 = LA_SAMPLES_MAX;

/// What an instrument is and can do.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// What it calls itself.
    pub model: String,
    /// Names of the channels that are LA1, LA2 and so on, in this order; at most [`LA_CHANNELS`]. Empty for an
    /// instrument that sees no levels.
    pub logic: Vec<String>,
    /// Names of its analog inputs, in the order of their numbers. Empty for an instrument without.
    pub analog: Vec<String>,
    /// How the counts of its analog frames become volts.
    pub fit: AdcFit,
    /// The rates that it really has.
    pub rates: Rates,
    /// Most samples of one capture.
    pub samples_max: u64,
    /// Triggers are looked for in its samples, so that they can be of any kind and with samples before them.
    pub is_searched: bool,
}

/// What to sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Input {
    /// All logic channels.
    Logic,
    /// The analog input of this number, the first of [`Facts::analog`] being 0.
    Analog(usize),
    /// All logic channels, and an analog input from the same instant on.
    Both(Beside),
}

/// What to sample beside logic channels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beside {
    /// The analog input, by its number as in [`Input::Analog`].
    pub input: usize,
    /// How many of its samples, exactly.
    pub samples: u64,
    /// How fast, in hertz. The instrument has one rate, of whose samples as many are left out as it takes not to be
    /// faster.
    pub rate_hz: f64,
}

impl Beside {
    /// Of how many samples of the instrument one is kept.
    pub(crate) fn every(&self, rate_hz: f64) -> u64 {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "float to integer casts saturate, which is the bound wanted here"
        )]
        let every = (rate_hz / self.rate_hz).ceil() as u64;
        every.max(1)
    }

    /// Samples of the instrument from the first that is kept to the last.
    pub(crate) fn span(&self, rate_hz: f64) -> u64 {
        let gaps = self.samples.saturating_sub(1);
        gaps.saturating_mul(self.every(rate_hz)).saturating_add(1)
    }
}

/// What to capture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Request {
    /// What to sample.
    pub input: Input,
    /// How many samples, exactly.
    pub samples: u64,
    /// How fast, in hertz. [`Rates::fitting`] says what becomes of it.
    pub rate_hz: f64,
    /// What makes sample 0, or that of the number `pre_samples`. `None` starts at once. Only captures of levels can wait for one.
    pub trigger: Option<Trigger>,
}

impl Request {
    /// Checks the request against an instrument's facts.
    ///
    /// # Errors
    /// Which part of it the instrument cannot do, and what it can.
    pub fn check(&self, facts: &Facts) -> Result<(), AcquireError> {
        check_count(self.samples, facts)?;
        check_rate(self.rate_hz)?;
        match self.input {
            Input::Logic => self.check_logic(facts),
            Input::Analog(number) => {
                check_input(number, facts)?;
                match self.trigger {
                    Some(_) => Err(AcquireError::AnalogTrigger),
                    None => Ok(()),
                }
            }
            Input::Both(beside) => {
                check_count(beside.samples, facts)?;
                check_rate(beside.rate_hz)?;
                check_input(beside.input, facts)?;
                self.check_logic(facts)
            }
        }
    }

    fn check_logic(&self, facts: &Facts) -> Result<(), AcquireError> {
        match self.trigger {
            _ if facts.logic.is_empty() => Err(AcquireError::NoLogic),
            Some(trigger) => {
                check_trigger(trigger, facts)?;
                self.check_before(trigger.pre_samples)
            }
            None => Ok(()),
        }
    }

    /// The trigger lies within the samples of both kinds, as far as their rates are known.
    fn check_before(&self, found: u64) -> Result<(), AcquireError> {
        let mut most = self.samples.saturating_sub(1);
        if let Input::Both(beside) = self.input {
            most = most.min(beside.span(self.rate_hz).saturating_sub(1));
        }
        match found <= most {
            true => Ok(()),
            false => Err(AcquireError::PreSamples { found, most }),
        }
    }
}

fn check_count(found: u64, facts: &Facts) -> Result<(), AcquireError> {
    let most = facts.samples_max;
    match (1..=most).contains(&found) {
        true => Ok(()),
        false => Err(AcquireError::Samples { found, most }),
    }
}

fn check_rate(rate_hz: f64) -> Result<(), AcquireError> {
    match rate_hz.is_finite() && rate_hz > 0.0 {
        true => Ok(()),
        false => Err(AcquireError::Rate),
    }
}

fn check_input(number: usize, facts: &Facts) -> Result<(), AcquireError> {
    let inputs = facts.analog.len();
    match number < inputs {
        true => Ok(()),
        false => Err(AcquireError::NoInput { number, inputs }),
    }
}

fn check_trigger(trigger: Trigger, facts: &Facts) -> Result<(), AcquireError> {
    let channels = facts.logic.len().min(usize::from(LA_CHANNELS));
    let condition = trigger.condition;
    for channel in [condition.channel(), condition.last_channel()] {
        if !(1..=channels).contains(&usize::from(channel)) {
            return Err(AcquireError::TriggerChannel { channel, channels });
        }
    }
    let ns = match condition {
        Condition::Pulse {
            length: Length::ShorterThan(ns) | Length::LongerThan(ns),
            ..
        } => Some(ns),
        Condition::Level { for_ns, .. } => Some(for_ns),
        Condition::Edge { .. } | Condition::Pattern { .. } => None,
    };
    if let Some(ns) = ns.filter(|ns| !(1..=TRIGGER_NS_MAX).contains(ns)) {
        return Err(AcquireError::TriggerTime { ns });
    }
    if !(1..=TRIGGER_TIMEOUT_MS_MAX).contains(&trigger.timeout_ms) {
        return Err(AcquireError::TriggerWait {
            timeout_ms: trigger.timeout_ms,
        });
    }
    Ok(())
}

/// Facts that are being looked up.
pub type Looking<'a> = Pin<Box<dyn Future<Output = Result<Facts, AcquireError>> + Send + 'a>>;

/// A capture that is being started.
pub type Starting<'a> = Pin<Box<dyn Future<Output = Result<Capture, AcquireError>> + Send + 'a>>;

/// An instrument. It does one thing at a time: what is asked of it meanwhile is refused as [`AcquireError::Busy`].
pub trait Instrument: Send + Sync + 'static {
    /// What it is and can do. Asks the instrument itself, each time: an error means that it cannot be used now.
    fn facts(&self) -> Looking<'_>;

    /// Starts a capture, and returns as soon as the instrument samples, or was told to where it does not say.
    /// Dropping what is returned, or this future, stops it.
    fn start(&self, request: Request) -> Starting<'_>;
}
