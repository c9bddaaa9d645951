//! Single values: units, ids, paths, texts, predicates, conditions.

use super::{bench_steps, build_steps, plan, read, wrong};
use crate::plan::Action;

fn step(text: &str) -> Action {
    plan(&bench_steps(&format!("  - {text}\n"))).runs[0].steps[0]
        .action
        .clone()
}

#[test]
fn times_have_units() {
    let ms = |text: &str| match step(&format!("{{ wait: {text} }}")) {
        Action::Wait { ms } => ms,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        (ms("5ms"), ms("2s"), ms("3m"), ms("\"010s\"")),
        (5, 2_000, 180_000, 10_000)
    );
    for bad in [
        "5",
        "0s",
        "1.5s",
        "s",
        "2 s",
        "-1s",
        "1h",
        "9999999999s",
        "1d",
        "\"\"",
        "[1s]",
        "null",
    ] {
        let text = bench_steps(&format!("  - wait: {bad}\n"));
        let report = read(&text).expect_err(bad);
        assert_eq!(report.problems[0].path, "benches[0].steps[0].wait", "{bad}");
    }
}

#[test]
fn rates_and_sizes_have_units() {
    let rate = |text: &str| match step(&format!(
        "capture: {{ kind: adc, rate: {text}, samples: 1 }}"
    )) {
        Action::Capture(capture) => capture.rate_hz,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        (rate("10Hz"), rate("20kHz"), rate("1MHz")),
        (10, 20_000, 1_000_000)
    );
    let text = "version: 1\nlimits: { memory: 2GiB, log: 512B, disk: 3MiB }\nbuilds: [{ id: a, steps: [{ run: a }] }]\n";
    let limits = plan(text).limits;
    assert_eq!(
        (limits.memory_bytes, limits.log_bytes, limits.disk_bytes),
        (2 << 30, 512, 3 << 20)
    );
    assert_eq!(
        wrong(&text.replace("2GiB", "2GB")),
        ["invalid_value 2:19 limits.memory"]
    );
}

#[test]
fn on_is_a_word() {
    for (state, expected) in [("on", "On"), ("off", "Off"), ("\"on\"", "On")] {
        let action = step(&format!("power: {{ rail: internal, state: {state} }}"));
        assert!(
            format!("{action:?}").contains(&format!("state: {expected}")),
            "{action:?}"
        );
    }
    for bad in ["true", "On", "1", "yes"] {
        let text = bench_steps(&format!("  - power: {{ rail: internal, state: {bad} }}\n"));
        assert_eq!(wrong(&text).len(), 1, "{bad}");
    }
}

#[test]
fn ids_and_names_are_bounded() {
    let with = |id: &str| {
        read(&format!(
            "version: 1\nbuilds: [{{ id: {id}, steps: [{{ run: a }}] }}]\n"
        ))
        .is_ok()
    };
    assert!(with("a") && with("0-a_B") && with(&"a".repeat(40)));
    for bad in ["a.b", "-a", "_a", "a b", "ä", "\"\"", "12", &"a".repeat(41)] {
        assert!(!with(bad), "{bad}");
    }
    let variable = |name: &str| {
        read(&format!(
            "version: 1\nvars: {{ {name}: 1 }}\n{}",
            &build_steps("  - run: a\n")[11..]
        ))
        .is_ok()
    };
    assert!(variable("A") && variable("_a1"));
    for bad in ["1A", "A-B", "HOSTD_OUT", "BENCHPOD_API_KEY", "\"\""] {
        assert!(!variable(bad), "{bad}");
    }
}

#[test]
fn paths_stay_below_the_jobs_folder() {
    let with = |path: &str| {
        read(&build_steps(&format!(
            "  - {{ run: a, junit: '{path}' }}\n"
        )))
        .is_ok()
    };
    assert!(with("a") && with("reports/*.xml") && with("a..b/...") && with("**/x"));
    for bad in ["/etc/passwd", "..", "../a", "a/../b", "a/..", "a\\b", ""] {
        assert!(!with(bad), "{bad}");
    }
}

#[test]
fn numbers_are_bounded_and_may_be_hexadecimal() {
    let with = |address: &str| {
        let steps = format!(
            "  - {{ capture: {{ kind: la, channels: {{ scl: 1, sda: 2 }}, rate: 1MHz, samples: 9 }}, id: c }}\n  - assert: {{ on: c, decode: i2c, address: {address} }}\n"
        );
        read(&bench_steps(&steps)).is_ok()
    };
    assert!(with("0x76") && with("0") && with("127"));
    for bad in [
        "0x80",
        "-1",
        "1.5",
        "1e3",
        "99999999999999999999999999999999999999999999",
        "1e999",
        ".inf",
        ".nan",
        "on",
    ] {
        assert!(!with(bad), "{bad}");
    }
}

#[test]
fn environment_is_taken_as_it_is_written() {
    let text = build_steps(
        "  - { run: a, env: { A: 1.10, B: yes, C: 0x10, D: 'true', E: true, F: '', G: 1_000, H: True, I: FALSE, J: 007, K: +5, L: 5., M: 1e3, N: .inf } }\n",
    );
    let plan = plan(&text);
    let env = &plan.runs[0].steps[0].env;
    let value = |name: &str| format!("{:?}", env[name]);
    let expected = [
        ("A", "1.10"),
        ("B", "yes"),
        ("C", "0x10"),
        ("D", "true"),
        ("E", "true"),
        ("F", ""),
        ("G", "1_000"),
        ("H", "True"),
        ("I", "FALSE"),
        ("J", "007"),
        ("K", "+5"),
        ("L", "5."),
        ("M", "1e3"),
        ("N", ".inf"),
    ];
    for (name, expected) in expected {
        assert_eq!(value(name), format!("Plain({expected:?})"));
    }
    assert_eq!(
        wrong(&text.replace("1.10", "[1]")),
        ["wrong_type 5:22 builds[0].steps[0].env.A"]
    );
    assert_eq!(
        wrong(&text.replace("1.10", "{ secrt: X }")),
        ["unknown_key 5:27 builds[0].steps[0].env.A.secrt"]
    );
}

#[test]
fn values_of_placeholders_are_what_was_written() {
    let text = "version: 1\nvars: { FLAG: True, ADDRESS: 076 }\nbenches:\n- id: smoke\n  device: { name: a }\n  steps:\n";
    let pytest = format!("{text}  - pytest: {{ path: t, args: ['--flag={{{{vars.FLAG}}}}'] }}\n");
    let arguments = format!("{:?}", plan(&pytest).runs[0].steps[0].action);
    assert!(arguments.contains("--flag=True"), "{arguments}");
    let step = "  - { uart: { baud: '{{vars.ADDRESS}}', send: x } }\n";
    let report = read(&format!("{text}{step}")).unwrap_err();
    let message = &report.problems[0].message;
    assert!(message.contains("`076` begins with a zero"), "{message}");
}

#[test]
fn conditions_are_a_closed_set() {
    let with = |condition: &str| {
        read(&build_steps(&format!(
            "  - {{ run: a, if: '{condition}' }}\n"
        )))
        .is_ok()
    };
    assert!(with("success") && with("failure") && with("always"));
    for bad in [
        "Success",
        "1 == 1",
        "variant = a",
        "variant == a && pack == b",
        "{{variant}} == a",
        "failure()",
        "variant == a",
    ] {
        assert!(!with(bad), "{bad}");
    }
}
