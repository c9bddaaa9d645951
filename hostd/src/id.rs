//! Identifiers: ULIDs for stored things, short random texts for requests, keys and codes.

use crate::clock::Clock;

/// Crockford's base 32 as the ULID specification uses it.
const BASE32: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Bytes at or above this are thrown away, so that every character is equally likely.
const BASE62_FAIR: u8 = 62 * 4;

/// Characters of a ULID.
pub const ULID_LEN: usize = 26;

/// Characters of a request id: 95 bits, enough to be unique in any log.
const REQUEST_ID_LEN: usize = 16;

/// Fill `bytes` from the operating system's generator.
pub fn fill_random(bytes: &mut [u8]) {
    getrandom::fill(bytes).expect("the operating system provides random bytes");
}

/// A new ULID: 48 bits of milliseconds, 80 random bits, 26 characters that sort by time.
/// See <https://github.com/ulid/spec>.
#[must_use]
pub fn ulid(clock: &Clock) -> String {
    let mut random = [0; 10];
    fill_random(&mut random);
    ulid_of(clock.now_ms(), random)
}

fn ulid_of(at_ms: u64, random: [u8; 10]) -> String {
    let mut bytes = [0; 16];
    bytes[6..].copy_from_slice(&random);
    let value = (u128::from(at_ms) << 80) | u128::from_be_bytes(bytes);
    (0..ULID_LEN)
        .rev()
        .map(|i| char::from(BASE32[((value >> (5 * i)) & 31) as usize]))
        .collect()
}

/// Whether `text` has the form of a ULID as [`ulid`] writes them.
#[must_use]
pub fn is_ulid(text: &str) -> bool {
    text.len() == ULID_LEN
        && text.bytes().all(|b| BASE32.contains(&b))
        && text.as_bytes()[0] <= b'7'
}

/// A new request id.
#[must_use]
pub fn request_id() -> String {
    base62(REQUEST_ID_LEN)
}

/// `len` random characters of `0-9A-Za-z`, 5.95 bits each.
#[must_use]
pub fn base62(len: usize) -> String {
    let mut text = String::with_capacity(len);
    let mut pool = [0; 32];
    while text.len() < len {
        fill_random(&mut pool);
        let left = len - text.len();
        text.extend(base62_of(&pool).take(left));
    }
    text
}

/// The base-62 characters that a stream of random bytes stands for; some bytes stand for none.
pub fn base62_of(bytes: &[u8]) -> impl Iterator<Item = char> + '_ {
    bytes
        .iter()
        .filter(|byte| **byte < BASE62_FAIR)
        .map(|byte| char::from(BASE62[usize::from(byte % 62)]))
}

/// Whether all of `text` is base 62.
#[must_use]
pub fn is_base62(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ulids_encode_time_first() {
        // The example of the specification's reference implementation: 1469918176385 ms.
        assert!(ulid_of(1_469_918_176_385, [0; 10]).starts_with("01ARYZ6S41"));
        assert_eq!(ulid_of(0, [0; 10]), "0".repeat(26));
        assert_eq!(
            ulid_of((1 << 48) - 1, [0xff; 10]),
            "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"
        );
        assert!(ulid_of(1, [0xff; 10]) < ulid_of(2, [0; 10]));
    }

    #[test]
    fn ulid_form_is_checked() {
        let id = ulid(&Clock::system());
        assert!(is_ulid(&id), "{id}");
        for bad in [
            "",
            "01ARYZ6S41",
            "81ARYZ6S41ARYZ6S41ARYZ6S41",
            "01ARYZ6S41aryz6s41aryz6s41",
        ] {
            assert!(!is_ulid(bad), "{bad}");
        }
    }

    #[test]
    fn base62_uses_every_character_and_repeats_none() {
        let text = base62(4000);
        assert_eq!(text.len(), 4000);
        assert!(is_base62(&text));
        assert!(BASE62.iter().all(|c| text.contains(char::from(*c))));
        assert_ne!(request_id(), request_id());
    }

    #[test]
    fn unfair_bytes_are_skipped() {
        assert_eq!(base62_of(&[0, 248, 61, 255, 62]).collect::<String>(), "0z0");
    }
}
