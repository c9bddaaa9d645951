//! A device that does what a script says, and writes down what was asked of it.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use evidence::redact::Words;
use jobs::{
    Bench, BenchError, Cancel, Decoding, Flashed, Found, Judging, Link, Quantity, Recording, Relay,
    Ruled, Ruling, Supply, Taken, Transfer, TransferPart, Until,
};
use pipeline::plan::{Capture, Flash, Measure, Replay, Uart};
use pipeline::{Power, Rail, Switch};

/// What an action of the device comes to.
#[derive(Clone, Debug)]
pub(crate) enum Way {
    Fails(BenchError),
    /// It goes on for ever, unless somebody ends it.
    Hangs,
}

#[derive(Debug, Default)]
pub(crate) struct Fake {
    /// What the target says when it begins anew, in pieces.
    pub(crate) boot: Vec<&'static str>,
    /// What it says as soon as it has power, before it is programmed.
    pub(crate) old: &'static str,
    /// What it answers.
    pub(crate) answer: &'static str,
    /// How long captures take.
    pub(crate) records: Duration,
    pub(crate) transfers: Vec<Transfer>,
    /// What captures measure.
    pub(crate) measures: Option<f64>,
    /// Actions that go another way, by name.
    pub(crate) ways: Vec<(&'static str, Way)>,
    pub(crate) asked: Mutex<Vec<String>>,
    /// Whether the rail has power.
    pub(crate) is_on: Mutex<bool>,
    pub(crate) lines: Arc<Lines>,
    pub(crate) words: Words,
}

/// What the target says, for each line that is open.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    open: Mutex<Vec<Open>>,
    has_changed: Condvar,
}

/// A line that is open.
#[derive(Debug)]
struct Open {
    id: u64,
    unread: VecDeque<u8>,
    /// Its reader has dealt with all that it said, and waits for more.
    is_heard: bool,
    /// Its reader hears no more.
    is_left: bool,
}

/// Longest wait for the reader of a line.
const HEARD_MAX: Duration = Duration::from_secs(60);

impl Lines {
    fn say(&self, text: &str) {
        for line in self.open.lock().unwrap().iter_mut() {
            line.unread.extend(text.as_bytes());
            line.is_heard &= text.is_empty();
        }
        self.has_changed.notify_all();
    }

    /// Waits until all that was said has been heard.
    fn until_heard(&self) {
        let open = self.open.lock().unwrap();
        let waits = |open: &mut Vec<Open>| open.iter().any(|line| !line.is_heard && !line.is_left);
        let waited = self
            .has_changed
            .wait_timeout_while(open, HEARD_MAX, waits)
            .unwrap();
        assert!(!waited.1.timed_out(), "it is not heard");
    }
}

impl Fake {
    pub(crate) fn calls(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    fn call(&self, name: &str, told: &str, until: &Until<'_>) -> Result<(), BenchError> {
        let call = format!("{name} {told}");
        self.asked.lock().unwrap().push(call.trim().to_owned());
        let way = self.ways.iter().find(|(of, _)| *of == name);
        match way.map(|(_, way)| way) {
            Some(Way::Fails(error)) => Err(error.clone()),
            Some(Way::Hangs) if until.cancel.wait_until(until.at) => Err(BenchError::Cancelled),
            Some(Way::Hangs) => Err(BenchError::TimedOut),
            None => Ok(()),
        }
    }

    fn begin(&self, anew: &mut dyn FnMut()) {
        anew();
        for piece in &self.boot {
            self.lines.say(piece);
            // So that each is heard for itself.
            self.lines.until_heard();
        }
    }
}

impl Bench for Fake {
    fn name(&self) -> &str {
        "fake-1"
    }

    fn power(
        &self,
        power: &Power,
        until: &Until<'_>,
        anew: &mut dyn FnMut(),
    ) -> Result<(), BenchError> {
        self.call("power", &format!("{:?}", power.state), until)?;
        *self.is_on.lock().unwrap() = power.state == Switch::On;
        anew();
        self.lines.say(self.old);
        Ok(())
    }

    fn supplies(&self, _until: &Until<'_>) -> Result<Vec<Supply>, BenchError> {
        let way = self.ways.iter().find(|(of, _)| *of == "supplies");
        if let Some((_, Way::Fails(error))) = way {
            self.asked.lock().unwrap().push("supplies".to_owned());
            return Err(error.clone());
        }
        let (mv, ua) = match *self.is_on.lock().unwrap() {
            true => (5_020, 42_000),
            false => (0, 0),
        };
        let rail = Rail::Internal;
        Ok(vec![Supply { rail, mv, ua }])
    }

    fn reset(
        &self,
        pulse: Duration,
        until: &Until<'_>,
        anew: &mut dyn FnMut(),
    ) -> Result<(), BenchError> {
        self.call("reset", &format!("{pulse:?}"), until)?;
        self.begin(anew);
        Ok(())
    }

    fn flash(
        &self,
        file: &Path,
        _flash: &Flash,
        until: &Until<'_>,
        anew: &mut dyn FnMut(),
    ) -> Result<Flashed, BenchError> {
        let content = std::fs::read_to_string(file).unwrap();
        self.call("flash", content.trim(), until)?;
        self.lines.say(self.old);
        self.lines.until_heard();
        self.begin(anew);
        Ok(Flashed {
            bytes: content.len() as u64,
            places: vec![format!("0x08000000 ({} bytes)", content.len())],
            chip: "STM32F030F4".to_owned(),
            time: Duration::from_millis(7),
        })
    }

    fn uart(&self, uart: &Uart, until: &Until<'_>) -> Result<Box<dyn Link>, BenchError> {
        let parity = uart.parity.map(|parity| format!("{parity:?}"));
        let told = format!("{} {}", uart.baud, parity.unwrap_or_default());
        self.call("uart", &told, until)?;
        let mut open = self.lines.open.lock().unwrap();
        let id = open.last().map_or(0, |line| line.id + 1);
        open.push(Open {
            id,
            unread: VecDeque::new(),
            is_heard: false,
            is_left: false,
        });
        Ok(Box::new(FakeLink {
            what: format!("LA5, {} baud", uart.baud),
            id,
            lines: Arc::clone(&self.lines),
            answer: self.answer,
        }))
    }

    fn capture(
        &self,
        _step: &str,
        capture: &Capture,
        until: &Until<'_>,
    ) -> Result<Box<dyn Recording>, BenchError> {
        self.call("capture", &capture.samples.to_string(), until)?;
        let way = self.ways.iter().find(|(of, _)| *of == "record");
        Ok(Box::new(FakeRecording {
            ends: Instant::now() + self.records,
            way: way.map(|(_, way)| way.clone()),
        }))
    }

    fn decode(
        &self,
        capture: &str,
        decoding: &Decoding<'_>,
        until: &Until<'_>,
        found: &mut dyn FnMut(Found),
    ) -> Result<(), BenchError> {
        let channels: Vec<String> = decoding
            .channels
            .iter()
            .map(|(role, number)| format!("{role}={number}"))
            .collect();
        self.call(
            "decode",
            &format!("{capture} {}", channels.join(" ")),
            until,
        )?;
        for transfer in &self.transfers {
            found(Found::Line(format!("{:#04x}", transfer.parts[0].address)));
            found(Found::Transfer(transfer.clone()));
        }
        match self.ways.iter().find(|(of, _)| *of == "decoded") {
            Some((_, Way::Fails(error))) => Err(error.clone()),
            _ => Ok(()),
        }
    }

    fn judge(
        &self,
        capture: &str,
        judging: &Judging<'_>,
        until: &Until<'_>,
    ) -> Result<Ruling, BenchError> {
        let names: Vec<&str> = judging.rules.iter().map(|rule| rule.name()).collect();
        let goldens: Vec<&str> = judging.goldens.keys().map(String::as_str).collect();
        let told = format!("{capture} {} {}", names.join(" "), goldens.join(" "));
        self.call("judge", told.trim_end(), until)?;
        // A rule says by its name what it comes to.
        let ruled = judging.rules.iter().map(|rule| {
            let holds = match rule.name() {
                name if name.starts_with("good") => Some(true),
                name if name.starts_with("bad") => Some(false),
                _ => None,
            };
            Ruled {
                name: rule.name().to_owned(),
                holds,
                wanted: "it to be good".to_owned(),
                seen: "it was opensesame".to_owned(),
                detail: "at sample 5".to_owned(),
                picture: (holds == Some(false)).then(|| "<svg/>".to_owned()),
            }
        });
        Ok(Ruling {
            rules: ruled.collect(),
            json: "{}\n".to_owned(),
        })
    }

    fn measure(
        &self,
        capture: &str,
        (recorded, measure): (&Capture, &Measure),
        until: &Until<'_>,
    ) -> Result<Option<Quantity>, BenchError> {
        let told = format!(
            "{capture} {} {}",
            measure.quantity.written(),
            recorded.samples
        );
        self.call("measure", &told, until)?;
        Ok(self.measures.map(|value| Quantity {
            value,
            unit: "Hz".to_owned(),
        }))
    }

    fn replay(&self, replay: &Replay, until: &Until<'_>) -> Result<(), BenchError> {
        self.call("replay", &replay.waveform, until)
    }

    fn relay(&self) -> Option<Relay> {
        None
    }
}

/// A transfer to one address that is acknowledged.
pub(crate) fn transfer(address: u8, bytes: &[u8]) -> Transfer {
    Transfer {
        parts: vec![TransferPart {
            address,
            is_acknowledged: true,
            bytes: bytes.to_vec(),
        }],
    }
}

struct FakeLink {
    what: String,
    id: u64,
    lines: Arc<Lines>,
    answer: &'static str,
}

impl Link for FakeLink {
    fn what(&self) -> String {
        self.what.clone()
    }

    fn write(&self, bytes: &[u8], _until: &Until<'_>) -> Result<(), BenchError> {
        assert!(!bytes.is_empty());
        self.lines.say(self.answer);
        Ok(())
    }

    fn read(&self, wait: Duration, cancel: &Cancel) -> Result<Vec<u8>, BenchError> {
        let mut open = self.lines.open.lock().unwrap();
        let line = open.iter_mut().find(|line| line.id == self.id).unwrap();
        line.is_heard = line.unread.is_empty();
        line.is_left = cancel.is_set();
        self.lines.has_changed.notify_all();
        if cancel.is_set() {
            return Err(BenchError::Cancelled);
        }
        let waited = self
            .lines
            .has_changed
            .wait_timeout_while(open, wait, |open| {
                open.iter()
                    .any(|line| line.id == self.id && line.unread.is_empty())
            });
        let mut open = waited.unwrap().0;
        let line = open.iter_mut().find(|line| line.id == self.id);
        Ok(line.unwrap().unread.drain(..).collect())
    }
}

impl Drop for FakeLink {
    fn drop(&mut self) {
        self.lines
            .open
            .lock()
            .unwrap()
            .retain(|line| line.id != self.id);
        self.lines.has_changed.notify_all();
    }
}

struct FakeRecording {
    ends: Instant,
    way: Option<Way>,
}

impl Recording for FakeRecording {
    fn wait(&mut self, until: &Until<'_>) -> Result<Taken, BenchError> {
        let ends = match &self.way {
            Some(Way::Fails(error)) => return Err(error.clone()),
            Some(Way::Hangs) => until.at,
            None => self.ends.min(until.at),
        };
        if until.cancel.wait_until(ends) {
            return Err(BenchError::Cancelled);
        }
        if self.way.is_some() || until.at < self.ends {
            return Err(BenchError::TimedOut);
        }
        Ok(Taken {
            id: "01CAPTURE".to_owned(),
            picture: None,
            warnings: vec!["it was recorded at 8 MHz".to_owned()],
        })
    }
}
