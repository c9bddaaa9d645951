//! Calls of a component in each language: what the server says each took, on one connection.

use std::time::Instant;

use tests::package;

use crate::languages::{first_route, languages};
use crate::site::{Site, median, ms};

const CALLS: usize = 2_000;

/// Before the first call that counts.
const WARM_CALLS: usize = 50;

/// What the tested component has, and the largest memory that a language's runtime needs.
const TABLES: &str = "[wants]\npublic = true\n[limits]\nmemory_mib = 64\n";

pub(crate) fn run() {
    println!("calls: GET of a plugin's first route over one connection, median in ms");
    println!(
        "  {:<14}{:>10}{:>10}{:>14}",
        "language", "fresh", "reused", "component, KB"
    );
    let own = package::component("guests/plugin.wasm").unwrap();
    row("rust (tests)", &own, "/mark");
    for (language, component) in languages() {
        row(&language, &component, "");
    }
}

/// `path`: of the route that is called; empty = the first that takes a plain GET.
fn row(language: &str, component: &[u8], path: &str) {
    let site = Site::start();
    let times = ["false", "true"].map(|reuse| {
        let id = format!("bench.reuse-{reuse}");
        let folder = site.folder(&id);
        let tables = format!("{TABLES}reuse = {reuse}\n");
        package::write(&folder, component, (&id, "1.0.0"), &tables).unwrap();
        site.install(&id, &folder);
        let route = if path.is_empty() {
            first_route(&site, &id)
        } else {
            path.to_owned()
        };
        call(&site, &format!("/api/x/{id}{route}"))
    });
    println!(
        "  {language:<14}{:>10.3}{:>10.3}{:>14}",
        times[0],
        times[1],
        component.len() / 1000
    );
}

fn call(site: &Site, path: &str) -> f64 {
    let mut kept = site.kept();
    let request = kept.request("GET", path);
    let mut times = Vec::new();
    for number in 0..WARM_CALLS + CALLS {
        let asked = Instant::now();
        let heard = kept.ask(&request).unwrap();
        assert!(heard.status < 500, "{}", heard.text());
        if number >= WARM_CALLS {
            times.push(asked.elapsed());
        }
    }
    ms(median(&mut times))
}
