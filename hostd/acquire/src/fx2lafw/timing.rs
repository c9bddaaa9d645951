//! Sample rates of the firmware: its request to start names a clock and how many periods lie between two samples.

use std::time::Duration;

use crate::rates::Rates;

/// Bit of the flags: the clock of 48 MHz, not that of 30 MHz.
const CLOCK_48_MHZ: u8 = 1 << 6;

/// Bit of the flags: samples of 16 bits, not of 8.
const WIDE: u8 = 1 << 5;

/// Most periods between two samples: the firmware has 6 states to wait in, of at most 256 each.
const DELAY_MAX: u64 = 6 * 256 - 1;

/// What the firmware offers, in hertz.
const RATES_HZ: [u64; 16] = [
    20_000, 25_000, 50_000, 100_000, 200_000, 250_000, 500_000, 1_000_000, 2_000_000, 3_000_000,
    4_000_000, 6_000_000, 8_000_000, 12_000_000, 16_000_000, 24_000_000,
];

/// The fastest of samples of one byte, and of two.
const RATE_HZ_MAX: [u64; 2] = [24_000_000, 12_000_000];

/// Bytes that the chip holds until they are fetched.
const FIFO_BYTES: u64 = 4 * 512;

/// Samples of one transfer last about as long as this.
const TRANSFER_MS: u64 = 10;

/// All transfers together hold about as much as this.
const UNDER_WAY_MS: u64 = 500;

/// Bytes of one packet, of which transfers have a whole number.
const PACKET_BYTES: u64 = 512;

/// Most bytes of one transfer; the kernel grants each its memory at once.
const TRANSFER_BYTES_MAX: u64 = 128 * 1024;

/// Most transfers under way: at most 4 MiB, of the 16 MiB that the kernel has for all devices.
const TRANSFERS_MAX: u64 = 32;

/// Fewest, so that there is always one to fill.
const TRANSFERS_MIN: u64 = 4;

/// Rates of samples of so many bytes.
pub(crate) fn rates(wide: bool) -> Rates {
    let most = RATE_HZ_MAX[usize::from(wide)];
    let rates = RATES_HZ.into_iter().filter(|rate| *rate <= most);
    Rates::Listed(rates.collect())
}

/// The bytes of the request to start. `None` for a rate that neither clock divides into.
pub(crate) fn start(rate_hz: u64, wide: bool) -> Option<[u8; 3]> {
    let clocks = [(48_000_000, CLOCK_48_MHZ), (30_000_000, 0)];
    let (delay, clock) = clocks.into_iter().find_map(|(clock_hz, flag)| {
        let is_whole = rate_hz > 0 && clock_hz % rate_hz == 0;
        let delay = is_whole.then(|| clock_hz / rate_hz - 1)?;
        (1..=DELAY_MAX).contains(&delay).then_some((delay, flag))
    })?;
    let [high, low] = u16::try_from(delay).ok()?.to_be_bytes();
    Some([clock | if wide { WIDE } else { 0 }, high, low])
}

/// How transfers are made.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Transfers {
    /// Bytes of each.
    pub(crate) bytes: usize,
    /// How many are under way.
    pub(crate) count: usize,
    /// How long one takes to fill.
    pub(crate) each: Duration,
}

impl Transfers {
    /// Those for so many bytes a second.
    pub(crate) fn of(bytes_per_s: u64) -> Self {
        let bytes = (bytes_per_s * TRANSFER_MS / 1_000).next_multiple_of(PACKET_BYTES);
        let bytes = bytes.clamp(PACKET_BYTES, TRANSFER_BYTES_MAX);
        let count =
            (bytes_per_s * UNDER_WAY_MS / 1_000 / bytes).clamp(TRANSFERS_MIN, TRANSFERS_MAX);
        Self {
            bytes: usize::try_from(bytes).unwrap_or(usize::MAX),
            count: usize::try_from(count).unwrap_or(usize::MAX),
            each: Duration::from_micros(bytes * 1_000_000 / bytes_per_s.max(1)),
        }
    }
}

/// How long the chip goes on after nobody fetches its samples: until it is full. Only then does it take another start
/// without samples from before.
pub(crate) fn running_dry(bytes_per_s: u64) -> Duration {
    Duration::from_millis(20) + Duration::from_millis(2 * FIFO_BYTES * 1_000 / bytes_per_s.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rate_has_a_request() {
        for wide in [false, true] {
            let Rates::Listed(rates) = rates(wide) else {
                panic!("they are a list")
            };
            assert_eq!(rates.len(), if wide { 14 } else { 16 });
            for rate in rates {
                let [flags, high, low] = start(rate, wide).unwrap();
                let clock = if flags & CLOCK_48_MHZ == 0 {
                    30_000_000
                } else {
                    48_000_000
                };
                let delay = u64::from(u16::from_be_bytes([high, low]));
                assert_eq!(clock / (delay + 1), rate);
                assert_eq!(clock % (delay + 1), 0);
                assert!(high < 6);
                assert_eq!(flags & WIDE != 0, wide);
            }
        }
    }

    #[test]
    fn requests_as_the_firmware_reads_them() {
        assert_eq!(start(24_000_000, false), Some([0x40, 0, 1]));
        assert_eq!(start(12_000_000, true), Some([0x60, 0, 3]));
        assert_eq!(start(50_000, false), Some([0x40, 0x03, 0xBF]));
        // Too slow for 48 MHz.
        assert_eq!(start(25_000, false), Some([0x00, 0x04, 0xAF]));
        assert_eq!(start(20_000, true), Some([0x20, 0x05, 0xDB]));
        for rate in [0, 7, 10_000, 48_000_000] {
            assert_eq!(start(rate, false), None, "{rate}");
        }
    }

    #[test]
    fn transfers_are_few_and_of_whole_packets() {
        for (bytes_per_s, bytes, count) in [
            (20_000, 512, 19),
            (1_000_000, 10_240, 32),
            (24_000_000, 131_072, 32),
        ] {
            let transfers = Transfers::of(bytes_per_s);
            assert_eq!((transfers.bytes, transfers.count), (bytes, count));
        }
        assert!(running_dry(20_000) < Duration::from_millis(250));
    }
}
