//! Entries that fuzzers and the seeded tests feed with what `sigrok-cli` writes, and with drivers.

use std::collections::VecDeque;

use super::driver::Driver;
use super::mixed::Lines;
use super::said::{self, SAID_BYTES_MAX};
use super::shown::Shown;
use super::wav::Header;
use crate::rates::Rates;

/// Any bytes as a driver, as what an instrument says about itself, as what is said of a failure, as the header of
/// analog samples and as lines of levels and volts.
///
/// # Panics
/// If what is accepted is not within its bounds.
pub fn sigrok(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(driver) = Driver::parse(&text) {
        assert!(driver.text().bytes().all(|byte| byte.is_ascii_graphic()));
        assert!(!driver.text().starts_with('-'));
    }
    if let Ok(shown) = Shown::parse(&text) {
        let names = shown.logic.iter().chain(&shown.analog);
        for name in names {
            assert!(!name.starts_with('-') && !name.contains([',', '=', ':', ' ']));
        }
        let rate = shown.rates.fitting(1e6);
        match shown.rates {
            Rates::Own => assert_eq!(rate, None),
            Rates::Listed(rates) => assert!(rates.contains(&rate.unwrap_or_default())),
            Rates::Stepped { min, max, .. } => {
                assert!((min..=max).contains(&rate.unwrap_or_default()));
            }
        }
    }
    if let Ok(Some(header)) = Header::parse(bytes) {
        assert!(header.bytes <= bytes.len() && header.rate_hz > 0);
        // It does not matter how much of it came at once.
        assert_eq!(
            Header::parse(&bytes[..header.bytes]).ok().flatten(),
            Some(header)
        );
    }
    let mut pieces = VecDeque::new();
    let whole = Lines::new(2, "A1").push(bytes, &mut pieces);
    let samples = pieces.iter().map(|piece| piece.bytes.len()).sum::<usize>();
    assert!(samples <= bytes.len());
    if whole.is_ok() {
        // It does not matter how much of it came at once.
        let (mut lines, mut again) = (Lines::new(2, "A1"), VecDeque::new());
        for bytes in bytes.chunks(3) {
            assert!(lines.push(bytes, &mut again).is_ok());
        }
        assert_eq!(
            again.iter().map(|piece| piece.bytes.len()).sum::<usize>(),
            samples
        );
    }
    let said = &bytes[..bytes.len().min(SAID_BYTES_MAX)];
    assert!(!said::told(said).contains(char::is_control));
    if let Ok(driver) = Driver::parse("demo") {
        assert!(!said::why(&driver, said).to_string().is_empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sigrok::mixed::tests::MIXED;
    use crate::sigrok::shown::tests::DEMO;
    use crate::sigrok::wav::tests::header;
    use pod_protocol::fuzzing::mutated;

    #[test]
    fn anything_that_sigrok_writes_is_read_within_bounds() {
        let valid = [
            DEMO.as_bytes().to_vec(),
            header(),
            MIXED.as_bytes().to_vec(),
            b"fx2lafw:conn=1.5".to_vec(),
            b"sr: fx2lafw: Failed to open device: LIBUSB_ERROR_ACCESS.\n".to_vec(),
        ];
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..20_000 {
            let mut bytes = random.choice(&valid).unwrap().clone();
            for _ in 0..random.usize(..4) {
                bytes = mutated(&mut |limit| random.usize(..limit), &bytes);
            }
            sigrok(&bytes);
        }
    }
}
