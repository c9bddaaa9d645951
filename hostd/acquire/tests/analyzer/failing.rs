//! What goes wrong, and what is said of it.

use std::time::Instant;

use super::*;

pub(crate) const CASES: &[Case] = &[
    ("without_one_there_is_none", without_one_there_is_none),
    (
        "without_a_firmware_its_package_is_named",
        without_a_firmware_its_package_is_named,
    ),
    ("one_that_does_not_come_back", one_that_does_not_come_back),
    ("a_firmware_of_another_kind", a_firmware_of_another_kind),
    (
        "lost_samples_are_an_error_and_no_gap",
        lost_samples_are_an_error_and_no_gap,
    ),
    ("unplugged_at_any_time", unplugged_at_any_time),
    ("unplugged_with_its_firmware", unplugged_with_its_firmware),
    ("one_at_a_time", one_at_a_time),
    ("a_second_program_is_told", a_second_program_is_told),
];

/// What starting says.
async fn refused(instrument: &Fx2lafw) -> String {
    match instrument.start(request(1_000, 1e6)).await {
        Ok(_) => panic!("it starts"),
        Err(error) => error.to_string(),
    }
}

fn without_one_there_is_none() {
    run(async {
        listed(0).await;
        let error = refused(&Firmware::new().instrument()).await;
        assert!(
            error.contains("a logic analyzer with an FX2 was not found; plug it in"),
            "{error}"
        );
    });
}

fn without_a_firmware_its_package_is_named() {
    run(async {
        let _analyzer = plugged(Settings::default()).await;
        let instrument = Fx2lafw::new(Fx2lafwSettings::default()).unwrap();
        let error = instrument.facts().await.unwrap_err().to_string();
        assert!(
            error.contains("fx2lafw-saleae-logic.fw was not found in /usr/share"),
            "{error}"
        );
        assert!(
            error.contains("Debian's package sigrok-firmware-fx2lafw"),
            "{error}"
        );
        assert_eq!(refused(&instrument).await, error);
    });
}

fn one_that_does_not_come_back() {
    run(async {
        let lost = Settings {
            returns: false,
            ..Settings::default()
        };
        let _analyzer = plugged(lost).await;
        let began = Instant::now();
        let error = refused(&Firmware::new().instrument()).await;
        assert!(
            error.contains("did not come back within 3 s: it was unplugged, or /"),
            "{error}"
        );
        assert!(began.elapsed() < Duration::from_secs(10));
    });
}

fn a_firmware_of_another_kind() {
    run(async {
        let other = Settings {
            version: (2, 1),
            ..Settings::default()
        };
        let _analyzer = plugged(other).await;
        let error = refused(&Firmware::new().instrument()).await;
        assert!(
            error.contains("has version 2.1, and only versions 1.x"),
            "{error}"
        );
    });
}

fn lost_samples_are_an_error_and_no_gap() {
    run(async {
        let firmware = Firmware::new();
        let weak = Settings {
            stops_after: Some(300_000),
            ..Settings::default()
        };
        let _analyzer = plugged(weak).await;
        let instrument = firmware.instrument();
        let mut capture = instrument.start(request(2_000_000, 1e6)).await.unwrap();
        let began = Instant::now();
        let (mut edges, mut end) = (Vec::new(), 0);
        let error = loop {
            match capture.next().await.unwrap() {
                Ok(Frame::La { edges: more, upto }) => {
                    edges.extend(more);
                    end = upto;
                }
                Ok(_) => panic!("levels were asked for"),
                Err(error) => break error,
            }
        };
        println!("lost samples are an error after {:?}", began.elapsed());
        let AcquireError::Overflow { found, .. } = &error else {
            panic!("{error}")
        };
        assert_eq!(*found, end);
        assert_eq!(edges, expected(0, end, 0xFF));
        let error = error.to_string();
        assert!(error.contains("Ask for a lower rate"), "{error}");
        // And it can be used again.
        let mut capture = instrument.start(request(50_000, 1e6)).await.unwrap();
        assert_eq!(all(&mut capture).await.unwrap().1, 50_000);
    });
}

/// Pulls an analyzer out some time after a capture was asked for: why that ends, and how soon.
async fn pulled_out(instrument: &Fx2lafw, analyzer: Analyzer, delay_ms: u64) -> Duration {
    let unplugging = tokio::task::spawn_blocking(move || {
        std::thread::sleep(Duration::from_millis(delay_ms));
        drop(analyzer);
        Instant::now()
    });
    let failed = async {
        let mut capture = instrument.start(request(4_000_000, 1e6)).await?;
        all(&mut capture).await
    };
    let error = failed.await.unwrap_err();
    let since = unplugging.await.unwrap().elapsed();
    println!("unplugged after {delay_ms} ms, told {since:?} later: {error}");
    let is_said = match &error {
        // It was gone before anybody looked.
        AcquireError::NoDevice { .. } => delay_ms == 0,
        error => error.to_string().contains("was unplugged"),
    };
    assert!(is_said, "{error}");
    listed(0).await;
    since
}

fn unplugged_at_any_time() {
    run(async {
        let firmware = Firmware::new();
        let instrument = firmware.instrument();
        // Delays that fall into finding it, the firmware, its absence, its start and its samples.
        for delay_ms in [0, 5, 20, 60, 150, 300, 500, 800, 1_500] {
            let analyzer = plugged(Settings::default()).await;
            let since = pulled_out(&instrument, analyzer, delay_ms).await;
            // While it is away by itself, that it does not come back shows only with time.
            assert!(since < Duration::from_secs(4), "{since:?}");
        }
        let _analyzer = plugged(Settings::default()).await;
        let mut capture = instrument.start(request(10_000, 1e6)).await.unwrap();
        assert_eq!(all(&mut capture).await.unwrap().1, 10_000);
    });
}

fn unplugged_with_its_firmware() {
    run(async {
        let firmware = Firmware::new();
        let instrument = firmware.instrument();
        for delay_ms in [0, 5, 20, 50, 150, 500, 1_500] {
            let analyzer = plugged(Settings::default()).await;
            let mut capture = instrument.start(request(10, 1e6)).await.unwrap();
            all(&mut capture).await.unwrap();
            drop(capture);
            tokio::time::sleep(CLOSED_WITHIN).await;
            let since = pulled_out(&instrument, analyzer, delay_ms).await;
            assert!(since < Duration::from_millis(1_500), "{since:?}");
        }
    });
}

fn one_at_a_time() {
    run(async {
        let firmware = Firmware::new();
        let _analyzer = plugged(Settings::default()).await;
        let instrument = firmware.instrument();
        let held = instrument
            .start(request(4_000_000, 100_000.0))
            .await
            .unwrap();
        let error = refused(&instrument).await;
        assert!(
            error.contains("is used by another program or capture"),
            "{error}"
        );
        drop(held);
        let mut capture = instrument.start(request(10_000, 1e6)).await.unwrap();
        assert_eq!(all(&mut capture).await.unwrap().1, 10_000);
    });
}

fn a_second_program_is_told() {
    run(async {
        let firmware = Firmware::new();
        let _analyzer = plugged(Settings::default()).await;
        let instrument = firmware.instrument();
        let mut capture = instrument.start(request(10, 1e6)).await.unwrap();
        all(&mut capture).await.unwrap();
        drop(capture);
        let held = {
            let mut devices = nusb::list_devices().await.unwrap();
            let found = devices.find(|device| device.vendor_id() == 0x0925).unwrap();
            let device = found.open().await.unwrap();
            let began = Instant::now();
            loop {
                match device.claim_interface(0).await {
                    Ok(held) => break held,
                    Err(error) => assert!(began.elapsed() < PATIENCE, "{error}"),
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let error = refused(&instrument).await;
        assert!(
            error.contains("is used by another program or capture"),
            "{error}"
        );
        drop(held);
        let mut capture = instrument.start(request(10, 1e6)).await.unwrap();
        assert_eq!(all(&mut capture).await.unwrap().1, 10);
    });
}
