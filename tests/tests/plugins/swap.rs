//! Versions are replaced while requests are on their way: none is lost, and none is answered by a mix.

use tests::swaps::{self, Plan};

/// Requests, unless `SWAP_REQUESTS` says how many.
const REQUESTS: u64 = 20_000;

/// One swap for so many requests, but not fewer than [`SWAPS_MIN`].
const REQUESTS_PER_SWAP: u64 = 10_000;

const SWAPS_MIN: usize = 20;

#[test]
fn heavy_no_request_is_lost_while_versions_follow_one_another() {
    let requests = std::env::var("SWAP_REQUESTS").map_or(REQUESTS, |count| count.parse().unwrap());
    let swaps = usize::try_from(requests / REQUESTS_PER_SWAP).unwrap();
    let swaps = swaps.max(SWAPS_MIN);
    let report = swaps::run(Plan { requests, swaps });
    assert!(report.answers >= requests && report.uploads > 0 && report.echoes > 0);
    assert_eq!(report.installs.len() + report.returns.len(), swaps);
    println!("{report}");
}
