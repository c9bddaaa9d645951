//! The real `sigrok-cli` with the driver `demo`, which needs no hardware. Left out where it is not installed.

#![allow(
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "tests that tell why they are left out"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use acquire::{
    AcquireError, Beside, Capture, Input, Instrument, Rates, Request, Sigrok, SigrokSettings,
};
use pod_protocol::capture::{Condition, Edge, Frame, Trigger};

/// The samples that this driver makes unless it is told otherwise: a pattern of 64, which spells "sigrok".
const RATE_HZ: f64 = 1e6;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// The instrument of a driver, unless `sigrok-cli` is missing, which is said.
fn instrument(driver: &str) -> Option<Sigrok> {
    let mut asked = Command::new("sigrok-cli");
    asked.arg("--version").stdout(Stdio::null());
    if !asked.status().is_ok_and(|status| status.success()) {
        eprintln!("sigrok-cli is not installed, so this test is left out");
        return None;
    }
    Some(Sigrok::new(settings(driver)).unwrap())
}

fn settings(driver: &str) -> SigrokSettings {
    SigrokSettings {
        driver: driver.into(),
        ..SigrokSettings::default()
    }
}

/// What `sigrok-cli` writes when a person calls it.
fn written(arguments: &str) -> Vec<u8> {
    let called = Command::new("sigrok-cli")
        .args(arguments.split(' '))
        .stdin(Stdio::null())
        .output();
    called.unwrap().stdout
}

fn request(input: Input, samples: u64, trigger: Option<(u8, Edge, u32)>) -> Request {
    Request {
        input,
        samples,
        rate_hz: RATE_HZ,
        trigger: trigger.map(|(channel, edge, timeout_ms)| Trigger {
            condition: Condition::edge(channel, edge),
            timeout_ms,
            pre_samples: 0,
        }),
    }
}

/// The words of all samples.
async fn words(capture: &mut Capture) -> Result<Vec<u16>, AcquireError> {
    let mut words: Vec<u16> = Vec::new();
    let reading = async {
        while let Some(frame) = capture.next().await {
            let Frame::La { edges, upto } = frame? else {
                panic!("levels were asked for")
            };
            fill(&mut words, edges, upto);
        }
        Ok(words)
    };
    tokio::time::timeout(PATIENCE, reading)
        .await
        .expect("the capture takes too long")
}

/// The words of the samples that a frame has.
fn fill(words: &mut Vec<u16>, edges: Vec<(u64, u16)>, upto: u64) {
    for (index, word) in edges {
        let last = words.last().copied().unwrap_or_default();
        words.resize(usize::try_from(index).unwrap(), last);
        words.push(word);
    }
    let last = words.last().copied().unwrap_or_default();
    words.resize(usize::try_from(upto).unwrap(), last);
}

/// Whether a process with this in its arguments is left.
fn is_running(argument: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap();
    processes.filter_map(Result::ok).any(|process| {
        let arguments = fs::read(process.path().join("cmdline")).unwrap_or_default();
        let arguments = String::from_utf8_lossy(&arguments).into_owned();
        arguments.starts_with("sigrok-cli") && arguments.contains(argument)
    })
}

#[tokio::test]
async fn the_instrument_says_what_it_is() {
    let Some(demo) = instrument("demo:logic_channels=3:analog_channels=2") else {
        return;
    };
    let facts = demo.facts().await.unwrap();
    assert_eq!(facts.model, "Demo device");
    assert_eq!(facts.logic, ["D0", "D1", "D2"]);
    assert_eq!(facts.analog, ["A0", "A1"]);
    assert!(matches!(
        facts.rates,
        Rates::Stepped {
            min: 1,
            step: 1,
            ..
        }
    ));
    assert!((facts.fit.b_volts_per_count - 0.001).abs() < 1e-12);
}

#[tokio::test]
async fn levels_are_those_that_sigrok_sampled() {
    let Some(demo) = instrument("demo:analog_channels=0") else {
        return;
    };
    let expected =
        written("-d demo:analog_channels=0 -c samplerate=1000000 --samples 100000 -O binary");
    let mut capture = demo
        .start(request(Input::Logic, 100_000, None))
        .await
        .unwrap();
    assert!((capture.rate_hz() - RATE_HZ).abs() < 1.0);
    let found = words(&mut capture).await.unwrap();
    assert_eq!(found, Vec::from_iter(expected.into_iter().map(u16::from)));
}

#[tokio::test]
async fn wide_instruments_are_wired_as_configured() {
    let driver = "demo:logic_channels=12:analog_channels=0";
    if instrument(driver).is_none() {
        return;
    }
    let demo = Sigrok::new(SigrokSettings {
        channels: vec!["D11".into(), "D0".into(), "D8".into()],
        ..settings(driver)
    });
    let expected = written(&format!(
        "-d {driver} -c samplerate=1000000 --samples 5000 -O binary"
    ));
    let mut capture = demo
        .unwrap()
        .start(request(Input::Logic, 5_000, None))
        .await
        .unwrap();
    let found = words(&mut capture).await.unwrap();
    let (pairs, _) = expected.as_chunks::<2>();
    let wired = pairs.iter().map(|pair| {
        let sample = u16::from_le_bytes(*pair);
        (sample >> 11 & 1) | (sample & 1) << 1 | (sample >> 8 & 1) << 2
    });
    assert_eq!(found, Vec::from_iter(wired));
}

#[tokio::test]
async fn a_trigger_is_found_and_the_count_is_exact() {
    let Some(demo) = instrument("demo:analog_channels=0") else {
        return;
    };
    for (edge, is_high) in [
        (Edge::Rising, true),
        (Edge::Falling, false),
        (Edge::Low, false),
    ] {
        let request = request(Input::Logic, 50_000, Some((3, edge, 2_000)));
        let mut capture = demo.start(request).await.unwrap();
        let found = words(&mut capture).await.unwrap();
        assert_eq!(found.len(), 50_000);
        assert_eq!(found[0] >> 2 & 1 == 1, is_high, "{edge:?}");
        // The pattern repeats, so whatever follows is known from any place of it.
        assert_eq!(found[..1_000], found[6_400..7_400]);
    }
}

#[tokio::test]
async fn a_trigger_that_does_not_come_is_missed_in_time() {
    let Some(demo) = instrument("demo:analog_channels=0") else {
        return;
    };
    // The pattern begins with its eighth channel high for longer than these ten samples.
    let began = Instant::now();
    let request = Request {
        rate_hz: 100.0,
        ..request(Input::Logic, 10, Some((8, Edge::Rising, 100)))
    };
    let error = words(&mut demo.start(request).await.unwrap()).await;
    let error = error.unwrap_err().to_string();
    assert_eq!(
        error,
        "trigger timeout: no rising edge on LA8 within 100 ms"
    );
    assert!(began.elapsed() < PATIENCE);
}

#[tokio::test]
async fn analog_samples_are_those_that_sigrok_took() {
    let Some(demo) = instrument("demo:logic_channels=0") else {
        return;
    };
    let fit = demo.facts().await.unwrap().fit;
    let texts =
        written("-d demo:logic_channels=0 -c samplerate=1000000 --samples 3000 -C A1 -O analog");
    let volts = String::from_utf8(texts).unwrap();
    let volts = volts.lines().map(|line| {
        let mut words = line.split(' ').skip(1);
        let number: f64 = words.next().unwrap().parse().unwrap();
        match words.next().unwrap() {
            "mV" => number / 1e3,
            "V" => number,
            unit => panic!("a unit {unit}"),
        }
    });
    let volts: Vec<f64> = volts.collect();
    let mut capture = demo
        .start(request(Input::Analog(1), 3_000, None))
        .await
        .unwrap();
    assert!((capture.rate_hz() - RATE_HZ).abs() < 1.0);
    let mut found = Vec::new();
    while let Some(frame) = capture.next().await {
        let Frame::Adc {
            start_sample,
            counts,
        } = frame.unwrap()
        else {
            panic!("volts were asked for")
        };
        assert_eq!(start_sample, found.len() as u64);
        found.extend(counts.into_iter().map(|count| fit.volts(count)));
    }
    assert_eq!(found.len(), 3_000);
    // Half a count, and what the text rounds.
    let is_near = |(one, other): (&f64, &f64)| (one - other).abs() < 0.000_6;
    assert!(found.iter().zip(&volts).all(is_near));
    assert!(found.iter().any(|volts| *volts > 9.0), "it is no flat line");
}

/// The words and the volts of a capture of both kinds.
async fn both(
    demo: &Sigrok,
    request: Request,
) -> Result<(Vec<u16>, Vec<f64>, [f64; 2]), AcquireError> {
    let fit = demo.facts().await?.fit;
    let mut capture = demo.start(request).await?;
    let rates = [capture.rate_hz(), capture.beside_hz().unwrap()];
    let (mut levels, mut volts) = (Vec::new(), Vec::new());
    while let Some(frame) = capture.next().await {
        match frame? {
            Frame::La { edges, upto } => fill(&mut levels, edges, upto),
            Frame::Adc {
                start_sample,
                counts,
            } => {
                assert_eq!(start_sample, volts.len() as u64);
                volts.extend(counts.into_iter().map(|count| fit.volts(count)));
            }
        }
    }
    Ok((levels, volts, rates))
}

/// What the driver makes: 64 samples of levels again and again, and in its second input a sine wave of 20 samples.
#[tokio::test]
async fn levels_and_volts_of_one_run_are_of_one_instant() {
    let Some(demo) = instrument("demo") else {
        return;
    };
    let pattern = written("-d demo:analog_channels=0 -c samplerate=1000000 --samples 64 -O binary");
    let sine = |instant: usize| (std::f64::consts::TAU * (instant % 20) as f64 / 20.0).sin() * 10.0;
    let beside = |samples, rate_hz| {
        Input::Both(Beside {
            input: 1,
            samples,
            rate_hz,
        })
    };
    for (trigger, every) in [
        (None, 1),
        (None, 3),
        (Some((1, Edge::Rising, 2_000)), 7),
        (Some((2, Edge::Falling, 2_000)), 1),
    ] {
        // As fast as every third or seventh sample at most.
        let asked = request(
            beside(2_000, RATE_HZ / (every as f64 - 0.1)),
            10_000,
            trigger,
        );
        let (levels, volts, [levels_hz, volts_hz]) = both(&demo, asked).await.unwrap();
        assert_eq!((levels.len(), volts.len()), (10_000, 2_000));
        assert!((levels_hz - RATE_HZ).abs() < 1.0);
        assert!((volts_hz - RATE_HZ / every as f64).abs() < 1.0);
        // Where the run began counts for both: with a trigger, the place is found in the levels.
        let began = (0..64).find(|began| {
            let expected = (0..10_000).map(|at| u16::from(pattern[(began + at) % 64]));
            levels.iter().copied().eq(expected)
        });
        let began = began.expect("the pattern of the driver, from one of its places");
        let is_triggered = trigger.is_some();
        assert_eq!(began != 0, is_triggered);
        // The trigger is met within the first pattern, so the place is that of the instant.
        for (at, volts) in volts.iter().enumerate() {
            let expected = sine(began + at * every);
            assert!(
                (volts - expected).abs() < 0.002,
                "{at}: {volts} and not {expected}"
            );
        }
    }
    let far = Request {
        rate_hz: 24e6,
        ..request(beside(4_000, 1.0), 10, None)
    };
    let refused = both(&demo, far).await.unwrap_err().to_string();
    assert!(refused.contains("closer to each other"), "{refused}");
}

#[tokio::test]
async fn dropping_a_capture_ends_the_program_and_frees_the_instrument() {
    // A number that is in no other test's arguments.
    let driver = "demo:logic_channels=7:analog_channels=0";
    let Some(demo) = instrument(driver) else {
        return;
    };
    let endless = request(Input::Logic, 10, Some((1, Edge::Rising, 600_000)));
    let endless = Request {
        rate_hz: 1.0,
        ..endless
    };
    let capture = demo.start(endless).await.unwrap();
    let began = Instant::now();
    while !is_running("logic_channels=7") {
        assert!(began.elapsed() < PATIENCE, "it does not start");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // One at a time.
    let busy = demo.start(request(Input::Logic, 10, None)).await;
    assert!(matches!(busy, Err(AcquireError::Busy { .. })));
    drop(capture);
    let mut next = demo.start(request(Input::Logic, 10, None)).await.unwrap();
    assert_eq!(words(&mut next).await.unwrap().len(), 10);
    let began = Instant::now();
    while is_running("logic_channels=7") {
        assert!(began.elapsed() < PATIENCE, "it does not end");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn what_cannot_be_used_says_why() {
    if instrument("demo").is_none() {
        return;
    }
    let facts = async |settings| Sigrok::new(settings)?.facts().await;
    let absent = SigrokSettings {
        tool: Some("/nowhere/sigrok-cli".into()),
        ..settings("demo")
    };
    let channel = SigrokSettings {
        channels: vec!["D0".into(), "X1".into()],
        ..settings("demo")
    };
    for (settings, part) in [
        (settings("nosuch"), "knows no driver nosuch"),
        (settings("fx2lafw"), "plug it in"),
        (settings("demo:nosuch=1"), "options that this driver has"),
        (absent, "install the package sigrok-cli"),
        (channel, "has no channel X1; it has D0 D1"),
        (settings("--version"), "a driver of libsigrok"),
    ] {
        let error = facts(settings).await.unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

/// An instrument whose `sigrok-cli` is this script.
fn scripted(folder: &Path, script: &str) -> Sigrok {
    let tool = folder.join("tool");
    fs::write(&tool, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
    let tool = Some(tool.to_str().unwrap().to_owned());
    let settings = SigrokSettings {
        tool,
        ..settings("demo")
    };
    Sigrok::new(settings).unwrap()
}

#[tokio::test]
async fn a_program_that_is_not_sigrok_is_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    for (script, part) in [
        ("exit 1", "sigrok-cli failed"),
        ("exit 0", "it names no channels"),
        ("exec yes", "it says too much about itself"),
        (
            "yes >&2 & sleep 0.1; kill $!; exit 3",
            "sigrok-cli failed: y; y; y",
        ),
        (
            "echo 'x - X with 1 channel: D0'; exit 1",
            "sigrok-cli failed",
        ),
    ] {
        let error = scripted(folder.path(), script).facts().await.unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains(part) && error.len() < 400,
            "{script}: {error}"
        );
    }
}

#[tokio::test]
async fn whatever_it_started_ends_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    let script = format!("sleep 600 & echo $! > {}; wait", pid.display());
    let instrument = scripted(folder.path(), &script);
    let began = Instant::now();
    let has_started = async {
        loop {
            let text = fs::read_to_string(&pid).unwrap_or_default();
            if text.ends_with('\n') {
                return text;
            }
            assert!(began.elapsed() < PATIENCE, "it does not start");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let pid = tokio::select! {
        facts = instrument.facts() => panic!("it never answers: {facts:?}"),
        pid = has_started => pid,
    };
    let stat = format!("/proc/{}/stat", pid.trim());
    let began = Instant::now();
    // Gone, or dead and waiting for whoever inherited it.
    while fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
        assert!(began.elapsed() < PATIENCE, "it lives on");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
