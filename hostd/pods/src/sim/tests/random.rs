//! Random command sequences: whatever is sent, the pod answers each line and stays usable.

use serde_json::{Map, Value, json};

use super::{Client, Random, bench};
use crate::sim::{Board, SimConfig};

const VERBS: [&str; 78] = [
    "ping",
    "status",
    "identity_public",
    "target_power",
    "target_status",
    "power_status",
    "la_voltage",
    "la_pins",
    "la",
    "gpio",
    "analog_path",
    "dac_mux",
    "cal_switch",
    "dac_set",
    "dac_out",
    "dac_stop",
    "generate",
    "adc_read",
    "capture",
    "la_capture",
    "capture_dual",
    "measure",
    "warp",
    "nrst",
    "usb_cc",
    "replay",
    "load",
    "fpga_image",
    "current_out",
    "can_config",
    "power_profile",
    "spi_start",
    "spi_xfer",
    "spi_flash",
    "spi_stream",
    "spi_status",
    "spi_stop",
    "sensor_types",
    "sensor_start",
    "sensor_set",
    "sensor_status",
    "sensor_regs",
    "sensor_la",
    "sensor_stop",
    "gps_start",
    "gps_set",
    "gps_status",
    "gps_stop",
    "can_write",
    "can_read",
    "can_status",
    "can_term",
    "can_respond",
    "can_disable",
    "dap_start",
    "identity_pop",
    "identity_wipe",
    "cloud_set",
    "cloud_clear",
    "cloud_ca",
    "cloud_proxy",
    "wifi_set",
    "wifi_clear",
    "wifi_status",
    "eth",
    "lan_policy",
    "sig_policy",
    "usb_network",
    "lan_tls",
    "blob_status",
    "ota_begin",
    "ota_data",
    "ota_end",
    "ota_commit",
    "ota_abort",
    "ota_status",
    "ota_selftest",
    "speedtest",
];

const FIELDS: [&str; 73] = [
    "la",
    "mode",
    "level",
    "pullup",
    "steps",
    "delay_us",
    "dir_la",
    "direction",
    "mv",
    "efuse",
    "state",
    "delay_ms",
    "path",
    "volts",
    "value",
    "samples",
    "adc_samples",
    "la_samples",
    "sample_rate_mhz",
    "adc_rate_mhz",
    "la_rate_mhz",
    "enc",
    "trigger",
    "trigger_timeout_ms",
    "waveform",
    "freq",
    "amplitude",
    "amplitude_v",
    "offset_v",
    "on_capture",
    "stop_dac_after_us",
    "source",
    "image",
    "ua",
    "bitrate",
    "id",
    "data",
    "match_id",
    "reply_id",
    "max",
    "on",
    "type",
    "sda",
    "scl",
    "addr",
    "start",
    "len",
    "temperature_c",
    "tx",
    "baud",
    "rate_hz",
    "sentences",
    "latitude_deg",
    "speed_kmh",
    "course_deg",
    "fix",
    "utc",
    "sck",
    "mosi",
    "miso",
    "cs",
    "op",
    "set",
    "host",
    "device_id",
    "nonce",
    "ssid",
    "offset",
    "size",
    "sha256",
    "target",
    "clear",
    "action",
];

fn values() -> Vec<Value> {
    vec![
        json!(null),
        json!(0),
        json!(1),
        json!(2),
        json!(7),
        json!(8),
        json!(14),
        json!(15),
        json!(40),
        json!(300),
        json!(1800),
        json!(3300),
        json!(-1),
        json!(1e300),
        json!(0.5),
        json!(1.5),
        json!(-12.5),
        json!(true),
        json!(false),
        json!("on"),
        json!("off"),
        json!("output"),
        json!("open_drain"),
        json!("input"),
        json!("all"),
        json!("5v"),
        json!("cal1"),
        json!("12v"),
        json!("sine"),
        json!("square"),
        json!("b64"),
        json!([1, 7]),
        json!([]),
        json!({"la": 3, "edge": "high"}),
        json!({"la": 4, "edge": "falling"}),
        json!({"la": 99}),
        json!(u64::MAX),
        json!(i64::MIN),
        json!("ext"),
        json!("bme280"),
        json!("mpu6050"),
        json!("RMC,GGA"),
        json!("2026-01-01T00:00:00Z"),
        json!("hold"),
        json!("erase"),
        json!("AQID"),
    ]
}

/// A start of something on channels, which chance alone would hardly name in full.
fn start(random: &mut Random) -> Value {
    let mut la = || 1 + random.below(14);
    let (a, b, c, d) = (la(), la(), la(), la());
    match random.below(4) {
        0 => json!({"cmd": "spi_start", "sck": a, "mosi": b, "miso": c, "cs": d, "mode": 3}),
        1 => json!({"cmd": "spi_xfer", "tx": "BgUAAAA", "cs": "hold"}),
        2 => {
            let model = *random.pick(&["bmp280", "bme280", "sht4x", "mpu6050"]);
            json!({"cmd": "sensor_start", "type": model, "sda": a, "scl": b})
        }
        _ => json!({"cmd": "gps_start", "tx": a, "baud": 115_200, "rate_hz": 1 + random.below(10)}),
    }
}

fn request(random: &mut Random, values: &[Value]) -> Value {
    if random.below(8) == 0 {
        return start(random);
    }
    let mut request = Map::new();
    request.insert("cmd".to_owned(), (*random.pick(&VERBS)).into());
    for _ in 0..random.below(6) {
        let field = (*random.pick(&FIELDS)).to_owned();
        request.insert(field, random.pick(values).clone());
    }
    Value::Object(request)
}

#[tokio::test(start_paused = true)]
async fn a_random_command_sequence_never_wedges_the_pod() {
    let values = values();
    for (seed, board) in [
        (1, Board::V2),
        (2, Board::V3),
        (3, Board::Digital),
        (4, Board::V3),
    ] {
        let mut random = Random(seed << 32);
        let pod = bench(SimConfig {
            seed,
            board,
            ..SimConfig::default()
        });
        let mut client = Client::new(&pod).await;
        for step in 0..1500 {
            let request = request(&mut random, &values);
            client.send(&request).await;
            loop {
                let reply = client.reply().await.expect("an answer to every line");
                assert!(
                    reply["status"].is_string(),
                    "{step}: {request} gave {reply}"
                );
                if reply["more"] != json!(true) {
                    break;
                }
            }
        }
        // Everything can be brought back to a known state: no pin has leaked.
        client.ok(json!({"cmd": "la_voltage"})).await;
        tokio::time::sleep(std::time::Duration::from_secs(9_000)).await;
        if client.ok(json!({"cmd": "la_voltage"})).await["mv"] == 0 {
            client.ok(json!({"cmd": "la_voltage", "mv": 3300})).await;
        }
        for cmd in ["spi_stop", "sensor_stop", "gps_stop"] {
            client.ok(json!({"cmd": cmd})).await;
        }
        client
            .ok(json!({"cmd": "gpio", "la": "all", "mode": "off"}))
            .await;
        let table = client.ok(json!({"cmd": "la_pins"})).await;
        for pin in table["pins"].as_array().unwrap() {
            assert_eq!(pin["function"], "none");
        }
        assert_eq!(
            client
                .capture(json!({"cmd": "la_capture"}))
                .await
                .words
                .len(),
            256
        );
    }
}

#[tokio::test(start_paused = true)]
async fn random_bytes_never_wedge_the_pod() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let mut random = Random(77);
    let valid = br#"{"cmd":"gpio","la":[1,2],"mode":"output","level":1}"#;
    for _ in 0..2000 {
        let mut line = valid.to_vec();
        for _ in 0..=random.below(4) {
            let at = random.below(line.len());
            line[at] = u8::try_from(random.below(256)).unwrap();
        }
        line.retain(|byte| *byte != b'\n');
        client.send_bytes(&line).await;
        let blank = line.trim_ascii().is_empty();
        if !blank {
            let reply = client.reply().await.expect("an answer to every line");
            assert!(reply["status"].is_string());
        }
    }
    assert_eq!(client.ok(json!({"cmd": "ping"})).await, "pong");
}
