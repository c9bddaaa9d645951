//! The receiver's channel in captures: exact bit times, epochs in real time, channels and refusals.

use pod_protocol::rates;
use serde_json::{Value, json};
use tokio::time::{Duration, sleep};

use crate::tests::{Client, bench};
use crate::{SimConfig, SimPod};

const TX: u8 = 9;

/// The bytes on an 8N1 line that is idle before the first sample, each with the first sample of its
/// start bit.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "sample indices are small"
)]
fn uart(words: &[u16], samples_per_bit: f64) -> Vec<(usize, u8)> {
    let level = |at: f64| words.get(at as usize).map(|word| word >> (TX - 1) & 1 == 1);
    let mut bytes = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let before = at == 0 || level(at as f64 - 1.0) == Some(true);
        if !before || level(at as f64) != Some(false) {
            at += 1;
            continue;
        }
        let bit = |index: usize| level(at as f64 + (index as f64 + 0.5) * samples_per_bit);
        let Some(stop) = bit(9) else { break };
        assert!(stop, "stop bit");
        let byte = (0..8).fold(0, |byte, index| {
            byte | u8::from(bit(index + 1).unwrap()) << index
        });
        bytes.push((at, byte));
        at += (9.5 * samples_per_bit) as usize;
    }
    bytes
}

fn lines(words: &[u16], samples_per_bit: f64) -> Vec<String> {
    let bytes = uart(words, samples_per_bit)
        .into_iter()
        .map(|(_, byte)| byte);
    let text = String::from_utf8(bytes.collect()).unwrap();
    text.split("\r\n").map(str::to_owned).collect()
}

fn start() -> Value {
    json!({"cmd": "gps_start", "tx": TX, "baud": 9600, "rate_hz": 1,
        "utc": "2026-10-08T12:34:56Z", "latitude_deg": 50.846_612_3,
        "longitude_deg": 4.352_798_7, "satellites": 9, "speed_kmh": 0, "fix": 1})
}

#[tokio::test(start_paused = true)]
async fn epochs_come_in_real_time_with_true_bits() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let started = client.ok(start()).await;
    assert_eq!(
        (&started["active"], &started["tx"]),
        (&json!(true), &json!(TX))
    );
    assert_eq!(started["sentences"], "RMC,VTG,GGA,GSA,GSV,GLL");
    assert_eq!(started["utc"], 1_791_462_896);
    sleep(Duration::from_millis(600)).await;
    let request = json!({"cmd": "la_capture", "samples": 192_000, "sample_rate_mhz": 0.192});
    let captured = client.capture(request).await;
    let per_bit = captured.la_rate_hz / 9600.0;
    let bytes = uart(&captured.words, per_bit);
    let text: Vec<u8> = bytes.iter().map(|(_, byte)| *byte).collect();
    let text = String::from_utf8(text).unwrap();
    let wanted = "$GPRMC,123457.00,A,5050.79674,N,00421.16792,E,0.000,0.00,081026,,,A*";
    assert!(text.starts_with(wanted), "{text}");
    assert_eq!(text.lines().count(), 8);
    // The second epoch begins one second after the start, and no byte is off by a sample.
    let divider = rates::la_divider(Some(192_000.0), 192_000);
    let begin_ns = 400_000_000;
    for (index, (sample, _)) in bytes.iter().enumerate() {
        let due_ns = begin_ns + index as u64 * 10 * 1_000_000_000 / 9_600;
        let due = usize::try_from(rates::first_sample_at(due_ns, divider)).unwrap();
        assert!(
            sample.abs_diff(due) <= 1,
            "byte {index}: {sample} for {due}"
        );
    }
    let status = client.ok(json!({"cmd": "gps_status"})).await;
    assert_eq!(
        (&status["epochs"], &status["overruns"]),
        (&json!(2), &json!(0))
    );
    assert_eq!(status["bytes"], 2 * text.len());
}

#[tokio::test(start_paused = true)]
async fn a_capture_of_any_part_shows_the_same_line() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let mut fast = start();
    fast["baud"] = 115_200.into();
    fast["rate_hz"] = 10.into();
    fast["sentences"] = "GGA,RMC".into();
    fast["speed_kmh"] = 100.into();
    client.ok(fast).await;
    let request = json!({"cmd": "la_capture", "samples": 1_500_000, "sample_rate_mhz": 1.2});
    let whole = client.capture(request).await;
    assert_eq!(rates::la_divider(Some(1.2e6), 1_500_000), 20);
    let lines = lines(&whole.words, 1.2e6 / 115_200.0);
    assert!(lines[0].starts_with("$GPRMC,123456.00,"), "{}", lines[0]);
    assert!(lines[1].starts_with("$GPGGA,123456.00,"));
    assert!(lines[2].starts_with("$GPRMC,123456.10,"));
    assert_ne!(lines[0][20..30], lines[20][20..30]);
    // The same pod again, captured in pieces: the lines are the same.
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let mut again = start();
    again["baud"] = 115_200.into();
    again["rate_hz"] = 10.into();
    again["sentences"] = "RMC,GGA".into();
    again["speed_kmh"] = 100.into();
    client.ok(again).await;
    let piece = json!({"cmd": "la_capture", "samples": 24_000, "sample_rate_mhz": 1.2});
    let mut from = 0;
    for _ in 0..40 {
        let part = client.capture(piece.clone()).await;
        assert!(part.words == whole.words[from..from + 24_000], "{from}");
        from += 24_000;
    }
}

#[tokio::test(start_paused = true)]
async fn changes_of_the_fix_show_from_the_next_epoch_on() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let mut fast = start();
    fast["baud"] = 115_200.into();
    fast["rate_hz"] = 10.into();
    fast["sentences"] = "RMC".into();
    client.ok(fast).await;
    let capture = json!({"cmd": "la_capture", "samples": 1_000_000, "sample_rate_mhz": 1.2});
    client.send(&capture).await;
    sleep(Duration::from_millis(250)).await;
    let mut other = Client::new(&pod).await;
    let status = other.ok(json!({"cmd": "gps_set", "fix": 0})).await;
    assert_eq!((&status["fix"], &status["epochs"]), (&json!(0), &json!(3)));
    sleep(Duration::from_millis(200)).await;
    let set = json!({"cmd": "gps_set", "fix": 2, "latitude_deg": -10.5, "utc": 1_000_000_000});
    assert_eq!(other.ok(set).await["latitude_deg"], -10.5);
    let words = client.captured().await.unwrap().words;
    let lines = lines(&words, 1.2e6 / 115_200.0);
    let valid: Vec<char> = lines[..8]
        .iter()
        .map(|line| line.chars().nth(17).unwrap())
        .collect();
    assert_eq!(valid, ['A', 'A', 'A', 'V', 'V', 'A', 'A', 'A']);
    assert!(
        lines[5].starts_with("$GPRMC,014640.00,A,1030.00000,S,00421.16792,E,"),
        "{}",
        lines[5]
    );
    assert!(lines[6].starts_with("$GPRMC,014640.10,A,"));
    assert!(lines[5].contains(",090901,,,D*"));
}

#[tokio::test(start_paused = true)]
async fn epochs_that_do_not_fit_any_more_are_skipped_and_counted() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    // Without a fix GSV is one short sentence; with twelve satellites there are three.
    let start = json!({"cmd": "gps_start", "tx": TX, "baud": 9600, "rate_hz": 8,
        "sentences": "GSV", "fix": 0});
    client.ok(start).await;
    sleep(Duration::from_millis(1_010)).await;
    let status = client.ok(json!({"cmd": "gps_status"})).await;
    assert_eq!(
        (&status["epochs"], &status["overruns"]),
        (&json!(9), &json!(0))
    );
    let set = json!({"cmd": "gps_set", "fix": 1, "satellites": 12});
    client.ok(set).await;
    sleep(Duration::from_secs(4)).await;
    let status = client.ok(json!({"cmd": "gps_status"})).await;
    let (epochs, overruns) = (
        status["epochs"].as_u64().unwrap(),
        status["overruns"].as_u64(),
    );
    assert_eq!(epochs + overruns.unwrap(), 9 + 32);
    // An epoch takes between one and two periods, so every other one is skipped.
    assert_eq!(overruns, Some(16));
    let capture = json!({"cmd": "la_capture", "samples": 200_000, "sample_rate_mhz": 0.1});
    let words = client.capture(capture).await.words;
    let idle = words
        .windows(150)
        .position(|run| run.iter().all(|word| word >> 8 & 1 == 1));
    let lines = lines(&words[idle.unwrap()..], 1e5 / 9600.0);
    // Only whole epochs: the second and third sentence always follow the first.
    let parts = lines[..lines.len() - 1].iter().map(|line| &line[7..10]);
    let parts: Vec<&str> = parts.collect();
    assert!(parts.windows(3).all(|three| {
        let order = ["3,1", "3,2", "3,3"];
        let at = order.iter().position(|part| *part == three[0]).unwrap();
        three[1] == order[(at + 1) % 3] && three[2] == order[(at + 2) % 3]
    }));
}

#[tokio::test(start_paused = true)]
async fn it_keeps_its_channel_and_its_fix() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let idle = client.ok(json!({"cmd": "gps_status"})).await;
    assert_eq!(
        (&idle["active"], &idle["utc"]),
        (&json!(false), &json!(1_767_225_600))
    );
    assert_eq!(
        (&idle["satellites"], &idle["hdop"]),
        (&json!(8), &json!(0.9))
    );
    assert!(idle.get("epochs").is_none());
    client
        .ok(json!({"cmd": "gps_set", "altitude_m": 77.5}))
        .await;
    client.ok(start()).await;
    drop(client);
    let mut client = Client::new(&pod).await;
    client.ok(json!({"cmd": "fpga_image", "image": 1})).await;
    let pins = client.ok(json!({"cmd": "la_pins"})).await;
    assert_eq!(pins["pins"][8]["function"], "gps_tx");
    let gpio = json!({"cmd": "gpio", "la": 9, "mode": "output"});
    let text = client.refused(gpio).await;
    assert!(
        text.contains(r#"stop the GPS receiver first ({"cmd":"gps_stop"})"#),
        "{text}"
    );
    let status = client.ok(json!({"cmd": "gps_status"})).await;
    assert_eq!(
        (&status["active"], &status["altitude_m"]),
        (&json!(true), &json!(77.5))
    );
    // A second start moves the session to another channel.
    client.ok(json!({"cmd": "gps_start", "tx": 10})).await;
    for _ in 0..2 {
        client.ok(json!({"cmd": "gps_stop"})).await;
        let status = client.ok(json!({"cmd": "gps_status"})).await;
        assert_eq!(status["active"], false);
        let pins = client.ok(json!({"cmd": "la_pins"})).await;
        let functions = pins["pins"].as_array().unwrap().iter();
        assert!(functions.into_iter().all(|pin| pin["function"] == "none"));
    }
    let words = client.capture(json!({"cmd": "la_capture"})).await.words;
    assert!(words.iter().all(|word| word >> 8 == 0));
}

#[tokio::test(start_paused = true)]
async fn wrong_requests_are_refused_and_the_running_session_stays() {
    let pod = SimPod::new(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let text = client.refused(start()).await;
    assert!(text.starts_with("la voltage not set"), "{text}");
    client.ok(json!({"cmd": "la_voltage", "mv": 3300})).await;
    client.ok(start()).await;
    client
        .ok(json!({"cmd": "gpio", "la": 3, "mode": "input"}))
        .await;
    for (field, value, text) in [
        ("tx", json!(null), "missing tx"),
        ("tx", json!(3), "pin conflict: LA3 is in use by gpio"),
        ("baud", json!(299), "baud out of range"),
        ("baud", json!(1_000_000), "baud out of range"),
        ("rate_hz", json!(11), "rate_hz out of range"),
        ("rate_hz", json!(5), "more than 9600 baud"),
        ("sentences", json!("RMC,ZDA"), "bad sentences"),
        ("sentences", json!(""), "bad sentences"),
        ("latitude_deg", json!(90.1), "latitude_deg out of range"),
        ("longitude_deg", json!(-181), "longitude_deg out of range"),
        ("altitude_m", json!(20_001), "altitude_m out of range"),
        ("speed_kmh", json!(-1), "speed_kmh out of range"),
        ("course_deg", json!(361), "course_deg out of range"),
        ("satellites", json!(13), "satellites out of range"),
        ("hdop", json!(0.4), "hdop out of range"),
        ("fix", json!(3), "fix out of range"),
        ("utc", json!("2026-10-08T12:34:56"), "bad utc"),
        ("utc", json!(-1), "utc out of range"),
    ] {
        let mut request = start();
        request[field] = value;
        let refused = client.refused(request).await;
        assert!(refused.contains(text), "{refused}");
    }
    assert!(
        client
            .refused(json!({"cmd": "gps_set"}))
            .await
            .contains("missing")
    );
    let mixed = json!({"cmd": "gps_set", "altitude_m": 5, "hdop": 0});
    assert!(client.refused(mixed).await.contains("hdop"));
    let status = client.ok(json!({"cmd": "gps_status"})).await;
    assert_eq!(
        (&status["active"], &status["altitude_m"]),
        (&json!(true), &json!(0.0))
    );
}
