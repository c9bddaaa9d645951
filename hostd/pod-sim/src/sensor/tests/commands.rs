//! The sensor's commands: values, registers, refusals, channels.

use serde_json::{Value, json};
use tokio::time::{Duration, sleep};

use super::{bytes, start};
use crate::tests::{Client, bench};
use crate::{SimConfig, SimPod};

fn regs(start: u8, len: usize) -> Value {
    json!({"cmd": "sensor_regs", "start": format!("{start:#x}"), "len": len})
}

async fn function(client: &mut Client, la: usize) -> Value {
    client.ok(json!({"cmd": "la_pins"})).await["pins"][la - 1]["function"].take()
}

#[tokio::test(start_paused = true)]
async fn models_are_listed_started_one_after_the_other_and_read() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let types = client.ok(json!({"cmd": "sensor_types"})).await;
    let names = types["types"].as_array().unwrap().iter();
    let names: Vec<_> = names.map(|model| model["type"].as_str().unwrap()).collect();
    assert_eq!(names, ["bmp280", "bme280", "sht4x", "mpu6050"]);
    assert_eq!(types["types"][1]["params"][2]["key"], "humidity_pct");
    assert_eq!(types["types"][2]["alt_addr"], 0x45);
    for (model, addr, reg, byte) in [
        ("bmp280", 0x76, 0xd0, 0x58),
        ("bme280", 0x76, 0xd0, 0x60),
        ("mpu6050", 0x68, 0x75, 0x68),
    ] {
        let started = start(&mut client, model).await;
        assert_eq!(
            started,
            json!({"type": model, "addr": addr, "sda": 2, "scl": 1})
        );
        assert_eq!(bytes(&mut client, regs(reg, 1)).await, [byte]);
    }
    start(&mut client, "sht4x").await;
    let t = bytes(&mut client, regs(0xfd, 2)).await;
    let raw = f64::from(u16::from_be_bytes([t[0], t[1]]));
    assert!((-45.0 + 175.0 * raw / 65_535.0 - 25.0).abs() < 0.01);
    assert_eq!(bytes(&mut client, regs(0, 256)).await.len(), 256);
}

#[tokio::test(start_paused = true)]
async fn values_are_set_all_or_none() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    start(&mut client, "bme280").await;
    let before = bytes(&mut client, regs(0xf7, 8)).await;
    for (set, key) in [
        (
            json!({"humidity_pct": 150, "temperature_c": 3}),
            "humidity_pct",
        ),
        (json!({"temperature_c": 3, "accel_x_g": 1}), "accel_x_g"),
        (json!({"temperature_c": "warm"}), "temperature_c"),
        (json!({}), "value"),
    ] {
        let mut set = set;
        set["cmd"] = "sensor_set".into();
        assert!(client.refused(set).await.contains(key));
        assert_eq!(bytes(&mut client, regs(0xf7, 8)).await, before);
    }
    let set = json!({"cmd": "sensor_set", "humidity_pct": 70, "temperature_c": 31.25});
    let data = client.ok(set).await;
    assert_eq!(
        (&data["type"], &data["values"]["humidity_pct"]),
        (&json!("bme280"), &json!(70.0))
    );
    assert_eq!(data["values"]["pressure_pa"], 101_325.0);
    let after = bytes(&mut client, regs(0xf7, 8)).await;
    assert!(before[3..6] != after[3..6] && before[6..] != after[6..]);
    let status = client.ok(json!({"cmd": "sensor_status"})).await;
    assert_eq!(
        (&status["active"], &status["values"]),
        (&json!(true), &data["values"])
    );
}

#[tokio::test(start_paused = true)]
async fn wrong_requests_are_refused_and_the_running_sensor_stays() {
    let pod = SimPod::new(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let request = json!({"cmd": "sensor_start", "type": "bmp280", "sda": 2, "scl": 1});
    let text = client.refused(request).await;
    assert!(text.starts_with("la voltage not set"), "{text}");
    client.ok(json!({"cmd": "la_voltage", "mv": 3300})).await;
    for cmd in ["sensor_set", "sensor_regs"] {
        let text = client.refused(json!({"cmd": cmd, "len": 1})).await;
        assert!(text.contains("no sensor"), "{text}");
    }
    assert_eq!(
        client.ok(json!({"cmd": "sensor_status"})).await,
        json!({"active": false})
    );
    start(&mut client, "bmp280").await;
    client
        .ok(json!({"cmd": "gpio", "la": 5, "mode": "input"}))
        .await;
    client
        .ok(json!({"cmd": "la", "la": 7, "pullup": "on"}))
        .await;
    for (field, value, text) in [
        ("type", json!("lm75"), "bad type"),
        ("type", json!(null), "missing type"),
        ("sda", json!(null), "missing sda"),
        ("scl", json!(15), "scl out of range"),
        ("scl", json!(2), "differ"),
        ("addr", json!("0x80"), "addr"),
        ("addr", json!("x"), "addr"),
        ("scl", json!(5), "pin conflict: LA5 is in use by gpio"),
        ("scl", json!(7), "pull conflict: LA7"),
    ] {
        let mut request = json!({"cmd": "sensor_start", "type": "bme280", "sda": 2, "scl": 1});
        request[field] = value;
        let refused = client.refused(request).await;
        assert!(refused.contains(text), "{refused}");
    }
    assert_eq!(
        client.ok(json!({"cmd": "sensor_status"})).await["type"],
        "bmp280"
    );
    for (start, len) in [("0xff", 2), ("0x00", 257), ("0x00", 0), ("0x100", 1)] {
        let text = client
            .refused(json!({"cmd": "sensor_regs", "start": start, "len": len}))
            .await;
        assert!(text.contains("len") || text.contains("start"), "{text}");
    }
    for samples in [0, 4097] {
        let request = json!({"cmd": "sensor_la", "samples": samples});
        assert!(client.refused(request).await.contains("samples"));
    }
    let gpio = json!({"cmd": "gpio", "la": 2, "mode": "output"});
    assert!(
        client
            .refused(gpio)
            .await
            .contains(r#"({"cmd":"sensor_stop"})"#)
    );
    let moved = json!({"cmd": "sensor_start", "type": "bmp280", "sda": 1, "scl": 3, "addr": "119"});
    assert_eq!(client.ok(moved).await["addr"], 0x77);
    let pull_down = json!({"cmd": "la", "la": 8, "pullup": "on"});
    client.ok(pull_down).await;
    assert_eq!(function(&mut client, 2).await, "none");
}

#[tokio::test(start_paused = true)]
async fn channels_are_kept_beyond_the_connection_and_freed_by_stop_and_image() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    start(&mut client, "bmp280").await;
    drop(client);
    let mut client = Client::new(&pod).await;
    assert_eq!(function(&mut client, 1).await, "i2c_scl");
    assert_eq!(function(&mut client, 2).await, "i2c_sda");
    client.ok(json!({"cmd": "fpga_image", "image": 1})).await;
    assert_eq!(function(&mut client, 1).await, "none");
    assert_eq!(
        client.ok(json!({"cmd": "sensor_status"})).await,
        json!({"active": false})
    );
    start(&mut client, "bmp280").await;
    for _ in 0..2 {
        client.ok(json!({"cmd": "sensor_stop"})).await;
        assert_eq!(function(&mut client, 2).await, "none");
    }
}

#[tokio::test(start_paused = true)]
async fn read_backs_need_the_capture_hardware() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    start(&mut client, "bmp280").await;
    let mut other = Client::new(&pod).await;
    let slow = json!({"cmd": "sensor_la", "samples": 4096, "sample_rate_mhz": 0.1});
    other.send(&slow).await;
    sleep(Duration::from_millis(1)).await;
    for request in [
        regs(0, 1),
        json!({"cmd": "sensor_la"}),
        json!({"cmd": "la_capture"}),
    ] {
        assert_eq!(client.refused(request).await, "busy");
    }
    client.ok(json!({"cmd": "sensor_status"})).await;
    sleep(Duration::from_millis(200)).await;
    assert_eq!(bytes(&mut client, regs(0xd0, 1)).await, [0x58]);
}
