//! How captures are refused.

use guest::captures::Error;
use guest::{ApiError, Refusal};

/// Seconds after which it is worth asking a busy device again.
const BUSY_RETRY_AFTER_S: u32 = 1;

/// A limit of the organisation is reached.
pub(crate) fn no_room(limit: &str) -> ApiError {
    ApiError::of(
        Refusal::QuotaExceeded,
        format!("there is no room: {limit}; remove captures that nobody needs"),
    )
}

/// `what` (`capture` or `device`) with this id was asked for.
pub(crate) fn of(error: Error, what: &str, id: &str) -> ApiError {
    match error {
        Error::NotFound => ApiError::not_found(what, id),
        Error::NoWaveform => ApiError::of(
            Refusal::NotFound,
            "not found: the stimulus is no waveform that is kept",
        ),
        Error::Offline => ApiError::of(Refusal::DeviceOffline, "the device is offline"),
        Error::Held(busy) => ApiError::held(busy),
        Error::Busy => ApiError::of(
            Refusal::DeviceBusy,
            "device is busy: its capture hardware is in use and enough captures wait for it",
        )
        .retry_after(BUSY_RETRY_AFTER_S),
        Error::InUse(message) => {
            ApiError::of(Refusal::DeviceBusy, format!("device is busy: {message}"))
                .retry_after(BUSY_RETRY_AFTER_S)
        }
        Error::NotCapable(message) => ApiError::of(Refusal::NotCapable, message),
        Error::Invalid((field, message)) => ApiError::field(field, message),
        Error::Unready((field, message)) => {
            let mut error = ApiError::field(field, message);
            (error.status, error.code) = (Refusal::WrongState.status(), Refusal::WrongState.word());
            error
        }
        Error::WrongState(message) => ApiError::of(Refusal::WrongState, message),
        Error::Full(limit) => no_room(&limit),
        Error::Other(cause) => ApiError::internal(cause),
    }
}

#[cfg(test)]
mod tests {
    use guest::captures::Error;

    use super::of;

    #[test]
    fn refusals() {
        for (error, status, code, message) in [
            (Error::NotFound, 404, "not_found", "device not found: 01X"),
            (
                Error::Offline,
                503,
                "device_offline",
                "the device is offline",
            ),
            (
                Error::Busy,
                409,
                "device_busy",
                "device is busy: its capture hardware is in use and enough captures wait for it",
            ),
            (
                Error::NotCapable("no ADC".into()),
                400,
                "not_capable",
                "no ADC",
            ),
            (
                Error::Invalid(("samples".into(), "must be at most 4194304".into())),
                400,
                "invalid_request",
                "samples must be at most 4194304",
            ),
            (
                Error::Unready(("voltage_mv".into(), "is required".into())),
                409,
                "wrong_state",
                "voltage_mv is required",
            ),
            (
                Error::WrongState("it runs".into()),
                409,
                "wrong_state",
                "it runs",
            ),
            (
                Error::Full("captures: 5 at most".into()),
                409,
                "quota_exceeded",
                "there is no room: captures: 5 at most; remove captures that nobody needs",
            ),
        ] {
            let error = of(error, "device", "01X");
            assert_eq!(
                (error.status, error.code, error.message.as_str()),
                (status, code, message)
            );
        }
        let error = of(Error::Other("disk".into()), "capture", "01X");
        assert_eq!((error.status, error.cause.as_deref()), (500, Some("disk")));
        assert_eq!(of(Error::Busy, "device", "01X").retry_after_s, Some(1));
    }
}
