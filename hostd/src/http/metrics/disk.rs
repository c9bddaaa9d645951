//! The disk and what takes room on it.

use super::{head, put};
use crate::services::Services;
use base::space::State;

/// Its part of the page.
#[must_use]
pub fn render(services: &Services) -> String {
    let look = services.space.look();
    let captures = services.captures.usage();
    let mut page = String::new();
    for (name, help, value) in [
        (
            "hostd_disk_free_bytes",
            "Free space on the disk of the data folder.",
            look.free_bytes,
        ),
        (
            "hostd_disk_floor_bytes",
            "Free space below which captures and uploads are refused.",
            look.floor_bytes,
        ),
        (
            "hostd_disk_full",
            "Whether the disk is full: 1, and /readyz says so.",
            u64::from(look.state == State::Reserve),
        ),
        (
            "hostd_captures",
            "Captures of all organisations.",
            captures.count,
        ),
        (
            "hostd_captures_bytes",
            "Size of the samples of all captures.",
            captures.bytes,
        ),
        (
            "hostd_captures_in_progress",
            "Captures that have not finished, of all organisations.",
            services.captures.in_progress(),
        ),
        (
            "hostd_captures_pinned",
            "Pinned captures of all organisations.",
            services.captures.pinned(),
        ),
    ] {
        head(&mut page, name, "gauge", help);
        put(&mut page, format_args!("{name} {value}\n"));
    }
    counters(services, &mut page);
    page
}

fn counters(services: &Services, page: &mut String) {
    let received = services.captures.received();
    for (name, help, value) in [
        (
            "hostd_captures_samples_received_total",
            "Samples that came from devices: of a logic analyzer all channels at once.",
            received.samples,
        ),
        (
            "hostd_captures_gaps_total",
            "Stretches of samples that devices lost, since their links were too slow.",
            received.gaps,
        ),
        (
            "hostd_captures_samples_lost_total",
            "Samples in them.",
            received.lost,
        ),
        (
            "hostd_captures_pyramids_rebuilt_total",
            "Pyramids of captures that were missing or damaged and were made again.",
            services.captures.pyramids_raised(),
        ),
        (
            "hostd_store_commits_total",
            "Transactions that were written to the database; writes share them.",
            services.store.commits(),
        ),
    ] {
        head(page, name, "counter", help);
        put(page, format_args!("{name} {value}\n"));
    }
}
