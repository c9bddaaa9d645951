//! Pages of captures that fit a filter, in an order, and the cursors between them.

use super::super::Context;
use super::super::bindings::hostd::host::captures::{Error, Looked, SortedBy, Status as WitStatus};
use super::super::door::Door;
use super::{seen, wanted};
use admission::Requester;
use lab::captures::Captures;
use store::captures::looked::{By, Filter, Order, Place};
use store::captures::{CaptureRecord, Status};

/// The captures, as far as the caller may see them.
#[derive(Clone, Copy)]
pub(super) struct Reach<'a> {
    pub(super) context: &'a Context,
    pub(super) door: Door<'a>,
    pub(super) captures: &'a Captures,
    pub(super) requester: Option<&'a Requester>,
}

impl Reach<'_> {
    /// A page of what fits, and the cursor of the next one.
    pub(super) async fn looked_for(
        self,
        looked: Looked,
        cursor: Option<String>,
        limit: usize,
    ) -> Result<(Vec<CaptureRecord>, Option<String>), Error> {
        let order = Order {
            by: by(looked.sort),
            is_ascending: looked.is_ascending,
        };
        let of = (looked.device.clone(), looked.job.clone());
        let filter = filter(looked);
        let found = if filter.is_plain() && order == Order::default() {
            let asked = (of.0, of.1, cursor);
            wanted(self.context, self.door, self.captures, asked, limit).await?
        } else {
            let behind = cursor.map(|cursor| behind(&cursor, order)).transpose()?;
            self.page(of, filter, order, behind, limit).await?
        };
        let last = found.last().filter(|_| found.len() == limit);
        let next = last.map(|last| text(&Place::of(last, order), order));
        Ok((found, next))
    }

    async fn page(
        self,
        of: (Option<String>, Option<String>),
        filter: Filter,
        order: Order,
        behind: Option<Place>,
        limit: usize,
    ) -> Result<Vec<CaptureRecord>, Error> {
        let caller = self.context.caller.as_ref().ok_or(Error::NotFound)?;
        let Some(seen) = seen(self.context, self.door, of)? else {
            return Ok(Vec::new());
        };
        let filter = Filter {
            devices: seen.devices,
            job: seen.job,
            ..filter
        };
        let fitting = (filter, order);
        let found = self
            .captures
            .looked_for(caller.org(), fitting, behind, limit, self.requester);
        found.await.map_err(|e| self.context.capture_error(e))
    }
}

/// All but whose they are.
fn filter(looked: Looked) -> Filter {
    Filter {
        text: looked.text,
        kind: looked.kind.map(Into::into),
        status: looked.status.map(status),
        pinned: looked.pinned,
        since: looked.since,
        ..Filter::default()
    }
}

/// Where a page ended, as a cursor.
fn text(place: &Place, order: Order) -> String {
    match order.by {
        By::Created => place.id.clone(),
        By::Size | By::Samples => format!("{}-{:016x}", place.id, place.much),
    }
}

/// The place that a cursor means in this order.
fn behind(cursor: &str, order: Order) -> Result<Place, Error> {
    let place = match order.by {
        By::Created => Some((cursor, 0)),
        By::Size | By::Samples => cursor
            .split_once('-')
            .and_then(|(id, much)| Some((id, u64::from_str_radix(much, 16).ok()?))),
    };
    let place = place.filter(|(id, _)| base::id::is_ulid(id));
    let (id, much) = place.ok_or_else(|| {
        let rule = "must be the next_cursor of a page of the same order";
        Error::Invalid(("cursor".to_owned(), rule.to_owned()))
    })?;
    let id = id.to_owned();
    Ok(Place { much, id })
}

fn by(sorted: SortedBy) -> By {
    match sorted {
        SortedBy::Created => By::Created,
        SortedBy::Size => By::Size,
        SortedBy::Samples => By::Samples,
    }
}

fn status(status: WitStatus) -> Status {
    match status {
        WitStatus::Pending => Status::Pending,
        WitStatus::Armed => Status::Armed,
        WitStatus::Running => Status::Running,
        WitStatus::Done => Status::Done,
        WitStatus::Failed => Status::Failed,
        WitStatus::TimedOut => Status::TimedOut,
        WitStatus::Cancelled => Status::Cancelled,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_of_one_order() {
        let id = "01JGZ5V9T3N8W2K4Q7R6D1M0XC";
        let of = |by| Order {
            by,
            is_ascending: true,
        };
        for (by, much) in [(By::Created, 0), (By::Size, u64::MAX), (By::Samples, 7)] {
            let place = Place {
                much,
                id: id.to_owned(),
            };
            let cursor = text(&place, of(by));
            assert_eq!(behind(&cursor, of(by)).ok(), Some(place));
            let other = if by == By::Created {
                By::Size
            } else {
                By::Created
            };
            assert!(behind(&cursor, of(other)).is_err(), "{cursor}");
        }
        for wrong in [
            "",
            "x",
            "-",
            "01JGZ5V9T3N8W2K4Q7R6D1M0XC-",
            "x-0000000000000001",
        ] {
            assert!(behind(wrong, of(By::Size)).is_err(), "{wrong}");
        }
    }
}
