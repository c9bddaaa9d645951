//! Actions with their placeholders replaced.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;

use super::{Expansion, Surroundings};
use crate::check;
use crate::definition::action::Parity;
use crate::definition::trigger::{RX, SCL, SDA, Trigger, TriggerProtocol};
use crate::definition::{self, EnvValue, Pack, Step, action};
use crate::path::Path;
use crate::plan::{self, Action, Artifact, Assertion};
use crate::problem::{Code, did_you_mean};
use crate::rules::{RuleSource, Time};
use crate::scalars::Id;
use crate::template::{Scope, Templated};

/// Bits per second of a line that names none.
const BAUD: u64 = 115_200;

/// Milliseconds of a reset pulse that names none.
const PULSE_MS: u64 = 50;

/// What a capture waits for; none if its trigger has been found to be none.
fn wait(capture: &action::Capture, trigger: &Trigger) -> Option<plan::Wait> {
    let channel = |id: &Id| Some(capture.channels.get(id)?.0);
    let named = |id: &Option<Id>, usual: &str| match id {
        Some(id) => channel(id),
        None => Some(capture.channels.get(usual)?.0),
    };
    let ns = |time: Time| u64::try_from(time.0).ok();
    match trigger.protocol {
        Some(TriggerProtocol::I2c) => {
            return Some(plan::Wait::I2c {
                scl: named(&trigger.scl, SCL)?,
                sda: named(&trigger.sda, SDA)?,
                address: trigger.address.as_ref()?.0,
                direction: trigger.direction,
            });
        }
        Some(TriggerProtocol::Uart) => {
            return Some(plan::Wait::Uart {
                rx: named(&trigger.rx, RX)?,
                bytes: trigger.bytes.as_ref()?.bytes().to_vec(),
                baudrate: trigger.baudrate.as_ref().map_or(BAUD, |baud| baud.0),
                parity: trigger.parity.unwrap_or(Parity::None),
            });
        }
        None => {}
    }
    if let Some(pulse) = &trigger.pulse {
        return Some(plan::Wait::Pulse {
            channel: channel(&pulse.channel)?,
            level: pulse.level,
            length: match (pulse.shorter_than, pulse.longer_than) {
                (Some(time), _) => plan::Length::ShorterThan(ns(time)?),
                (None, time) => plan::Length::LongerThan(ns(time?)?),
            },
        });
    }
    if let Some(held) = &trigger.level {
        return Some(plan::Wait::Level {
            channel: channel(&held.channel)?,
            level: held.level,
            for_ns: ns(held.r#for)?,
        });
    }
    if !trigger.pattern.is_empty() {
        let levels = trigger.pattern.iter();
        let levels = levels.map(|(id, level)| Some((channel(id)?, *level)));
        return Some(plan::Wait::Pattern {
            pattern: levels.collect::<Option<_>>()?,
        });
    }
    Some(plan::Wait::Edge {
        channel: channel(trigger.channel.as_ref()?)?,
        edge: trigger.edge?,
    })
}

/// Milliseconds that a trigger waits that names none.
const TRIGGER_MS: u64 = 10_000;

/// What a step adds to the environment.
pub(super) fn environment(step: &Step) -> BTreeMap<String, plan::EnvValue> {
    let value = |value: &EnvValue| match value {
        EnvValue::Plain(text) => plan::EnvValue::Plain(text.0.clone()),
        EnvValue::Secret(name) => plan::EnvValue::Secret(name.0.clone()),
    };
    step.env
        .iter()
        .map(|(name, of)| (name.0.clone(), value(of)))
        .collect()
}

/// The chip of a pack that is for one alone.
fn only_target(pack: &Pack) -> Option<String> {
    match &pack.targets[..] {
        [only] => Some(only.to_string()),
        _ => None,
    }
}

impl Expansion<'_> {
    /// The value of a field; none, with a finding, if its placeholders make it a wrong one.
    pub(super) fn resolve<T: DeserializeOwned + Clone>(
        &mut self,
        path: &Path,
        field: &Templated<T>,
        scope: &Scope<'_>,
    ) -> Option<T> {
        if self.told.contains(path) {
            return None;
        }
        match field.resolve(scope) {
            Ok(value) => Some(value),
            Err((code, message)) => {
                self.tell(path.clone(), code, message);
                None
            }
        }
    }

    /// As [`resolve`](Self::resolve), of a field that may be left out.
    fn maybe<T: DeserializeOwned + Clone>(
        &mut self,
        path: &Path,
        field: Option<&Templated<T>>,
        scope: &Scope<'_>,
    ) -> Option<T> {
        self.resolve(path, field?, scope)
    }

    /// What a step does; none if that is not known, which has been told.
    pub(super) fn action(
        &mut self,
        at: &Path,
        step: &Step,
        around: &Surroundings<'_>,
        is_judged: bool,
    ) -> Option<Action> {
        let key = step.action()?;
        let path = at.key(key);
        if let Some(script) = &step.run {
            return Some(Action::Run {
                script: script.0.clone(),
                any_exit_code: is_judged,
            });
        }
        if let Some(pytest) = &step.pytest {
            return Some(self.pytest(&path, pytest, around, is_judged));
        }
        if let Some(flash) = &step.flash {
            return self.flash(&path, flash, around);
        }
        if let Some(uart) = &step.uart {
            return Some(self.uart(&path, uart, around));
        }
        if let Some(capture) = &step.capture {
            return self.capture(&path, capture, around);
        }
        if let Some(assert) = &step.assert {
            return self.assert(&path, assert, around);
        }
        if let Some(measure) = &step.measure {
            return self.measure(&path, measure, around);
        }
        if let Some(replay) = &step.replay {
            let waveform = self.resolve(&path.key("waveform"), &replay.waveform, &around.scope)?;
            return Some(Action::Replay(plan::Replay {
                waveform: waveform.0,
                output: replay.output,
                mapping: replay.mapping,
                rate_hz: replay.rate.map(|rate| rate.0),
            }));
        }
        simple(step)
    }

    fn pytest(
        &mut self,
        path: &Path,
        pytest: &action::Pytest,
        around: &Surroundings<'_>,
        any_exit_code: bool,
    ) -> Action {
        let path = path.key("args");
        let args = pytest.args.iter().enumerate();
        let args = args.filter_map(|(at, arg)| self.resolve(&path.index(at), arg, &around.scope));
        Action::Pytest {
            path: pytest.path.0.clone(),
            args: args.map(|arg| arg.0).collect(),
            any_exit_code,
        }
    }

    fn flash(
        &mut self,
        path: &Path,
        flash: &action::Flash,
        around: &Surroundings<'_>,
    ) -> Option<Action> {
        let name = self.resolve(&path.key("artifact"), &flash.artifact, &around.scope)?;
        let target = self.maybe(&path.key("target"), flash.target.as_ref(), &around.scope);
        let at = path.key("artifact");
        if self.told.contains(&at) {
            return None;
        }
        let (artifact, pack) = match self.artifact(&name.0, around) {
            Ok(found) => found,
            Err(message) => {
                self.tell(at, Code::MissingArtifact, message);
                return None;
            }
        };
        Some(Action::Flash(plan::Flash {
            artifact,
            verify: flash.verify,
            target: target.map(|target| target.0).or_else(|| only_target(pack)),
        }))
    }

    /// The artifact of this cell's run, or of the run that the name begins with, and the pack that it is of.
    fn artifact<'a>(
        &'a self,
        name: &str,
        around: &Surroundings<'a>,
    ) -> Result<(Artifact, &'a Pack), String> {
        let (source, bench) = around.source.ok_or("a build has no device to flash")?;
        if let Some(build) = source {
            let made = |pack: &'a Pack| pack.artifacts.iter().map(|artifact| &**artifact);
            let run = around.cell.id(&build.id);
            let pack = around.cell.pack;
            return match pack.filter(|pack| made(pack).any(|made| made == name)) {
                Some(pack) => {
                    let name = name.to_owned();
                    Ok((Artifact { run, name }, pack))
                }
                None => {
                    let hint = did_you_mean(name, pack.into_iter().flat_map(made));
                    Err(format!(
                        "`{run}` makes no artifact `{name}`: every pack of the build must list it under `artifacts`{hint}"
                    ))
                }
            };
        }
        let made = self.made_by(&bench.needs);
        let found = name.split_once('/').and_then(|(run, name)| {
            let mut packs = made
                .iter()
                .filter(|(id, _)| id == run)
                .map(|(_, pack)| pack);
            let has = |pack: &&&'a Pack| pack.artifacts.iter().any(|artifact| &**artifact == name);
            let pack = *packs.find(has)?;
            let (run, name) = (run.to_owned(), name.to_owned());
            Some((Artifact { run, name }, pack))
        });
        found.ok_or_else(|| {
            let names = made.iter().flat_map(|(run, pack)| {
                let artifacts = pack.artifacts.iter();
                artifacts.map(move |artifact| format!("{run}/{}", artifact.0))
            });
            let names: Vec<String> = names.collect();
            let hint = did_you_mean(name, names.iter().map(String::as_str));
            format!("without `for_each` an artifact is named with its run, as `fw.debug.f0/fw.elf`, of a build among `needs`; none is called `{name}`{hint}")
        })
    }

    /// Runs of these builds with their packs.
    fn made_by<'a>(&'a self, needs: &[Id]) -> Vec<(String, &'a Pack)> {
        let needs: BTreeSet<&str> = needs.iter().map(|id| &**id).collect();
        let builds = needs
            .into_iter()
            .filter_map(|id| check::build(self.definition, id));
        let runs = builds.flat_map(|build| {
            let cells = super::cells(build).into_iter();
            cells.filter_map(|cell| Some((cell.id(&build.id), cell.pack?)))
        });
        runs.collect()
    }

    fn uart(&mut self, path: &Path, uart: &action::Uart, around: &Surroundings<'_>) -> Action {
        let scope = &around.scope;
        let baud = self.maybe(&path.key("baud"), uart.baud.as_ref(), scope);
        let send = self.maybe(&path.key("send"), uart.send.as_ref(), scope);
        let expect = self.maybe(&path.key("expect"), uart.expect.as_ref(), scope);
        let until = self.maybe(&path.key("until"), uart.until.as_ref(), scope);
        Action::Uart(plan::Uart {
            baud: baud.map_or(BAUD, |baud| baud.0),
            parity: uart.parity,
            channels: uart.channels.as_ref().map(|channels| plan::UartChannels {
                rx: channels.rx.0,
                tx: channels.tx.0,
            }),
            send: send.map(|text| text.0),
            expect: expect.map(|text| text.0),
            until: until.map(|text| text.0),
        })
    }

    fn capture(
        &mut self,
        path: &Path,
        capture: &action::Capture,
        around: &Surroundings<'_>,
    ) -> Option<Action> {
        let samples = self.resolve(&path.key("samples"), &capture.samples, &around.scope)?;
        let trigger = match &capture.trigger {
            Some(trigger) => Some(plan::Trigger {
                wait: wait(capture, trigger)?,
                timeout_ms: trigger.timeout.map_or(TRIGGER_MS, |timeout| timeout.0),
            }),
            None => None,
        };
        Some(Action::Capture(plan::Capture {
            kind: capture.kind,
            channels: capture
                .channels
                .iter()
                .map(|(name, channel)| (name.0.clone(), channel.0))
                .collect(),
            rate_hz: capture.rate.0,
            samples: samples.0,
            trigger,
            pre_samples: capture.pre_samples.as_ref().map_or(0, |pre| pre.0),
        }))
    }

    fn assert(
        &mut self,
        path: &Path,
        assert: &action::Assert,
        around: &Surroundings<'_>,
    ) -> Option<Action> {
        let byte = |value: u64| u8::try_from(value).ok();
        let that = if let Some(code) = assert.exit_code {
            Assertion::ExitCode(byte(code.0)?)
        } else if let Some(text) = &assert.text {
            Assertion::Text(self.resolve(&path.key("text"), text, &around.scope)?.0)
        } else if let Some(rules) = &assert.rules {
            match rules {
                RuleSource::List(rules) => Assertion::Rules(rules.to_vec()),
                RuleSource::File(path) => Assertion::RuleFile(path.0.clone()),
            }
        } else {
            let address = self.maybe(&path.key("address"), assert.address.as_ref(), &around.scope);
            Assertion::Bus {
                decoder: assert.decode?,
                address: address.and_then(|address| byte(address.0)),
                bytes: assert
                    .bytes
                    .iter()
                    .filter_map(|value| byte(value.0))
                    .collect(),
                ack: assert.ack,
                min_count: assert.min_count.map_or(1, |count| count.0),
            }
        };
        Some(Action::Assert {
            on: assert.on.0.clone(),
            that,
        })
    }
}

impl Expansion<'_> {
    fn measure(
        &mut self,
        path: &Path,
        measure: &action::Measure,
        around: &Surroundings<'_>,
    ) -> Option<Action> {
        let scope = &around.scope;
        let low = self.maybe(&path.key("low"), measure.low.as_ref(), scope);
        let high = self.maybe(&path.key("high"), measure.high.as_ref(), scope);
        if let (Some(low), Some(high)) = (low, high)
            && low.0 > high.0
        {
            let message = format!("`low` is {}, above `high`, {}", low.0, high.0);
            self.tell(path.key("high"), Code::InvalidValue, message);
        }
        let ns = |time: Option<Time>| time.and_then(|time| u64::try_from(time.0).ok());
        Some(Action::Measure(plan::Measure {
            on: measure.on.0.clone(),
            name: measure.name.0.clone(),
            quantity: measure.quantity.clone(),
            channel: measure.channel.as_ref().map(|channel| channel.0.clone()),
            from_ns: ns(measure.from),
            to_ns: ns(measure.to),
            low: low.map(|low| low.0),
            high: high.map(|high| high.0),
        }))
    }
}

/// Actions without placeholders.
fn simple(step: &definition::Step) -> Option<Action> {
    if let Some(power) = step.power {
        return Some(Action::Power(power));
    }
    if let Some(reset) = &step.reset {
        let pulse_ms = reset.pulse.map_or(PULSE_MS, |pulse| pulse.0);
        return Some(Action::Reset { pulse_ms });
    }
    if let Some(decode) = &step.decode {
        return Some(Action::Decode(plan::Decode {
            on: decode.on.0.clone(),
            decoder: decode.decoder.clone(),
            channels: decode
                .channels
                .iter()
                .map(|(role, channel)| (role.0.clone(), channel.0.clone()))
                .collect(),
            options: decode
                .options
                .iter()
                .map(|(name, value)| (name.0.clone(), value.0.clone()))
                .collect(),
            annotations: decode
                .annotations
                .iter()
                .map(|name| name.0.clone())
                .collect(),
        }));
    }
    step.wait.map(|wait| Action::Wait { ms: wait.0.0 })
}
