//! Captures that are looked for: filters, and other orders than that of time.
//!
//! What is kept of an organisation is bounded in number by its quota, and read from the first to the last: a page has no more
//! in memory than itself.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::{CAPTURES, CaptureRecord, Kind, PAGE_MAX, Status};
use crate::records::{Pairs, least_id};
use crate::snapshot::{Snapshot, Source};
use crate::{Store, StoreError};
use base::clock;

/// Which captures are wanted; none = whichever.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of these devices.
    pub devices: Option<Vec<String>>,
    /// Of this job.
    pub job: Option<String>,
    /// In the name or the id, whatever the case.
    pub text: Option<String>,
    pub kind: Option<Kind>,
    pub status: Option<Status>,
    pub pinned: Option<bool>,
    /// Not older than this: RFC 3339 in UTC, or a day.
    pub since: Option<String>,
}

/// By what captures are ordered. Those that have as much of it are ordered by time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum By {
    /// When they were begun.
    #[default]
    Created,
    /// Bytes on disk.
    Size,
    /// Samples of the channel that has most.
    Samples,
}

/// In which order captures come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Order {
    pub by: By,
    /// The least first; otherwise the most.
    pub is_ascending: bool,
}

/// The last capture of a page. It is a place in an order also when the capture is gone, or has more by now.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// What it had of that by which they are ordered; 0 where that is time.
    pub much: u64,
    pub id: String,
}

impl Filter {
    /// Whether only devices and jobs are asked for, which have an index.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        let plain = Self {
            devices: self.devices.clone(),
            job: self.job.clone(),
            ..Self::default()
        };
        *self == plain
    }

    /// `text` is its own in lower case.
    fn has(&self, capture: &CaptureRecord, text: Option<&str>) -> bool {
        let is_of = |devices: &Vec<String>| devices.contains(&capture.device);
        let has_text = |text| {
            let name = capture.name.as_ref().map(|name| name.to_lowercase());
            name.is_some_and(|name| name.contains(text)) || capture.id.to_lowercase().contains(text)
        };
        self.devices.as_ref().is_none_or(is_of)
            && self
                .job
                .as_ref()
                .is_none_or(|job| capture.job.as_ref() == Some(job))
            && self.kind.is_none_or(|kind| capture.kind == kind)
            && self.status.is_none_or(|status| capture.status == status)
            && self
                .pinned
                .is_none_or(|pinned| capture.marks.pinned == pinned)
            && self
                .since
                .as_ref()
                .is_none_or(|since| clock::is_since(capture.created_ms, since))
            && text.is_none_or(has_text)
    }
}

impl By {
    /// How much a capture has of it.
    #[must_use]
    pub fn of(self, capture: &CaptureRecord) -> u64 {
        match self {
            Self::Created => 0,
            Self::Size => capture.size_bytes.unwrap_or(0),
            Self::Samples => {
                let samples = capture.channels.iter().map(|channel| channel.samples);
                samples.max().unwrap_or(0)
            }
        }
    }
}

impl Place {
    /// That of a capture.
    #[must_use]
    pub fn of(capture: &CaptureRecord, order: Order) -> Self {
        Self {
            much: order.by.of(capture),
            id: capture.id.clone(),
        }
    }
}

/// The captures of `org` that fit, in an order, behind a place; at most `limit`, which is 1..=`PAGE_MAX`.
fn looked_for(
    from: &impl Source,
    org: &str,
    (filter, order): (&Filter, Order),
    behind: Option<&Place>,
    limit: usize,
) -> Result<Vec<CaptureRecord>, StoreError> {
    let limit = limit.clamp(1, PAGE_MAX);
    let before = behind.filter(|_| order == Order::default());
    // What is older is not read, in whichever order.
    let least = filter.since.as_deref().and_then(least_id);
    let before = before.map(|behind| behind.id.as_str());
    let keys = Pairs::between(org, least.as_deref(), before);
    let text = filter.text.as_ref().map(|text| text.to_lowercase());
    let range = match order.is_ascending {
        true => keys.forwards(),
        false => keys.backwards(),
    };
    let mut found = BTreeMap::new();
    CAPTURES.each(from, range, |_, capture| {
        let place = Place::of(&capture, order);
        let is_behind = behind.is_none_or(|behind| match order.is_ascending {
            true => place > *behind,
            false => place < *behind,
        });
        if is_behind && filter.has(&capture, text.as_deref()) {
            found.insert(place, capture);
        }
        let is_full = found.len() > limit || found.len() == limit && order.by == By::Created;
        match (is_full, order.by) {
            // What comes is behind all of these.
            (true, By::Created) => return ControlFlow::Break(()),
            (true, _) if order.is_ascending => drop(found.pop_last()),
            (true, _) => drop(found.pop_first()),
            (false, _) => {}
        }
        ControlFlow::Continue(())
    })?;
    let mut page: Vec<CaptureRecord> = found.into_values().collect();
    if !order.is_ascending {
        page.reverse();
    }
    Ok(page)
}

impl Store {
    /// The captures of an organisation that fit, in an order, behind the last one of the page before. `limit` is clamped to
    /// 1..=`PAGE_MAX`. All that is kept may be looked at: `held` is dropped when that is over, though who asked may have left.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn captures_looked_for(
        &self,
        org: &str,
        filter: Filter,
        order: Order,
        behind: Option<Place>,
        limit: usize,
        held: impl Send + 'static,
    ) -> Result<Vec<CaptureRecord>, StoreError> {
        let org = org.to_owned();
        let look = move |s: &Snapshot| {
            let _held = held;
            looked_for(s, &org, (&filter, order), behind.as_ref(), limit)
        };
        self.read(look).await
    }
}

#[cfg(test)]
mod tests {
    use super::super::ChannelRecord;
    use super::*;

    const CAPTURES: u64 = 60;

    fn id(n: u64) -> String {
        format!("01ARYZ6S40{n:016}")
    }

    fn capture(n: u64) -> CaptureRecord {
        let kind = if n.is_multiple_of(2) {
            Kind::Logic
        } else {
            Kind::Scope
        };
        let mut capture =
            CaptureRecord::new(id(n), "o".into(), format!("d{}", n % 4), kind, n * 1000);
        capture.name = n.is_multiple_of(3).then(|| format!("Boot {n}"));
        capture.marks.pinned = n.is_multiple_of(5);
        // Some have as much as others.
        capture.size_bytes = (n > 2).then(|| n * 7 % 10);
        capture.status = if n < 50 { Status::Done } else { Status::Failed };
        let samples = [n % 6, n * 11 % 17];
        capture.channels = samples
            .map(|samples| ChannelRecord {
                la: Some(1),
                name: "LA1".into(),
                unit: String::new(),
                sample_rate_hz: 1e6,
                samples,
                bits: 1,
                full_scale: 1.0,
                offset: 0.0,
            })
            .to_vec();
        capture
    }

    async fn store() -> Store {
        let store = Store::in_memory().unwrap();
        for n in 0..CAPTURES {
            store.capture_put(capture(n)).await.unwrap();
        }
        let mut other = capture(7);
        other.org = "p".into();
        other.id = id(100);
        store.capture_put(other).await.unwrap();
        store
    }

    /// Page by page.
    async fn all(store: &Store, filter: &Filter, order: Order, limit: usize) -> Vec<u64> {
        let (mut found, mut behind) = (Vec::new(), None);
        loop {
            let page = store.captures_looked_for("o", filter.clone(), order, behind, limit, ());
            let page = page.await.unwrap();
            let Some(last) = page.last() else {
                return found;
            };
            assert!(page.len() <= limit);
            behind = Some(Place::of(last, order));
            found.extend(page.iter().map(|capture| capture.created_ms / 1000));
        }
    }

    #[tokio::test]
    async fn pages_of_each_order_have_each_capture_once_and_in_order() {
        let store = store().await;
        let filter = Filter::default();
        for by in [By::Created, By::Size, By::Samples] {
            for is_ascending in [false, true] {
                let order = Order { by, is_ascending };
                let mut wanted: Vec<u64> = (0..CAPTURES).collect();
                wanted.sort_by_key(|n| Place::of(&capture(*n), order));
                if !is_ascending {
                    wanted.reverse();
                }
                for limit in [1, 7, 60, PAGE_MAX] {
                    let found = all(&store, &filter, order, limit).await;
                    assert_eq!(found, wanted, "{order:?} {limit}");
                }
            }
        }
    }

    #[tokio::test]
    async fn a_page_goes_on_though_its_last_capture_is_gone() {
        let store = store().await;
        for by in [By::Created, By::Size, By::Samples] {
            let order = Order {
                by,
                is_ascending: false,
            };
            let whole = all(&store, &Filter::default(), order, 100).await;
            let first = store.captures_looked_for("o", Filter::default(), order, None, 9, ());
            let last = first.await.unwrap().pop().unwrap();
            store.capture_delete(&last.id).await.unwrap();
            let behind = Some(Place::of(&last, order));
            let rest = store.captures_looked_for("o", Filter::default(), order, behind, 100, ());
            let rest: Vec<u64> = rest
                .await
                .unwrap()
                .iter()
                .map(|c| c.created_ms / 1000)
                .collect();
            assert_eq!(rest, whole[9..], "{by:?}");
            store.capture_put(last).await.unwrap();
        }
    }

    /// A filter, and whether it leaves the capture with a number.
    type Case = (Filter, fn(u64) -> bool);

    fn filters_of_captures() -> [Case; 6] {
        let none = Filter::default;
        [
            (
                Filter {
                    devices: Some(vec!["d1".into(), "d9".into()]),
                    ..none()
                },
                |n| n % 4 == 1,
            ),
            (
                Filter {
                    devices: Some(Vec::new()),
                    ..none()
                },
                |_| false,
            ),
            (
                Filter {
                    text: Some("bOOT 1".into()),
                    ..none()
                },
                |n| n % 3 == 0 && n.to_string().starts_with('1'),
            ),
            (
                Filter {
                    text: Some(id(42).to_lowercase()),
                    ..none()
                },
                |n| n == 42,
            ),
            (
                Filter {
                    kind: Some(Kind::Scope),
                    ..none()
                },
                |n| n % 2 == 1,
            ),
            (
                Filter {
                    status: Some(Status::Failed),
                    ..none()
                },
                |n| n >= 50,
            ),
        ]
    }

    fn filters_of_times() -> [Case; 4] {
        let none = Filter::default;
        [
            (
                Filter {
                    pinned: Some(false),
                    ..none()
                },
                |n| n % 5 != 0,
            ),
            (
                Filter {
                    since: Some("1970-01-01T00:00:58Z".into()),
                    ..none()
                },
                |n| n >= 58,
            ),
            (
                Filter {
                    since: Some("1970-01-01".into()),
                    ..none()
                },
                |_| true,
            ),
            (
                Filter {
                    since: Some("1970-01-02".into()),
                    ..none()
                },
                |_| false,
            ),
        ]
    }

    #[tokio::test]
    async fn each_filter_leaves_what_fits_and_all_together_what_fits_all() {
        let store = store().await;
        let none = Filter::default;
        let cases = filters_of_captures().into_iter().chain(filters_of_times());
        let order = Order {
            by: By::Created,
            is_ascending: true,
        };
        for (filter, fits) in cases {
            let wanted: Vec<u64> = (0..CAPTURES).filter(|n| fits(*n)).collect();
            assert_eq!(all(&store, &filter, order, 3).await, wanted, "{filter:?}");
        }
        let both = Filter {
            pinned: Some(true),
            kind: Some(Kind::Logic),
            since: Some("1970-01-01T00:00:30Z".into()),
            ..none()
        };
        assert_eq!(all(&store, &both, order, 3).await, [30, 40, 50]);
        assert!(!both.is_plain() && none().is_plain());
        let plain = Filter {
            devices: Some(Vec::new()),
            job: Some("j".into()),
            ..none()
        };
        assert!(plain.is_plain());
    }

    /// What has an older id is not read, whatever else it says.
    #[tokio::test]
    async fn a_look_since_a_time_ends_there() {
        let store = Store::in_memory().unwrap();
        let day_ms = 24 * 3600 * 1000;
        let made = |day: u64| {
            let at_ms = day * day_ms;
            let id = base::id::first_ulid(at_ms);
            CaptureRecord::new(id, "o".into(), "d".into(), Kind::Logic, at_ms)
        };
        // By its own time it would fit.
        let mut old = made(5);
        old.created_ms = 50 * day_ms;
        store.capture_put(old).await.unwrap();
        for day in [8, 9, 10] {
            store.capture_put(made(day)).await.unwrap();
        }
        let filter = Filter {
            since: Some("1970-01-10".into()),
            ..Filter::default()
        };
        for by in [By::Created, By::Size, By::Samples] {
            for is_ascending in [false, true] {
                let order = Order { by, is_ascending };
                let found = store.captures_looked_for("o", filter.clone(), order, None, 10, ());
                let found = found.await.unwrap();
                let days = found.iter().map(|capture| capture.created_ms / day_ms);
                let mut days: Vec<u64> = days.collect();
                days.sort_unstable();
                assert_eq!(days, [9, 10], "{order:?}");
            }
        }
        // A page that ended before that time has no next one.
        let behind = Some(Place::of(&made(8), Order::default()));
        let found = store.captures_looked_for("o", filter, Order::default(), behind, 10, ());
        assert_eq!(found.await.unwrap(), []);
    }
}
