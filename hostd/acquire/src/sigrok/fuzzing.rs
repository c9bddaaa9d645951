//! Entries that fuzzers and the seeded tests feed with what `sigrok-cli` writes, and with drivers.

use super::driver::Driver;
use super::said::{self, SAID_BYTES_MAX};
use super::shown::Shown;
use super::wav::Header;
use crate::rates::Rates;

/// Any bytes as a driver, as what an instrument says about itself, as what is said of a failure and as the header of
/// analog samples.
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
    let said = &bytes[..bytes.len().min(SAID_BYTES_MAX)];
    assert!(!said::told(said).contains(char::is_control));
    if let Ok(driver) = Driver::parse("demo") {
        assert!(!said::why(&driver, said).to_string().is_empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sigrok::shown::tests::DEMO;
    use crate::sigrok::wav::tests::header;
    use pod_protocol::fuzzing::mutated;

    #[test]
    fn anything_that_sigrok_writes_is_read_within_bounds() {
        let valid = [
            DEMO.as_bytes().to_vec(),
            header(),
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
