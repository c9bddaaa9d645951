//! What people keep with a finished capture: its name, what channels are called, markers with notes, and whether it is pinned.
//! The API's document gives the same bounds.

use std::collections::HashSet;
use std::sync::Arc;

use base::news::Kind;
use tracing::info;

use super::name::check_name;
use super::plan::PlanError;
use super::{CaptureError, Captures};
use store::captures::{CaptureRecord, Change, Marker};

/// Longest label of a channel, in characters: as of a name in a recording.
const LABEL_CHARS_MAX: usize = 64;

/// Markers of a capture.
const MARKERS_MAX: usize = 100;

/// Longest note of a marker, in characters.
const NOTE_CHARS_MAX: usize = 200;

/// What to change; what is none stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edit {
    /// Empty = it has none.
    pub name: Option<String>,
    pub pinned: Option<bool>,
    /// Channel and its label; empty = it has none.
    pub labels: Vec<(u32, String)>,
    /// All of them.
    pub markers: Option<Vec<Marker>>,
}

impl Captures {
    /// Change what is kept with a finished capture; returns its new record.
    ///
    /// # Errors
    /// It does not exist or has not finished, a member is out of bounds, or the store fails.
    pub async fn edit(
        self: &Arc<Self>,
        org: &str,
        id: &str,
        edit: Edit,
    ) -> Result<CaptureRecord, CaptureError> {
        self.get(org, id).await?;
        let is_new_name = edit.name.as_deref().filter(|name| !name.is_empty());
        check_name(is_new_name)?;
        let (captures, id) = (self.clone(), id.to_owned());
        // On a task of its own, so that what is stored is counted even if the caller goes away.
        let task = tokio::spawn(async move { captures.change(&id, edit).await });
        task.await
            .map_err(|_| CaptureError::State("the capture could not be changed"))?
    }

    async fn change(&self, id: &str, edit: Edit) -> Result<CaptureRecord, CaptureError> {
        let changed = self
            .store
            .capture_change(id, move |record| apply(&edit, record));
        let (before, after) = match changed.await? {
            Change::Missing => return Err(CaptureError::NotFound),
            Change::Unfinished => {
                return Err(CaptureError::State(
                    "the capture has not finished; change it once it has",
                ));
            }
            Change::Refused(problem) => return Err(problem.into()),
            Change::Done(records) => *records,
        };
        self.ledger.repin(&before, &after);
        info!(capture = id, pinned = after.marks.pinned, "capture changed");
        self.tell(Kind::CaptureChanged, &after);
        Ok(after)
    }
}

fn invalid(field: &str, message: String) -> PlanError {
    PlanError::Invalid {
        field: field.to_owned(),
        message,
    }
}

/// Change a record, or nothing of it.
fn apply(edit: &Edit, record: &mut CaptureRecord) -> Result<(), PlanError> {
    if let Some(name) = &edit.name {
        record.name = Some(name.clone()).filter(|name| !name.is_empty());
    }
    record.marks.pinned = edit.pinned.unwrap_or(record.marks.pinned);
    for (channel, label) in &edit.labels {
        check_channel("channels", record, *channel)?;
        check_text("channels", "label", label, 0..=LABEL_CHARS_MAX)?;
        let is_number = label.bytes().all(|byte| byte.is_ascii_digit());
        if is_number && !label.is_empty() {
            let rule =
                "must have labels that are more than a number, which would name another channel";
            return Err(invalid("channels", rule.to_owned()));
        }
        match label.is_empty() {
            true => record.marks.labels.remove(channel),
            false => record.marks.labels.insert(*channel, label.clone()),
        };
    }
    if !edit.labels.is_empty() {
        check_distinct(record)?;
    }
    if let Some(markers) = &edit.markers {
        if markers.len() > MARKERS_MAX {
            let rule = format!("must have 0..={MARKERS_MAX} items");
            return Err(invalid("markers", rule));
        }
        for marker in markers {
            check_channel("markers", record, marker.channel)?;
            check_text("markers", "note", &marker.note, 1..=NOTE_CHARS_MAX)?;
            let samples = record.channels[marker.channel as usize].samples;
            if marker.sample >= samples {
                let rule = format!("must have samples below {samples}, as the channel has");
                return Err(invalid("markers", rule));
            }
        }
        record.marks.markers.clone_from(markers);
        record.marks.markers.sort();
    }
    Ok(())
}

fn check_channel(field: &str, record: &CaptureRecord, channel: u32) -> Result<(), PlanError> {
    let channels = record.channels.len();
    if (channel as usize) < channels {
        return Ok(());
    }
    let rule = format!("must name channels by their ids, which are below {channels}");
    Err(invalid(field, rule))
}

fn check_text(
    field: &str,
    member: &str,
    text: &str,
    chars: std::ops::RangeInclusive<usize>,
) -> Result<(), PlanError> {
    let is_printable = !text.chars().any(char::is_control);
    if chars.contains(&text.chars().count()) && is_printable {
        return Ok(());
    }
    let (least, most) = chars.into_inner();
    let rule = format!("must have a {member} of {least} to {most} printable characters");
    Err(invalid(field, rule))
}

/// Each channel must be told from the others by its label and by its name.
fn check_distinct(record: &CaptureRecord) -> Result<(), PlanError> {
    let names = record.channels.iter().map(|channel| channel.name.as_str());
    let named = (0..).zip(names);
    let named = named.filter(|(channel, name)| {
        record.marks.labels.get(channel).map(String::as_str) != Some(name)
    });
    let labels = record.marks.labels.values().map(String::as_str);
    let mut taken = HashSet::new();
    let mut all = named.map(|(_, name)| name).chain(labels);
    match all.find(|text| !taken.insert(*text)) {
        None => Ok(()),
        Some(twice) => {
            let rule = format!("must have labels that no other channel has, unlike `{twice}`");
            Err(invalid("channels", rule))
        }
    }
}

#[cfg(test)]
mod tests;
