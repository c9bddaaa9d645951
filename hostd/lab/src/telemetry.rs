//! What the rails of devices gave lately: read from time to time while a device has nothing else to do, and from the answers of
//! commands that ask for it anyway. In memory, within bounds, for as long as the server runs.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use base::clock::Clock;
use pods::{Pod, PodError, PowerStatus, RefusalKind, SessionKind};
use tokio::time::MissedTickBehavior;
use tracing::debug;

use crate::devices::Devices;
use crate::leases::Leases;

/// Readings that are kept of a device: an hour of them.
pub const POINTS_MAX: usize = 720;

/// Between two readings of a device.
pub const INTERVAL: Duration = Duration::from_secs(5);

/// What a rail gave: of one reading, or of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// When, or when the first of them was: milliseconds since 1970.
    pub at_ms: u64,
    /// Millivolts behind the switch, on average.
    pub mv: i64,
    /// Microamperes, signed, on average.
    pub ua: i64,
    /// The most microamperes.
    pub ua_max: i64,
}

/// What both rails gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reading {
    at_ms: u64,
    /// Millivolts and microamperes of rails 1 and 2; none where the monitor did not answer.
    rails: [Option<(i64, i64)>; 2],
}

/// What is known of one device.
#[derive(Debug, Default)]
struct Track {
    readings: VecDeque<Reading>,
    /// It is being asked.
    is_asked: bool,
    /// The link on which its pod said that it cannot, if it gave no reading since.
    cannot: Option<u64>,
}

/// The rails of all devices.
#[derive(Debug)]
pub struct Telemetry {
    devices: Arc<Devices>,
    leases: Arc<Leases>,
    clock: Clock,
    tracks: Mutex<HashMap<String, Track>>,
}

impl Telemetry {
    /// Reads from now on, as long as somebody holds it.
    #[must_use]
    pub fn begin(clock: Clock, devices: Arc<Devices>, leases: Arc<Leases>) -> Arc<Self> {
        let telemetry = Arc::new(Self {
            devices,
            leases,
            clock,
            tracks: Mutex::default(),
        });
        tokio::spawn(keep(Arc::downgrade(&telemetry)));
        telemetry
    }

    /// Note what the pod of a device answered that somebody asked for it.
    pub fn note(&self, device: &str, status: &PowerStatus) {
        let rails = [status.internal, status.external];
        let reading = Reading {
            at_ms: self.clock.now_ms(),
            rails: rails.map(|read| read.ok.then_some((read.bus_mv, read.current_ua))),
        };
        let mut tracks = self.lock();
        tracks.entry(device.to_owned()).or_default().add(reading);
    }

    /// What the rails 1 and 2 of a device gave from this moment on, oldest first, in at most so many samples; a rail that
    /// never answered has none.
    #[must_use]
    pub fn of(&self, device: &str, from_ms: u64, points_max: usize) -> [Vec<Sample>; 2] {
        let tracks = self.lock();
        let Some(track) = tracks.get(device) else {
            return Default::default();
        };
        [0, 1].map(|rail| track.samples(rail, from_ms, points_max))
    }

    /// Ask those that have nothing else to do.
    fn look(self: &Arc<Self>) {
        let known = self.devices.all();
        self.lock()
            .retain(|device, _| known.iter().any(|record| record.id == *device));
        for record in known {
            let Some(pod) = self.devices.pod_of(&record.id) else {
                continue;
            };
            if is_free(&pod) && self.leases.owes_since_ms(&record.id).is_none() {
                self.ask(record.id, pod);
            }
        }
    }

    fn ask(self: &Arc<Self>, device: String, pod: Pod) {
        let link = pod.links();
        {
            let (mut tracks, now_ms) = (self.lock(), self.clock.now_ms());
            let track = tracks.entry(device.clone()).or_default();
            if track.is_asked || track.cannot == Some(link) || !track.is_due(now_ms) {
                return;
            }
            track.is_asked = true;
        }
        let telemetry = self.clone();
        tokio::spawn(async move {
            let read = pod.power_status().await;
            match &read {
                Ok(status) => telemetry.note(&device, status),
                Err(error) => debug!(device, %error, "no reading of the rails"),
            }
            if let Some(track) = telemetry.lock().get_mut(&device) {
                track.answered(link, &read);
            }
        });
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Track>> {
        // Each change leaves the tracks whole, so a panic elsewhere does not spoil them.
        self.tracks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Track {
    /// Whether it is time for another reading.
    fn is_due(&self, now_ms: u64) -> bool {
        let interval_ms = u64::try_from(INTERVAL.as_millis()).unwrap_or(u64::MAX);
        self.readings.back().is_none_or(|last| {
            // The tick that is due may come a little early; a clock that was set back counts as one.
            let since_ms = now_ms.checked_sub(last.at_ms);
            since_ms.is_none_or(|since_ms| since_ms + interval_ms / 10 >= interval_ms)
        })
    }

    /// Its pod was asked on this link, and this came of it.
    fn answered(&mut self, link: u64, read: &Result<PowerStatus, PodError>) {
        self.is_asked = false;
        if let Err(PodError::Refused(refusal)) = read
            && is_lasting(&refusal.kind)
        {
            self.cannot = Some(link);
        }
    }

    fn add(&mut self, reading: Reading) {
        self.cannot = None;
        if !self.is_due(reading.at_ms) {
            return;
        }
        // Where the clock was set back, what follows would not be in order.
        while self
            .readings
            .back()
            .is_some_and(|last| last.at_ms > reading.at_ms)
        {
            self.readings.pop_back();
        }
        if self.readings.len() == POINTS_MAX {
            self.readings.pop_front();
        }
        self.readings.push_back(reading);
    }

    fn samples(&self, rail: usize, from_ms: u64, points_max: usize) -> Vec<Sample> {
        let wanted = self.readings.iter().filter(|r| r.at_ms >= from_ms);
        let wanted: Vec<(u64, i64, i64)> = wanted
            .filter_map(|r| r.rails[rail].map(|(mv, ua)| (r.at_ms, mv, ua)))
            .collect();
        let each = wanted.len().div_ceil(points_max.max(1)).max(1);
        wanted.chunks(each).filter_map(together).collect()
    }
}

/// Whether a pod that refuses like this would refuse again for as long as its link lasts.
fn is_lasting(kind: &RefusalKind) -> bool {
    match kind {
        RefusalKind::UnknownCommand
        | RefusalKind::NoAnalog
        | RefusalKind::Forbidden
        | RefusalKind::Plain => true,
        RefusalKind::MissingPart { is_away, .. } => !is_away,
        RefusalKind::PinConflict { .. }
        | RefusalKind::PullConflict { .. }
        | RefusalKind::TriggerTimeout { .. }
        | RefusalKind::Locked
        | RefusalKind::Leased { .. }
        | RefusalKind::Busy => false,
    }
}

/// Several readings as one sample; none of none.
fn together(readings: &[(u64, i64, i64)]) -> Option<Sample> {
    let (at_ms, ..) = *readings.first()?;
    let count = i64::try_from(readings.len()).ok()?;
    let sum = |of: fn(&(u64, i64, i64)) -> i64| readings.iter().map(of).sum::<i64>();
    Some(Sample {
        at_ms,
        mv: sum(|(_, mv, _)| *mv) / count,
        ua: sum(|(_, _, ua)| *ua) / count,
        ua_max: readings.iter().map(|(_, _, ua)| *ua).max()?,
    })
}

/// Whether a pod answers and does nothing that another command could be in the way of.
fn is_free(pod: &Pod) -> bool {
    let is_light = |kind: &SessionKind| matches!(kind, SessionKind::Uart | SessionKind::Console);
    pod.state().is_online() && pod.sessions().iter().all(is_light)
}

/// Looks at all devices again and again, until nobody holds what it keeps.
async fn keep(telemetry: Weak<Telemetry>) {
    let mut ticks = tokio::time::interval(INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The first one comes at once, when pods are still being opened.
    ticks.tick().await;
    loop {
        ticks.tick().await;
        let Some(telemetry) = telemetry.upgrade() else {
            return;
        };
        telemetry.look();
    }
}

#[cfg(test)]
mod tests {
    use pods::Refusal;
    use pods::protocol::missing_part;

    use super::*;

    fn reading(at_s: u64, rails: [Option<(i64, i64)>; 2]) -> Reading {
        Reading {
            at_ms: at_s * 1000,
            rails,
        }
    }

    fn track(count: u64) -> Track {
        let mut track = Track::default();
        for n in 0..count {
            let ua = i64::try_from(n).unwrap() * 10;
            let second = (n % 2 == 0).then_some((3300, -ua));
            track.add(reading(n * 5, [Some((5000, ua)), second]));
        }
        track
    }

    #[test]
    fn an_hour_is_kept_and_no_more() {
        let track = track(1000);
        let all = track.samples(0, 0, POINTS_MAX);
        assert_eq!((all.len(), all[0].at_ms), (POINTS_MAX, 280 * 5000));
        assert_eq!(all.last().unwrap().ua, 9990);
        // Where a monitor does not answer there is a gap, no zero.
        assert_eq!(track.samples(1, 0, POINTS_MAX).len(), POINTS_MAX / 2);
        assert_eq!(track.samples(0, 998 * 5000, POINTS_MAX).len(), 2);
    }

    #[test]
    fn few_points_are_averages_that_keep_the_peak() {
        let few = track(10).samples(0, 0, 3);
        let sample = |at_s: u64, ua, ua_max| Sample {
            at_ms: at_s * 1000,
            mv: 5000,
            ua,
            ua_max,
        };
        assert_eq!(
            few,
            [sample(0, 15, 30), sample(20, 55, 70), sample(40, 85, 90)]
        );
        for points in 0..20 {
            assert!(track(17).samples(0, 0, points).len() <= points.max(1));
        }
        assert_eq!(Track::default().samples(0, 0, 10), []);
    }

    #[test]
    fn a_pod_that_cannot_is_left_alone_and_one_that_cannot_now_is_asked_again() {
        let refused = |text: &str| {
            let mut track = Track {
                is_asked: true,
                ..Track::default()
            };
            track.answered(7, &Err(PodError::Refused(Refusal::new(text))));
            assert!(!track.is_asked, "{text}");
            track
        };
        for lasting in [
            "unknown cmd",
            "this BenchPod has no analog front end: `power_status` needs one",
            "forbidden: `power_status` needs tier 2, this tunnel has 1",
            "the monitors are not fitted",
            &missing_part("power", None),
        ] {
            let mut track = refused(lasting);
            assert_eq!(track.cannot, Some(7), "{lasting}");
            // It can, as it turns out.
            track.add(reading(0, [None, None]));
            assert_eq!(track.cannot, None, "{lasting}");
        }
        for passing in [
            "busy",
            "busy: a cloud job holds this pod (run 7, 9 s left)",
            "locked: no commands from here",
            "pin conflict: LA3 is in use by uart_rx",
            "pull conflict: LA3 has a pull-up",
            "trigger timeout: no rising edge on LA3",
            &missing_part("power", Some("192.0.2.7:5025 refuses the connection")),
        ] {
            assert_eq!(refused(passing).cannot, None, "{passing}");
        }
        let mut track = refused("unknown cmd");
        let reason = "it is unplugged".to_owned();
        track.answered(7, &Err(PodError::Offline { reason }));
        assert_eq!(track.cannot, Some(7));
    }

    #[test]
    fn what_is_asked_often_is_kept_every_few_seconds() {
        let mut track = Track::default();
        for n in 0..100 {
            track.add(reading(n, [Some((5000, 0)), None]));
        }
        assert_eq!(track.samples(0, 0, POINTS_MAX).len(), 20);
        // A clock that is set back loses what would be behind it.
        track.add(reading(42, [Some((1, 1)), None]));
        let all = track.samples(0, 0, POINTS_MAX);
        assert_eq!(all.last().unwrap().at_ms, 42_000);
        assert!(all.is_sorted_by_key(|sample| sample.at_ms));
    }
}
