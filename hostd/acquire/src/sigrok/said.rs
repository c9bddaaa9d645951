//! What `sigrok-cli` says on standard error, and what it means.

use super::driver::Driver;
use crate::error::AcquireError;

/// Bytes that are kept of what it says. The first ones tell why.
pub(crate) const SAID_BYTES_MAX: usize = 4096;

/// Characters that are told of it.
const TOLD_CHARS_MAX: usize = 300;

/// How libsigrok and the libraries below it say that somebody else has the instrument.
const BUSY: [&str; 4] = [
    "already claimed",
    "LIBUSB_ERROR_BUSY",
    "Resource busy",
    "Device or resource busy",
];

/// How they say that this user may not open it.
const DENIED: [&str; 3] = ["LIBUSB_ERROR_ACCESS", "Access denied", "Permission denied"];

/// How it says that there is no such instrument.
const ABSENT: [&str; 3] = [
    "No devices found",
    "LIBUSB_ERROR_NO_DEVICE",
    "No such device",
];

/// Why it failed.
pub(crate) fn why(driver: &Driver, said: &[u8]) -> AcquireError {
    let text = String::from_utf8_lossy(said);
    let says = |any: &[&str]| any.iter().any(|part| text.contains(part));
    let what = format!("the instrument {}", driver.text());
    let unknown = format!("Driver {} not found", driver.name());
    if says(&[&unknown]) {
        let driver = driver.name().to_owned();
        AcquireError::UnknownDriver { driver }
    } else if says(&["Unknown device option", "Invalid device option"]) {
        AcquireError::Setting {
            field: "driver",
            found: driver.text().to_owned(),
            form: "one with options that this driver has; `sigrok-cli --driver=NAME --show` lists them",
        }
    } else if says(&DENIED) {
        AcquireError::NotPermitted { what }
    } else if says(&BUSY) {
        AcquireError::Busy { what }
    } else if says(&ABSENT) {
        let check = "`driver`";
        AcquireError::NoDevice { what, check }
    } else {
        AcquireError::Tool { said: told(said) }
    }
}

/// What it said, as one line for people.
pub(crate) fn told(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let lines = text.lines().map(|line| {
        let line = line.trim();
        line.strip_prefix("sr: ").unwrap_or(line)
    });
    let lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
    let told = lines.join("; ");
    let told = told.chars().filter(|char| !char.is_control());
    told.take(TOLD_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_has_its_cure() {
        let driver = Driver::parse("fx2lafw:conn=1.5").unwrap();
        for (said, part) in [
            ("Driver fx2lafw not found.\n", "--list-supported"),
            (
                "Unknown device option 'foo'.\n",
                "options that this driver has",
            ),
            ("No devices found.\n", "plug it in"),
            (
                "sr: fx2lafw: Failed to open device: LIBUSB_ERROR_ACCESS.\nFailed to open device.\n",
                "may not open",
            ),
            (
                "sr: usb: Permission denied\nNo devices found.\n",
                "may not open",
            ),
            (
                "sr: fx2lafw: Unable to claim USB interface. Another program or driver has already claimed it.\n",
                "stop that one",
            ),
            ("sr: hm\n\nboom\x1B[2J\n", "sigrok-cli failed: hm; boom[2J"),
            ("", "sigrok-cli failed"),
        ] {
            let error = why(&driver, said.as_bytes()).to_string();
            assert!(error.contains(part), "{said}: {error}");
        }
    }

    #[test]
    fn what_is_told_is_short() {
        let told = told(&[b'x'; SAID_BYTES_MAX]);
        assert_eq!(told.chars().count(), TOLD_CHARS_MAX);
    }
}
