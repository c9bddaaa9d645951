//! Plugins that mean harm, or break: each costs its own request, and nobody else anything.

use tests::{package, until};

use super::{Bench, ID, MARK, WANTS, mark_of};

fn bench(limits: &str) -> Bench {
    let bench = Bench::new();
    let folder = bench.version("1.0.0", WANTS, limits);
    bench
        .plugin(&["install", &folder.display().to_string()])
        .ok();
    bench.plugin(&["approve", ID]).ok();
    bench
}

#[test]
fn each_crime_costs_one_request() {
    let bench = bench("memory_mib = 16");
    let crime = |what: &str| bench.get(&format!("/crime/{what}"));
    let trapped = crime("trap");
    trapped.expect_error(502, "plugin_failed");
    let named = format!("the plugin {ID} 1.0.0 failed: it trapped");
    assert!(trapped.text.contains(&named), "{}", trapped.text);
    crime("memory").expect_error(502, "plugin_failed");
    crime("recursion").expect_error(502, "plugin_failed");
    assert_eq!(mark_of(&bench.get("/mark")), MARK);
    let hasty = bench.version("2.0.0", WANTS, "compute_ms = 3000\ndeadline_ms = 20000");
    let hasty = hasty.display().to_string();
    bench.plugin(&["install", &hasty]).ok();
    bench.plugin(&["approve", ID]).ok();
    crime("loop").expect_error(504, "handler_timeout");
    assert_eq!(mark_of(&bench.get("/mark")), package::mark("2.0.0"));
    bench
        .client()
        .get("/api/bench/devices")
        .unwrap()
        .expect(200);
}

#[test]
fn answers_that_are_no_answers_do_not_reach_the_caller() {
    let bench = bench("memory_mib = 32");
    let crime = |what: &str| bench.get(&format!("/crime/{what}"));
    crime("body").expect_error(502, "plugin_failed");
    crime("status").expect_error(502, "plugin_failed");
    crime("header").expect_error(502, "plugin_failed");
    crime("random").expect_error(502, "plugin_failed");
}

#[test]
fn what_holds_for_the_whole_origin_is_not_a_plugins_to_say() {
    let bench = bench("");
    let cookie = bench.get("/crime/cookie");
    assert_eq!((cookie.status, cookie.header("set-cookie")), (200, None));
    let page = bench.get("/crime/page");
    let policy = page.header("content-security-policy").unwrap();
    assert_eq!(policy, "default-src 'none'; frame-ancestors 'none'");
}

#[test]
fn handles_and_lines_are_bounded() {
    let bench = bench("");
    // Each list pushes handles; far fewer than asked for are to be had.
    assert!(bench.get("/crime/handles").status >= 500);
    assert_eq!(bench.get("/crime/log").status, 200);
    let lines = bench.plugin(&["logs", ID]).ok();
    let own = lines.lines().filter(|line| line.contains(" line ")).count();
    assert_eq!(own, 100, "lines of one call");
    assert!(lines.lines().all(|line| line.len() < 5_000));
}

#[test]
fn a_new_version_that_keeps_failing_gives_way_to_the_one_before() {
    let bench = Bench::new();
    bench.install("1.0.0");
    bench.install("2.0.0");
    for _ in 0..5 {
        bench.get("/crime/trap").expect_error(502, "plugin_failed");
    }
    bench.until_replaced_by(MARK);
    let log = bench.plugin(&["logs", ID]).ok();
    assert!(
        log.contains("given up: 5 calls failed") && log.contains("the version before serves again"),
        "{log}"
    );
}

#[test]
fn a_first_version_that_keeps_failing_is_off_and_says_why() {
    let bench = bench("");
    for _ in 0..5 {
        bench.get("/crime/trap").expect_error(502, "plugin_failed");
    }
    // It is withdrawn before that is noted, and counts as loading in between.
    let shown = until(
        || bench.plugin(&["list"]).ok(),
        |shown| shown.contains("failed"),
    )
    .unwrap();
    assert!(shown.contains("5 calls failed within"), "{shown}");
    assert_eq!(bench.get("/mark").status, 503);
    bench.plugin(&["enable", ID]).ok();
    bench.get("/mark").expect(200);
}

#[test]
fn a_cached_component_that_somebody_changed_is_compiled_again() {
    let mut bench = Bench::new();
    bench.install("1.0.0");
    bench.server.stop().unwrap();
    let cache = bench.dir.path().join("data/plugins/cache");
    let mut changed = 0;
    for entry in std::fs::read_dir(&cache).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "cwasm") {
            let mut code = std::fs::read(&path).unwrap();
            let last = code.len() - 1;
            code[last / 2] ^= 1;
            std::fs::write(&path, code).unwrap();
            changed += 1;
        }
    }
    assert_eq!(changed, 1);
    bench.server = tests::Server::demo_in(bench.dir.path()).unwrap();
    bench.comes_back_as(MARK);
    let _ = bench.server.logged("it is compiled again");
}
