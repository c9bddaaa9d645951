//! What a pod's refusal means, read from its text: the protocol has no error codes.

use std::fmt;

use crate::MissingPart;

/// A pod's refusal: its own text, and its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The pod's words, unchanged.
    pub text: String,
    /// What they mean.
    pub kind: RefusalKind,
}

/// Kinds of refusals, told apart by fixed phrases; the first that matches counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefusalKind {
    /// The channel belongs to another function.
    PinConflict {
        /// LA channel, from 1.
        la: u8,
        /// The owner, such as `gpio`, `uart_rx`, `step`.
        function: String,
    },
    /// The bias resistor of the channel and its function exclude each other.
    PullConflict {
        /// LA channel, from 1.
        la: u8,
    },
    /// The condition that a capture waited for was not met.
    TriggerTimeout {
        /// `rising`, `falling`, `high` or `low`.
        edge: String,
        /// LA channel, from 1.
        la: u8,
    },
    /// A policy of the pod forbids the command on this link.
    Locked,
    /// A cloud job holds the pod.
    Leased {
        /// Who holds it.
        holder: String,
        /// Seconds left.
        left_s: u32,
    },
    /// The hardware is in use: another capture, a running step train.
    Busy,
    /// The command exceeds what this link may do.
    Forbidden,
    /// The pod does not know the command.
    UnknownCommand,
    /// The board lacks the analog front end.
    NoAnalog,
    /// A bench of parts lacks the part that the command needs.
    MissingPart {
        /// Its name: `uart`, `power`, `probe`.
        part: String,
        /// The bench has one, which cannot be reached now.
        is_away: bool,
    },
    /// Any other reason.
    Plain,
}

const POLICY_PHRASES: [&str; 5] = [
    "change it from the cloud",
    "change it over TLS",
    "change it over USB",
    "change it on the device",
    "only the USB console can loosen",
];

impl Refusal {
    /// Reads a pod's refusal text.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let kind = classify(&text);
        Self { text, kind }
    }
}

/// How the refusal begins when a bench lacks a part.
const MISSING_PART: &str = "missing part: ";

/// What follows the name of a part that cannot be reached now.
const AWAY: &str = ": it is away";

/// The text of a refusal because a bench of parts lacks `part`. `away`: it has one that cannot be reached now, and why.
pub fn missing_part(part: &str, away: Option<&str>) -> String {
    match away {
        Some(reason) => format!("{MISSING_PART}{part}{AWAY}: {reason}"),
        None => format!("{MISSING_PART}{part}: this bench has none"),
    }
}

/// How the reason begins why a bench of parts cannot be reached.
const NO_PARTS: &str = "none of its parts is there: ";

/// What stands between the parts in it.
const NEXT_PART: &str = "; ";

/// Why a bench of parts cannot be reached, all of which are away.
pub fn no_parts(missing: &[MissingPart]) -> String {
    let away = missing.iter().map(|missing| {
        let reason = missing.reason.replace(NEXT_PART, ", ");
        format!("{}: {reason}", missing.part)
    });
    let away: Vec<String> = away.collect();
    format!("{NO_PARTS}{}", away.join(NEXT_PART))
}

/// The parts that such a reason names; none if it is another one.
pub fn parts_in(reason: &str) -> Vec<MissingPart> {
    let parts = reason.split_once(NO_PARTS).map(|(_, parts)| parts);
    let away = parts.into_iter().flat_map(|parts| parts.split(NEXT_PART));
    let away = away.filter_map(|away| {
        let (part, reason) = away.split_once(": ")?;
        Some(MissingPart {
            part: part.to_owned(),
            reason: reason.to_owned(),
        })
    });
    away.collect()
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

fn classify(text: &str) -> RefusalKind {
    // First: a reason may contain any other phrase.
    if let Some(rest) = text.strip_prefix(MISSING_PART) {
        let part = word(rest).to_owned();
        let is_away = rest[part.len()..].starts_with(AWAY);
        return RefusalKind::MissingPart { part, is_away };
    }
    let by_channel = pin_conflict(text)
        .or_else(|| pull_conflict(text))
        .or_else(|| trigger_timeout(text));
    if let Some(kind) = by_channel {
        return kind;
    }
    if text.starts_with("locked:") || POLICY_PHRASES.iter().any(|phrase| text.contains(phrase)) {
        return RefusalKind::Locked;
    }
    if let Some(kind) = leased(text) {
        return kind;
    }
    if text.starts_with("busy:") || text == "busy" {
        RefusalKind::Busy
    } else if text.starts_with("forbidden:") {
        RefusalKind::Forbidden
    } else if text.trim() == "unknown cmd" {
        RefusalKind::UnknownCommand
    } else if text.starts_with("this BenchPod has no analog front end") {
        RefusalKind::NoAnalog
    } else {
        RefusalKind::Plain
    }
}

fn after<'a>(text: &'a str, phrase: &str) -> Option<&'a str> {
    text.find(phrase).map(|at| &text[at + phrase.len()..])
}

/// The number `text` starts with, and the rest.
fn leading_number<T: std::str::FromStr>(text: &str) -> Option<(T, &str)> {
    let end = text
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

fn word(text: &str) -> &str {
    let end = text
        .find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
        .unwrap_or(text.len());
    &text[..end]
}

fn pin_conflict(text: &str) -> Option<RefusalKind> {
    let (la, rest) = leading_number(after(text, "pin conflict: LA")?)?;
    let function = word(rest.strip_prefix(" is in use by ")?).to_owned();
    Some(RefusalKind::PinConflict { la, function })
}

fn pull_conflict(text: &str) -> Option<RefusalKind> {
    let (la, _) = leading_number(after(text, "pull conflict: LA")?)?;
    Some(RefusalKind::PullConflict { la })
}

fn trigger_timeout(text: &str) -> Option<RefusalKind> {
    let rest = after(text, "trigger timeout: no ")?;
    let edge = word(rest).to_owned();
    let (la, _) = leading_number(after(rest, " on LA")?)?;
    Some(RefusalKind::TriggerTimeout { edge, la })
}

fn leased(text: &str) -> Option<RefusalKind> {
    let rest = after(text, "busy: a cloud job holds this pod (")?;
    // A holder's name may contain the phrase that ends the text.
    let inside = &rest[..rest.rfind(" s left)")?];
    let (holder, left) = inside.rsplit_once(", ")?;
    let (left_s, _) = leading_number(left)?;
    Some(RefusalKind::Leased {
        holder: holder.to_owned(),
        left_s,
    })
}

#[cfg(test)]
mod tests;
