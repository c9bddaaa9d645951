//! Reading a capture again gives the same capture, and anything newer replaces it.

use serde_json::json;
use tokio::time::{Duration, sleep};

use crate::SimConfig;
use crate::reboot::BOOT;
use crate::tests::{Client, bench};

#[tokio::test(start_paused = true)]
async fn a_capture_is_read_again_from_any_offset() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let read = |offset: usize| json!({"cmd": "capture_read", "offset": offset, "enc": "b64"});
    let none = client.refused(read(0)).await;
    assert!(none.contains("no capture"), "{none}");
    client
        .ok(json!({"cmd": "la", "la": 9, "steps": 300, "delay_us": 7}))
        .await;
    let dual = json!({"cmd": "capture_dual", "adc_samples": 700, "la_samples": 3_000,
        "adc_rate_mhz": 0.4, "la_rate_mhz": 1.0, "enc": "b64"});
    let taken = client.capture(dual).await;
    // Later events do not change it.
    sleep(Duration::from_secs(3)).await;
    client
        .ok(json!({"cmd": "gpio", "la": 9, "mode": "output", "level": 1}))
        .await;
    let again = client.capture(read(0)).await;
    assert_eq!((&again.adc, &again.words), (&taken.adc, &taken.words));
    assert!((again.la_rate_hz - 1e6).abs() < 1.0);
    assert_eq!(client.capture(read(650)).await.adc, taken.adc[650..]);
    for offset in [700, 701, 2_000, 3_699] {
        let rest = client.capture(read(offset)).await;
        assert!(rest.adc.is_empty());
        // Indices stay absolute: samples before the offset are not sent.
        assert_eq!(rest.words.len(), 3_000);
        assert_eq!(rest.words[offset - 700..], taken.words[offset - 700..]);
    }
    let raw = json!({"cmd": "capture_read", "enc": "raw"});
    let raw = client.capture(raw).await;
    assert_eq!((&raw.adc, &raw.words), (&taken.adc, &taken.words));
    assert_eq!(raw.packets, 2);
    let raw = json!({"cmd": "capture_read", "offset": 2_000, "enc": "raw"});
    assert_eq!(client.capture(raw).await.words, taken.words[1_300..]);
    let end = client.capture(read(3_700)).await;
    assert_eq!((end.packets, end.adc.len(), end.words.len()), (1, 0, 0));
    assert!(client.refused(read(3_701)).await.contains("3700"));
}

#[tokio::test(start_paused = true)]
async fn newer_captures_uploads_and_restarts_take_the_place() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let read = json!({"cmd": "capture_read"});
    let shot = json!({"cmd": "la_capture", "samples": 20});
    client.capture(shot.clone()).await;
    assert_eq!(client.capture(read.clone()).await.words.len(), 20);
    client
        .capture(json!({"cmd": "capture", "samples": 20}))
        .await;
    client.refused(read.clone()).await;
    client.capture(shot.clone()).await;
    client
        .ok(json!({"cmd": "load_bin", "total": 4, "psram": true}))
        .await;
    client.send_raw(&[0; 4]).await;
    client.reply().await.unwrap();
    client.ok(json!({"cmd": "replay"})).await;
    client.refused(read.clone()).await;
    client.capture(shot).await;
    pod.reboot();
    sleep(BOOT).await;
    Client::new(&pod).await.refused(read).await;
}

#[tokio::test(start_paused = true)]
async fn a_shot_is_a_trace_that_can_be_replayed() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    client
        .ok(json!({"cmd": "analog_path", "path": "cal1"}))
        .await;
    let measure = json!({"cmd": "measure", "waveform": "square", "freq": 1000, "samples": 64});
    let trace = client.capture(measure).await.adc;
    let replayed = client
        .ok(json!({"cmd": "replay", "sample_rate_mhz": 0.02, "on_capture": true}))
        .await;
    assert_eq!(replayed["samples"], 64);
    let shot = client
        .capture(json!({"cmd": "capture", "samples": 1200, "sample_rate_mhz": 0.4}))
        .await;
    let fit = crate::Board::V3.adc_fits().cal1;
    let out = crate::Board::V3.dac_fits().out_5v;
    for (at, code) in trace.iter().enumerate().take(59) {
        let count = shot.adc[at * 20 + 15];
        let seen = fit.volts(f64::from(crate::adc::unwrapped(count)));
        let expected = out.code_volts(*code);
        assert!(
            (seen - expected).abs() < 0.03,
            "{at}: {seen} for {expected}"
        );
    }
    // That shot is the trace now.
    let replayed = client.ok(json!({"cmd": "replay"})).await;
    assert_eq!(replayed["samples"], 1200);
}
