//! What can go wrong, and what users are told.

use std::error::Error;
use std::time::{Duration, Instant};

use flash::{FlashError, Image, Phase, Report, Request, Stop, check_chip, run};
use target_sim::chip::{STM32F030R8, STM32F030RC};

use super::bench::{Bench, Fault, noise};
use super::request;

fn flash(bench: &Bench, request: &Request) -> Result<Report, FlashError> {
    run(bench.link(), request, &Stop::new(), &mut |_| {})
}

/// How many packets a job takes without faults, and its request.
fn job_of_32_kib() -> (usize, Request) {
    let image = Image::parse(&noise(32 * 1024), "noise.bin", None).unwrap();
    let request = Request::new("STM32F030R8", image);
    let bench = Bench::powered(STM32F030R8);
    flash(&bench, &request).unwrap();
    (bench.traffic().packets, request)
}

#[test]
fn an_unknown_chip_is_refused_before_anything_is_sent() {
    let bench = Bench::powered(STM32F030R8);
    let error = flash(&bench, &request("STM32F303RB9")).unwrap_err();
    let FlashError::UnsupportedChip { nearest, .. } = &error else {
        panic!("{error}");
    };
    assert!(
        nearest.iter().any(|name| name.starts_with("STM32F303")),
        "{nearest:?}"
    );
    assert!(
        error
            .to_string()
            .starts_with("`STM32F303RB9` is no supported chip; the nearest are STM32F")
    );
    assert_eq!(bench.traffic().packets, 0);
    for name in ["", " ", "toaster", "target/riscv.cfg", "esp32c3"] {
        assert!(check_chip(name).is_err(), "{name}");
    }
    for name in [
        "target/nrf52.cfg",
        "nrf51",
        "rp2040",
        "stm32f4x.cfg",
        "STM32F407VG",
        "nRF52840_xxAA",
    ] {
        check_chip(name).unwrap();
    }
}

#[test]
fn the_wrong_chip_is_left_alone_unless_forced() {
    for name in [
        "STM32F407VG",
        "nRF52832_xxAA",
        "STM32F030RC",
        "target/stm32f4x.cfg",
        "nrf51",
        "STM32F072",
    ] {
        let bench = Bench::powered(STM32F030R8);
        let error = flash(&bench, &request(name)).unwrap_err();
        assert!(
            matches!(error, FlashError::WrongTarget { .. }),
            "{name}: {error}"
        );
        assert!(error.is_target_untouched() && !error.target_unreachable());
        let text = error.to_string();
        assert!(text.contains("device id 0x440 (STM32F030x8"), "{text}");
        assert!(text.contains(name), "{text}");
        bench.with(|target, _| assert!(target.chip().flash().iter().all(|byte| *byte == 0xff)));
    }
    let bench = Bench::powered(STM32F030R8);
    let mut request = request("STM32F030RC");
    request.force = true;
    assert_eq!(flash(&bench, &request).unwrap().chip, "STM32F030RC");
}

#[test]
fn a_locked_chip_says_so() {
    let bench = Bench::powered(STM32F030R8);
    bench.with(|target, _| target.chip().protect_from_reading());
    let error = flash(&bench, &request("stm32f0x")).unwrap_err();
    assert!(matches!(error, FlashError::Locked { .. }), "{error}");
    assert!(error.is_target_untouched());
}

#[test]
fn firmware_outside_the_memory_is_refused() {
    let cases = [
        (0x0800_fff0, 0x0801_0000),
        (0x0000_1000, 0x0001_0000),
        (0x3000_0000, 0x3000_0000),
    ];
    for (load_address, outside) in cases {
        let bench = Bench::powered(STM32F030R8);
        let image = Image::parse(&noise(0x1_0010), "noise.bin", None).unwrap();
        let mut request = Request::new("STM32F030R8", image);
        request.load_address = Some(load_address);
        match flash(&bench, &request).unwrap_err() {
            FlashError::OutsideMemory { address, .. } if load_address != 0x1000 => {
                assert_eq!(address, outside);
            }
            FlashError::OutsideMemory { .. } => {}
            error => panic!("{error}"),
        }
    }
    let image = Image::parse(&noise(64), "noise.bin", None).unwrap();
    let mut request = Request::new("STM32F030R8", image);
    request.load_address = Some(0xffff_ffe0);
    let error = flash(&Bench::powered(STM32F030R8), &request).unwrap_err();
    assert!(matches!(error, FlashError::OutsideMemory { .. }), "{error}");
}

#[test]
fn altered_cells_are_found_with_their_address() {
    let image = Image::parse(&noise(4096), "noise.bin", None).unwrap();
    let request = Request::new("STM32F030R8", image);
    let wanted = noise(4096)[0x321];
    let bench = Bench::failing(STM32F030R8, 0, Fault::Cell(0x321, !wanted));
    let error = flash(&bench, &request).unwrap_err();
    match &error {
        FlashError::Verify { address } => assert_eq!(*address, Some(0x0800_0321)),
        // A cell that is not erased refuses to be programmed.
        FlashError::Program { address, .. } => assert_eq!(*address, Some(0x0800_0000)),
        _ => panic!("{error}"),
    }
    let (packets, request) = job_of_32_kib();
    let bench = Bench::failing(STM32F030R8, packets * 3 / 4, Fault::Cell(0x321, !wanted));
    let error = flash(&bench, &request).unwrap_err();
    assert!(
        matches!(
            error,
            FlashError::Verify {
                address: Some(0x0800_0321)
            }
        ),
        "{error}"
    );
    assert_eq!(
        error.to_string(),
        "verification failed at 0x08000321: the flash does not have what was programmed"
    );
    assert!(!error.target_unreachable() && !error.is_target_untouched());
}

#[test]
fn no_power_means_no_target() {
    for under_reset in [false, true] {
        let mut request = request("stm32f0x");
        request.connect_under_reset = under_reset;
        let bench = Bench::unpowered(STM32F030R8);
        let error = flash(&bench, &request).unwrap_err();
        assert!(matches!(error, FlashError::NoTarget), "{error}");
        assert!(error.target_unreachable() && error.is_target_untouched());
    }
    let error = flash(&Bench::unpowered(STM32F030R8), &request("rp2040")).unwrap_err();
    assert!(matches!(error, FlashError::NoTarget), "{error}");
}

#[test]
fn a_link_that_breaks_anywhere_ends_the_job() {
    let (packets, request) = job_of_32_kib();
    for part in 0..20 {
        let at = packets * part / 20;
        let bench = Bench::failing(STM32F030R8, at, Fault::LinkBreaks);
        let error = flash(&bench, &request).unwrap_err();
        let FlashError::LinkLost { phase, source } = &error else {
            panic!("{at}: {error}");
        };
        assert_eq!(source.to_string(), "the cable was pulled");
        assert_eq!(error.source().unwrap().to_string(), "the cable was pulled");
        assert!(!error.target_unreachable());
        assert_eq!(error.is_target_untouched(), *phase == Phase::Connecting);
        assert_eq!(bench.traffic().packets, at + 1);
    }
}

#[test]
fn power_that_fails_is_told_from_everything_else() {
    let (packets, request) = job_of_32_kib();
    for part in 1..16 {
        let bench = Bench::failing(STM32F030R8, packets * part / 16, Fault::PowerFails);
        let error = flash(&bench, &request).unwrap_err();
        assert!(
            matches!(error, FlashError::TargetLost { .. }),
            "{part}: {error}"
        );
        assert!(error.target_unreachable());
    }
}

#[test]
fn a_cancel_ends_the_job_within_a_packet() {
    let (packets, request) = job_of_32_kib();
    for part in 0..10 {
        let at = packets * part / 10;
        let stop = Stop::new();
        let bench = Bench::failing(STM32F030R8, at, Fault::Cancel(stop.clone()));
        let error = run(bench.link(), &request, &stop, &mut |_| {}).unwrap_err();
        assert!(matches!(error, FlashError::Cancelled { .. }), "{error}");
        assert_eq!(bench.traffic().packets, at + 1);
    }
    let bench = Bench::failing(STM32F030R8, packets / 2, Fault::LinkCancels);
    let error = flash(&bench, &request).unwrap_err();
    assert!(matches!(
        error,
        FlashError::Cancelled {
            phase: Phase::Programming | Phase::Verifying
        }
    ));
    // After a cancelled job the next one finds everything in order.
    let stop = Stop::new();
    let bench = Bench::failing(STM32F030RC, packets / 2, Fault::Cancel(stop.clone()));
    let mut request = request;
    request.chip = "STM32F030RC".to_owned();
    run(bench.link(), &request, &stop, &mut |_| {}).unwrap_err();
    bench.repair();
    flash(&bench, &request).unwrap();
}

#[test]
fn a_deadline_ends_the_job() {
    let bench = Bench::powered(STM32F030R8);
    let stop = Stop::at(Instant::now());
    let error = run(bench.link(), &request("stm32f0x"), &stop, &mut |_| {}).unwrap_err();
    assert!(
        matches!(
            error,
            FlashError::Deadline {
                phase: Phase::Connecting
            }
        ),
        "{error}"
    );
    assert_eq!(bench.traffic().packets, 0);
}

#[test]
fn a_deadline_that_comes_mid_way_ends_the_job() {
    let (packets, request) = job_of_32_kib();
    let deadline = Instant::now() + Duration::from_millis(500);
    let bench = Bench::failing(STM32F030R8, packets / 2, Fault::SlowUntil(deadline));
    let error = run(bench.link(), &request, &Stop::at(deadline), &mut |_| {}).unwrap_err();
    assert!(matches!(error, FlashError::Deadline { .. }), "{error}");
    assert!(bench.traffic().packets <= packets / 2 + 1);
}

#[test]
fn a_probe_that_answers_nonsense_is_not_believed() {
    let (packets, request) = job_of_32_kib();
    let answers: [&[u8]; 6] = [
        &[],
        &[0],
        &[0xff],
        &[5, 1],
        &[5, 1, 1, 0],
        &[6, 1, 0, 1, 0, 0, 0, 0],
    ];
    for answer in answers {
        for at in [0, 1, 10, 30, packets / 2, packets * 3 / 4] {
            let bench = Bench::failing(STM32F030R8, at, Fault::Answers(answer.to_vec()));
            flash(&bench, &request).unwrap_err();
        }
    }
}
