//! Power switches act on time, in the pod.

use serde_json::json;
use tokio::time::{Duration, sleep};

use crate::SimConfig;
use crate::tests::{Client, bench};

fn power(efuse: u8, state: u8, delay_ms: u32) -> serde_json::Value {
    match delay_ms {
        0 => json!({"cmd": "target_power", "efuse": efuse, "state": state}),
        _ => json!({"cmd": "target_power", "efuse": efuse, "state": state,
            "delay_ms": delay_ms}),
    }
}

async fn enabled(client: &mut Client) -> [u64; 2] {
    let status = client.ok(json!({"cmd": "target_status"})).await;
    assert_eq!(status["status_supported"], true);
    ["efuse1", "efuse2"].map(|efuse| status[efuse]["enabled"].as_u64().unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_delay_runs_in_the_pod_and_outlives_the_connection() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let reply = client.ok(power(2, 1, 500)).await;
    assert_eq!(reply, json!({"efuse": 2, "enabled": 1, "delay_ms": 500}));
    drop(client);
    let mut client = Client::new(&pod).await;
    assert_eq!(enabled(&mut client).await, [0, 0]);
    sleep(Duration::from_millis(499)).await;
    assert_eq!(enabled(&mut client).await, [0, 0]);
    sleep(Duration::from_millis(1)).await;
    assert_eq!(enabled(&mut client).await, [0, 1]);
}

#[tokio::test(start_paused = true)]
async fn a_new_command_replaces_a_pending_one_of_its_rail_only() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    client.ok(power(1, 1, 100)).await;
    client.ok(power(2, 1, 100)).await;
    client.ok(power(1, 0, 0)).await;
    sleep(Duration::from_millis(200)).await;
    assert_eq!(enabled(&mut client).await, [0, 1]);
}

#[tokio::test(start_paused = true)]
async fn a_rail_rises_and_reads_its_load() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let off = client.ok(json!({"cmd": "power_status"})).await;
    assert_eq!(
        off["internal"],
        json!({"ok": true, "bus_mv": 0, "current_ua": 0})
    );
    client.ok(power(1, 1, 0)).await;
    sleep(Duration::from_millis(10)).await;
    let rising = client.ok(json!({"cmd": "power_status"})).await;
    let half = rising["internal"]["bus_mv"].as_i64().unwrap();
    assert!((2_400..2_620).contains(&half), "{half}");
    let status = client.ok(json!({"cmd": "target_status"})).await;
    assert_eq!(
        status["efuse1"],
        json!({"enabled": 1, "fault": 0, "valid": 0})
    );
    sleep(Duration::from_millis(10)).await;
    // Switching on a rail that is on does not make it rise again.
    client.ok(power(1, 1, 0)).await;
    let on = client.ok(json!({"cmd": "power_status"})).await;
    let (mv, ua) = (
        on["internal"]["bus_mv"].as_i64(),
        on["internal"]["current_ua"].as_i64(),
    );
    assert!((5_010..5_030).contains(&mv.unwrap()), "{mv:?}");
    assert!((41_500..42_500).contains(&ua.unwrap()), "{ua:?}");
    let pod_ua = on["pod"]["current_ua"].as_i64().unwrap();
    assert_eq!(on["pod"]["total_ua"], pod_ua + ua.unwrap());
}

#[tokio::test(start_paused = true)]
async fn fields_outside_their_range_are_refused() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    for request in [
        json!({"cmd": "target_power"}),
        json!({"cmd": "target_power", "efuse": 3, "state": 1}),
        json!({"cmd": "target_power", "efuse": 1, "state": 2}),
        json!({"cmd": "target_power", "efuse": 1, "state": 1, "delay_ms": -4}),
        json!({"cmd": "target_power", "efuse": 1.5, "state": 1}),
    ] {
        client.refused(request).await;
    }
    assert_eq!(enabled(&mut client).await, [0, 0]);
}

/// Milliseconds since power-on, and the rail's readings then: fault, volts, amps.
async fn look(client: &mut Client) -> (u64, bool, f64) {
    let status = client.ok(json!({"cmd": "target_status"})).await;
    let power = client.ok(json!({"cmd": "power_status"})).await;
    let internal = &power["internal"];
    (
        status["efuse1"]["fault"].as_u64().unwrap(),
        internal["bus_mv"].as_f64().unwrap() > 4_000.0,
        internal["current_ua"].as_f64().unwrap() / 1e6,
    )
}

#[tokio::test(start_paused = true)]
async fn a_shorted_rail_trips_and_tries_again_until_the_short_is_gone() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    client.ok(power(1, 1, 0)).await;
    sleep(Duration::from_millis(100)).await;
    pod.fault("short=1@0s:300ms".parse().unwrap());
    sleep(Duration::from_millis(1)).await;
    assert_eq!(look(&mut client).await, (0, false, 2.0), "limiting");
    sleep(Duration::from_millis(3)).await;
    assert_eq!(look(&mut client).await, (1, false, 0.0), "tripped");
    sleep(Duration::from_millis(110)).await;
    assert_eq!(look(&mut client).await, (1, false, 2.0), "trying again");
    // 300 ms end during the third pause; the retry after it, at 338.4 ms, succeeds.
    sleep(Duration::from_millis(220)).await;
    assert_eq!(look(&mut client).await, (1, false, 0.0), "still open");
    sleep(Duration::from_millis(40)).await;
    let (fault, is_up, amps) = look(&mut client).await;
    assert!(
        fault == 0 && is_up && (0.03..0.06).contains(&amps),
        "{amps}"
    );
}
