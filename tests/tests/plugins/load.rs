//! Plugins that mean harm before they answer anything: each is refused with its reason, and what served before goes on.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;
use tests::package;

use super::{Bench, MARK, mark_of};

const ROGUE: &str = "test.rogue";

/// What the component has in place of its crime.
const CRIME: &str = "CRIME:none......:";

const LIMITS: &str = "[limits]\nmemory_mib = 16\n";

/// Limits of those that compute without end.
const HASTY: &str = "[limits]\ncompute_ms = 1000\nmemory_mib = 16\n";

/// Each crime, and what the operator is told of it.
const CRIMES: &[(&str, &str)] = &[
    ("start-loop", "ms of computing"),
    ("start-bomb", "of memory: the limit is"),
    ("start-trap", "go on in the handler"),
    ("loop", "ms of computing"),
    ("bomb", "of memory: the limit is"),
    ("trap", "go on in the handler"),
    ("many", "10000 routes: the limit is 256"),
    ("quote", "its name must be"),
    ("newline", "its name must be"),
    ("long", "its name must be"),
    ("twice", "its name is taken"),
    ("clash", "/a"),
    ("control", "its pattern must"),
    ("summary", "its summary must be one line"),
    ("openapi", "its openapi is not a JSON object"),
    ("deep", "its openapi is not a JSON object"),
    ("scope", "its scope is unknown"),
    ("public", "wants.public"),
    ("body", "its body-limit is over"),
];

/// A package of the rogue that does this.
fn rogue(bench: &Bench, version: &str, crime: &str) -> PathBuf {
    let component = package::component("guests/rogue.wasm").unwrap();
    let component = package::replaced(component, CRIME, &format!("CRIME:{crime:.<10}:")).unwrap();
    let folder = bench.dir.path().join(format!("rogue-{crime}"));
    let limits = if crime.ends_with("loop") {
        HASTY
    } else {
        LIMITS
    };
    package::write(&folder, &component, (ROGUE, version), limits).unwrap();
    folder
}

fn is_tame(bench: &Bench) {
    let reply = bench.client().get(&format!("/api/x/{ROGUE}/first"));
    assert_eq!(reply.unwrap().text, "tame");
}

#[test]
fn each_is_refused_with_its_reason_and_the_one_before_goes_on() {
    let bench = Bench::new();
    bench.install("1.0.0");
    let operator = bench.operator();
    operator.install(&rogue(&bench, "1.0.0", "none")).unwrap();
    operator.approve(ROGUE).unwrap();
    is_tame(&bench);
    let mut others = Vec::new();
    for (crime, reason) in CRIMES {
        let refused = operator.install(&rogue(&bench, "2.0.0", crime));
        let told = refused.expect_err(crime).to_string();
        if !told.contains(reason) {
            others.push(format!("{crime}: {told}"));
        }
        assert!(told.len() < 2_000 && !told.contains('\n'), "{told}");
        is_tame(&bench);
    }
    assert!(others.is_empty(), "{others:#?}");
    // A path above its own is nowhere.
    let told = operator.install(&rogue(&bench, "2.0.0", "escape"));
    let reply = bench.client().get("/api/bench/devices").unwrap();
    assert!(reply.expect(200)["devices"].is_array(), "{told:?}");
    assert_eq!(mark_of(&bench.get("/mark")), MARK);
    let metrics = bench.client().get("/metrics").unwrap().text;
    assert!(!metrics.contains("evil"), "{metrics}");
}

#[test]
fn a_plugin_that_never_started_is_not_there() {
    let bench = Bench::new();
    let refused = bench
        .operator()
        .install(&rogue(&bench, "1.0.0", "start-loop"));
    refused.unwrap_err();
    let listed = bench.operator().command(&json!("list")).unwrap();
    assert_eq!(listed["plugins"][0], json!([]));
    bench
        .client()
        .get(&format!("/api/x/{ROGUE}/first"))
        .unwrap()
        .expect_error(404, "not_found");
    // What nobody can read is no package, wherever it ends.
    let folder = rogue(&bench, "1.0.0", "none");
    let file = folder.join("plugin.wasm");
    let whole = std::fs::read(&file).unwrap();
    for part in [0, 4, 8, 100, whole.len() / 3, whole.len() - 1] {
        std::fs::write(&file, &whole[..part]).unwrap();
        bench.operator().install(&folder).unwrap_err();
    }
    std::fs::write(&file, &whole).unwrap();
    bench.operator().install(&folder).unwrap();
}

/// Text of a core module that takes a compiler far more than it takes to write down.
fn bomb(what: &str) -> String {
    match what {
        // 1.5 MB of loops in one function.
        "loops" => format!(
            "(func {})",
            "(loop (br_if 0 (i32.const 0)))".repeat(214_000)
        ),
        // 5.4 MB.
        "functions" => "(func)".repeat(900_000),
        // 2 MB of jumps, each to any of 500 blocks.
        "jumps" => {
            let depth = 500;
            let targets: String = (0..depth).map(|n| format!(" {n}")).collect();
            let jump = format!("(block (br_table{targets} (i32.const 0)))");
            let ends = ")".repeat(depth);
            format!(
                "(func {}{}{ends})",
                "(block ".repeat(depth),
                jump.repeat(2_000)
            )
        }
        other => panic!("{other} is no bomb"),
    }
}

#[test]
fn heavy_what_takes_a_compiler_too_much_costs_only_the_compiler() {
    let bench = Bench::unlimited();
    bench.install("1.0.0");
    for what in ["loops", "functions", "jumps"] {
        let text = format!("(component (core module {}))", bomb(what));
        let component = wat::parse_str(&text).unwrap();
        let folder = bench.dir.path().join(what);
        package::write(&folder, &component, (ROGUE, "1.0.0"), "").unwrap();
        let mut asked = 0_u64;
        std::thread::scope(|scope| {
            let operator = bench.operator();
            let install = scope.spawn(move || operator.install(&folder));
            while !install.is_finished() {
                assert_eq!(mark_of(&bench.get("/mark")), MARK);
                bench
                    .client()
                    .get("/api/bench/devices")
                    .unwrap()
                    .expect(200);
                asked += 2;
                std::thread::sleep(Duration::from_millis(5));
            }
            let told = install.join().unwrap().unwrap_err().to_string();
            let is_limit = told.contains("the compiler took more than its limit of");
            assert!(
                is_limit || told.contains("exports nothing"),
                "{what}: {told}"
            );
        });
        assert!(asked > 0);
    }
}
