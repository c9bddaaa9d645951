//! A double of the host, for tests on the machine where a plugin is written.
//!
//! Each thread has one of its own; [`Double::install`] replaces it.
//!
//! ```
//! use hostd_plugin::testing::{Device, Double};
//!
//! let mut double = Double::default();
//! double.devices.push(Device::named("bench-1"));
//! double.install();
//! assert_eq!(hostd_plugin::devices::list().unwrap()[0].name(), "bench-1");
//! ```

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};

use crate::power::Rail;
use crate::{Error, http_out};

mod captures;
mod jobs;
mod keys;

pub use captures::Capture;
pub use jobs::Job;
pub use keys::Keys;

/// A device of the double.
#[derive(Debug, Clone)]
pub struct Device {
    pub id: String,
    pub name: String,
    pub state: String,
    /// Further members of what is known of it.
    pub json: Value,
    pub rails: Vec<Rail>,
    /// Answers to commands, by their `cmd`; others are refused.
    pub answers: BTreeMap<String, Value>,
}

impl Device {
    /// A device that is online and has two rails that are off.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let rail = |id| Rail {
            id,
            on: false,
            fault: false,
            millivolts: Some(0),
            microamperes: Some(0),
        };
        Self {
            id: format!("id-of-{name}"),
            name: name.to_owned(),
            state: "online".to_owned(),
            json: json!({"id": format!("id-of-{name}"), "name": name, "state": "online"}),
            rails: vec![rail(1), rail(2)],
            answers: BTreeMap::new(),
        }
    }
}

/// What the host's functions answer in a test.
#[derive(Debug)]
pub struct Double {
    /// What [`clock::now`](crate::clock::now) says.
    pub now_ms: u64,
    pub config: Value,
    pub secrets: BTreeMap<String, String>,
    pub devices: Vec<Device>,
    /// Finished ones, newest first.
    pub captures: Vec<Capture>,
    pub jobs: Vec<Job>,
    pub store: Keys,
    /// Requests that were sent to others.
    pub requests: Vec<http_out::Request>,
    /// What others answer to them, in this order; then 200 with an empty object.
    pub answers: VecDeque<Result<http_out::Answer, Error>>,
    /// What webhooks were told: kinds and objects.
    pub notices: Vec<(String, Value)>,
    /// Lines that were logged, with their levels.
    pub log: Vec<(&'static str, String)>,
}

impl Default for Double {
    fn default() -> Self {
        Self {
            now_ms: 1_767_225_600_000,
            config: json!({}),
            secrets: BTreeMap::new(),
            devices: Vec::new(),
            captures: Vec::new(),
            jobs: Vec::new(),
            store: Keys::default(),
            requests: Vec::new(),
            answers: VecDeque::new(),
            notices: Vec::new(),
            log: Vec::new(),
        }
    }
}

thread_local! {
    static DOUBLE: RefCell<Double> = RefCell::default();
}

impl Double {
    /// Be the host of this thread.
    pub fn install(self) {
        DOUBLE.with(|double| *double.borrow_mut() = self);
    }

    pub(crate) fn random(&self, count: u32) -> Vec<u8> {
        (0..count).map(|n| n.to_le_bytes()[0]).collect()
    }

    pub(crate) fn device(&self, which: &str) -> Result<&Device, Error> {
        let mut devices = self.devices.iter();
        let found = devices.find(|device| device.id == which || device.name == which);
        found.ok_or_else(|| Error::new("not_found", format!("the double has no device {which}")))
    }

    pub(crate) fn send(&mut self, request: http_out::Request) -> Result<http_out::Answer, Error> {
        self.requests.push(request);
        let answer = self.answers.pop_front();
        answer.unwrap_or_else(|| Ok(http_out::Answer::new(200, "application/json", "{}")))
    }

    pub(crate) fn command(&self, device: &str, command: &Value) -> Result<Value, Error> {
        let verb = command["cmd"].as_str().unwrap_or_default();
        let answer = self.device(device)?.answers.get(verb).cloned();
        answer.ok_or_else(|| {
            Error::new(
                "refused",
                format!("the double's device has no answer to {verb:?}"),
            )
        })
    }

    pub(crate) fn switch(&mut self, device: &str, rail: u8, on: bool) -> Result<(), Error> {
        let id = self.device(device)?.id.clone();
        let rails = self.devices.iter_mut().filter(|known| known.id == id);
        let found = rails
            .flat_map(|known| &mut known.rails)
            .find(|known| known.id == rail);
        match found {
            Some(found) => found.on = on,
            None => return Err(Error::invalid(format!("there is no rail {rail}"))),
        }
        Ok(())
    }
}

/// Look at the double of this thread, or change it.
pub fn with<T>(look: impl FnOnce(&mut Double) -> T) -> T {
    DOUBLE.with(|double| look(&mut double.borrow_mut()))
}
