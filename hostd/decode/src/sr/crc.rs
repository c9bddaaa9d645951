//! CRC-32 of pieces that were summed up one by one, and of what is repeated without summing it up again: `x^n` modulo the
//! polynomial shifts a sum by `n` bits (zlib's `crc32_combine`).

/// The polynomial, its highest coefficient in the lowest bit, as everything here.
const POLYNOMIAL: u32 = 0xedb8_8320;

/// `x^0`
const ONE: u32 = 1 << 31;

/// `x^(2^n)`
const POWERS: [u32; 32] = {
    let mut powers = [1 << 30; 32];
    let mut at = 1;
    while at < 32 {
        powers[at] = product(powers[at - 1], powers[at - 1]);
        at += 1;
    }
    powers
};

const fn product(a: u32, b: u32) -> u32 {
    let (mut bit, mut b, mut sum) = (ONE, b, 0);
    while bit != 0 {
        if a & bit != 0 {
            sum ^= b;
        }
        bit >>= 1;
        b = if b & 1 == 1 {
            b >> 1 ^ POLYNOMIAL
        } else {
            b >> 1
        };
    }
    sum
}

/// What shifts a sum by so many bytes.
fn shift(bytes: u64) -> u32 {
    let (mut rest, mut power, mut shift) = (bytes, 3, ONE);
    while rest != 0 {
        if rest & 1 == 1 {
            // The powers come round.
            shift = product(POWERS[power % 32], shift);
        }
        (rest, power) = (rest >> 1, power + 1);
    }
    shift
}

/// The sum of all pieces so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Crc(u32);

impl Crc {
    /// A piece of so many bytes follows, so many times, whose own sum is known.
    pub(super) fn add(&mut self, sum: u32, bytes: u64, times: u64) {
        let (mut sum, mut shift, mut rest) = (sum, shift(bytes), times);
        while rest != 0 {
            if rest & 1 == 1 {
                self.0 = product(shift, self.0) ^ sum;
            }
            sum ^= product(shift, sum);
            shift = product(shift, shift);
            rest >>= 1;
        }
    }

    pub(super) fn sum(self) -> u32 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Crc;
    use libdeflater::crc32;

    #[test]
    fn pieces_and_what_is_repeated_have_the_sum_of_the_whole() {
        let bytes: Vec<u8> = (0..10_007_u32)
            .map(|n| n.to_le_bytes()[n as usize % 2])
            .collect();
        for (cut, times) in [
            (0, 1),
            (1, 0),
            (5000, 1),
            (9999, 2),
            (17, 1000),
            (10_007, 7),
        ] {
            let (first, second) = bytes.split_at(cut);
            let mut crc = Crc::default();
            crc.add(crc32(first), first.len() as u64, 1);
            crc.add(crc32(second), second.len() as u64, times);
            let times = usize::try_from(times).unwrap();
            let whole = [first.to_vec(), second.repeat(times)].concat();
            assert_eq!(crc.sum(), crc32(&whole), "{cut} {times}");
        }
    }
}
