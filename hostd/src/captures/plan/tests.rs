//! Bounds by board, and what the pod is asked.

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

fn order(plan: wit::Plan) -> wit::Order {
    wit::Order {
        device: "d".into(),
        name: None,
        trigger: None,
        plan,
    }
}

fn logic(samples: u64, channels: &[u8]) -> wit::Order {
    order(wit::Plan::Logic(wit::Logic {
        samples,
        sample_rate_mhz: 1.0,
        channels: channels.to_vec(),
        voltage_mv: Some(3300),
    }))
}

fn scope(samples: u64, source: Option<&str>) -> wit::Order {
    order(wit::Plan::Scope(wit::Scope {
        samples,
        sample_rate_mhz: 0.4,
        source: source.map(str::to_owned),
    }))
}

fn refused(order: &wit::Order, board: &Capabilities) -> String {
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
        order(wit::Plan::Dual(wit::Dual {
            adc_samples,
            adc_rate_mhz: 0.4,
            la_samples,
            la_rate_mhz: 1.0,
        }))
    };
    for (order, expected) in [
        (logic(0, &[]), "samples: must be 1 to 4194304"),
        (logic(4_194_305, &[]), "samples: must be 1 to 4194304"),
        (logic(1, &[15]), "channels: must be a channel from 1 to 14"),
        (scope(4_192_257, None), "samples: must be 1 to 4192256"),
        (
            scope(1, Some("moon")),
            "source: must be ext, cal1, cal2 or current_in",
        ),
        (
            two_rates(0, 0),
            "adc_samples: adc_samples and la_samples cannot both be 0",
        ),
        (
            two_rates(4_000_000, 4_000_000),
            "together must be at most 4192256",
        ),
    ] {
        let error = refused(&order, &v3());
        assert!(error.contains(expected), "{error}");
    }
    let mut order = logic(1, &[]);
    order.name = Some(String::new());
    assert!(refused(&order, &v3()).contains("name: must be 1 to 120 characters"));
    order.name = Some("a\nb".into());
    assert!(refused(&order, &v3()).contains("control characters"));
    order.name = None;
    order.trigger = Some(wit::Trigger {
        channel: 0,
        edge: wit::Edge::Rising,
        timeout_ms: 1,
    });
    assert!(refused(&order, &v3()).contains("trigger.channel"));
    let small = Plan::check(&logic(11, &[]), &v3(), 10, None).unwrap_err();
    assert!(small.to_string().contains("must be 1 to 10"), "{small}");
}

#[test]
fn rates_that_no_board_has_are_refused() {
    let mut fast = logic(10, &[]);
    let wit::Plan::Logic(plan) = &mut fast.plan else {
        panic!("built as logic")
    };
    plan.sample_rate_mhz = 24.1;
    let told = refused(&fast, &v3());
    assert!(
        told.contains("sample_rate_mhz: must be above 0 and at most 24"),
        "{told}"
    );
    let mut fast = scope(10, None);
    let wit::Plan::Scope(plan) = &mut fast.plan else {
        panic!("built as scope")
    };
    plan.sample_rate_mhz = 1.1;
    let told = refused(&fast, &v3());
    assert!(
        told.contains("sample_rate_mhz: must be above 0 and at most 1"),
        "{told}"
    );
}

#[test]
fn boards_lack_things() {
    let no_adc = PlanError::NotCapable { what: "ADC" };
    let found = Plan::check(&scope(10, None), &digital(), CONFIGURED_MAX, None);
    assert_eq!(found.unwrap_err(), no_adc);
    let dual = order(wit::Plan::Dual(wit::Dual {
        adc_samples: 0,
        adc_rate_mhz: 0.0,
        la_samples: 10,
        la_rate_mhz: 1.0,
    }));
    let plan = Plan::check(&dual, &digital(), CONFIGURED_MAX, None).unwrap();
    assert!(!plan.has_adc);
}

#[test]
fn i2c_needs_two_lines() {
    let i2c = |scl, sda| {
        order(wit::Plan::I2c(wit::I2c {
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
        order(wit::Plan::Measure(wit::Measure {
            stimulus,
            samples,
            sample_rate_mhz: 0.1,
            settle_ms: 5,
        }))
    };
    let kept = || wit::Stimulus::Library("w".into());
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
    let generated = wit::Stimulus::Generate(wit::Generated {
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
