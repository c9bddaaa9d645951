//! Captures, exact to the sample.

use std::time::Instant;

use super::*;

pub(crate) const CASES: &[Case] = &[
    (
        "the_first_capture_loads_the_firmware",
        the_first_capture_loads_the_firmware,
    ),
    (
        "every_sample_comes_at_its_rate",
        every_sample_comes_at_its_rate,
    ),
    (
        "sixteen_channels_are_fourteen",
        sixteen_channels_are_fourteen,
    ),
    ("a_trigger_makes_sample_0", a_trigger_makes_sample_0),
    (
        "a_capture_after_another_has_none_of_its_samples",
        a_capture_after_another_has_none_of_its_samples,
    ),
    ("two_analyzers_are_told_apart", two_analyzers_are_told_apart),
    ("as_fast_as_it_goes", as_fast_as_it_goes),
];

fn the_first_capture_loads_the_firmware() {
    run(async {
        let firmware = Firmware::new();
        let analyzer = plugged(Settings::default()).await;
        let instrument = firmware.instrument();
        let facts: Facts = instrument.facts().await.unwrap();
        assert_eq!(facts.model, "Saleae Logic or a clone");
        assert_eq!(facts.logic.len(), 8);
        assert_eq!(facts.rates.fitting(1e9), Some(24_000_000));
        let began = Instant::now();
        for samples in [1, 1_000, 100_000] {
            let mut capture = instrument.start(request(samples, 1e6)).await.unwrap();
            println!("started after {:?}", began.elapsed());
            let found = all(&mut capture).await.unwrap();
            assert_eq!(found, (expected(0, samples, 0xFF), samples));
        }
        assert!(
            analyzer.image() == firmware.image,
            "the image came as it is"
        );
        // Whoever comes later finds it running, and needs no firmware.
        let settings = Fx2lafwSettings {
            firmware: Some("/nowhere".into()),
            ..Fx2lafwSettings::default()
        };
        let another = Fx2lafw::new(settings).unwrap();
        let mut capture = another.start(request(10, 1e6)).await.unwrap();
        assert_eq!(all(&mut capture).await.unwrap().1, 10);
    });
}

fn every_sample_comes_at_its_rate() {
    run(async {
        let firmware = Firmware::new();
        let _analyzer = plugged(Settings::default()).await;
        let instrument = firmware.instrument();
        // Odd wishes become what the analyzer has.
        for (wanted_hz, rate_hz, samples) in [
            (20_000.0, 20_000.0, 20_000),
            (999_999.0, 500_000.0, 500_000),
            (1e6, 1e6, 2_000_000),
            (4e6, 4e6, 4_000_000),
        ] {
            let mut capture = instrument.start(request(samples, wanted_hz)).await.unwrap();
            let began = Instant::now();
            assert!((capture.rate_hz() - rate_hz).abs() < 0.1);
            let found = all(&mut capture).await.unwrap();
            let took = began.elapsed().as_secs_f64();
            println!("{samples} samples at {rate_hz} Hz took {took:.2} s");
            assert_eq!(found.1, samples);
            assert!(
                found.0 == expected(0, samples, 0xFF),
                "each edge is where it was"
            );
            let lasting = pod_protocol::rates::duration_s(samples, rate_hz);
            assert!((lasting * 0.9..lasting + 1.5).contains(&took));
        }
    });
}

fn sixteen_channels_are_fourteen() {
    run(async {
        let firmware = Firmware::new();
        let wide = Settings {
            ids: (0x1D50, 0x608D),
            ..Settings::default()
        };
        let _analyzer = plugged(wide).await;
        let instrument = firmware.instrument();
        let facts = instrument.facts().await.unwrap();
        assert_eq!(facts.logic.len(), 14);
        assert_eq!(facts.rates.fitting(1e9), Some(12_000_000));
        let mut capture = instrument.start(request(1_500_000, 2e6)).await.unwrap();
        let found = all(&mut capture).await.unwrap();
        assert_eq!(found.1, 1_500_000);
        assert!(
            found.0 == expected(0, 1_500_000, 0x3FFF),
            "each edge is where it was"
        );
        // Half of them, twice as fast.
        let settings = Fx2lafwSettings {
            channels: Some(8),
            ..Fx2lafwSettings::default()
        };
        let narrow = Fx2lafw::new(settings).unwrap();
        let mut capture = narrow.start(request(5_000, 2e6)).await.unwrap();
        let found = all(&mut capture).await.unwrap();
        assert_eq!(found, (expected(0, 5_000, 0xFF), 5_000));
    });
}

/// A trigger on a channel that is the bit `channel - 1` of the counter.
fn triggered(channel: u8, edge: Edge, timeout_ms: u32) -> Request {
    Request {
        trigger: Some(Trigger {
            condition: Condition::edge(channel, edge),
            timeout_ms,
            pre_samples: 0,
        }),
        ..request(100_000, 1e6)
    }
}

fn a_trigger_makes_sample_0() {
    run(async {
        let firmware = Firmware::new();
        let _analyzer = plugged(Settings::default()).await;
        let instrument = firmware.instrument();
        for (edge, first) in [
            (Edge::Rising, 2_048),
            (Edge::Falling, 4_096),
            (Edge::High, 2_048),
            (Edge::Low, 0),
        ] {
            let request = triggered(8, edge, 1_000);
            let mut capture = instrument.start(request).await.unwrap();
            let found = all(&mut capture).await.unwrap();
            assert_eq!(found, (expected(first, 100_000, 0xFF), 100_000), "{edge:?}");
        }
        // 2 ms are 2000 samples, and its edge is later.
        let request = triggered(8, Edge::Rising, 2);
        let missed = all(&mut instrument.start(request).await.unwrap())
            .await
            .unwrap_err();
        let expected = "trigger timeout: no rising edge on LA8 within 2 ms";
        assert_eq!(missed.to_string(), expected);
    });
}

fn a_capture_after_another_has_none_of_its_samples() {
    run(async {
        let firmware = Firmware::new();
        let _analyzer = plugged(Settings::default()).await;
        let instrument = firmware.instrument();
        for rate_hz in [20_000.0, 1e6, 20_000.0, 8e6, 50_000.0] {
            // Dropped while the analyzer samples on.
            drop(instrument.start(request(4_000_000, rate_hz)).await.unwrap());
            let mut capture = instrument.start(request(3_000, rate_hz)).await.unwrap();
            let found = all(&mut capture).await.unwrap();
            assert_eq!(found, (expected(0, 3_000, 0xFF), 3_000), "{rate_hz} Hz");
        }
    });
}

fn two_analyzers_are_told_apart() {
    run(async {
        let firmware = Firmware::new();
        listed(0).await;
        let [one, other] = [(); 2].map(|()| Analyzer::new(Settings::default()).unwrap());
        let ports = listed(2).await;
        let on = |port: &str| {
            let settings = Fx2lafwSettings {
                port: Some(port.into()),
                firmware: Some(firmware.path()),
                ..Fx2lafwSettings::default()
            };
            Fx2lafw::new(settings).unwrap()
        };
        let mut first = on(&ports[1]).start(request(1_000, 1e6)).await.unwrap();
        all(&mut first).await.unwrap();
        // Only the one that was meant has a firmware now.
        assert!(one.image().is_empty() != other.image().is_empty());
        let mut both = [on(&ports[0]), on(&ports[1])].into_iter();
        let (left, right) = (both.next().unwrap(), both.next().unwrap());
        let (mut left, mut right) = (
            left.start(request(200_000, 1e6)).await.unwrap(),
            right.start(request(200_000, 1e6)).await.unwrap(),
        );
        let (left, right) = tokio::join!(all(&mut left), all(&mut right));
        let expected = (expected(0, 200_000, 0xFF), 200_000);
        assert!(left.unwrap() == expected && right.unwrap() == expected);
        assert!(one.image() == firmware.image && other.image() == firmware.image);
    });
}

/// A number to read: an emulated processor may be too slow, which has to be an error then and no gap.
fn as_fast_as_it_goes() {
    run(async {
        let firmware = Firmware::new();
        let _analyzer = plugged(Settings::default()).await;
        let instrument = firmware.instrument();
        let mut is_whole = false;
        for rate_hz in [24e6, 16e6, 12e6, 8e6, 6e6] {
            let samples = 4_000_000;
            let mut capture = instrument.start(request(samples, rate_hz)).await.unwrap();
            let began = Instant::now();
            match all(&mut capture).await {
                Ok(found) => {
                    let took = began.elapsed();
                    println!("{samples} samples at {rate_hz} Hz took {took:?}");
                    assert_eq!(found.1, samples);
                    assert!(
                        found.0 == expected(0, samples, 0xFF),
                        "each edge is where it was"
                    );
                    is_whole = true;
                }
                Err(error) => {
                    println!("at {rate_hz} Hz: {error}");
                    assert!(matches!(error, AcquireError::Overflow { .. }));
                }
            }
        }
        assert!(is_whole, "no rate is slow enough");
    });
}
