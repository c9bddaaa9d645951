//! Identifiers: ULIDs for stored things, short random texts for requests, keys and codes.

use std::sync::{Mutex, PoisonError};

use crate::clock::Clock;

/// Crockford's base 32 as the ULID specification uses it.
const BASE32: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Bytes at or above this are discarded, so that every character is equally likely.
const BASE62_FAIR: u8 = 62 * 4;

/// Characters of a ULID.
pub(crate) const ULID_LEN: usize = 26;

/// Characters of the id of a key: `<prefix>_<id>_<secret>`.
pub const KEY_ID_LEN: usize = 12;

/// Characters of a sign-in code: 142 bits.
pub const CODE_LEN: usize = 24;

/// Characters of a request id: 95 bits, enough to be unique in any log.
const REQUEST_ID_LEN: usize = 16;

/// Fill `bytes` from the operating system's generator.
pub fn fill_random(bytes: &mut [u8]) {
    getrandom::fill(bytes).expect("the operating system provides random bytes");
}

/// The last ULID issued, so that those of one millisecond sort in order of creation.
static LAST_ULID: Mutex<u128> = Mutex::new(0);

/// A new ULID: 48 bits of milliseconds, 80 random bits, 26 characters that sort by time; those of one
/// millisecond sort in order of creation. See <https://github.com/ulid/spec>, "Monotonicity".
#[must_use]
pub fn ulid(clock: &Clock) -> String {
    let mut random = [0; 10];
    fill_random(&mut random);
    let fresh = ulid_value(clock.now_ms(), random);
    let mut last = LAST_ULID.lock().unwrap_or_else(PoisonError::into_inner);
    *last = ulid_after(*last, fresh);
    ulid_text(*last)
}

/// The least ULID of this millisecond: those that are made from then on are not before it.
#[must_use]
pub fn first_ulid(at_ms: u64) -> String {
    ulid_text(ulid_value(at_ms, [0; 10]))
}

/// `fresh`, or the successor of `last` if that is of the same millisecond and not before `fresh`.
fn ulid_after(last: u128, fresh: u128) -> u128 {
    if last >> 80 == fresh >> 80 && last >= fresh {
        last + 1
    } else {
        fresh
    }
}

fn ulid_value(at_ms: u64, random: [u8; 10]) -> u128 {
    let mut bytes = [0; 16];
    bytes[6..].copy_from_slice(&random);
    (u128::from(at_ms) << 80) | u128::from_be_bytes(bytes)
}

fn ulid_text(value: u128) -> String {
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

/// The base-62 characters for a stream of random bytes; some bytes yield none.
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
        let ulid_of = |at_ms, random| ulid_text(ulid_value(at_ms, random));
        assert!(ulid_of(1_469_918_176_385, [0; 10]).starts_with("01ARYZ6S41"));
        assert_eq!(ulid_of(0, [0; 10]), "0".repeat(26));
        assert_eq!(
            first_ulid(1_469_918_176_385),
            format!("01ARYZ6S41{}", "0".repeat(16))
        );
        assert_eq!(
            ulid_of((1 << 48) - 1, [0xff; 10]),
            "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"
        );
        assert!(ulid_of(1, [0xff; 10]) < ulid_of(2, [0; 10]));
    }

    #[test]
    fn ulids_of_one_millisecond_keep_their_order() {
        let clock = Clock::system();
        let made: Vec<String> = (0..2000).map(|_| ulid(&clock)).collect();
        assert!(made.windows(2).all(|pair| pair[0] < pair[1]));
        let (low, high) = (ulid_value(7, [1; 10]), ulid_value(7, [9; 10]));
        assert_eq!(ulid_after(high, low), high + 1);
        assert_eq!(ulid_after(low, high), high);
        // A clock that steps back is followed.
        let earlier = ulid_value(6, [0; 10]);
        assert_eq!(ulid_after(high, earlier), earlier);
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
