//! Captures through the handle.

use super::*;
use crate::Condition;

async fn frames(pod: &Pod, request: CaptureRequest) -> Vec<Frame> {
    let mut stream = pod.capture(request).await.unwrap();
    let mut frames = Vec::new();
    while let Some(frame) = stream.next().await {
        frames.push(frame.unwrap());
    }
    assert!(stream.next().await.is_none());
    frames
}

fn counts(frames: &[Frame]) -> Vec<u16> {
    let mut all = Vec::new();
    for frame in frames {
        if let Frame::Adc {
            start_sample,
            counts,
        } = frame
        {
            assert_eq!(*start_sample, all.len() as u64);
            all.extend(counts);
        }
    }
    all
}

#[tokio::test(start_paused = true)]
async fn a_logic_capture_streams_the_recording() {
    let recording = Recording {
        sample_rate_hz: 1e6,
        samples: 100,
        edges: vec![(0, 1), (50, 2)],
    };
    // Samples as bytes, and in lines.
    for (firmware, packets) in [("3.9.4", 1), ("3.9.3", 10_000_usize.div_ceil(256))] {
        let pod = online(SimConfig {
            firmware: firmware.parse().unwrap(),
            playback: Some(Playback::new(&recording, &[(0, 1), (1, 2)], None).unwrap()),
            ..SimConfig::default()
        })
        .await;
        let la = CaptureRequest::La {
            samples: 10_000,
            rate_mhz: 1.0,
            trigger: None,
        };
        let frames = frames(&pod, la).await;
        assert_eq!(frames.len(), packets);
        let words = words(&frames);
        assert_eq!(words.len(), 10_000);
        let ones = words.iter().filter(|word| **word == 1).count();
        assert!((4_950..=5_050).contains(&ones), "{ones}");
        assert!(words.iter().all(|word| *word == 1 || *word == 2));
    }
}

#[tokio::test(start_paused = true)]
async fn a_dual_capture_tells_both_rates_and_its_trigger() {
    let pod = online(SimConfig::default()).await;
    let request = CaptureRequest::Dual {
        adc_samples: 1000,
        adc_rate_mhz: 0.39,
        la_samples: 2000,
        la_rate_mhz: 2.304,
        trigger: Some(Trigger {
            condition: Condition::edge(4, Edge::Low),
            timeout_ms: 50,
            pre_samples: 0,
        }),
    };
    let mut stream = pod.capture(request).await.unwrap();
    let mut received = Vec::new();
    while let Some(frame) = stream.next().await {
        received.push(frame.unwrap());
    }
    assert_eq!(counts(&received).len(), 1000);
    assert_eq!(words(&received).len(), 2000);
    // 24 MHz / 62 and 24 MHz / 11, whole hertz.
    assert_eq!(stream.adc_rate_hz().unwrap().to_string(), "387096");
    assert_eq!(stream.la_rate_hz().unwrap().to_string(), "2181818");
    assert!(stream.trigger().unwrap().fired);
}

#[tokio::test(start_paused = true)]
async fn a_scope_capture_routes_its_source() {
    let pod = online(SimConfig::default()).await;
    ask(&pod, json!({"cmd": "dac_out", "path": "5v", "volts": 2.5}))
        .await
        .unwrap();
    let request = |source| CaptureRequest::Scope {
        samples: 5000,
        rate_mhz: 0.4,
        source: Some(source),
        trigger: None,
    };
    let fit = pod.status().unwrap().capabilities.adc_fit.unwrap();
    let looped = counts(&frames(&pod, request(AdcSource::Cal1)).await);
    let mean = looped.iter().map(|count| fit.volts(*count)).sum::<f64>() / 5000.0;
    assert!((mean - 2.5).abs() < 0.02, "{mean}");
    let open = counts(&frames(&pod, request(AdcSource::Ext)).await);
    let mean = open.iter().map(|count| fit.volts(*count)).sum::<f64>() / 5000.0;
    // 45 mV on the open connector, and the ADC's own offset of a few.
    assert!((mean - 0.045).abs() < 0.01, "{mean}");
}

#[tokio::test(start_paused = true)]
async fn a_measurement_longer_than_a_line_streams() {
    let pod = online(SimConfig::default()).await;
    ask(&pod, json!({"cmd": "analog_path", "path": "cal1"}))
        .await
        .unwrap();
    let request = CaptureRequest::Measure {
        waveform: "square".to_owned(),
        freq_hz: 100.0,
        samples: 1000,
        amplitude: Some(100),
        offset: None,
    };
    let counts = counts(&frames(&pod, request).await);
    assert_eq!(counts.len(), 1000);
    // The front end inverts: the high half has the smaller counts.
    // The first sample is taken as the DAC starts to move, so it still shows the level before.
    let split = counts[1..500]
        .iter()
        .all(|count| *count < counts[750] - 2000);
    assert!(split, "high half first");
}

#[tokio::test(start_paused = true)]
async fn commands_go_on_beside_a_capture_and_a_second_capture_is_busy() {
    let pod = online(SimConfig::default()).await;
    let la = CaptureRequest::La {
        samples: 1_000_000,
        rate_mhz: 1.0,
        trigger: None,
    };
    let mut stream = pod.capture(la.clone()).await.unwrap();
    let before = Instant::now();
    assert_eq!(ask(&pod, json!({"cmd": "ping"})).await.unwrap(), "pong");
    assert!(before.elapsed() < Duration::from_millis(10));
    let error = pod.capture(la.clone()).await.err().unwrap();
    let busy = matches!(
        error,
        PodError::Busy {
            held: SessionKind::Capture,
            ..
        }
    );
    assert!(busy, "{error:?}");
    assert!(stream.next().await.unwrap().is_ok());
    drop(stream);
    let mut third = pod.capture(la).await.unwrap();
    assert!(third.next().await.unwrap().is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_trigger_timeout_is_typed() {
    let pod = online(SimConfig::default()).await;
    let request = CaptureRequest::La {
        samples: 10,
        rate_mhz: 1.0,
        trigger: Some(Trigger {
            condition: Condition::edge(3, Edge::Rising),
            timeout_ms: 60_000,
            pre_samples: 0,
        }),
    };
    let mut stream = pod.capture(request).await.unwrap();
    let error = stream.next().await.unwrap().unwrap_err();
    let PodError::Refused(refusal) = error else {
        panic!("{error:?}")
    };
    let expected = RefusalKind::TriggerTimeout {
        edge: "rising".to_owned(),
        la: 3,
    };
    assert_eq!(refusal.kind, expected);
}

#[tokio::test(start_paused = true)]
async fn unplugging_during_a_capture_ends_it_with_offline() {
    let bench = bench(SimConfig::default());
    let pod = Pod::spawn(bench.clone(), PodOptions::default());
    pod.wait_online(DEFAULT_REPLY_TIMEOUT).await.unwrap();
    let la = CaptureRequest::La {
        samples: 1_000_000,
        rate_mhz: 1.0,
        trigger: None,
    };
    let mut stream = pod.capture(la).await.unwrap();
    sleep(Duration::from_millis(100)).await;
    bench.set_plugged(false);
    let error = stream.next().await.unwrap().unwrap_err();
    assert!(matches!(error, PodError::Offline { .. }), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn a_capture_out_of_range_is_never_sent() {
    let pod = online(SimConfig::default()).await;
    let la = CaptureRequest::La {
        samples: 0,
        rate_mhz: 1.0,
        trigger: None,
    };
    assert!(matches!(pod.capture(la).await, Err(PodError::Request(_))));
}

#[tokio::test(start_paused = true)]
async fn a_capture_can_be_taken_in_a_task_of_its_own() {
    let pod = online(SimConfig::default()).await;
    let la = CaptureRequest::La {
        samples: 1_000,
        rate_mhz: 1.0,
        trigger: None,
    };
    // Spawning requires every future here to be `Send`.
    let taking = tokio::spawn(async move {
        let mut stream = pod.capture(la).await?;
        let mut frames = Vec::new();
        while let Some(frame) = stream.next().await {
            frames.push(frame?);
        }
        Ok::<_, PodError>(frames)
    });
    assert_eq!(words(&taking.await.unwrap().unwrap()).len(), 1_000);
}
