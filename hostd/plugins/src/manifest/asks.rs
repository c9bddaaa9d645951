//! `[wants]`: what a plugin asks for.

use super::section::{Found, Report, Section};
use crate::allow::Pattern;
use crate::cron::Cron;
use crate::interface::Interface;
use crate::wants::{Timer, Wants};

/// Most items of each list.
pub(super) const SCOPES_MAX: usize = 16;
pub(super) const HTTP_MAX: usize = 32;
pub(super) const EVENTS_MAX: usize = 32;
pub(super) const TIMERS_MAX: usize = 16;
pub(super) const SECRETS_MAX: usize = 16;

/// Longest name of a scope, event, timer or secret, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// Reads the section. Who asks for addresses, secrets or room asks for the interface that they are used through.
pub(super) fn read(wants: &mut Section<'_>, report: &mut Report<'_>) -> Wants {
    let interfaces = wants.texts("interfaces", Interface::ALL.len(), report, |text| {
        text.parse::<Interface>().map_err(|error| error.to_string())
    });
    let mut read = Wants {
        interfaces,
        scopes: wants.texts("scopes", SCOPES_MAX, report, scope),
        http: wants.texts("http", HTTP_MAX, report, |text| {
            text.parse::<Pattern>().map_err(|error| error.to_string())
        }),
        events: wants.texts("events", EVENTS_MAX, report, event),
        secrets: wants.texts("secrets", SECRETS_MAX, report, secret),
        ..Wants::default()
    };
    for item in wants.items("timers", TIMERS_MAX, report) {
        let (at, path) = (item.at, item.path.clone());
        let Some(timer) = timer(item, report) else {
            continue;
        };
        if read.timers.iter().any(|other| other.id == timer.id) {
            report.note(
                at,
                &path,
                format!("has the id of another timer, {}", timer.id),
            );
        }
        read.timers.insert(timer);
    }
    read.public = wants.flag("public", report).unwrap_or_default();
    read.interfaces.retain(|interface| !interface.is_free());
    if !read.http.is_empty() {
        read.interfaces.insert(Interface::HttpOut);
    }
    if !read.secrets.is_empty() {
        read.interfaces.insert(Interface::Secrets);
    }
    std::mem::replace(wants, Section::none()).finish(report);
    read
}

fn timer(item: Found<'_>, report: &mut Report<'_>) -> Option<Timer> {
    let mut timer = item.table(report)?;
    let id = timer.needed("id", report, |text| {
        name(text, b"-_").ok_or_else(|| rule("a timer", "nightly", "- and _"))
    });
    let cron = timer.needed("cron", report, |text| {
        text.parse::<Cron>().map_err(|error| error.to_string())
    });
    timer.finish(report);
    Some(Timer {
        id: id?,
        cron: cron?,
    })
}

pub(super) fn scope(text: &str) -> Result<String, String> {
    let is_scope = text
        .split_once(':')
        .is_some_and(|(area, right)| [area, right].iter().all(|part| name(part, b"-").is_some()));
    let is_scope = is_scope && text.len() <= NAME_BYTES_MAX;
    is_scope
        .then(|| text.to_owned())
        .ok_or_else(|| "must be a scope such as bench:control".to_owned())
}

fn event(text: &str) -> Result<String, String> {
    let is_event = text.split_once('.').is_some_and(|(subject, what)| {
        [subject, what]
            .iter()
            .all(|part| name(part, b"-_").is_some())
    });
    let is_event = is_event && text.len() <= NAME_BYTES_MAX;
    is_event
        .then(|| text.to_owned())
        .ok_or_else(|| "must be a kind of events such as job.finished".to_owned())
}

fn secret(text: &str) -> Result<String, String> {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-_".contains(&b);
    let is_secret = (1..=NAME_BYTES_MAX).contains(&text.len()) && text.bytes().all(is_plain);
    is_secret.then(|| text.to_owned()).ok_or_else(|| {
        format!("must be the name of a secret, 1 to {NAME_BYTES_MAX} letters, digits, - and _")
    })
}

fn name(text: &str, more: &[u8]) -> Option<String> {
    let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || more.contains(&b);
    let is_name = (1..=NAME_BYTES_MAX).contains(&text.len()) && text.bytes().all(is_plain);
    is_name.then(|| text.to_owned())
}

fn rule(what: &str, example: &str, more: &str) -> String {
    format!(
        "must be the name of {what}, 1 to {NAME_BYTES_MAX} characters a-z, 0-9, {more}, such as {example}"
    )
}
