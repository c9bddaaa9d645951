//! Which channels of a capture are the bus.

use hostd_plugin::captures::Capture;
use hostd_plugin::{Error, config};
use serde::Deserialize;

/// What the operator may set.
#[derive(Debug, Deserialize)]
struct Config {
    scl: String,
    sda: String,
}

/// Names of the two channels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bus {
    pub(crate) scl: String,
    pub(crate) sda: String,
}

/// The bus of a capture: as the request says, or the capture's own, or channels that are called so, or as the operator has
/// set.
pub(crate) fn find(capture: &Capture, scl: Option<&str>, sda: Option<&str>) -> Result<Bus, Error> {
    let config: Config = config::get()?;
    Ok(Bus {
        scl: line(capture, "scl", scl, &config.scl)?,
        sda: line(capture, "sda", sda, &config.sda)?,
    })
}

fn line(
    capture: &Capture,
    role: &str,
    asked: Option<&str>,
    configured: &str,
) -> Result<String, Error> {
    let channels = capture
        .channels()
        .into_iter()
        .filter(|channel| channel.digital);
    let names: Vec<String> = channels.map(|channel| channel.name).collect();
    let own = || {
        capture
            .roles()
            .into_iter()
            .find(|(own, _)| own == role)
            .map(|(_, name)| name)
    };
    let called = || {
        names
            .iter()
            .find(|name| name.eq_ignore_ascii_case(role))
            .cloned()
    };
    let configured = || (!configured.is_empty()).then(|| configured.to_owned());
    let found = asked
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .or_else(own)
        .or_else(called)
        .or_else(configured);
    found.ok_or_else(|| {
        Error::invalid(format!(
            "say which channel is {}: ?{role}=NAME; the capture has {}",
            role.to_uppercase(),
            names.join(", ")
        ))
    })
}
