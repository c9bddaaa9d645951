//! A command is refused by its own gates, and by no other.

use std::sync::Arc;

use pod_protocol::commands::{Command, Example, Gate};
use serde_json::{Value, json};

use super::{Client, all, ask, assert_none, bench, examples, full_config, parsed, refusal};
use crate::{Board, SimConfig, SimPod};

/// On such a pod, exactly the examples behind one of `gates` are refused with `text`.
async fn each_is_stopped(
    pods: impl AsyncFn() -> (Arc<SimPod>, Option<Client>),
    gates: &[Gate],
    text: &str,
) {
    let mut problems = Vec::new();
    for command in all() {
        for example in examples(command) {
            let (pod, _keep) = pods().await;
            let request = parsed(example.request);
            let lines = ask(&pod, example, &request).await;
            let stopped = refusal(&lines).is_some_and(|refused| refused.contains(text));
            let gated = stands_behind(command, gates, example);
            if stopped != gated {
                problems.push(format!("{}: {lines:?}", example.request));
            }
        }
    }
    assert_none(&problems);
}

fn stands_behind(command: &Command, gates: &[Gate], example: &Example) -> bool {
    let request = parsed(example.request);
    let own = command.gates.iter().filter(|gate| gate.applies(&request));
    own.into_iter().any(|gate| {
        let general = if matches!(gate, Gate::AnalogFor(_)) {
            Gate::Analog
        } else {
            *gate
        };
        gates.contains(&general)
    })
}

#[tokio::test(start_paused = true)]
async fn what_needs_the_front_end_is_refused_without() {
    let config = || SimConfig {
        board: Board::Digital,
        ..full_config()
    };
    let text = Gate::Analog.refusal();
    each_is_stopped(async || (bench(config()), None), &[Gate::Analog], text).await;
}

#[tokio::test(start_paused = true)]
async fn what_needs_waveforms_is_refused_without() {
    let config = || SimConfig {
        ac_dac: false,
        ..full_config()
    };
    let text = Gate::Waveforms.refusal();
    each_is_stopped(async || (bench(config()), None), &[Gate::Waveforms], text).await;
}

#[tokio::test(start_paused = true)]
async fn what_needs_a_v3_board_is_refused_on_v2() {
    let config = || SimConfig {
        board: Board::V2,
        ..full_config()
    };
    each_is_stopped(
        async || (bench(config()), None),
        &[Gate::BoardV3],
        "needs a v3 board",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn what_needs_the_bank_voltage_is_refused_before_it_is_set() {
    let text = Gate::LaVoltage.refusal();
    each_is_stopped(
        async || (SimPod::new(full_config()), None),
        &[Gate::LaVoltage],
        text,
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn what_needs_the_loop_image_is_refused_on_the_other() {
    let pods = async || {
        let pod = bench(full_config());
        let mut client = Client::new(&pod).await;
        client.ok(json!({"cmd": "fpga_image", "image": 1})).await;
        (pod, Some(client))
    };
    each_is_stopped(pods, &[Gate::LoopImage], Gate::LoopImage.refusal()).await;
}

#[tokio::test(start_paused = true)]
async fn what_needs_the_capture_hardware_is_refused_while_it_is_used() {
    let mut problems = Vec::new();
    for command in all() {
        // What comes before an example may need the hardware itself.
        for example in examples(command).filter(|example| example.before.is_empty()) {
            let pod = bench(full_config());
            let mut other = Client::new(&pod).await;
            let long = json!({"cmd": "la_capture", "samples": 4_000_000, "sample_rate_mhz": 0.1});
            other.send(&long).await;
            tokio::time::sleep(tokio::time::Duration::from_millis(1)).await;
            let lines = ask(&pod, example, &parsed(example.request)).await;
            let busy = refusal(&lines) == Some("busy");
            let request = parsed(example.request);
            let given =
                |gate: &Gate| matches!(gate, Gate::CaptureHardwareFor(_)) && gate.applies(&request);
            let gated = command.has_gate(Gate::CaptureHardware) || command.gates.iter().any(given);
            if busy != gated {
                problems.push(format!("{}: {lines:?}", example.request));
            }
        }
    }
    assert_none(&problems);
}

#[tokio::test(start_paused = true)]
async fn what_dac_limits_forbid_is_refused_while_they_are_set() {
    let limits = json!({"cmd": "dac_limits", "path": "5v", "inverted": false, "min_mv": 0,
        "max_mv": 2000});
    let settable = all().any(|command| command.verb == "dac_limits");
    let gated = |command: &&Command| settable && command.has_gate(Gate::NoDacLimits);
    for command in all().filter(gated) {
        for example in examples(command) {
            let pod = bench(full_config());
            Client::new(&pod).await.ok(limits.clone()).await;
            let lines: Vec<Value> = ask(&pod, example, &parsed(example.request)).await;
            assert!(refusal(&lines).is_some(), "{}", example.request);
        }
    }
}
