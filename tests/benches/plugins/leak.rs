//! What swaps leave behind once all has settled: memory, open files, threads, mappings, instances.

use tests::package::{self, ID};

use crate::site::Site;

const SWAPS: usize = 1_000;

/// Before the first look, so that everything that is made once is there.
const WARM_SWAPS: usize = 100;

/// Time for what is dropped to go.
const SETTLE: std::time::Duration = std::time::Duration::from_secs(3);

const VERSIONS: [&str; 2] = ["1.0.0", "2.0.0"];

struct Look {
    rss_kib: u64,
    files: usize,
    threads: usize,
    maps: usize,
    cached: usize,
}

pub(crate) fn run() {
    println!("leak: what {SWAPS} swaps leave behind");
    let site = Site::start();
    for version in VERSIONS {
        let folder = site.folder(version);
        package::write_version(&folder, version, "public = true", "").unwrap();
        site.install(ID, &folder);
    }
    swap(&site, WARM_SWAPS);
    let before = look(&site);
    let mut halfway = None;
    for half in 0..2 {
        swap(&site, SWAPS / 2);
        if half == 0 {
            halfway = Some(look(&site));
        }
    }
    let (halfway, after) = (halfway.unwrap(), look(&site));
    let row = |name: &str, before: usize, halfway: usize, after: usize| {
        println!("  {name:<20}{before:>9}{halfway:>9}{after:>9}");
    };
    println!("  {:<20}{:>9}{:>9}{:>9}", "", "before", "halfway", "after");
    let kib = |look: &Look| usize::try_from(look.rss_kib).unwrap();
    row("resident, KiB", kib(&before), kib(&halfway), kib(&after));
    row("open files", before.files, halfway.files, after.files);
    row("threads", before.threads, halfway.threads, after.threads);
    row("mappings", before.maps, halfway.maps, after.maps);
    row(
        "files in the cache",
        before.cached,
        halfway.cached,
        after.cached,
    );
}

/// Install and go back, in turns; each version answers once.
fn swap(site: &Site, swaps: usize) {
    let mut kept = site.kept();
    let request = kept.request("GET", &format!("/api/x/{ID}/mark"));
    for number in 0..swaps {
        let version = VERSIONS[number % 2];
        site.operator.install(&site.folder(version)).unwrap();
        let heard = kept.ask(&request).unwrap();
        assert_eq!(heard.header("x-release"), Some(version));
    }
}

fn look(site: &Site) -> Look {
    std::thread::sleep(SETTLE);
    let maps = format!("/proc/{}/maps", site.server.pid());
    let cache = site.folder("data/plugins/cache");
    Look {
        rss_kib: site.status_kib("VmRSS:"),
        files: site.entries("fd"),
        threads: site.entries("task"),
        maps: std::fs::read_to_string(maps).unwrap().lines().count(),
        cached: std::fs::read_dir(cache).unwrap().count(),
    }
}
