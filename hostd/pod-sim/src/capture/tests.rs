//! Captures contain what happened, at the time when it happened.

use pod_protocol::rates;
use serde_json::json;
use tokio::time::{Duration, Instant, sleep};

use crate::tests::{Captured, Client, bench, rises};
use crate::{Playback, Recording, SimConfig};

#[tokio::test(start_paused = true)]
async fn a_capture_takes_its_time_and_arrives_in_packets_of_256() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let before = Instant::now();
    let captured = client
        .capture(
            json!({"cmd": "capture_dual", "adc_samples": 40_000, "adc_rate_mhz": 0.4,
            "la_samples": 1000, "la_rate_mhz": 1.0, "enc": "b64"}),
        )
        .await;
    let took = before.elapsed();
    assert!(
        took >= Duration::from_millis(100) && took < Duration::from_millis(105),
        "{took:?}"
    );
    assert_eq!((captured.adc.len(), captured.words.len()), (40_000, 1000));
    assert_eq!(captured.packets, 40_000_usize.div_ceil(256) + 4);
    assert_eq!(captured.adc_rate_hz.round().to_string(), "400000");
    assert_eq!(captured.la_rate_hz.round().to_string(), "1000000");
}

#[tokio::test(start_paused = true)]
async fn base64_and_decimal_say_the_same() {
    let request = |enc: &str| json!({"cmd": "capture", "samples": 700, "enc": enc});
    let mut counts = Vec::new();
    for enc in ["b64", "decimal"] {
        let pod = bench(SimConfig::default());
        let captured = Client::new(&pod).await.capture(request(enc)).await;
        counts.push(captured.adc);
    }
    assert_eq!(counts[0].len(), 700);
    assert_eq!(counts[0], counts[1]);
}

#[tokio::test(start_paused = true)]
async fn bytes_and_edges_say_the_same() {
    let busy = Recording {
        sample_rate_hz: 200_000.0,
        samples: 50_000,
        edges: (0..50_000).map(|at| (at, u16::from(at % 2 == 0))).collect(),
    };
    for (recording, quiet) in [(busy, false), (recording(), true)] {
        let mut taken = Vec::new();
        for enc in ["raw", "edges"] {
            let playback = Playback::new(&recording, &[(0, 4), (1, 1), (2, 14)], None);
            let pod = bench(SimConfig {
                playback: Some(playback.unwrap()),
                ..SimConfig::default()
            });
            let request =
                json!({"cmd": "la_capture", "samples": 20_000, "sample_rate_mhz": 0.2, "enc": enc});
            taken.push(Client::new(&pod).await.capture(request).await);
        }
        let [raw, edges] = [&taken[0], &taken[1]];
        assert_eq!(raw.words.len(), 20_000);
        assert_eq!(raw.words, edges.words);
        assert_eq!(
            (raw.packets, edges.packets),
            (1, 20_000_usize.div_ceil(256))
        );
        let changes = raw
            .words
            .windows(2)
            .filter(|pair| pair[0] != pair[1])
            .count();
        assert_eq!(changes < 10_000, quiet, "{changes}");
    }
}

/// An irregular recording on three bits.
fn recording() -> Recording {
    let mut edges = vec![(0, 0b001)];
    let mut state = 0x1234_5678_u64;
    let mut at = 0;
    while at < 49_000 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        at += 1 + state % 40;
        edges.push((at, u16::try_from((state >> 20) % 8).unwrap()));
    }
    Recording {
        sample_rate_hz: 200_000.0,
        samples: 50_000,
        edges,
    }
}

fn recorded_word(recording: &Recording, sample: u64) -> u16 {
    let after = recording.edges.partition_point(|(at, _)| *at <= sample);
    after
        .checked_sub(1)
        .map_or(0, |index| recording.edges[index].1)
}

#[tokio::test(start_paused = true)]
async fn a_played_recording_is_captured_resampled() {
    let recording = recording();
    // Bits 0, 1, 2 on LA4, LA1, LA14; loop from 1,000 to 41,000: 200 ms.
    let playback = Playback::new(
        &recording,
        &[(0, 4), (1, 1), (2, 14)],
        Some((1_000, 41_000)),
    )
    .unwrap();
    for (rate_mhz, samples) in [(1.0, 300_000_u64), (0.15, 60_000), (12.0, 32_000)] {
        let pod = bench(SimConfig {
            playback: Some(playback.clone()),
            ..SimConfig::default()
        });
        let mut client = Client::new(&pod).await;
        sleep(Duration::from_millis(37)).await;
        let captured = client
            .capture(json!({"cmd": "la_capture", "samples": samples,
                "sample_rate_mhz": rate_mhz}))
            .await;
        assert_eq!(captured.words.len() as u64, samples);
        let divider = rates::la_divider(Some(rate_mhz * 1e6), samples);
        for (index, word) in (0..).zip(&captured.words) {
            let at_ns = 37_000_000 + rates::sample_ns(index, divider);
            let sample = 1_000 + (at_ns / 5_000) % 40_000;
            let recorded = recorded_word(&recording, sample);
            let expected = (recorded & 1) << 3 | (recorded >> 1 & 1) | (recorded >> 2 & 1) << 13;
            assert_eq!(*word, expected, "sample {index} at {rate_mhz} MHz");
        }
        assert!(captured.words.windows(2).any(|pair| pair[0] != pair[1]));
    }
}

#[tokio::test(start_paused = true)]
async fn the_pod_wins_over_the_target_and_power_gates_it() {
    let steady = Recording {
        sample_rate_hz: 1000.0,
        samples: 10,
        edges: vec![(0, 0b11)],
    };
    let playback = Playback::new(&steady, &[(0, 1), (1, 2)], None).unwrap();
    let pod = bench(SimConfig {
        playback: Some(playback.powered_by(1)),
        ..SimConfig::default()
    });
    let mut client = Client::new(&pod).await;
    assert_eq!(client.ok(json!({"cmd": "gpio"})).await["levels"], 0);
    client
        .ok(json!({"cmd": "target_power", "efuse": 1, "state": 1, "delay_ms": 50}))
        .await;
    assert_eq!(client.ok(json!({"cmd": "gpio"})).await["levels"], 0);
    sleep(Duration::from_millis(60)).await;
    assert_eq!(client.ok(json!({"cmd": "gpio"})).await["levels"], 0b11);
    client
        .ok(json!({"cmd": "gpio", "la": 1, "mode": "open_drain"}))
        .await;
    assert_eq!(client.ok(json!({"cmd": "gpio"})).await["levels"], 0b11);
    client.ok(json!({"cmd": "gpio", "la": 1, "level": 0})).await;
    assert_eq!(client.ok(json!({"cmd": "gpio"})).await["levels"], 0b10);
}

#[tokio::test(start_paused = true)]
async fn events_of_another_connection_land_at_their_time() {
    let pod = bench(SimConfig::default());
    let mut capturing = Client::new(&pod).await;
    let mut other = Client::new(&pod).await;
    other
        .ok(json!({"cmd": "gpio", "la": 5, "mode": "output", "level": 0}))
        .await;
    capturing
        .send(&json!({"cmd": "la_capture", "samples": 100_000, "sample_rate_mhz": 0.1}))
        .await;
    // The capture starts as soon as its request is read.
    other.ok(json!({"cmd": "ping"})).await;
    let mut expected = Vec::new();
    for pulse in 1..=3_usize {
        sleep(Duration::from_millis(100)).await;
        other.ok(json!({"cmd": "gpio", "la": 5, "level": 1})).await;
        sleep(Duration::from_millis(50)).await;
        other.ok(json!({"cmd": "gpio", "la": 5, "level": 0})).await;
        expected.push((pulse * 150 - 50) * 100);
    }
    other
        .ok(json!({"cmd": "la", "la": 6, "pullup": "on"}))
        .await;
    let captured = capturing.captured().await.unwrap();
    assert_eq!(rises(&captured.words, 5), expected);
    assert_eq!(rises(&captured.words, 6), [45_000]);
}

#[tokio::test(start_paused = true)]
async fn a_step_train_has_exact_pulses_and_frees_its_channel() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let train = json!({"cmd": "la", "la": 9, "steps": 20, "delay_us": 2000, "dir_la": 10,
        "direction": 1});
    client.ok(train.clone()).await;
    assert_eq!(client.refused(train).await, "busy");
    let busy = client
        .refused(json!({"cmd": "gpio", "la": 9, "mode": "input"}))
        .await;
    assert!(
        busy.starts_with("pin conflict: LA9 is in use by step;"),
        "{busy}"
    );
    let captured = client
        .capture(json!({"cmd": "la_capture", "samples": 100_000, "sample_rate_mhz": 1.0}))
        .await;
    let expected: Vec<usize> = (1..20).map(|pulse| pulse * 4000).collect();
    assert_eq!(rises(&captured.words, 9), expected);
    assert!(
        captured.words[..80_000]
            .iter()
            .all(|word| word & 1 << 9 != 0)
    );
    assert!(
        captured.words[80_000..]
            .iter()
            .all(|word| word & 1 << 9 == 0)
    );
    client
        .ok(json!({"cmd": "gpio", "la": [9, 10], "mode": "input"}))
        .await;
}

#[tokio::test(start_paused = true)]
async fn an_edge_trigger_makes_its_instant_sample_zero() {
    let pod = bench(SimConfig::default());
    let mut capturing = Client::new(&pod).await;
    let mut other = Client::new(&pod).await;
    other
        .ok(json!({"cmd": "gpio", "la": 13, "mode": "output"}))
        .await;
    capturing
        .send(
            &json!({"cmd": "la_capture", "samples": 20_000, "sample_rate_mhz": 1.0,
            "trigger": {"la": 13, "edge": "rising"}, "trigger_timeout_ms": 2000}),
        )
        .await;
    sleep(Duration::from_millis(500)).await;
    assert_eq!(other.refused(json!({"cmd": "la_capture"})).await, "busy");
    other.ok(json!({"cmd": "gpio", "la": 13, "level": 1})).await;
    sleep(Duration::from_millis(10)).await;
    other.ok(json!({"cmd": "gpio", "la": 13, "level": 0})).await;
    let captured = capturing.captured().await.unwrap();
    assert!(captured.trigger);
    let high = captured
        .words
        .iter()
        .filter(|word| **word & 1 << 12 != 0)
        .count();
    assert_eq!(high, 10_000);
    assert!(
        captured.words[..10_000]
            .iter()
            .all(|word| word & 1 << 12 != 0)
    );
}

#[tokio::test(start_paused = true)]
async fn a_trigger_sees_the_edges_of_a_recording_and_of_a_train() {
    let recording = Recording {
        sample_rate_hz: 10_000.0,
        samples: 10_000,
        edges: vec![(0, 0), (4_000, 1), (4_010, 0)],
    };
    let pod = bench(SimConfig {
        playback: Some(Playback::new(&recording, &[(0, 2)], None).unwrap()),
        ..SimConfig::default()
    });
    let mut client = Client::new(&pod).await;
    let before = Instant::now();
    let request = |la: u8, edge: &str| {
        json!({"cmd": "la_capture", "samples": 2_000, "sample_rate_mhz": 1.0,
            "trigger": {"la": la, "edge": edge}})
    };
    let captured = client.capture(request(2, "rising")).await;
    assert_eq!(before.elapsed().as_millis(), 402);
    assert!(captured.words[..1_000].iter().all(|word| *word == 2));
    assert!(captured.words[1_000..].iter().all(|word| *word == 0));
    client
        .ok(json!({"cmd": "la", "la": 3, "steps": 2, "delay_us": 100}))
        .await;
    let captured = client.capture(request(3, "falling")).await;
    assert_eq!(rises(&captured.words, 3), [100]);
}

/// A pod whose LA2 has a pulse of 1 ms at 400 ms, and nothing else.
fn pulsing() -> SimConfig {
    let recording = Recording {
        sample_rate_hz: 10_000.0,
        samples: 10_000,
        edges: vec![(0, 0), (4_000, 1), (4_010, 0)],
    };
    SimConfig {
        playback: Some(Playback::new(&recording, &[(0, 2)], None).unwrap()),
        ..SimConfig::default()
    }
}

#[tokio::test(start_paused = true)]
async fn samples_before_the_trigger_are_those_that_were() {
    let pod = bench(pulsing());
    let mut client = Client::new(&pod).await;
    let captured = client
        .capture(
            json!({"cmd": "la_capture", "samples": 3_000, "pre_samples": 2_000,
            "sample_rate_mhz": 1.0, "trigger": {"la": 2, "edge": "falling"}, "enc": "raw"}),
        )
        .await;
    // The pulse of a thousand samples ends at the trigger.
    let extent = captured.extent.unwrap();
    assert_eq!((extent.trigger_sample, extent.la_samples), (2_000, 3_000));
    let expected = |at: usize| if (1_000..2_000).contains(&at) { 2 } else { 0 };
    assert_eq!(captured.words, Vec::from_iter((0..3_000).map(expected)));
}

#[tokio::test(start_paused = true)]
async fn a_trigger_that_comes_early_leaves_fewer_samples_before_it() {
    let pod = bench(pulsing());
    let mut client = Client::new(&pod).await;
    sleep(Duration::from_millis(399)).await;
    let captured = client
        .capture(
            json!({"cmd": "capture_dual", "la_samples": 5_000, "la_rate_mhz": 1.0,
            "adc_samples": 500, "adc_rate_mhz": 0.1, "pre_samples": 4_000,
            "trigger": {"la": 2, "edge": "rising"}}),
        )
        .await;
    let extent = captured.extent.unwrap();
    let before = usize::try_from(extent.trigger_sample).unwrap();
    assert!((900..=1_000).contains(&before), "{extent:?}");
    assert_eq!(captured.words.len(), before + 1_000);
    assert_eq!(rises(&captured.words, 2), [before]);
    // The samples of the ADC, one of ten, are of the same time.
    assert!(captured.adc.len().abs_diff(captured.words.len() / 10) <= 1);
    assert_eq!(extent.adc_samples, captured.adc.len() as u64);
}

#[tokio::test(start_paused = true)]
async fn a_trigger_can_be_a_pulse_a_pattern_or_a_level_for_a_time() {
    for (trigger, met_us) in [
        (
            json!({"la": 2, "pulse": "high", "shorter_ns": 1_000_001}),
            401_000,
        ),
        (
            json!({"la": 2, "pulse": "high", "longer_ns": 300_000}),
            400_300,
        ),
        (json!({"mask": 3, "word": 2}), 400_000),
        (
            json!({"la": 2, "level": "high", "for_ns": 500_000}),
            400_500,
        ),
    ] {
        let pod = bench(pulsing());
        let mut client = Client::new(&pod).await;
        let before = Instant::now();
        let captured = client
            .capture(
                json!({"cmd": "la_capture", "samples": 1_000, "sample_rate_mhz": 1.0,
                "trigger": trigger.clone()}),
            )
            .await;
        assert!(captured.trigger);
        let took = before.elapsed().as_micros();
        assert!(took.abs_diff(met_us + 1_000) <= 1_000, "{trigger}: {took}");
        let high = captured.words.iter().filter(|word| **word == 2).count();
        let expected = usize::try_from(401_000_u128.saturating_sub(met_us)).unwrap();
        assert_eq!(high, expected, "{trigger}");
    }
    // What does not come is said in the same words as an edge.
    let pod = bench(pulsing());
    let mut client = Client::new(&pod).await;
    let text = client
        .refused(json!({"cmd": "la_capture", "trigger_timeout_ms": 900,
            "trigger": {"la": 2, "pulse": "high", "shorter_ns": 1_000_000}}))
        .await;
    assert_eq!(text, "trigger timeout: no short pulse on LA2 within 900 ms");
}

#[tokio::test(start_paused = true)]
async fn a_long_capture_comes_while_it_is_taken() {
    for enc in ["raw", "text"] {
        let pod = bench(SimConfig {
            packet_samples: 16_384,
            ..pulsing()
        });
        let mut client = Client::new(&pod).await;
        let before = Instant::now();
        client
            .send(
                &json!({"cmd": "la_capture", "samples": 5_000_000, "sample_rate_mhz": 1.0,
                "stream": true, "enc": enc}),
            )
            .await;
        if enc == "text" {
            // It says that nothing is high yet.
            client.skip_line().await;
            assert!(before.elapsed() < Duration::from_millis(200));
        }
        let captured = client.captured().await.unwrap();
        assert_eq!(before.elapsed().as_secs(), 5);
        assert_eq!((captured.words.len(), captured.gaps.len()), (5_000_000, 0));
        // A pulse of 1 ms each second.
        let high = captured.words.iter().filter(|word| **word == 2).count();
        assert_eq!((high, rises(&captured.words, 2).len()), (5_000, 5));
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_slow_link_loses_is_said() {
    let pod = bench(SimConfig {
        stream_samples: 200_000,
        faults: vec!["slow=2000B/s".parse().unwrap()],
        ..pulsing()
    });
    let mut client = Client::new(&pod).await;
    let captured = client
        .capture(
            json!({"cmd": "la_capture", "samples": 2_000_000, "sample_rate_mhz": 1.0,
            "stream": true}),
        )
        .await;
    assert_eq!(captured.words.len(), 2_000_000);
    assert!(!captured.gaps.is_empty());
    let mut end = 0;
    for (from, to) in &captured.gaps {
        assert!(end < *from && from < to && *to < 2_000_000, "{from}..{to}");
        end = *to;
        let (from, to) = (
            usize::try_from(*from).unwrap(),
            usize::try_from(*to).unwrap(),
        );
        // Nothing is made up: the levels stay as they were.
        let last = captured.words[from - 1];
        assert!(captured.words[from..to].iter().all(|word| *word == last));
    }
}

#[tokio::test(start_paused = true)]
async fn a_trigger_that_does_not_come_times_out_and_leaves_the_pod_free() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let before = Instant::now();
    let text = client
        .refused(
            json!({"cmd": "la_capture", "samples": 10, "trigger_timeout_ms": 300,
            "trigger": {"la": 7, "edge": "high"}}),
        )
        .await;
    assert_eq!(text, "trigger timeout: no high edge on LA7 within 300 ms");
    assert_eq!(before.elapsed().as_millis(), 300);
    let free = client
        .capture(json!({"cmd": "la_capture", "samples": 10}))
        .await;
    assert_eq!(free.words, [0; 10]);
    let level = json!({"cmd": "la_capture", "samples": 10, "trigger": {"la": 7, "edge": "low"}});
    assert!(client.capture(level).await.trigger);
}

#[tokio::test(start_paused = true)]
async fn closing_the_connection_gives_the_hardware_back() {
    let pod = bench(SimConfig::default());
    let mut leaving = Client::new(&pod).await;
    leaving
        .send(&json!({"cmd": "la_capture", "samples": 4_000_000, "sample_rate_mhz": 1.0}))
        .await;
    let mut other = Client::new(&pod).await;
    sleep(Duration::from_millis(10)).await;
    assert_eq!(other.refused(json!({"cmd": "la_capture"})).await, "busy");
    assert_eq!(other.refused(json!({"cmd": "adc_read"})).await, "busy");
    drop(leaving);
    sleep(Duration::from_millis(10)).await;
    let Captured { words, .. } = other.capture(json!({"cmd": "la_capture"})).await;
    assert_eq!(words.len(), 256);
}

#[tokio::test(start_paused = true)]
async fn requests_outside_the_limits_are_refused_before_anything_runs() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    for (request, names) in [
        (json!({"cmd": "capture", "samples": 32_769}), "32768"),
        (
            json!({"cmd": "la_capture", "samples": 4_194_305}),
            "4194304",
        ),
        (json!({"cmd": "la_capture", "samples": 0}), "samples"),
        (json!({"cmd": "capture_dual"}), "samples"),
        (
            json!({"cmd": "capture_dual", "adc_samples": 4_000_000, "la_samples": 200_000}),
            "4192256",
        ),
        (
            json!({"cmd": "capture_dual", "adc_samples": 10, "adc_rate_mhz": 1.0,
                "la_samples": 10, "la_rate_mhz": 10.0}),
            "22 MB/s, the limit is 20 MB/s",
        ),
        (
            json!({"cmd": "capture_dual", "adc_samples": 10, "adc_rate_mhz": 0.4,
                "la_samples": 10, "la_rate_mhz": 9.600_001}),
            "20.000002 MB/s, the limit is 20 MB/s",
        ),
        (
            json!({"cmd": "la_capture", "samples": 1000, "sample_rate_mhz": 0.000_000_1}),
            "3600 s",
        ),
        (
            json!({"cmd": "la_capture", "samples": 10, "sample_rate_mhz": 0}),
            "sample_rate_mhz",
        ),
        (
            json!({"cmd": "la_capture", "trigger": {"la": 15}}),
            "la out of range",
        ),
        (json!({"cmd": "la_capture", "trigger": 3}), "trigger"),
    ] {
        let text = client.refused(request).await;
        assert!(text.contains(names), "{text} should name {names}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_just_fits_the_memory_is_taken() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    for (adc_rate_mhz, la_rate_mhz) in [(0.4, 9.6), (0.1, 9.9)] {
        let both = json!({"cmd": "capture_dual", "adc_samples": 10, "adc_rate_mhz": adc_rate_mhz,
            "la_samples": 10, "la_rate_mhz": la_rate_mhz});
        assert_eq!(client.capture(both).await.words.len(), 10, "{la_rate_mhz}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_takes_nothing_is_given_up() {
    let pod = bench(SimConfig::default());
    let mut stuck = Client::new(&pod).await;
    stuck
        .send(&json!({"cmd": "la_capture", "samples": 1_000_000, "sample_rate_mhz": 1.0}))
        .await;
    let mut other = Client::new(&pod).await;
    sleep(Duration::from_secs(20)).await;
    assert_eq!(other.refused(json!({"cmd": "la_capture"})).await, "busy");
    sleep(Duration::from_secs(20)).await;
    other.capture(json!({"cmd": "la_capture"})).await;
}

#[tokio::test(start_paused = true)]
async fn levels_of_another_connection_show_in_an_analog_capture() {
    let pod = bench(SimConfig::default());
    let mut capturing = Client::new(&pod).await;
    let mut other = Client::new(&pod).await;
    other
        .ok(json!({"cmd": "analog_path", "path": "cal1"}))
        .await;
    other.ok(json!({"cmd": "dac_set", "value": 50})).await;
    capturing
        .send(
            &json!({"cmd": "capture_dual", "adc_samples": 100_000, "adc_rate_mhz": 0.1,
            "enc": "b64"}),
        )
        .await;
    other.ok(json!({"cmd": "ping"})).await;
    sleep(Duration::from_millis(250)).await;
    other.ok(json!({"cmd": "dac_set", "value": 200})).await;
    let adc = capturing.captured().await.unwrap().adc;
    // The front end inverts, so the higher level has the smaller counts.
    let middle = adc[0] / 2 + adc[99_999] / 2;
    let change = adc.iter().position(|count| *count < middle);
    // Sample 25000 is taken when the output starts to move.
    assert_eq!(change, Some(25_001));
    assert!(adc[25_001..].iter().all(|count| *count < middle));
}

#[tokio::test(start_paused = true)]
async fn an_abandoned_wait_takes_its_staged_waveform_along() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    client
        .ok(json!({"cmd": "dac_out", "path": "5v", "volts": 1.0}))
        .await;
    client
        .ok(json!({"cmd": "analog_path", "path": "cal1"}))
        .await;
    let square = json!({"cmd": "generate", "waveform": "square", "freq": 100.0, "path": "5v",
        "amplitude_v": 1.0, "offset_v": 3.0, "on_capture": true, "route": false});
    client.ok(square).await;
    let mut leaving = Client::new(&pod).await;
    leaving
        .send(&json!({"cmd": "la_capture", "trigger": {"la": 2, "edge": "high"}}))
        .await;
    sleep(Duration::from_millis(100)).await;
    drop(leaving);
    sleep(Duration::from_millis(1)).await;
    let captured = client
        .capture(json!({"cmd": "capture", "samples": 8_000}))
        .await;
    let spread = captured.adc.iter().max().unwrap() - captured.adc.iter().min().unwrap();
    assert!(
        spread < 20,
        "the waveform started after all: {spread} counts"
    );
}
