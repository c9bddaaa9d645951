//! Prometheus text (exposition format 0.0.4) for `/metrics`: the HTTP layer's counts, the figures
//! of each handler's pool, and the process's resource use.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::groups::Group;
use crate::http::arrivals::Arrivals;
use crate::http::connections::ConnectionCounters;
use crate::plugin::meter::Asked;
use crate::plugin::{Heard, Plugins};
use base::logging;

pub mod analysis;
pub mod disk;
pub mod jobs;
pub mod notices;

/// Upper bounds of the latency histogram, in seconds.
const BUCKETS_S: [f64; 10] = [
    0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 10.0,
];

/// Counters of the HTTP layer. Cheap to bump, read only by `/metrics`.
#[derive(Debug, Default)]
pub struct HttpMetrics {
    by_route: Mutex<BTreeMap<(String, u16), u64>>,
    buckets: [AtomicU64; BUCKETS_S.len() + 1],
    duration_us: AtomicU64,
    pub connections: Arc<ConnectionCounters>,
}

/// What else is read when the page is made.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'s> {
    pub groups: &'s [Group],
    pub plugins: &'s Plugins,
    pub arrivals: &'s Arrivals,
}

impl HttpMetrics {
    /// Count one answered request. `route` is a route's name, never a path that a client made up.
    pub fn record(&self, route: &str, status: u16, took: Duration) {
        let seconds = took.as_secs_f64();
        let slot = BUCKETS_S
            .iter()
            .position(|bound| seconds <= *bound)
            .unwrap_or(BUCKETS_S.len());
        self.buckets[slot].fetch_add(1, Ordering::Relaxed);
        self.duration_us.fetch_add(
            u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
            Ordering::Relaxed,
        );
        let mut by_route = self.by_route.lock().expect("no panic while counting");
        match by_route.get_mut(&(route, status) as &dyn RouteKey) {
            Some(count) => *count += 1,
            None => {
                by_route.insert((route.to_owned(), status), 1);
            }
        }
    }

    /// The whole page.
    #[must_use]
    pub fn render(&self, sources: &Sources<'_>) -> String {
        let mut page = String::with_capacity(8 << 10);
        self.render_http(&mut page);
        render_connections(&mut page, &self.connections);
        render_arrivals(&mut page, sources.arrivals);
        render_calls(
            &mut page,
            "handler",
            sources
                .groups
                .iter()
                .map(|g| (format!("handler=\"{}\"", g.name()), g.metrics())),
        );
        render_plugins(&mut page, sources.plugins);
        render_process(&mut page);
        page
    }

    fn render_http(&self, page: &mut String) {
        head(
            page,
            "hostd_http_requests_total",
            "counter",
            "Answered requests.",
        );
        let by_route = self.by_route.lock().expect("no panic while counting");
        for ((route, status), count) in by_route.iter() {
            line(
                page,
                "hostd_http_requests_total",
                &format!("route=\"{route}\",status=\"{status}\""),
                *count,
            );
        }
        head(
            page,
            "hostd_http_request_duration_seconds",
            "histogram",
            "Time from the request's head to the response's head.",
        );
        let mut total = 0;
        for (slot, bound) in BUCKETS_S.iter().enumerate() {
            total += self.buckets[slot].load(Ordering::Relaxed);
            line(
                page,
                "hostd_http_request_duration_seconds_bucket",
                &format!("le=\"{bound}\""),
                total,
            );
        }
        total += self.buckets[BUCKETS_S.len()].load(Ordering::Relaxed);
        line(
            page,
            "hostd_http_request_duration_seconds_bucket",
            "le=\"+Inf\"",
            total,
        );
        let sum_s = Duration::from_micros(self.duration_us.load(Ordering::Relaxed)).as_secs_f64();
        put(
            page,
            format_args!("hostd_http_request_duration_seconds_sum {sum_s}\n"),
        );
        put(
            page,
            format_args!("hostd_http_request_duration_seconds_count {total}\n"),
        );
    }
}

fn render_connections(page: &mut String, counters: &ConnectionCounters) {
    for (name, kind, help, value) in [
        (
            "hostd_http_connections_open",
            "gauge",
            "Open connections.",
            &counters.open,
        ),
        (
            "hostd_http_connections_refused_total",
            "counter",
            "Connections refused at the limit.",
            &counters.refused,
        ),
        (
            "hostd_http_connections_shed_total",
            "counter",
            "Idle connections closed in favour of others.",
            &counters.shed,
        ),
        (
            "hostd_http_connections_reserved_total",
            "counter",
            "Connections let into the reserve because all others were busy.",
            &counters.reserved,
        ),
        (
            "hostd_http_connections_flooded_total",
            "counter",
            "Connections cut for a flood of HTTP/2 frames.",
            &counters.flooded,
        ),
    ] {
        head(page, name, kind, help);
        put(
            page,
            format_args!("{name} {}\n", value.load(Ordering::Relaxed)),
        );
    }
}

/// Lets the map be searched by `(&str, u16)` without building a `String` for every request.
trait RouteKey {
    fn parts(&self) -> (&str, u16);
}

impl RouteKey for (&str, u16) {
    fn parts(&self) -> (&str, u16) {
        (self.0, self.1)
    }
}

impl RouteKey for (String, u16) {
    fn parts(&self) -> (&str, u16) {
        (&self.0, self.1)
    }
}

impl<'a> std::borrow::Borrow<dyn RouteKey + 'a> for (String, u16) {
    fn borrow(&self) -> &(dyn RouteKey + 'a) {
        self
    }
}

impl PartialEq for dyn RouteKey + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.parts() == other.parts()
    }
}

impl Eq for dyn RouteKey + '_ {}

impl PartialOrd for dyn RouteKey + '_ {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for dyn RouteKey + '_ {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.parts().cmp(&other.parts())
    }
}

fn render_arrivals(page: &mut String, arrivals: &Arrivals) {
    let name = "hostd_http_uploads_arriving";
    head(page, name, "gauge", "Uploads on their way.");
    put(page, format_args!("{name} {}\n", arrivals.uploads()));
}

/// Versions of plugins that serve, and what they did.
fn render_plugins(page: &mut String, plugins: &Plugins) {
    let all = plugins.all();
    let name = "hostd_plugin_info";
    head(page, name, "gauge", "Plugins that serve.");
    for plugin in &all {
        let labels = format!(
            "plugin=\"{}\",version=\"{}\"",
            plugin.label(),
            plugin.version()
        );
        line(page, name, &labels, 1);
    }
    render_heard(page, &plugins.heard());
    let asked: Vec<_> = all.iter().map(|p| (p.label(), p.asked())).collect();
    render_asked(page, &asked);
    let counted = all.iter().flat_map(|plugin| {
        let label = plugin.label();
        let labelled =
            move |(export, metrics)| (format!("plugin=\"{label}\",export=\"{export}\""), metrics);
        plugin.metrics().into_iter().map(labelled)
    });
    render_calls(page, "plugin", counted);
}

/// What has become of plugins' events and timers.
fn render_heard(page: &mut String, heard: &[(Arc<str>, Heard)]) {
    type Read = fn(&Heard) -> u64;
    let series: [(&str, &str, &str, Read); 7] = [
        (
            "events_delivered_total",
            "counter",
            "Events that it took.",
            |h| h.delivered,
        ),
        (
            "events_repeated_total",
            "counter",
            "Events told again.",
            |h| h.repeated,
        ),
        ("events_failed_total", "counter", "Events given up.", |h| {
            h.failed
        }),
        (
            "events_dropped_total",
            "counter",
            "Events that found no room, or were not for it any more.",
            |h| h.dropped,
        ),
        ("events_waiting", "gauge", "Events that wait.", |h| {
            h.waiting
        }),
        ("timers_total", "counter", "Calls by its timers.", |h| {
            h.timers
        }),
        (
            "timers_skipped_total",
            "counter",
            "Timers left out because they were still at work.",
            |h| h.timers_skipped,
        ),
    ];
    for (name, metric, help, read) in series {
        let name = format!("hostd_plugin_{name}");
        head(page, &name, metric, help);
        for (plugin, heard) in heard {
            line(page, &name, &format!("plugin=\"{plugin}\""), read(heard));
        }
    }
}

/// What plugins have asked of others, and told them, in the version that serves.
fn render_asked(page: &mut String, asked: &[(Arc<str>, Asked)]) {
    type Read = fn(&Asked) -> u64;
    let series: [(&str, &str, Read); 3] = [
        ("http_requests_total", "Requests to others.", |a| a.requests),
        (
            "http_unanswered_total",
            "Requests to others that got no answer.",
            |a| a.unanswered,
        ),
        (
            "notices_total",
            "Messages for the organisation's webhooks.",
            |a| a.notices,
        ),
    ];
    for (name, help, read) in series {
        let name = format!("hostd_plugin_{name}");
        head(page, &name, "counter", help);
        for (plugin, asked) in asked {
            line(page, &name, &format!("plugin=\"{plugin}\""), read(asked));
        }
    }
}

/// What handlers or plugins, as `kind` says, have done, with their labels.
fn render_calls(
    page: &mut String,
    kind: &str,
    called: impl Iterator<Item = (String, runtime::Metrics)>,
) {
    let snapshots: Vec<_> = called.collect();
    type Read = fn(&runtime::Metrics) -> u64;
    let series: [(&str, &str, &str, Read); 9] = [
        ("calls_total", "counter", "Calls into it.", |m| m.calls),
        (
            "call_microseconds_total",
            "counter",
            "Time spent in calls.",
            |m| m.call_us,
        ),
        ("traps_total", "counter", "Calls that trapped.", |m| m.traps),
        (
            "deadlines_total",
            "counter",
            "Calls cut at their deadline.",
            |m| m.deadlines,
        ),
        (
            "overloads_total",
            "counter",
            "Calls refused because all instances were busy.",
            |m| m.overloads,
        ),
        (
            "instances_created_total",
            "counter",
            "Instances created.",
            |m| m.instances_created,
        ),
        (
            "instances_retired_total",
            "counter",
            "Instances retired.",
            |m| m.instances_retired,
        ),
        (
            "instances_idle",
            "gauge",
            "Instances waiting for a call.",
            |m| m.instances_idle,
        ),
        ("calls_in_flight", "gauge", "Calls in progress.", |m| {
            m.in_flight
        }),
    ];
    for (name, metric, help, read) in series {
        let name = format!("hostd_{kind}_{name}");
        head(page, &name, metric, help);
        for (labels, metrics) in &snapshots {
            line(page, &name, labels, read(metrics));
        }
    }
}

fn render_process(page: &mut String) {
    let name = "hostd_log_lines_dropped_total";
    head(page, name, "counter", "Log lines that found no room.");
    put(page, format_args!("{name} {}\n", logging::dropped()));
    let Some(resident) = resident_bytes() else {
        return;
    };
    head(
        page,
        "process_resident_memory_bytes",
        "gauge",
        "Resident memory size in bytes.",
    );
    put(
        page,
        format_args!("process_resident_memory_bytes {resident}\n"),
    );
}

/// Second field of `/proc/self/statm`, in pages of 4 KiB; None where there is no such file.
fn resident_bytes() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split(' ').nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

fn head(page: &mut String, name: &str, kind: &str, help: &str) {
    put(
        page,
        format_args!("# HELP {name} {help}\n# TYPE {name} {kind}\n"),
    );
}

fn line(page: &mut String, name: &str, labels: &str, value: u64) {
    put(page, format_args!("{name}{{{labels}}} {value}\n"));
}

fn put(page: &mut String, text: std::fmt::Arguments<'_>) {
    page.write_fmt(text)
        .expect("writing to a String never fails");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histogram_is_cumulative_and_routes_are_counted() {
        let metrics = HttpMetrics::default();
        metrics.record("devices.list", 200, Duration::from_micros(50));
        metrics.record("devices.list", 200, Duration::from_millis(3));
        metrics.record("devices.list", 404, Duration::from_secs(60));
        let mut page = String::new();
        metrics.render_http(&mut page);
        for expected in [
            "hostd_http_requests_total{route=\"devices.list\",status=\"200\"} 2",
            "hostd_http_requests_total{route=\"devices.list\",status=\"404\"} 1",
            "hostd_http_request_duration_seconds_bucket{le=\"0.0001\"} 1",
            "hostd_http_request_duration_seconds_bucket{le=\"0.005\"} 2",
            "hostd_http_request_duration_seconds_bucket{le=\"+Inf\"} 3",
            "hostd_http_request_duration_seconds_count 3",
        ] {
            assert!(page.lines().any(|l| l == expected), "{expected}\n{page}");
        }
    }
}
