//! The wiring profile of a device: which logic-analyzer channel is wired to what on the target.
//!
//! Version 1: a flat object. A role is a channel, or null when it is not wired; no channel has two
//! uses. Unknown members are kept, since newer clients may know them.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use guest::{ApiError, FieldProblem, devices};
use serde_json::{Map, Value, json};

/// Largest profile, in bytes of compact JSON.
const BYTES_MAX: usize = 16 << 10;

/// Most named signals: one for each channel.
const SIGNALS_MAX: usize = 14;

/// Logic-analyzer channels.
pub(crate) const CHANNELS: RangeInclusive<u8> = 1..=14;

/// Bits per second of a UART.
pub(crate) const BAUD: RangeInclusive<u32> = 300..=4_000_000;

/// Members that are one of a few numbers.
const NUMBERS: [(&str, &[u64]); 3] = [
    ("version", &[1]),
    ("la_mv", &[1800, 3300]),
    ("efuse", &[1, 2]),
];

/// Addresses that are not reserved on the I2C bus.
const I2C_ADDRESSES: RangeInclusive<u64> = 0x03..=0x77;

const DIRECTIONS: [&str; 4] = ["input", "output", "open_drain", "bidir"];
const NAME_CHARS_MAX: usize = 32;
const TEXT_CHARS_MAX: usize = 120;
const TARGET_CHARS_MAX: usize = 128;

/// Members that are a channel or null, with the channel that is wired by default.
const ROLES: [(&str, Option<u8>); 10] = [
    ("uart_rx", Some(5)),
    ("uart_tx", Some(4)),
    ("i2c_sda", Some(1)),
    ("i2c_scl", Some(2)),
    ("swd_swclk", Some(11)),
    ("swd_swdio", Some(12)),
    ("spi_sclk", None),
    ("spi_mosi", None),
    ("spi_miso", None),
    ("spi_cs", None),
];

/// Members that are known here besides the roles.
const OTHERS: [&str; 8] = [
    "version",
    "la_mv",
    "efuse",
    "uart_baud",
    "i2c_addr",
    "swd_nreset",
    "swd_target",
    "signals",
];

/// What a profile that says nothing means.
pub(crate) fn defaults() -> Map<String, Value> {
    let mut profile = Map::new();
    for (name, value) in [
        ("version", json!(1)),
        ("la_mv", json!(3300)),
        ("efuse", json!(1)),
        ("uart_baud", json!(115_200)),
        ("i2c_addr", json!("0x76")),
        ("swd_nreset", json!(false)),
        ("swd_target", json!("")),
        ("signals", json!([])),
    ] {
        profile.insert(name.to_owned(), value);
    }
    for (role, channel) in ROLES {
        profile.insert(role.to_owned(), json!(channel));
    }
    profile
}

/// The stored members over the defaults.
pub(crate) fn completed(stored: &Map<String, Value>) -> Map<String, Value> {
    let mut profile = defaults();
    for (name, value) in stored {
        profile.insert(name.clone(), value.clone());
    }
    profile
}

/// Check a profile, absent members at their defaults.
///
/// # Errors
/// 400 that names every member that breaks a rule.
pub(crate) fn check(profile: &Map<String, Value>) -> Result<(), ApiError> {
    check_over(defaults(), profile)
}

/// Check changes of a profile by themselves: how they go with what stays is known with the profile that they change.
///
/// # Errors
/// As [`check`].
pub(crate) fn check_changes(changes: &Map<String, Value>) -> Result<(), ApiError> {
    let mut unwired = defaults();
    unwired.extend(ROLES.map(|(role, _)| (role.to_owned(), Value::Null)));
    check_over(unwired, changes)
}

fn check_over(mut whole: Map<String, Value>, profile: &Map<String, Value>) -> Result<(), ApiError> {
    whole.extend(profile.clone());
    let mut check = Check {
        problems: Vec::new(),
        uses: BTreeMap::new(),
    };
    check.numbers(&whole);
    for (role, _) in ROLES {
        check.channel(role, role, &whole[role], true);
    }
    check.texts(&whole);
    check.signals(&whole["signals"]);
    check.size(profile);
    if check.problems.is_empty() {
        return Ok(());
    }
    Err(ApiError::fields(check.problems))
}

/// Refuse a chip that this server does not know: nothing could be flashed, and no pipeline would find the device. `member`
/// is the name of `swd_target` where the profile came from.
///
/// # Errors
/// 400 that names chips that are like it.
pub(crate) fn check_chip(profile: &Map<String, Value>, member: &str) -> Result<(), ApiError> {
    let target = profile.get("swd_target").and_then(Value::as_str);
    let fault = target
        .filter(|target| !target.is_empty())
        .and_then(devices::chip_fault);
    match fault {
        Some(fault) => {
            let rule = format!("must be empty, or a chip or series to flash: {fault}");
            Err(ApiError::field(member, rule))
        }
        None => Ok(()),
    }
}

/// The profile with these changes: each member that is given in place of the stored one.
pub(crate) fn changed(
    stored: Option<Map<String, Value>>,
    changes: &Map<String, Value>,
) -> Map<String, Value> {
    let mut profile = stored.unwrap_or_default();
    profile.extend(changes.clone());
    profile
}

/// What works, but is probably not intended.
pub(crate) fn warnings(profile: &Map<String, Value>) -> Vec<String> {
    let mut warnings = Vec::new();
    let channel = |role: &str| profile.get(role).and_then(Value::as_u64);
    for role in ["i2c_sda", "i2c_scl"] {
        match channel(role) {
            Some(la @ 9..) => warnings.push(format!("{role}: LA{la} has no pull-up")),
            Some(la @ 7..=8) => warnings.push(format!("{role}: LA{la} has a pull-down")),
            _ => {}
        }
    }
    if let Some(la @ 7..=8) = channel("uart_rx") {
        warnings.push(format!(
            "uart_rx: LA{la} has a pull-down; an idle line is high"
        ));
    }
    let known = |name: &str| {
        ROLES.iter().any(|(role, _)| *role == name)
            || OTHERS.contains(&name)
            || name.starts_with("loop_input_")
    };
    let unknown = profile.keys().filter(|name| !known(name));
    warnings.extend(unknown.map(|name| format!("{name}: not known to this server; it is kept")));
    warnings
}

struct Check {
    problems: Vec<FieldProblem>,
    /// What uses each channel.
    uses: BTreeMap<u8, String>,
}

impl Check {
    fn problem(&mut self, field: &str, message: impl Into<String>) {
        self.problems.push(FieldProblem {
            field: field.to_owned(),
            message: message.into(),
        });
    }

    fn numbers(&mut self, profile: &Map<String, Value>) {
        for (name, allowed) in NUMBERS {
            if !profile[name].as_u64().is_some_and(|n| allowed.contains(&n)) {
                let list: Vec<String> = allowed.iter().map(u64::to_string).collect();
                self.problem(name, format!("must be {}", list.join(" or ")));
            }
        }
        let baud = profile["uart_baud"].as_u64();
        let baud = baud.and_then(|baud| u32::try_from(baud).ok());
        if !baud.is_some_and(|baud| BAUD.contains(&baud)) {
            let rule = format!("must be an integer, {}..={}", BAUD.start(), BAUD.end());
            self.problem("uart_baud", rule);
        }
    }

    fn texts(&mut self, profile: &Map<String, Value>) {
        if !profile["swd_nreset"].is_boolean() {
            self.problem("swd_nreset", "must be true or false");
        }
        let target = profile["swd_target"].as_str();
        if target.is_none_or(|text| text.chars().count() > TARGET_CHARS_MAX) {
            let rule = format!("must be a string of at most {TARGET_CHARS_MAX} characters");
            self.problem("swd_target", rule);
        }
        if !i2c_address(&profile["i2c_addr"]).is_some_and(|n| I2C_ADDRESSES.contains(&n)) {
            self.problem("i2c_addr", format!("must be {}", i2c_addresses()));
        }
    }

    /// One use of a channel.
    fn channel(&mut self, field: &str, what: &str, value: &Value, may_be_null: bool) {
        if value.is_null() && may_be_null {
            return;
        }
        let la = value.as_u64().and_then(|la| u8::try_from(la).ok());
        let Some(la) = la.filter(|la| CHANNELS.contains(la)) else {
            let (first, last) = (CHANNELS.start(), CHANNELS.end());
            let or_null = if may_be_null { " or null" } else { "" };
            let rule = format!("must be a channel, {first}..={last}{or_null}");
            return self.problem(field, rule);
        };
        if let Some(other) = self.uses.insert(la, what.to_owned()) {
            self.problem(field, format!("uses LA{la}, as {other} does"));
        }
    }

    /// The size of the whole is bounded; the error names the largest member.
    fn size(&mut self, profile: &Map<String, Value>) {
        let sizes = profile
            .iter()
            .map(|(name, value)| (value.to_string().len(), name));
        let all: usize = sizes.clone().map(|(size, name)| size + name.len()).sum();
        if all > BYTES_MAX
            && let Some((_, name)) = sizes.max()
        {
            self.problem(
                name,
                format!("makes the profile larger than {BYTES_MAX} bytes"),
            );
        }
    }

    fn signals(&mut self, signals: &Value) {
        let Some(signals) = signals.as_array().filter(|list| list.len() <= SIGNALS_MAX) else {
            let rule = format!("must be a list of at most {SIGNALS_MAX} signals");
            return self.problem("signals", rule);
        };
        let mut names: Vec<String> = Vec::new();
        for (at, signal) in signals.iter().enumerate() {
            let at = format!("signals.{at}");
            let Some(signal) = signal.as_object() else {
                self.problem(&at, "must be an object");
                continue;
            };
            let name = signal.get("name").and_then(Value::as_str).unwrap_or("");
            let lower = name.to_lowercase();
            let role = ROLES.iter().any(|(role, _)| *role == lower);
            if !is_name(name) {
                let rule = format!(
                    "must be a letter, then letters, digits and _, at most {NAME_CHARS_MAX} in all"
                );
                self.problem(&format!("{at}.name"), rule);
            } else if role || names.contains(&lower) {
                self.problem(&format!("{at}.name"), "is taken");
            }
            names.push(lower);
            let la = signal.get("la").unwrap_or(&Value::Null);
            self.channel(&format!("{at}.la"), &format!("signal {name}"), la, false);
            self.signal_details(&at, signal);
        }
    }

    fn signal_details(&mut self, at: &str, signal: &Map<String, Value>) {
        let direction = signal.get("direction");
        let word = |value: &Value| {
            value
                .as_str()
                .is_some_and(|word| DIRECTIONS.contains(&word))
        };
        if !direction.is_none_or(word) {
            let rule = format!("must be one of {}", DIRECTIONS.join(", "));
            self.problem(&format!("{at}.direction"), rule);
        }
        if !signal.get("active_low").is_none_or(Value::is_boolean) {
            self.problem(&format!("{at}.active_low"), "must be true or false");
        }
        let short = |value: &Value| {
            let text = value.as_str();
            text.is_some_and(|text| text.chars().count() <= TEXT_CHARS_MAX)
        };
        if !signal.get("description").is_none_or(short) {
            let rule = format!("must be a string of at most {TEXT_CHARS_MAX} characters");
            self.problem(&format!("{at}.description"), rule);
        }
    }
}

fn is_name(name: &str) -> bool {
    name.len() <= NAME_CHARS_MAX
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// A number, or the text of one: decimal, or hexadecimal after `0x`.
fn i2c_address(value: &Value) -> Option<u64> {
    match value.as_str() {
        None => value.as_u64(),
        Some(text) => match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        },
    }
}

mod profile;

pub(crate) use profile::Profile;

/// What an address looks like.
fn i2c_addresses() -> String {
    let (first, last) = (I2C_ADDRESSES.start(), I2C_ADDRESSES.end());
    format!("an address, \"{first:#04x}\" to \"{last:#04x}\"")
}

#[cfg(test)]
mod tests;
