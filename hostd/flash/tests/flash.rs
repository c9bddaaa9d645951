//! Real jobs by the real library on a simulated chip behind a simulated probe.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

#[path = "flash/bench.rs"]
mod bench;
#[path = "flash/debug.rs"]
mod debug;
#[path = "flash/failures.rs"]
mod failures;
#[path = "flash/files.rs"]
mod files;

use bench::{Bench, demo, noise};
use flash::{FlashError, Image, Phase, Progress, Request, Stop, run};
use target_sim::chip::{STM32F030R8, STM32F030RC, STM32F446RE};
use target_sim::firmware::DEMO_F446_ELF;

fn request(chip: &str) -> Request {
    Request::new(chip, demo())
}

#[test]
fn the_demo_is_programmed_verified_and_runs() {
    let bench = Bench::powered(STM32F030R8);
    let mut seen: Vec<Progress> = Vec::new();
    let report = run(
        bench.link(),
        &request("STM32F030R8Tx"),
        &Stop::new(),
        &mut |progress| seen.push(progress),
    )
    .unwrap();
    assert_eq!(report.chip, "STM32F030R8");
    assert_eq!(
        report.found.as_deref(),
        Some("a chip with device id 0x440 (STM32F030x8, STM32F051, STM32F058) and 64 KiB of flash")
    );
    assert!(report.verified && report.reset);
    assert_eq!(report.programmed.bytes(), demo().data_bytes() as u64);
    let text = bench.text_after_ms(200);
    assert!(text.contains("I2C1 "), "{text:?}");
    let mut phases: Vec<Phase> = seen.iter().map(|progress| progress.phase).collect();
    phases.dedup();
    assert_eq!(
        phases,
        [
            Phase::Connecting,
            Phase::Erasing,
            Phase::Programming,
            Phase::Verifying,
            Phase::Resetting
        ]
    );
    for phase in [Phase::Erasing, Phase::Programming, Phase::Verifying] {
        let last = seen.iter().rfind(|progress| progress.phase == phase);
        let last = last.unwrap();
        assert!(last.total >= report.programmed.bytes(), "{last:?}");
        assert_eq!(last.bytes, last.total, "{last:?}");
    }
}

#[test]
fn a_larger_core_runs_its_own_loader() {
    let bench = Bench::powered(STM32F446RE);
    let image = Image::parse(DEMO_F446_ELF, "demo.elf", None).unwrap();
    let report = run(
        bench.link(),
        &Request::new("STM32F446RE", image.clone()),
        &Stop::new(),
        &mut |_| {},
    )
    .unwrap();
    assert_eq!(report.chip, "STM32F446RE");
    assert_eq!(
        report.found.as_deref(),
        Some("a chip with device id 0x421 (STM32F446) and 512 KiB of flash")
    );
    assert!(report.verified && report.reset);
    assert_eq!(report.programmed.bytes(), image.data_bytes() as u64);
    let text = bench.text_after_ms(200);
    assert!(text.contains("I2C1 "), "{text:?}");
    for name in ["target/stm32f4x.cfg", "STM32F446"] {
        let bench = Bench::powered(STM32F446RE);
        let request = Request::new(name, image.clone());
        let report = run(bench.link(), &request, &Stop::new(), &mut |_| {}).unwrap();
        assert!(report.chip.starts_with("STM32F446"), "{}", report.chip);
    }
}

#[test]
fn the_target_says_which_chip_of_a_configuration_it_is() {
    for (part, chip) in [(STM32F030R8, "STM32F030"), (STM32F030RC, "STM32F")] {
        for name in ["target/stm32f0x.cfg", "stm32f0x", "STM32F030", "stm32f0"] {
            let bench = Bench::powered(part);
            let report = run(bench.link(), &request(name), &Stop::new(), &mut |_| {}).unwrap();
            assert!(report.chip.starts_with(chip), "{}", report.chip);
            let size = if part == STM32F030R8 { '8' } else { 'C' };
            assert_eq!(report.chip.chars().last(), Some(size), "{}", report.chip);
        }
    }
}

#[test]
fn without_reset_the_firmware_waits_and_under_reset_it_is_reached() {
    let bench = Bench::powered(STM32F030R8);
    let mut request = request("STM32F030R8");
    request.reset = false;
    request.verify = false;
    let report = run(bench.link(), &request, &Stop::new(), &mut |_| {}).unwrap();
    assert!(!report.reset && !report.verified);
    assert_eq!(bench.text_after_ms(200), "");

    request.reset = true;
    request.connect_under_reset = true;
    run(bench.link(), &request, &Stop::new(), &mut |_| {}).unwrap();
    assert!(bench.text_after_ms(200).contains("I2C1 "));
    assert!(bench.pressed_reset(), "the reset pin was used");
}

#[test]
fn firmware_that_runs_is_replaced() {
    let bench = Bench::powered(STM32F030R8);
    run(
        bench.link(),
        &request("stm32f0x"),
        &Stop::new(),
        &mut |_| {},
    )
    .unwrap();
    bench.text_after_ms(100);
    let other = noise(20_000);
    let image = Image::parse(&other, "other.bin", None).unwrap();
    let request = Request::new("stm32f0x", image);
    run(bench.link(), &request, &Stop::new(), &mut |_| {}).unwrap();
    bench.with(|target, _| assert_eq!(target.chip().flash()[..other.len()], other));
}

#[test]
fn probes_of_any_packet_size_and_count_are_used_to_the_full() {
    let data = noise(64 * 1024);
    let image = Image::parse(&data, "data.bin", None).unwrap();
    let mut counts = Vec::new();
    for (bytes, count) in [(64, 1), (512, 1), (1024, 4)] {
        let bench = Bench::with_probe(STM32F030R8, bytes, count);
        let link = bench.link();
        run(
            link,
            &Request::new("STM32F030R8", image.clone()),
            &Stop::new(),
            &mut |_| {},
        )
        .unwrap();
        bench.with(|target, _| assert_eq!(target.chip().flash(), data));
        let traffic = bench.traffic();
        assert_eq!(traffic.longest_bytes.div_ceil(4), bytes.div_ceil(4));
        assert_eq!(traffic.most_in_flight > 1, count > 1);
        assert!(traffic.most_in_flight <= usize::from(count));
        counts.push(traffic.waits);
    }
    assert!(counts.is_sorted_by(|more, less| more > less), "{counts:?}");
}

#[test]
fn zeros_behind_answers_are_no_part_of_them() {
    for bytes in [64, 512] {
        let bench = Bench::with_reports(STM32F030R8, bytes);
        let report = run(
            bench.link(),
            &request("STM32F030R8Tx"),
            &Stop::new(),
            &mut |_| {},
        )
        .unwrap();
        assert_eq!(report.chip, "STM32F030R8");
        assert!(report.verified && report.reset);
        assert!(bench.text_after_ms(200).contains("I2C1 "));
    }
}

#[test]
fn a_configuration_without_an_identification_needs_a_name() {
    let bench = Bench::powered(STM32F030R8);
    let error = run(bench.link(), &request("rp"), &Stop::new(), &mut |_| {}).unwrap_err();
    assert!(
        matches!(
            error,
            FlashError::AmbiguousChip { .. } | FlashError::NoTarget
        ),
        "{error}"
    );
}
