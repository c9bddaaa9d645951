//! From an operator's order to the first answer, of a version that was never compiled.

use std::time::{Duration, Instant};

use tests::package::{self, ID};

use crate::site::{Site, median, ms};

const ROUNDS: usize = 11;

/// It should take no longer, in milliseconds.
const AIM_MS: f64 = 150.0;

pub(crate) fn run() {
    println!("install: a component of Rust that was never compiled");
    let site = Site::start();
    let request = site.kept().request("GET", &format!("/api/x/{ID}/mark"));
    let mut kept = site.kept();
    let mut times: Vec<Duration> = Vec::new();
    for round in 0..=ROUNDS {
        let version = format!("1.{}.{}", round / 10, round % 10);
        let folder = site.folder(&version);
        package::write_version(&folder, &version, "public = true", "").unwrap();
        if round == 0 {
            // What all plugins stand on is made with the first of them.
            site.install(ID, &folder);
            continue;
        }
        let ordered = Instant::now();
        site.operator.install(&folder).unwrap();
        let heard = kept.ask(&request).unwrap();
        assert_eq!(heard.header("x-release"), Some(version.as_str()));
        times.push(ordered.elapsed());
    }
    let middle = ms(median(&mut times));
    println!(
        "  {middle:.0} ms to the first answer, {:.0} best, {:.0} worst; aim {AIM_MS:.0} ms",
        ms(times[0]),
        ms(*times.last().unwrap())
    );
}
