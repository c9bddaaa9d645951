//! The sessions in the README and in the guides.

use tests::{Server, can_isolate, guide};

/// What a session of the README prints, and the lines of it that the README shows.
fn session(number: usize) -> (String, &'static str) {
    let (session, after) = guide::session(include_str!("../../README.md"), number);
    let (_, after) = after.split_once("```text\n").unwrap();
    let (shown, _) = after.split_once("```").unwrap();
    (guide::run(session, &Server::demo().unwrap()), shown)
}

#[test]
fn the_session_in_the_readme_works() {
    let (printed, shown) = session(1);
    for part in [
        "\"devices\":[",
        "\"status\":\"ok\"",
        "Address write: 68",
        "Address read: 68",
    ] {
        assert!(printed.contains(part), "no {part} in\n{printed}");
    }
    // Each line that the README shows ends like a line that was printed.
    for line in shown.lines() {
        let (_, text) = line.split_once(' ').unwrap();
        assert!(printed.lines().any(|l| l.ends_with(text)), "no {line}");
    }
}

#[test]
fn the_session_that_flashes_the_target_works() {
    let (printed, shown) = session(2);
    assert!(printed.contains("\"ok\":true"), "{printed}");
    let lamp = |line: &str| line.strip_prefix("lamp ").map(str::to_owned);
    let seen = printed.lines().find_map(lamp).unwrap();
    let looks: Vec<&str> = seen.split(',').collect();
    assert_eq!(looks.len(), 32, "{seen}");
    let changes = looks.windows(2).filter(|two| two[0] != two[1]).count();
    assert!((6..=8).contains(&changes), "{seen}");
    for line in shown.lines().filter(|line| lamp(line).is_none()) {
        let is_it = |printed: &str| printed.trim_end() == line;
        assert!(printed.lines().any(is_it), "no {line} in\n{printed}");
    }
}

#[test]
fn the_session_that_runs_a_pipeline_works() {
    if !can_isolate() {
        return;
    }
    let (printed, shown) = session(3);
    assert!(printed.starts_with("Jobs can run isolated"), "{printed}");
    assert!(printed.contains("docs/example/pipeline.yml: 2 runs of builds, 0 of benches\n"));
    assert!(
        printed.ends_with(shown),
        "no {shown} at the end of\n{printed}"
    );
}

#[test]
fn the_session_that_submits_a_job_works() {
    if !can_isolate() {
        return;
    }
    let (printed, shown) = session(4);
    let has = |line: &str| printed.lines().any(|printed| printed.trim_end() == line);
    // Without a network there is no SDK; that is told in the log and among the cases, and nothing else is missing.
    let (with_sdk, others): (Vec<&str>, Vec<&str>) = shown
        .lines()
        .partition(|line| line.contains("name=\"tests.test_board"));
    assert_eq!(with_sdk.len(), 2, "{shown}");
    for line in others {
        assert!(has(line), "no {line} in\n{printed}");
    }
    assert!(!with_sdk.iter().any(|line| has(line)), "{printed}");
    assert!(has("testcase name=\"tests::with the SDK\""), "{printed}");
    for told in ["NOTE: the tests with the SDK are skipped: ", "skipped>"] {
        assert!(printed.contains(told), "no {told} in\n{printed}");
    }
}

#[test]
fn the_session_that_judges_a_signal_names_the_place() {
    let (printed, shown) = session(5);
    assert!(printed.contains("2 of 2 rules hold\n"), "{printed}");
    // Noise is another each time: numbers may differ, words may not.
    let words = |line: &str| -> String {
        let is_word = |c: &char| !c.is_ascii_digit() && *c != '.';
        line.chars().filter(is_word).collect()
    };
    for line in shown.lines() {
        let is_it = |printed: &str| words(printed.trim_end()) == words(line);
        assert!(printed.lines().any(is_it), "no {line} in\n{printed}");
    }
    let place = |line: &str| {
        let rest = line.trim().strip_prefix("at samples ")?;
        rest.split(' ').next()?.parse::<u64>().ok()
    };
    // The dip begins with code 1250, 24.45 ms behind the first sample, which is sample 2445.
    let found = printed.lines().find_map(place).unwrap();
    assert!((2440..=2500).contains(&found), "{printed}");
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/pictures");
    let picture = folder.join("1-the-supply-comes-up-as-it-did.svg");
    assert!(
        std::fs::read_to_string(picture)
            .unwrap()
            .starts_with("<svg ")
    );
}

#[test]
fn the_session_about_a_board_finds_the_slot() {
    let server = Server::demo().unwrap();
    let (session, _) = guide::session(include_str!("../../docs/emi.md"), 1);
    let printed = guide::run(session, &server);
    for part in [
        "\"status\":\"done\"",
        "\"rule\":\"plane-gap\"",
        "\"net\":\"SCK\"",
        "\"format_version\": 1",
    ] {
        assert!(printed.contains(part), "no {part} in\n{printed}");
    }
}

#[test]
fn the_job_in_the_guide_takes_the_bench_and_gives_it_back() {
    let server = Server::demo().unwrap();
    let (session, _) = guide::session(include_str!("../../docs/ci.md"), 1);
    let printed = guide::run(session, &server);
    for part in [
        "\"holder\":\"blinky, nightly\"",
        "\"ok\":true",
        "\"released\":true",
    ] {
        assert!(printed.contains(part), "no {part} in\n{printed}");
    }
    let device = format!("/api/bench/devices/{}", server.device());
    let device = server.client().get(&device).unwrap().expect(200);
    assert!(device["lease"].is_null(), "{device}");
}
