//! Table of events that plugins are owed: that jobs are over. An event is stored in the transaction that turns the notice
//! of it into what is owed, and leaves when its plugin has heard it, or it is given up.

use std::ops::ControlFlow;

use base::news::Kind;
use serde::{Deserialize, Serialize};

use super::{Grant, PLUGINS, State, grants};
use crate::notices::Notice;
use crate::records::{Pairs, Records, pair};
use crate::snapshot::{Range, Source};
use crate::{Store, StoreError, Writing};

pub(super) const TABLE: &str = "plugin_events";

/// `plugin/org/id` to event; ids sort by time.
const EVENTS: Records<OwedEvent> = Records::new(TABLE);

/// What a plugin is owed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwedEvent {
    /// Stays the same however often it is told: a ULID.
    pub id: String,
    pub plugin: String,
    pub org: String,
    /// `job.finished`
    pub kind: String,
    pub at_ms: u64,
    /// Id of what it is about.
    pub subject: String,
    /// JSON object.
    pub told: String,
    /// Ids of the devices that it is about.
    pub devices: Vec<String>,
}

/// Where an event stands in the table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventKey {
    pub plugin: String,
    pub org: String,
    pub id: String,
}

impl EventKey {
    fn text(&self) -> String {
        pair(&pair(&self.plugin, &self.org), &self.id)
    }

    fn of(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '/').map(str::to_owned);
        Some(Self {
            plugin: parts.next()?,
            org: parts.next()?,
            id: parts.next()?,
        })
    }
}

/// One event; none if it is not owed any more, or cannot be read.
///
/// # Errors
/// The storage failed.
pub fn event(from: &impl Source, key: &EventKey) -> Result<Option<OwedEvent>, StoreError> {
    EVENTS.get_readable(from, &key.text())
}

/// All events that are owed, of each plugin and organisation the oldest first. One that cannot be read is among them.
///
/// # Errors
/// The storage failed.
pub fn events_owed(from: &impl Source) -> Result<Vec<EventKey>, StoreError> {
    let mut found = Vec::new();
    EVENTS.each_found(from, Range::ALL, |key, _| {
        found.extend(EventKey::of(key));
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// Whether a plugin is to be told of a notice.
pub(crate) fn want(from: &impl Source, notice: &Notice) -> Result<bool, StoreError> {
    Ok(notice.standing.has_ended() && !listeners(from, notice)?.is_empty())
}

/// Store the events of a notice; how many.
pub(crate) fn owe(w: &Writing<'_>, notice: &Notice, told: &str) -> Result<usize, StoreError> {
    if !notice.standing.has_ended() {
        return Ok(0);
    }
    let listeners = listeners(w, notice)?;
    for grant in &listeners {
        let event = OwedEvent {
            id: notice.id.clone(),
            plugin: grant.plugin.clone(),
            org: notice.org.clone(),
            kind: Kind::JobFinished.as_str().to_owned(),
            at_ms: notice.at_ms,
            subject: notice.job.clone(),
            told: told.to_owned(),
            devices: notice.devices.clone(),
        };
        let key = pair(&pair(&event.plugin, &event.org), &event.id);
        EVENTS.put(w, &key, &event)?;
    }
    Ok(listeners.len())
}

/// Grants of plugins that serve, and may hear of a notice.
fn listeners(from: &impl Source, notice: &Notice) -> Result<Vec<Grant>, StoreError> {
    let may_hear = |grant: &Grant| {
        let has_device = |device| grant.devices.as_ref().is_none_or(|d| d.contains(device));
        let has_kind = |kind: &String| kind == Kind::JobFinished.as_str();
        grant.org == notice.org
            && grant.events.iter().any(has_kind)
            && notice.devices.iter().all(has_device)
    };
    let mut found = grants::grants(from)?;
    found.retain(may_hear);
    let mut serving = Vec::new();
    for grant in found {
        let plugin = PLUGINS.get_readable(from, &grant.plugin)?;
        let serves = plugin.is_some_and(|p| p.state == State::Enabled && p.active.is_some());
        serving.extend(serves.then_some(grant));
    }
    Ok(serving)
}

/// A plugin is removed.
pub(super) fn forget(w: &Writing<'_>, plugin: &str) -> Result<(), StoreError> {
    let mut keys = Vec::new();
    EVENTS.each_found(w, Pairs::of(plugin).forwards(), |key, _| {
        keys.push(key.to_owned());
        ControlFlow::Continue(())
    })?;
    for key in keys {
        EVENTS.remove(w, &key)?;
    }
    Ok(())
}

impl Store {
    /// An event is owed no more; whether it was.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn plugin_event_done(&self, key: &EventKey) -> Result<bool, StoreError> {
        let key = key.text();
        self.write(move |w| EVENTS.remove(w, &key)).await
    }
}
