//! What gives the target its power: told apart in [`source`], kept open by a task of its own, and switched by one
//! command at a time.

use std::sync::{Arc, Mutex as Lock, PoisonError};

use serde_json::{Value, json};
use tokio::sync::Mutex;
use tokio::task::AbortHandle;
use tokio::time::{Duration, sleep, timeout};
use tracing::warn;

use crate::args::Args;
use crate::presence::{Part, Presences};
use crate::refuse::Refuse;

mod answer;
pub(crate) mod fuzzing;
mod gpio;
mod hub;
mod program;
mod relay;
mod scpi;
mod source;
mod usbtmc;
mod wire;

pub(crate) use hub::{HUB_CLASS, switching};
pub(crate) use source::Plan;
pub(crate) use usbtmc::INTERFACE as USBTMC;

use source::{Reading, Source, Trouble};

/// How often a source is asked whether it is still there, and one that is away is tried again.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Longest time for one use of a source: a program that takes its time, or a dozen answers of a slow supply.
const USE_MAX: Duration = Duration::from_secs(20);

/// Longest delay of a scheduled switch.
const DELAY_MS: std::ops::RangeInclusive<i64> = 0..=600_000;

/// The supply of a bench.
#[derive(Debug)]
pub(crate) struct Power {
    plan: Plan,
    presences: Arc<Presences>,
    /// None while it is away.
    source: Mutex<Option<Source>>,
    /// What it was last told, or says.
    is_on: Lock<Option<bool>>,
    /// A switch that was asked for later.
    later: Lock<Option<AbortHandle>>,
}

impl Power {
    pub(crate) fn new(plan: Plan, presences: Arc<Presences>) -> Self {
        Self {
            plan,
            presences,
            source: Mutex::default(),
            is_on: Lock::default(),
            later: Lock::default(),
        }
    }

    /// Opens the source and looks after it, for ever.
    pub(crate) async fn keep(&self) {
        loop {
            self.look().await;
            sleep(LOOK_EVERY).await;
        }
    }

    async fn look(&self) {
        let mut source = self.source.lock().await;
        let looked = timeout(USE_MAX, async {
            match &mut *source {
                Some(source) => source.look().await,
                None => {
                    let mut opened = Source::open(&self.plan).await?;
                    let looked = opened.look().await?;
                    *source = Some(opened);
                    Ok(looked)
                }
            }
        });
        let looked = looked.await.unwrap_or_else(|_| Err(silent()));
        match looked {
            Ok(is_on) => {
                if is_on.is_some() {
                    self.note(is_on);
                }
                self.presences.there(Part::Power);
            }
            Err(trouble) => {
                *source = None;
                self.presences.away(Part::Power, trouble.to_string());
            }
        }
    }

    /// Carries out `work` on the source. One that fails is opened again.
    async fn with<T>(
        &self,
        work: impl AsyncFnOnce(&mut Source) -> Result<T, Trouble>,
    ) -> Result<T, Refuse> {
        let mut held = self.source.lock().await;
        let Some(source) = held.as_mut() else {
            let lack = self.presences.lack(Part::Power);
            return Err(match lack {
                Some(lack) => Refuse::lack(Part::Power, lack),
                None => Refuse::away(Part::Power, "it is being opened".to_owned()),
            });
        };
        let done = timeout(USE_MAX, work(source)).await;
        match done.unwrap_or_else(|_| Err(silent())) {
            Ok(done) => Ok(done),
            Err(Trouble::Refused(what)) => Err(Refuse::Part(what)),
            Err(Trouble::Away(reason)) => {
                *held = None;
                self.presences.away(Part::Power, reason.clone());
                Err(Refuse::away(Part::Power, reason))
            }
        }
    }

    async fn switch(&self, on: bool) -> Result<(), Refuse> {
        let switched = self
            .with(async |source: &mut Source| source.switch(on).await)
            .await;
        // Whether a failed one has an effect is unknown.
        self.note(switched.is_ok().then_some(on));
        match switched {
            // What may still be on is not safe, whatever is the matter with it.
            Err(Refuse::Part(why)) if !on => {
                let why = format!("it cannot be switched off: {why}");
                Err(Refuse::away(Part::Power, why))
            }
            switched => switched,
        }
    }

    /// `target_power`: switches now, or later; replaces what was to come.
    pub(crate) async fn target_power(self: &Arc<Self>, args: &Args<'_>) -> Result<Value, Refuse> {
        let efuse: u8 = args
            .uint("efuse", 1..=2)?
            .ok_or(Refuse::Missing { field: "efuse" })?;
        let on = args
            .flag("state")?
            .ok_or(Refuse::Missing { field: "state" })?;
        let delay_ms: u64 = args.uint("delay_ms", DELAY_MS)?.unwrap_or(0);
        if efuse != 1 {
            return Err(Refuse::OneRail);
        }
        self.plan_later(None);
        if delay_ms == 0 {
            self.switch(on).await?;
        } else {
            let power = self.clone();
            let later = tokio::spawn(async move {
                sleep(Duration::from_millis(delay_ms)).await;
                if let Err(error) = power.switch(on).await {
                    warn!(on, %error, "failed to switch the power of a target when it was time");
                }
            });
            self.plan_later(Some(later.abort_handle()));
        }
        Ok(json!({"efuse": 1, "enabled": u8::from(on), "delay_ms": delay_ms}))
    }

    /// `target_status`: how the switches are.
    pub(crate) fn target_status(&self) -> Result<Value, Refuse> {
        if let Some(lack) = self.presences.lack(Part::Power) {
            return Err(Refuse::lack(Part::Power, lack));
        }
        let on = self
            .is_on
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .unwrap_or(false);
        let rail = |on: bool| json!({"enabled": u8::from(on), "fault": 0, "valid": u8::from(on)});
        Ok(json!({"efuse1": rail(on), "efuse2": rail(false), "status_supported": true}))
    }

    /// `power_status`: what it gives.
    pub(crate) async fn power_status(&self) -> Result<Value, Refuse> {
        let reading = self
            .with(async |source: &mut Source| source.read().await)
            .await?;
        let monitor = |reading: Option<Reading>| match reading {
            Some(Reading { mv, ua }) => json!({"ok": true, "bus_mv": mv, "current_ua": ua}),
            None => json!({"ok": false, "bus_mv": 0, "current_ua": 0}),
        };
        Ok(json!({"internal": monitor(reading), "external": monitor(None)}))
    }

    fn note(&self, is_on: Option<bool>) {
        *self.is_on.lock().unwrap_or_else(PoisonError::into_inner) = is_on;
    }

    fn plan_later(&self, next: Option<AbortHandle>) {
        let mut later = self.later.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = std::mem::replace(&mut *later, next) {
            before.abort();
        }
    }
}

fn silent() -> Trouble {
    Trouble::Away(format!("it took more than {} s", USE_MAX.as_secs()))
}
