//! Every command of the protocol, described once: what it is for, who may send it, what it takes,
//! what it answers and how long that takes. Gates, timeouts, documentation and tests derive from it.

use serde_json::{Map, Value};

mod analog;
mod calibration;
mod can;
mod capture;
mod command;
mod control;
mod field;
mod gate;
mod gps;
mod identity;
pub mod markdown;
mod pins;
mod power;
mod reply;
mod sensor;
mod settings;
mod spi;
mod swd;
mod tier;
mod uart;
mod update;
mod wave;

pub use command::{Answer, Command, Denied, Example, OwnConnection};
pub use field::{Field, Kind, Need, Outside};
pub use gate::Gate;
pub use reply::{Data, Out, Shape};
pub use tier::{Change, Tier};

/// Commands that belong together.
#[derive(Debug)]
pub struct Group {
    /// Heading.
    pub title: &'static str,
    /// The commands, in reading order.
    pub commands: &'static [Command],
}

/// Every command, by group. A new group is one file and one line here.
pub(crate) static GROUPS: &[Group] = &[
    identity::GROUP,
    settings::GROUP,
    update::GROUP,
    power::GROUP,
    pins::GROUP,
    capture::GROUP,
    uart::GROUP,
    swd::GROUP,
    analog::GROUP,
    calibration::GROUP,
    wave::GROUP,
    control::GROUP,
    can::GROUP,
    spi::GROUP,
    sensor::GROUP,
    gps::GROUP,
];

/// Every command.
pub fn all() -> impl Iterator<Item = &'static Command> {
    GROUPS.iter().flat_map(|group| group.commands)
}

/// The command with this verb.
pub fn find(verb: &str) -> Option<&'static Command> {
    all().find(|command| command.verb == verb)
}

/// What a connection must be allowed to send `request`. A verb that is not in the table needs most.
pub fn tier_of(request: &Map<String, Value>) -> Tier {
    let verb = request.get("cmd").and_then(Value::as_str);
    let command = verb.and_then(find);
    command.map_or(Tier::Firmware, |command| command.tier_of(request))
}

#[cfg(test)]
mod tests;
