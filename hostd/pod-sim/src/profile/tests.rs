//! Profiles compared with the rail's voltage and load.

use serde_json::{Value, json};
use tokio::time::{Duration, advance};

use crate::SimConfig;
use crate::tests::{Client, bench};

async fn lines(client: &mut Client, request: Value) -> Vec<Value> {
    client.send(&request).await;
    let mut lines = Vec::new();
    loop {
        let line = client.reply().await.unwrap();
        let more = line["more"] == json!(true);
        lines.push(line);
        if !more {
            return lines;
        }
    }
}

fn near(value: &Value, expected: f64, share: f64) -> bool {
    (value.as_f64().unwrap() / expected - 1.0).abs() < share
}

#[tokio::test(start_paused = true)]
async fn one_shot_adds_up_to_voltage_times_current_times_time() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    client
        .ok(json!({"cmd": "target_power", "efuse": 1, "state": 1}))
        .await;
    advance(Duration::from_millis(100)).await;
    let request = json!({"cmd": "power_profile", "efuse": 1, "rate_hz": 500, "keep_samples": 400,
        "duration_ms": 1000});
    let lines = lines(&mut client, request).await;
    let stats = &lines.last().unwrap()["stats"];
    assert_eq!(
        (&stats["n"], &stats["duration_ms"]),
        (&json!(500), &json!(1000))
    );
    // 5.02 V and 42 mA for a second.
    assert!(near(&stats["avg_ua"], 42_000.0, 0.01), "{stats}");
    assert!(near(&stats["charge_uc"], 42_000.0, 0.01), "{stats}");
    assert!(near(&stats["energy_uj"], 210_840.0, 0.01), "{stats}");
    let times: Vec<&Value> = lines
        .iter()
        .flat_map(|line| line["t_us"].as_array().unwrap())
        .collect();
    // 500 samples in at most 400 entries: two in each.
    assert_eq!(times.len(), 250);
    assert_eq!(times[1], 4000);
}

#[tokio::test(start_paused = true)]
async fn a_profile_outlives_its_connection_and_sees_the_switch() {
    let pod = bench(SimConfig::default());
    let mut first = Client::new(&pod).await;
    let start = json!({"cmd": "power_profile", "action": "start", "rate_hz": 200});
    assert_eq!(first.ok(start.clone()).await["started"], true);
    assert!(first.refused(start).await.contains("profile"));
    drop(first);
    let mut second = Client::new(&pod).await;
    second
        .ok(json!({"cmd": "target_power", "efuse": 1, "state": 1, "delay_ms": 1000}))
        .await;
    advance(Duration::from_secs(2)).await;
    let status = second
        .ok(json!({"cmd": "power_profile", "action": "status"}))
        .await;
    assert_eq!(
        (&status["running"], &status["n"]),
        (&json!(true), &json!(400))
    );
    let stopped = lines(
        &mut second,
        json!({"cmd": "power_profile", "action": "stop"}),
    )
    .await;
    let stats = &stopped[0]["stats"];
    assert_eq!(
        (&stats["min_ua"], &stats["truncated"]),
        (&json!(0), &json!(false))
    );
    assert!(near(&stats["avg_ua"], 21_000.0, 0.03), "{stats}");
    let again = json!({"cmd": "power_profile", "action": "stop"});
    assert!(second.refused(again).await.contains("no power profile"));
}

#[tokio::test(start_paused = true)]
async fn the_maximum_ends_a_profile_and_its_result_stays() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    client
        .ok(json!({"cmd": "power_profile", "action": "start", "max_duration_ms": 500}))
        .await;
    advance(Duration::from_secs(60)).await;
    let status = client
        .ok(json!({"cmd": "power_profile", "action": "status"}))
        .await;
    assert_eq!(
        (&status["running"], &status["n"]),
        (&json!(false), &json!(250))
    );
    let stopped = lines(
        &mut client,
        json!({"cmd": "power_profile", "action": "stop"}),
    )
    .await;
    let stats = &stopped[0]["stats"];
    assert_eq!(
        (&stats["truncated"], &stats["n"]),
        (&json!(true), &json!(250))
    );
    for (request, text) in [
        (json!({"cmd": "power_profile", "rate_hz": 99}), "rate_hz"),
        (json!({"cmd": "power_profile", "rate_hz": 100.5}), "rate_hz"),
        (
            json!({"cmd": "power_profile", "duration_ms": 600_001}),
            "duration_ms",
        ),
    ] {
        assert!(client.refused(request).await.contains(text));
    }
}
