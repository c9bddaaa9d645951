//! A pod with the demo target: its console, its bus, its reset and its current.

use std::sync::Arc;

use serde_json::json;
use target_sim::chip::STM32F030R8;
use tokio::time::{Duration, sleep, timeout};

use super::TargetConfig;
use crate::target_config::Program;
use crate::tests::{Client, bench, rises};
use crate::{SimConfig, SimPod};

/// Time from power-on to the first character of the demo, in microseconds.
const BOOT_US: std::ops::Range<u128> = 2_300_000..2_310_000;

fn with_target(target: TargetConfig) -> Arc<SimPod> {
    bench(SimConfig {
        target: Some(target),
        ..SimConfig::default()
    })
}

async fn power(client: &mut Client, on: bool) {
    client
        .ok(json!({"cmd": "target_power", "efuse": 1, "state": u8::from(on)}))
        .await;
}

/// A sensor on the bus of the default wiring, with its pull-ups.
async fn sensor(client: &mut Client) {
    for la in [1, 2] {
        client
            .ok(json!({"cmd": "la", "la": la, "pullup": "on"}))
            .await;
    }
    client
        .ok(json!({"cmd": "sensor_start", "type": "bmp280", "sda": 2, "scl": 1}))
        .await;
}

async fn console(pod: &Arc<SimPod>) -> Client {
    let mut client = Client::new(pod).await;
    let data = client
        .ok(json!({"cmd": "uart_proxy_start", "rx": 3, "tx": 4, "baud": 115_200}))
        .await;
    assert_eq!(data, "uart ready");
    client
}

/// The output until it ends with `end`.
async fn until(client: &mut Client, end: &str) -> String {
    let mut text = String::new();
    while !text.ends_with(end) {
        let more = timeout(Duration::from_secs(20), client.read_raw(1)).await;
        let more = more.unwrap_or_else(|_| panic!("no {end:?} in {text:?}"));
        text.push(char::from(more[0]));
    }
    text
}

async fn command(console: &mut Client, line: &str) -> String {
    console.send_raw(format!("{line}\r").as_bytes()).await;
    until(console, "\r\n> ").await
}

#[tokio::test(start_paused = true)]
async fn the_demo_boots_and_answers_on_its_console() {
    let pod = with_target(TargetConfig::demo());
    let mut client = Client::new(&pod).await;
    sensor(&mut client).await;
    let mut console = console(&pod).await;
    let on = tokio::time::Instant::now();
    power(&mut client, true).await;
    let first = console.read_raw(1).await;
    assert!(
        BOOT_US.contains(&on.elapsed().as_micros()),
        "{:?}",
        on.elapsed()
    );
    let text = until(&mut console, "\r\n> ").await;
    let text = format!("{}{text}", char::from(first[0]));
    for line in [
        "I2C1 init OK",
        "chip id match=0x58",
        "BMP280 init OK",
        "APP_OK",
    ] {
        assert!(text.contains(line), "{text}");
    }
    let help = command(&mut console, "help").await;
    assert!(
        help.contains("commands:") && help.contains("status"),
        "{help}"
    );
    client
        .ok(json!({"cmd": "sensor_set", "temperature_c": 31.25}))
        .await;
    let status = command(&mut console, "status").await;
    let after = status.split("temperature=").nth(1).unwrap();
    let read: f64 = after.split_whitespace().next().unwrap().parse().unwrap();
    assert!((read - 31.25).abs() < 0.6, "{status}");
}

#[tokio::test(start_paused = true)]
async fn a_planned_power_cycle_reaches_an_open_console() {
    let pod = with_target(TargetConfig::demo());
    let mut console = console(&pod).await;
    let mut client = Client::new(&pod).await;
    let later = json!({"cmd": "target_power", "efuse": 1, "state": 1, "delay_ms": 700});
    client.ok(later).await;
    let asked = tokio::time::Instant::now();
    console.read_raw(1).await;
    let took = asked.elapsed().as_micros() - 700_000;
    assert!(BOOT_US.contains(&took), "{took} us");
}

#[tokio::test(start_paused = true)]
async fn a_missing_sensor_is_reported() {
    let pod = with_target(TargetConfig::demo());
    let mut client = Client::new(&pod).await;
    let mut console = console(&pod).await;
    power(&mut client, true).await;
    let text = until(&mut console, "APP_OK").await;
    assert!(text.contains("BMP280 init FAILED"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn the_reset_line_holds_it_and_reboots_it() {
    let pod = with_target(TargetConfig::demo());
    let mut client = Client::new(&pod).await;
    let mut console = console(&pod).await;
    client.ok(json!({"cmd": "nrst", "assert": 1})).await;
    power(&mut client, true).await;
    let silence = timeout(Duration::from_secs(8), console.read_raw(1)).await;
    assert!(silence.is_err(), "a target in reset says nothing");
    client.ok(json!({"cmd": "nrst", "assert": 0})).await;
    until(&mut console, "\r\n> ").await;
    client.ok(json!({"cmd": "nrst", "pulse_ms": 20})).await;
    until(&mut console, "APP_OK").await;
}

#[tokio::test(start_paused = true)]
async fn the_monitor_sees_the_board_and_the_chip() {
    let pod = with_target(TargetConfig::demo());
    let mut client = Client::new(&pod).await;
    let read = async |client: &mut Client| {
        let status = client.ok(json!({"cmd": "power_status"})).await;
        status["internal"]["current_ua"].as_i64().unwrap()
    };
    assert_eq!(read(&mut client).await, 0);
    power(&mut client, true).await;
    sleep(Duration::from_secs(3)).await;
    let running = read(&mut client).await;
    assert!((31_000..60_000).contains(&running), "{running} uA");
    power(&mut client, false).await;
    sleep(Duration::from_millis(100)).await;
    assert_eq!(read(&mut client).await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_capture_shows_the_boot_on_bus_and_console() {
    let pod = with_target(TargetConfig::demo());
    let mut client = Client::new(&pod).await;
    sensor(&mut client).await;
    power(&mut client, true).await;
    let captured = client
        .capture(json!({"cmd": "la_capture", "samples": 4_000_000, "sample_rate_mhz": 1}))
        .await;
    let status = client.ok(json!({"cmd": "sensor_status"})).await;
    let (starts, stops) = conditions(&captured.words);
    assert!(starts > 6, "{starts} STARTs");
    let counted = status["transactions"].as_u64().unwrap();
    assert_eq!(counted, stops as u64, "STOPs on the wire");
    assert!(
        rises(&captured.words, 3).len() > 100,
        "the console is in it"
    );
    let clock = rises(&captured.words, 1);
    let first = clock[0];
    assert!((2_290_000..2_340_000).contains(&first), "{first} us");
    let period = clock[7] - clock[6];
    assert!((9..=11).contains(&period), "{period} us");
}

/// STARTs and STOPs on the bus of the default wiring.
fn conditions(words: &[u16]) -> (usize, usize) {
    let lines = |word: u16| (word & 1 != 0, word & 2 != 0);
    let pairs = words
        .windows(2)
        .map(|pair| (lines(pair[0]), lines(pair[1])));
    pairs.fold((0, 0), |(starts, stops), pair| match pair {
        ((true, true), (true, false)) => (starts + 1, stops),
        ((true, false), (true, true)) => (starts, stops + 1),
        _ => (starts, stops),
    })
}

#[tokio::test(start_paused = true)]
async fn a_trigger_waits_for_what_the_target_does() {
    let pod = with_target(TargetConfig::demo());
    let mut client = Client::new(&pod).await;
    client
        .ok(json!({"cmd": "la", "la": 3, "pullup": "on"}))
        .await;
    power(&mut client, true).await;
    sleep(Duration::from_secs(1)).await;
    let captured = client
        .capture(
            json!({"cmd": "la_capture", "samples": 1000, "sample_rate_mhz": 1,
            "trigger": {"la": 3, "edge": "falling"}}),
        )
        .await;
    assert!(captured.trigger);
    // The start bit of the first character.
    assert_eq!(captured.words[0] & 4, 0);
    assert!(rises(&captured.words, 3).len() > 10);
}

#[tokio::test(start_paused = true)]
async fn a_target_nobody_looks_at_for_an_hour_still_answers() {
    let pod = with_target(TargetConfig::demo());
    let mut client = Client::new(&pod).await;
    power(&mut client, true).await;
    sleep(Duration::from_secs(3_600)).await;
    let mut console = console(&pod).await;
    let help = command(&mut console, "help").await;
    assert!(help.contains("commands:"), "{help}");
}

#[tokio::test(start_paused = true)]
async fn a_target_that_never_rests_misses_what_nobody_waited_for() {
    let pod = with_target(endless_loop());
    let mut client = Client::new(&pod).await;
    power(&mut client, true).await;
    sleep(Duration::from_secs(100_000)).await;
    let status = client.ok(json!({"cmd": "power_status"})).await;
    assert!(status["internal"]["current_ua"].as_i64().unwrap() > 31_000);
    let missed_ns = pod
        .shared
        .with(|world, _| world.target.as_ref().unwrap().offset_ns);
    assert!(missed_ns > 99_000_000_000_000, "{missed_ns}");
}

/// A branch to itself.
fn endless_loop() -> TargetConfig {
    let (stack, reset) = (0x2000_2000_u32, 0x0800_0009_u32);
    let program = [
        &stack.to_le_bytes()[..],
        &reset.to_le_bytes(),
        &[0xfe, 0xe7],
    ];
    TargetConfig {
        program: Program::Image(program.concat().into()),
        ..TargetConfig::blank()
    }
}

#[tokio::test(start_paused = true)]
async fn a_reboot_of_the_pod_takes_the_power_from_the_target_and_keeps_its_flash() {
    let pod = with_target(TargetConfig::demo());
    let mut client = Client::new(&pod).await;
    power(&mut client, true).await;
    sleep(Duration::from_secs(3)).await;
    pod.reboot();
    sleep(Duration::from_secs(5)).await;
    let mut client = Client::new(&pod).await;
    client.ok(json!({"cmd": "la_voltage", "mv": 3300})).await;
    let mut console = console(&pod).await;
    power(&mut client, true).await;
    until(&mut console, "APP_OK").await;
}

#[test]
fn what_is_no_program_is_refused() {
    assert!(TargetConfig::flashed(STM32F030R8, b"no program").is_err());
}
