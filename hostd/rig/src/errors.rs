//! What errors of the lab and of pods mean to a run.

use jobs::BenchError;
use lab::captures::CaptureError;
use lab::flashing::{Failure, FlashingError};
use lab::leases::EntryError;
use lab::replay::ReplayError;
use lab::target::TargetError;
use lab::uart::{TapEnd, UartError};
use lab::waveforms::WaveformError;

/// What is told when the lease is over.
pub(crate) const OVER: &str = "its lease is over";

/// The code of a flash that found another chip.
pub(crate) const WRONG_TARGET: &str = "wrong_target";

pub(crate) fn lost(error: &dyn std::error::Error) -> BenchError {
    let mut sentence = error.to_string();
    if let Some(cause) = error.source() {
        sentence = format!("{sentence}: {cause}");
    }
    BenchError::Lost(sentence)
}

pub(crate) fn of_entry(error: &EntryError) -> BenchError {
    match error {
        EntryError::Held(_) => BenchError::LeaseLost("another lease holds it".to_owned()),
        EntryError::NoDevice => BenchError::Lost("it was removed".to_owned()),
        EntryError::Offline => BenchError::Lost("no pod is attached".to_owned()),
    }
}

pub(crate) fn of_target(error: TargetError) -> BenchError {
    match error {
        TargetError::Refused(why) => BenchError::Refused(why),
        TargetError::Lost(why) => BenchError::Lost(why),
    }
}

pub(crate) fn of_capture(error: &CaptureError) -> BenchError {
    match error {
        CaptureError::Plan(_) | CaptureError::Unready { .. } | CaptureError::InUse(_) => {
            BenchError::Refused(error.to_string())
        }
        error => lost(error),
    }
}

pub(crate) fn of_flashing(error: &FlashingError) -> BenchError {
    match error {
        FlashingError::Invalid { .. } => BenchError::Refused(error.to_string()),
        FlashingError::Pod(error) => of_target(error.into()),
        error => lost(error),
    }
}

/// What a flash came to that failed.
pub(crate) fn of_failure(failure: &Failure) -> BenchError {
    let why = failure.sentence.clone();
    match failure.code {
        WRONG_TARGET => BenchError::WrongTarget(why),
        "unknown_target" | "ambiguous_target" | "bad_firmware" | "pod_refused" => {
            BenchError::Refused(why)
        }
        "outside_memory" => BenchError::Unfit(why),
        "lease_lost" => BenchError::LeaseLost(OVER.to_owned()),
        "deadline" => BenchError::TimedOut,
        "cancelled" => BenchError::Cancelled,
        "device_lost" | "device_offline" | "device_timeout" | "pod_protocol" | "stopped"
        | "internal" => BenchError::Lost(why),
        _ => BenchError::Probe(why),
    }
}

pub(crate) fn of_uart(error: &UartError) -> BenchError {
    match error {
        UartError::Offline | UartError::Pod(_) => lost(error),
        UartError::Held(_) => BenchError::LeaseLost(OVER.to_owned()),
        UartError::InUse(_) | UartError::Conflict(_) | UartError::Full | UartError::Refused(_) => {
            BenchError::Refused(error.to_string())
        }
    }
}

pub(crate) fn of_tap(end: &TapEnd) -> BenchError {
    match end {
        TapEnd::LeaseLost | TapEnd::ReadOnly => BenchError::LeaseLost(OVER.to_owned()),
        TapEnd::Refused(_) => BenchError::Refused(end.to_string()),
        TapEnd::Offline(_) | TapEnd::Failed(_) => lost(end),
    }
}

pub(crate) fn of_replay(error: &ReplayError) -> BenchError {
    match error {
        ReplayError::NotCapable { .. } | ReplayError::Invalid { .. } | ReplayError::Limited => {
            BenchError::Refused(error.to_string())
        }
        ReplayError::Waveform(error) => of_waveform(error),
        ReplayError::Pod(error) => of_target(error.into()),
        error => lost(error),
    }
}

pub(crate) fn of_waveform(error: &WaveformError) -> BenchError {
    match error {
        WaveformError::NotFound | WaveformError::WrongKind(_) | WaveformError::Invalid { .. } => {
            BenchError::Refused(error.to_string())
        }
        error => lost(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flash_fails_by_its_bench_or_by_its_pipeline() {
        let of = |code: &'static str| {
            of_failure(&Failure {
                code,
                sentence: "why".to_owned(),
                is_target_unreachable: false,
            })
        };
        let why = || "why".to_owned();
        assert_eq!(of("wrong_target"), BenchError::WrongTarget(why()));
        assert_eq!(of("bad_firmware"), BenchError::Refused(why()));
        assert_eq!(of("outside_memory"), BenchError::Unfit(why()));
        assert_eq!(of("device_lost"), BenchError::Lost(why()));
        for code in [
            "no_target",
            "verify_failed",
            "target_locked",
            "program_failed",
        ] {
            assert_eq!(of(code), BenchError::Probe(why()), "{code}");
        }
    }
}
