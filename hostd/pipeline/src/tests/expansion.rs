//! What a pipeline comes to.

use insta::assert_json_snapshot;
use serde_json::json;

use super::{EXAMPLE, plan, read};
use crate::plan::{Action, Assertion, EnvValue, Plan, Role, Run};
use crate::{Caps, Parity, Pattern, When, expand, expand_one, outline, parse};

fn run<'p>(plan: &'p Plan, id: &str) -> &'p Run {
    plan.runs.iter().find(|run| run.id == id).unwrap()
}

fn ids(plan: &Plan) -> Vec<&str> {
    plan.runs.iter().map(|run| run.id.as_str()).collect()
}

#[test]
fn the_example_comes_to_a_run_for_each_cell() {
    let plan = plan(EXAMPLE);
    let builds = [
        "fw.debug.f0",
        "fw.debug.g4",
        "fw.release.f0",
        "fw.release.g4",
    ];
    let benches = [
        "smoke.debug.f0",
        "smoke.debug.g4",
        "smoke.release.f0",
        "smoke.release.g4",
    ];
    assert_eq!(ids(&plan), [builds, benches].concat());
    assert_json_snapshot!("example_build", run(&plan, "fw.debug.f0"));
    assert_json_snapshot!("example_bench", run(&plan, "smoke.release.g4"));
}

#[test]
fn a_cell_has_the_environment_of_its_variant_and_pack() {
    let plan = plan(
        "version: 1
vars: { A: pipeline, B: pipeline, C: pipeline }
builds:
- id: fw
  matrix: { variant: { slow: { B: variant, C: variant } } }
  steps: [{ run: make }]
  packs: [{ id: f0, config: { C: pack, V: 1.10, O: on } }]
",
    );
    let env: Vec<_> = run(&plan, "fw.slow.f0")
        .env
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    assert_eq!(
        env,
        [
            "A=pipeline",
            "B=variant",
            "C=pack",
            "HOSTD_PACK=f0",
            "HOSTD_RUN=fw.slow.f0",
            "HOSTD_VARIANT=slow",
            "O=on",
            "V=1.10"
        ]
    );
}

#[test]
fn runs_stand_behind_what_they_need() {
    let plan = plan(
        "version: 1
builds:
- { id: late, needs: [first, check], steps: [{ run: a }] }
- { id: first, steps: [{ run: a }], packs: [{ id: p }, { id: q }] }
benches:
- { id: last, needs: [late], device: { name: d }, steps: [] }
- { id: check, for_each: first, device: { name: d }, steps: [] }
",
    );
    assert_eq!(
        ids(&plan),
        ["first.p", "first.q", "check.p", "check.q", "late", "last"]
    );
    assert_eq!(
        run(&plan, "late").needs,
        ["check.p", "check.q", "first.p", "first.q"]
    );
    assert_eq!(run(&plan, "check.q").needs, ["first.q"]);
}

#[test]
fn placeholders_become_typed_values() {
    let plan = plan(
        "version: 1
vars: { BAUD: 9600, ADDRESS: 0x76, WAVE: sine }
builds:
- id: fw
  steps: [{ run: make }]
  packs:
  - { id: f0, targets: [stm32f030f4, stm32f030k6], artifacts: [f0.elf], config: { LINE: 'hello f0' } }
benches:
- id: b
  for_each: fw
  device: { select: { target: '{{pack.target}}' } }
  steps:
  - flash: { artifact: '{{ pack.id }}.elf', target: 'stm32{{pack.id}}30' }
  - uart: { baud: '{{vars.BAUD}}', parity: even, expect: '> {{pack.config.LINE}}' }
  - capture: { kind: la, channels: { scl: 1, sda: 2 }, rate: 1MHz, samples: '{{vars.BAUD}}' }
    id: c
  - assert: { on: c, decode: i2c, address: '{{vars.ADDRESS}}' }
  - replay: { waveform: '{{vars.WAVE}}', output: 5v }
  - pytest: { path: tests, args: [-k, '{{pack.id}}', 3] }
",
    );
    let run = run(&plan, "b.f0");
    let Role::Bench { device, .. } = &run.role else {
        panic!("it is a bench")
    };
    assert_eq!(
        device.select["target"].to_string(),
        "stm32f030f4|stm32f030k6"
    );
    let [
        Action::Flash(flash),
        Action::Uart(uart),
        Action::Capture(capture),
        Action::Assert { that, .. },
        Action::Replay(replay),
        Action::Pytest { args, .. },
    ] = &run
        .steps
        .iter()
        .map(|step| step.action.clone())
        .collect::<Vec<_>>()[..]
    else {
        panic!("{:?}", run.steps)
    };
    assert_eq!(
        (flash.artifact.run.as_str(), flash.artifact.name.as_str()),
        ("fw.f0", "f0.elf")
    );
    assert_eq!(flash.target.as_deref(), Some("stm32f030"));
    assert_eq!(
        (uart.baud, uart.parity, uart.expect.as_deref()),
        (9600, Some(Parity::Even), Some("> hello f0"))
    );
    assert_eq!(capture.samples, 9600);
    assert!(matches!(
        that,
        Assertion::Bus {
            address: Some(0x76),
            min_count: 1,
            ..
        }
    ));
    assert_eq!(replay.waveform, "sine");
    assert_eq!(args, &["-k", "f0", "3"]);
}

#[test]
fn conditions_on_cells_are_settled_and_others_kept() {
    let plan = plan(
        "version: 1
builds:
- id: fw
  matrix: { variant: { debug: {}, release: {} } }
  steps:
  - { run: only, if: variant == debug }
  - { run: not, if: variant != debug }
  - { run: after, if: failure }
  - { run: whatever, if: always }
",
    );
    let steps = |id: &str| -> Vec<_> {
        let steps = run(&plan, id).steps.iter();
        steps.map(|step| (step.at.clone(), step.when)).collect()
    };
    let at = |index: u8| format!("builds[0].steps[{index}]");
    assert_eq!(
        steps("fw.debug"),
        [
            (at(0), When::Success),
            (at(2), When::Failure),
            (at(3), When::Always)
        ]
    );
    assert_eq!(
        steps("fw.release"),
        [
            (at(1), When::Success),
            (at(2), When::Failure),
            (at(3), When::Always)
        ]
    );
}

#[test]
fn an_exit_code_that_is_judged_fails_nothing_else() {
    let plan = plan(&super::build_steps(
        "  - { run: 'exit 3', id: three }\n  - { assert: { on: three, exit_code: 3 } }\n  - run: make\n",
    ));
    let judged = |at: usize| {
        matches!(
            &run(&plan, "fw").steps[at].action,
            Action::Run {
                any_exit_code: true,
                ..
            }
        )
    };
    assert!(judged(0) && !judged(2));
}

#[test]
fn an_artifact_is_named_with_its_run_where_there_is_no_for_each() {
    let text = "version: 1
builds:
- { id: fw, steps: [{ run: make }], packs: [{ id: f0, artifacts: [a/fw.elf] }] }
benches:
- { id: b, needs: [fw], device: { name: d }, steps: [{ flash: { artifact: fw.f0/a/fw.elf } }] }
";
    let plan = plan(text);
    let Action::Flash(flash) = &run(&plan, "b").steps[0].action else {
        panic!("it flashes")
    };
    assert_eq!(
        (flash.artifact.run.as_str(), flash.artifact.name.as_str()),
        ("fw.f0", "a/fw.elf")
    );
}

#[test]
fn times_are_the_pipelines_the_steps_or_the_defaults_and_never_above_the_caps() {
    let text = "version: 1
timeouts: { build: 20m, test: 50s }
limits: { processes: 100 }
retry: { infra: 3 }
builds: [{ id: fw, steps: [{ run: a }, { run: b, timeout: 5m }], packs: [{ id: p, artifacts: [e] }] }]
benches:
- { id: b, for_each: fw, device: { name: d }, steps: [{ flash: { artifact: e } }, { wait: 1s }], always: [{ reset: {} }] }
";
    let times = |plan: &Plan, id: &str| -> Vec<u64> {
        let run = run(plan, id);
        let steps = run.steps.iter().map(|step| step.timeout_ms);
        std::iter::once(run.timeout_ms).chain(steps).collect()
    };
    let pipeline = read(text).unwrap();
    let plan = expand(&pipeline, &Caps::default());
    assert_eq!(times(&plan, "fw.p"), [1_200_000, 1_200_000, 300_000]);
    assert_eq!(times(&plan, "b.p"), [50_000, 50_000, 50_000]);
    assert_eq!(
        (plan.queue_ms, plan.limits.processes, plan.infra_retries),
        (1_800_000, 100, 3)
    );

    let low = Caps {
        build_ms: 100_000,
        flash_ms: 7_000,
        test_ms: 9_000,
        queue_ms: 1_000,
        processes: 10,
        infra_retries: 0,
        ..Caps::default()
    };
    let plan = expand(&pipeline, &low);
    assert_eq!(times(&plan, "fw.p"), [100_000, 100_000, 100_000]);
    assert_eq!(times(&plan, "b.p"), [9_000, 7_000, 9_000]);
    assert_eq!(
        (plan.queue_ms, plan.limits.processes, plan.infra_retries),
        (1_000, 10, 0)
    );
    let Role::Bench { always, .. } = &run(&plan, "b.p").role else {
        panic!("it is a bench")
    };
    assert_eq!(always[0].timeout_ms, 9_000);
}

#[test]
fn a_cache_is_another_one_for_other_steps_and_the_same_for_other_times() {
    let cache = |step: &str, config: &str| {
        let text = format!(
            "version: 1\nbuilds:\n- id: fw\n  cache: {{ key: ['src/**'], paths: [.ccache] }}\n  steps: [{step}]\n  packs: [{{ id: p, config: {config} }}]\n"
        );
        match plan(&text).runs.remove(0).role {
            Role::Build { cache, .. } => cache.unwrap(),
            Role::Bench { .. } => panic!("it is a build"),
        }
    };
    let first = cache("{ run: make }", "{}");
    assert_eq!(
        (first.key.as_slice(), first.paths.as_slice()),
        (
            &[Pattern::parse("src/**").unwrap()][..],
            &[".ccache".to_owned()][..]
        )
    );
    assert_eq!(first, cache("{ run: make, timeout: 1m, case: name }", "{}"));
    for other in [
        cache("{ run: make all }", "{}"),
        cache("{ run: make }", "{ A: 1 }"),
        cache("{ run: make, env: { A: 1 } }", "{}"),
    ] {
        assert_ne!(first, other);
    }
}

#[test]
fn secrets_stay_names() {
    let plan = plan(&super::bench_steps(
        "  - { run: a, env: { TOKEN: { secret: CAL }, N: 3 } }\n",
    ));
    let env = &run(&plan, "smoke").steps[0].env;
    assert_eq!(env["TOKEN"], EnvValue::Secret("CAL".into()));
    assert_eq!(env["N"], EnvValue::Plain("3".into()));
}

#[test]
fn an_outline_has_all_but_what_runs_do() {
    let caps = Caps::default();
    let pipeline = parse(EXAMPLE, &caps).unwrap();
    let whole = expand(&pipeline, &caps);
    let outline = outline(&pipeline, &caps);
    let bare = |run: &Run| {
        let mut run = run.clone();
        run.env.clear();
        run.steps.clear();
        match &mut run.role {
            Role::Build { cache, .. } => *cache = None,
            Role::Bench { always, .. } => always.clear(),
        }
        run
    };
    assert_eq!(outline.limits, whole.limits);
    assert_eq!(
        outline.runs,
        whole.runs.iter().map(bare).collect::<Vec<_>>()
    );
    for at in 0..whole.runs.len() {
        let one = expand_one(&pipeline, &caps, at);
        assert_eq!(one.runs[at], whole.runs[at]);
        assert_eq!(one.runs.len(), whole.runs.len());
        let others = one.runs.iter().enumerate().filter(|(of, _)| *of != at);
        assert!(others.into_iter().all(|(_, run)| run.steps.is_empty()));
    }
}

#[test]
fn triggers_come_to_numbers_of_channels_and_nanoseconds() {
    let json = |trigger: &str| {
        let text = super::bench_steps(&format!(
            "  - capture: {{ kind: la, channels: {{ rx: 9, scl: 3, sda: 4 }}, rate: 1MHz, samples: 5, trigger: {{ {trigger} }} }}\n"
        ));
        let plan = plan(&text);
        let [step] = &plan.runs[0].steps[..] else {
            panic!("{plan:?}");
        };
        let Action::Capture(capture) = &step.action else {
            panic!("{step:?}");
        };
        serde_json::to_value(&capture.trigger).unwrap()
    };
    for (trigger, waits) in [
        (
            "channel: scl, edge: falling, timeout: 1s",
            json!({"channel": 3, "edge": "falling", "timeout_ms": 1000}),
        ),
        (
            "pulse: { channel: scl, level: low, shorter_than: 1.5us }",
            json!({"channel": 3, "level": "low", "length": {"shorter_than": 1500}, "timeout_ms": 10_000}),
        ),
        (
            "pattern: { scl: high, sda: low }",
            json!({"pattern": {"3": "high", "4": "low"}, "timeout_ms": 10_000}),
        ),
        (
            "level: { channel: sda, level: high, for: 2ms }",
            json!({"channel": 4, "level": "high", "for_ns": 2_000_000, "timeout_ms": 10_000}),
        ),
        (
            "protocol: i2c, address: 0x76",
            json!({"scl": 3, "sda": 4, "address": 0x76, "direction": null, "timeout_ms": 10_000}),
        ),
        (
            "protocol: i2c, scl: sda, sda: scl, address: 1, direction: read",
            json!({"scl": 4, "sda": 3, "address": 1, "direction": "read", "timeout_ms": 10_000}),
        ),
        (
            "protocol: uart, bytes: 55 ??",
            json!({"rx": 9, "bytes": [0x55, null], "baudrate": 115_200, "parity": "none", "timeout_ms": 10_000}),
        ),
    ] {
        assert_eq!(json(trigger), waits, "{trigger}");
    }
}
