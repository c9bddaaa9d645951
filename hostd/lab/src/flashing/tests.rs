//! Progress reports of a flash, and the names of its failures.

use ::flash::image::Extent;
use ::flash::{Programmed, Progress, Report};

use super::outcome::{Ended, Failure, Outcome};
use super::state::Course;
use super::*;

const ALL: [::flash::Phase; 5] = [
    ::flash::Phase::Connecting,
    ::flash::Phase::Erasing,
    ::flash::Phase::Programming,
    ::flash::Phase::Verifying,
    ::flash::Phase::Resetting,
];

fn took() -> Duration {
    Duration::from_millis(5)
}

fn report() -> Report {
    Report {
        chip: "STM32F030R8".into(),
        found: Some("STM32F030x8".into()),
        programmed: Programmed {
            extents: vec![Extent {
                address: 0x0800_0000,
                bytes: 10,
                crc32: 1,
            }],
            ..Programmed::default()
        },
        verified: true,
        reset: false,
        duration: took(),
    }
}

#[test]
fn a_flash_never_seems_to_go_back() {
    let mut course = Course::new();
    let mut before = course.percent;
    for phase in ALL {
        for bytes in [0, 1, 512, 1024] {
            let total = if phase == ::flash::Phase::Connecting {
                0
            } else {
                1024
            };
            course.note(Progress {
                phase,
                bytes,
                total,
            });
            assert!((before..100).contains(&course.percent) || phase == ::flash::Phase::Resetting);
            before = course.percent;
        }
    }
    // Some chips are erased and programmed in turns.
    course.note(Progress {
        phase: ::flash::Phase::Erasing,
        bytes: 0,
        total: 1024,
    });
    assert_eq!((course.percent, course.phase), (before, Phase::Erasing));
    course.end(Outcome::of_report(report(), Vec::new(), took()), 7);
    assert_eq!((course.percent, course.phase), (100, Phase::Done));
}

#[test]
fn what_was_done_is_told_in_lines() {
    let outcome = Outcome::of_report(report(), vec!["connecting".into()], took());
    assert_eq!(
        outcome.output,
        "connecting\nprogrammed 10 bytes on STM32F030R8 (STM32F030x8)\n\
         0x08000000..0x0800000a (10 bytes, CRC-32 00000001)\nverified\nnot reset: the core is halted\n"
    );
    assert_eq!((outcome.programmed.bytes(), outcome.failure), (10, None));
}

#[test]
fn the_end_of_a_lease_is_no_cancellation() {
    let phase = ::flash::Phase::Programming;
    let cancelled = FlashError::Cancelled { phase };
    for (ended, code, phase) in [
        (None, "cancelled", Phase::Cancelled),
        (Some(Ended::Cancelled), "cancelled", Phase::Cancelled),
        (Some(Ended::LeaseLost), "lease_lost", Phase::Failed),
        (Some(Ended::Stopping), "stopped", Phase::Failed),
    ] {
        let failure = Failure::of_flash(&cancelled, ended);
        assert_eq!(failure.code, code);
        assert!(
            failure.sentence.contains("incomplete"),
            "{}",
            failure.sentence
        );
        let outcome = Outcome::of_failure(failure, Vec::new(), took());
        assert_eq!(outcome.phase(), phase);
    }
    // It failed before it was told to end.
    let failure = Failure::of_flash(&FlashError::NoTarget, Some(Ended::LeaseLost));
    assert_eq!(
        (failure.code, failure.is_target_unreachable),
        ("no_target", true)
    );
}

#[test]
fn causes_are_told_once_and_within_bounds() {
    let source = PodError::Offline {
        reason: "x".repeat(5000),
    };
    let failure = Failure::of_flash(
        &FlashError::LinkLost {
            phase: ::flash::Phase::Verifying,
            source: source.into(),
        },
        None,
    );
    assert_eq!(failure.code, "device_lost");
    assert!(
        failure
            .sentence
            .contains("verifying: the pod is offline: xx")
    );
    assert!(failure.sentence.len() <= 600);
    assert!(!failure.is_target_unreachable);
}
