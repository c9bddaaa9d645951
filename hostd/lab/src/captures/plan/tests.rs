//! Bounds by board, and the request to the pod.

use pods::{Condition, Edge, Length};
use serde_json::json;

use super::*;

const CONFIGURED_MAX: u64 = 16 << 20;

fn board(status: &Value) -> Capabilities {
    Capabilities::from_status(status.as_object().unwrap())
}

fn v3() -> Capabilities {
    board(
        &json!({"board": "stm32h563", "version": "3.9.4", "analog": true,
        "caps": ["la", "analog", "scope", "generate16", "capture_trigger"]}),
    )
}

fn digital() -> Capabilities {
    board(&json!({"board": "stm32h563", "version": "3.9.4", "analog": false, "caps": ["la"]}))
}

fn order(plan: order::Wanted) -> order::Order {
    order::Order {
        name: None,
        trigger: None,
        pre_samples: 0,
        wanted: plan,
    }
}

fn logic(samples: u64, channels: &[u8]) -> order::Order {
    order(order::Wanted::Logic(order::Logic {
        samples,
        sample_rate_mhz: 1.0,
        channels: channels.to_vec(),
        voltage_mv: Some(3300),
    }))
}

fn scope(samples: u64, source: Option<&str>) -> order::Order {
    order(order::Wanted::Scope(order::Scope {
        samples,
        sample_rate_mhz: 0.4,
        source: source.map(str::to_owned),
    }))
}

fn refused(order: &order::Order, board: &Capabilities) -> String {
    Plan::check(order, board, CONFIGURED_MAX, None)
        .unwrap_err()
        .to_string()
}

#[test]
fn logic_selects_the_voltage_first_and_sorts_channels() {
    let plan = Plan::check(&logic(1000, &[7, 2, 7]), &v3(), CONFIGURED_MAX, None).unwrap();
    assert_eq!(plan.la_channels, [2, 7]);
    assert_eq!(
        json!(plan.before),
        json!([{"cmd": "la_voltage", "mv": 3300}])
    );
    let all = Plan::check(&logic(1000, &[]), &v3(), CONFIGURED_MAX, None).unwrap();
    assert_eq!(all.la_channels.len(), 14);
}

#[test]
fn bounds_are_named() {
    let two_rates = |adc_samples, la_samples| {
        order(order::Wanted::Dual(order::Dual {
            adc_samples,
            adc_rate_mhz: 0.4,
            la_samples,
            la_rate_mhz: 1.0,
        }))
    };
    for (order, expected) in [
        (logic(0, &[]), "samples: must be 1 to 4194304"),
        (logic(4_194_305, &[]), "samples: must be 1 to 4194304"),
        (logic(1, &[15]), "channels: must be one of LA1 to LA14"),
        (scope(4_192_257, None), "samples: must be 1 to 4192256"),
        (
            scope(1, Some("moon")),
            "source: must be ext, cal1, cal2 or current_in",
        ),
        (
            two_rates(0, 0),
            "adc_samples: cannot be 0 together with la_samples",
        ),
        (
            two_rates(4_000_000, 4_000_000),
            "la_samples: must be at most 192256 beside these adc_samples: together 4192256",
        ),
    ] {
        let error = refused(&order, &v3());
        assert!(error.contains(expected), "{error}");
    }
    let mut order = logic(1, &[]);
    order.name = Some(String::new());
    assert!(refused(&order, &v3()).contains("name: must be 1 to 128 characters"));
    order.name = Some("a\nb".into());
    assert!(refused(&order, &v3()).contains("control characters"));
    order.name = None;
    order.trigger = Some(order::Trigger {
        wait: order::Wait::Device(Condition::edge(0, Edge::Rising)),
        timeout_ms: 1,
    });
    assert!(refused(&order, &v3()).contains("trigger.channel"));
    let small = Plan::check(&logic(11, &[]), &v3(), 10, None).unwrap_err();
    assert!(small.to_string().contains("must be 1 to 10"), "{small}");
}

#[test]
fn rates_that_no_board_has_are_refused() {
    let mut fast = logic(10, &[]);
    let order::Wanted::Logic(plan) = &mut fast.wanted else {
        panic!("built as logic")
    };
    plan.sample_rate_mhz = 24.1;
    let told = refused(&fast, &v3());
    assert!(
        told.contains("sample_rate_mhz: must be above 0 and at most 24"),
        "{told}"
    );
    let mut fast = scope(10, None);
    let order::Wanted::Scope(plan) = &mut fast.wanted else {
        panic!("built as scope")
    };
    plan.sample_rate_mhz = 1.1;
    let told = refused(&fast, &v3());
    assert!(
        told.contains("sample_rate_mhz: must be above 0 and at most 1"),
        "{told}"
    );
}

fn two(adc_rate_mhz: f64, la_rate_mhz: f64) -> order::Order {
    order(order::Wanted::Dual(order::Dual {
        adc_samples: 100,
        adc_rate_mhz,
        la_samples: 100,
        la_rate_mhz,
    }))
}

#[test]
fn what_the_memory_does_not_take_is_refused_at_once() {
    for (adc_mhz, la_mhz) in [(0.4, 24.0), (0.4, 9.7), (1.0, 12.0), (0.1, 10.0)] {
        let told = refused(&two(adc_mhz, la_mhz), &v3());
        assert!(
            told.starts_with("la_rate_mhz: must be at most 9."),
            "{told}"
        );
        assert!(told.contains("beside an ADC rate of 0."), "{told}");
    }
    for (adc_mhz, la_mhz) in [(0.4, 9.6), (1.0, 9.6), (0.1, 9.9)] {
        let plan = Plan::check(&two(adc_mhz, la_mhz), &v3(), CONFIGURED_MAX, None).unwrap();
        let CaptureRequest::Dual { adc_rate_mhz, .. } = plan.request else {
            panic!("{plan:?}");
        };
        assert!((adc_rate_mhz - adc_mhz.min(0.4)).abs() < 1e-9, "{adc_mhz}");
    }
    let mut alone = two(0.4, 10.1);
    let order::Wanted::Dual(dual) = &mut alone.wanted else {
        panic!("built as dual")
    };
    dual.adc_samples = 0;
    let told = refused(&alone, &v3());
    assert!(
        told.starts_with("la_rate_mhz: must be at most 10: "),
        "{told}"
    );
}

#[test]
fn what_takes_too_long_is_refused_at_once() {
    let mut slow = scope(4_000_000, None);
    let order::Wanted::Scope(plan) = &mut slow.wanted else {
        panic!("built as scope")
    };
    plan.sample_rate_mhz = 0.001;
    let told = refused(&slow, &v3());
    assert_eq!(
        told,
        "samples: must be fewer or come faster: they take 4000 s, captures less than 3600 s"
    );
    let mut slow = two(0.4, 0.000_001);
    let order::Wanted::Dual(dual) = &mut slow.wanted else {
        panic!("built as dual")
    };
    dual.la_samples = 4000;
    assert!(refused(&slow, &v3()).starts_with("la_samples: must be fewer"));
}

#[test]
fn levels_are_those_of_the_board() {
    let mut low = logic(10, &[]);
    let order::Wanted::Logic(plan) = &mut low.wanted else {
        panic!("built as logic")
    };
    plan.voltage_mv = Some(1800);
    let of = |revision: &str| {
        board(
            &json!({"board": "stm32h563", "version": "3.9.4", "board_rev": revision,
            "analog": true, "caps": ["la", "analog"]}),
        )
    };
    assert_eq!(
        refused(&low, &of("v2")),
        "voltage_mv: must be 3300 on this board"
    );
    let plan = Plan::check(&low, &of("v3"), CONFIGURED_MAX, None).unwrap();
    assert_eq!(plan.level, Level::Select(1800));
    let order::Wanted::Logic(logic) = &mut low.wanted else {
        panic!("built as logic")
    };
    logic.voltage_mv = Some(2500);
    assert_eq!(
        refused(&low, &of("v3")),
        "voltage_mv: must be 1800 or 3300 on this board"
    );
}

#[test]
fn triggers_watch_the_channels_of_the_board() {
    let mut old = logic(10, &[]);
    old.trigger = Some(order::Trigger {
        wait: order::Wait::Device(Condition::edge(13, Edge::Rising)),
        timeout_ms: 1,
    });
    let board = board(&json!({"board": "stm32h563", "version": "3.0.0",
        "caps": ["la", "capture_trigger"]}));
    let told = refused(&old, &board);
    assert_eq!(told, "trigger.channel: must be one of LA1 to LA12");
}

/// A board with all kinds of triggers.
fn watchful() -> Capabilities {
    board(
        &json!({"board": "stm32h563", "version": "3.9.4", "analog": true,
        "caps": ["la", "analog", "capture_trigger", "capture_pre", "trigger_pulse", "trigger_pattern",
            "trigger_level"]}),
    )
}

fn waiting(samples: u64, condition: Condition, pre_samples: u64) -> order::Order {
    order::Order {
        trigger: Some(order::Trigger {
            wait: order::Wait::Device(condition),
            timeout_ms: 1,
        }),
        pre_samples,
        ..logic(samples, &[])
    }
}

#[test]
fn samples_before_the_trigger_need_a_pod_that_keeps_them() {
    let edge = Condition::edge(1, Edge::Rising);
    let plan = Plan::check(&waiting(10, edge, 9), &watchful(), CONFIGURED_MAX, None).unwrap();
    assert_eq!(plan.request.command()["pre_samples"], 9);
    let plain = Plan::check(&waiting(10, edge, 0), &v3(), CONFIGURED_MAX, None).unwrap();
    assert_eq!(plain.request.command().get("pre_samples"), None);
    let lack = Plan::check(&waiting(10, edge, 9), &v3(), CONFIGURED_MAX, None).unwrap_err();
    assert!(matches!(lack, PlanError::NotCapable { .. }));
    assert_eq!(
        lack.to_string(),
        "pre_samples: the board has no samples before a trigger"
    );
    let told = refused(&waiting(10, edge, 10), &watchful());
    assert!(told.starts_with("pre_samples: is refused"), "{told}");
    let mut alone = waiting(10, edge, 1);
    alone.trigger = None;
    let told = refused(&alone, &watchful());
    assert_eq!(
        told,
        "pre_samples: needs a trigger: give one, or leave it out"
    );
}

#[test]
fn other_triggers_need_a_pod_that_has_them() {
    let pulse = |channel, ns| Condition::Pulse {
        channel,
        is_high: true,
        length: Length::LongerThan(ns),
    };
    let pattern = Condition::Pattern {
        channels: 0b11,
        levels: 0b01,
    };
    let level = |for_ns| Condition::Level {
        channel: 1,
        is_high: false,
        for_ns,
    };
    for (condition, lack) in [
        (
            pulse(14, 1),
            "trigger.pulse: the board has no pulse trigger",
        ),
        (pattern, "trigger.pattern: the board has no pattern trigger"),
        (level(1), "trigger.level: the board has no level trigger"),
    ] {
        let order = waiting(10, condition, 0);
        assert!(Plan::check(&order, &watchful(), CONFIGURED_MAX, None).is_ok());
        let error = Plan::check(&order, &v3(), CONFIGURED_MAX, None).unwrap_err();
        assert!(matches!(error, PlanError::NotCapable { .. }));
        assert_eq!(error.to_string(), lack);
    }
    for (condition, field) in [
        (pulse(15, 1), "trigger.pulse.channel: "),
        (pulse(1, 0), "trigger.pulse.longer_than_ns: must be 1 to"),
        (level(u64::MAX), "trigger.level.for_ns: must be 1 to"),
    ] {
        let told = refused(&waiting(10, condition, 0), &watchful());
        assert!(told.starts_with(field), "{told}");
    }
}

fn warnings(order: &order::Order) -> Vec<String> {
    let plan = Plan::check(order, &v3(), CONFIGURED_MAX, None);
    plan.unwrap().warnings
}

#[test]
fn changed_rates_are_told() {
    let la = |samples, mhz| {
        let mut order = logic(samples, &[]);
        let order::Wanted::Logic(plan) = &mut order.wanted else {
            panic!("built as logic")
        };
        plan.sample_rate_mhz = mhz;
        order
    };
    let adc = |mhz| {
        let mut order = scope(10, None);
        let order::Wanted::Scope(plan) = &mut order.wanted else {
            panic!("built as scope")
        };
        plan.sample_rate_mhz = mhz;
        order
    };
    for order in [
        la(10, 12.0),
        la(10, 1.0),
        la(10, 24.0 / 11.0),
        adc(0.4),
        adc(0.333_333),
    ] {
        assert_eq!(warnings(&order), [""; 0], "{order:?}");
    }
    for (order, told) in [
        (
            la(10, 24.0),
            "sample_rate_mhz: the logic analyzer samples at 12 MHz, not at 24: it has",
        ),
        (
            la(10, 5.0),
            "at 4.8 MHz, not at 5: it has whole parts of 24 MHz",
        ),
        (
            la(100_000, 12.0),
            "at 4 MHz, not at 12: its memory takes 100000 samples no faster",
        ),
        (
            adc(1.0),
            "sample_rate_mhz: the ADC samples at 0.4 MHz, not at 1: ",
        ),
        (adc(0.35), "at 0.347826 MHz, not at 0.35"),
        (
            two(1.0, 8.0),
            "adc_rate_mhz: the ADC samples at 0.4 MHz, not at 1",
        ),
        (
            two(0.4, 9.6),
            "la_rate_mhz: the logic analyzer samples at 8 MHz, not at 9.6",
        ),
    ] {
        let found = warnings(&order);
        assert!(found.len() == 1 && found[0].contains(told), "{found:?}");
    }
    assert_eq!(warnings(&two(1.0, 9.0)).len(), 2);
}

#[test]
fn changed_stimuli_are_told() {
    let measure = |freq, samples, sample_rate_mhz| {
        let generated = order::Stimulus::Generate(order::Generated {
            waveform: "sine".into(),
            freq,
            amplitude: 127,
            offset: 128,
        });
        order(order::Wanted::Measure(order::Measure {
            stimulus: generated,
            samples,
            sample_rate_mhz,
            settle_ms: 0,
        }))
    };
    assert_eq!(warnings(&measure(1000.0, 100, 0.1)), [""; 0]);
    let told = warnings(&measure(1000.0, 100, 0.4));
    assert!(
        told.len() == 1 && told[0].contains("at 0.1 MHz, not at 0.4"),
        "{told:?}"
    );
    let told = warnings(&measure(10_000.0, 100, 0.4));
    assert!(told.len() == 1, "{told:?}");
    assert!(
        told[0].contains("plays at 4000.000 Hz, not at 10000"),
        "{told:?}"
    );
}

#[test]
fn boards_lack_things() {
    let no_adc = PlanError::NotCapable {
        lack: "the board has no ADC".to_owned(),
    };
    let found = Plan::check(&scope(10, None), &digital(), CONFIGURED_MAX, None);
    assert_eq!(found.unwrap_err(), no_adc);
    let dual = order(order::Wanted::Dual(order::Dual {
        adc_samples: 0,
        adc_rate_mhz: 0.0,
        la_samples: 10,
        la_rate_mhz: 1.0,
    }));
    let plan = Plan::check(&dual, &digital(), CONFIGURED_MAX, None).unwrap();
    assert!(!plan.has_adc);
}

#[test]
fn a_bench_captures_both_kinds_where_one_instrument_has_both() {
    let dual = |adc_samples, la_samples| {
        order(order::Wanted::Dual(order::Dual {
            adc_samples,
            adc_rate_mhz: 0.1,
            la_samples,
            la_rate_mhz: 1.0,
        }))
    };
    let bench = |caps: &[&str]| {
        let status = json!({"parts": ["logic", "analog"], "board": "bench", "analog": true, "la_channels": 8, "caps": caps});
        board(&status)
    };
    let two = bench(&["la", "analog"]);
    let both = Plan::check(&dual(10, 10), &two, CONFIGURED_MAX, None).unwrap_err();
    assert!(matches!(&both, PlanError::NotCapable { lack } if lack.contains("two instruments")));
    for one in [dual(10, 0), dual(0, 10)] {
        Plan::check(&one, &two, CONFIGURED_MAX, None).unwrap();
    }
    let one = bench(&["la", "analog", "capture_dual"]);
    let plan = Plan::check(&dual(10, 10), &one, CONFIGURED_MAX, None).unwrap();
    assert!(plan.has_adc && plan.la_channels.len() == 8);
}

#[test]
fn i2c_needs_two_lines() {
    let i2c = |scl, sda| {
        order(order::Wanted::I2c(order::I2c {
            samples: 10,
            sample_rate_mhz: 1.0,
            sda,
            scl,
            voltage_mv: None,
        }))
    };
    assert!(refused(&i2c(3, 3), &v3()).contains("another channel"));
    let plan = Plan::check(&i2c(9, 4), &v3(), CONFIGURED_MAX, None).unwrap();
    assert_eq!((plan.i2c, plan.la_channels), (Some((9, 4)), vec![4, 9]));
}

#[test]
fn a_waveform_needs_a_board_that_starts_it_with_the_capture() {
    let measure = |samples, stimulus| {
        order(order::Wanted::Measure(order::Measure {
            stimulus,
            samples,
            sample_rate_mhz: 0.1,
            settle_ms: 5,
        }))
    };
    let kept = || order::Stimulus::Play;
    let stimulus = || {
        Some(Stimulus {
            codes: vec![0, 65_535],
            rate_hz: None,
        })
    };
    let without = Plan::check(&measure(9, kept()), &v3(), CONFIGURED_MAX, stimulus());
    assert!(matches!(without, Err(PlanError::NotCapable { .. })));
    let board = board(
        &json!({"board": "stm32h563", "version": "3.9.4", "analog": true,
        "caps": ["analog", "scope", "generate16", "dac_replay", "dac_cotrig"]}),
    );
    let plan = Plan::check(&measure(9000, kept()), &board, CONFIGURED_MAX, stimulus()).unwrap();
    assert_eq!(plan.stimulus, stimulus());
    assert!(matches!(
        plan.request,
        CaptureRequest::Scope {
            samples: 9000,
            trigger: None,
            ..
        }
    ));
    let generated = order::Stimulus::Generate(order::Generated {
        waveform: "sine".into(),
        freq: 1000.0,
        amplitude: 127,
        offset: 128,
    });
    // One period is held in the small memory.
    assert_eq!(
        refused(&measure(9000, generated), &board),
        "samples: must be 1 to 2048"
    );
}

/// A pod that sends samples while it takes them.
fn streaming() -> Capabilities {
    board(
        &json!({"board": "stm32h563", "version": "3.9.4", "analog": true,
        "caps": ["la", "analog", "scope", "capture_trigger", "capture_pre", "capture_stream"]}),
    )
}

#[test]
fn what_is_longer_than_memory_is_sent_while_it_is_taken() {
    let request = |samples, configured| {
        let plan = Plan::check(&logic(samples, &[1]), &streaming(), configured, None);
        plan.map(|plan| plan.request.is_streamed())
    };
    assert!(!request(4_194_304, CONFIGURED_MAX).unwrap());
    assert!(request(4_194_305, CONFIGURED_MAX).unwrap());
    // What this server does not hold in memory it writes as it comes.
    assert!(!request(10, 10).unwrap());
    assert!(request(11, 10).unwrap());
    let error = request((1 << 32) + 1, CONFIGURED_MAX).unwrap_err();
    assert_eq!(error.to_string(), "samples: must be 1 to 4294967296");
    let error = request(1 << 32, CONFIGURED_MAX).unwrap_err().to_string();
    assert!(error.contains("less than 3600 s"), "{error}");
}
