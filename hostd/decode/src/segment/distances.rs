//! Toggles as distances: varints, the first one from the first sample on, each further one from the toggle before it.

use crate::planes::Work;
use crate::varint;

/// No distance within a block needs a longer varint.
pub(super) const BYTES_MAX: usize = 3;

/// Distances below this take one byte.
const ONE_BYTE: u32 = 0x80;

/// Toggles of a word that are taken without a look at how many there are.
const AT_ONCE: usize = 4;

/// Finds toggles in a bitmap, a bit for each sample.
pub(super) struct Find<'a> {
    pub(super) toggles: &'a [u64],
    /// Where they are, ascending, and whatever was there behind them.
    pub(super) found: &'a mut Vec<u32>,
    /// It gives up soon after so many.
    pub(super) most: usize,
}

impl Work for Find<'_> {
    /// How many were found.
    type Out = usize;

    #[inline(always)]
    fn run(self) -> usize {
        let Self {
            toggles,
            found,
            most,
        } = self;
        // Room for all of a word behind the most that are wanted.
        let room = most.min(toggles.len() * 64) + 64 + AT_ONCE;
        if found.len() < room {
            found.resize(room, 0);
        }
        let mut count = 0;
        let mut base = 0;
        for word in toggles {
            let mut word = *word;
            if word != 0 {
                let end = count + word.count_ones() as usize;
                // How many there are is a matter of chance: nothing branches on it.
                for place in &mut found[count..count + AT_ONCE] {
                    *place = base + word.trailing_zeros();
                    word &= word.wrapping_sub(1);
                }
                let mut at = count + AT_ONCE;
                while word != 0 {
                    found[at] = base + word.trailing_zeros();
                    word &= word - 1;
                    at += 1;
                }
                count = end;
                if count > most {
                    break;
                }
            }
            base += u64::BITS;
        }
        count
    }
}

/// Appends the distances of toggles, the first one from `from` on.
pub(super) fn push(toggles: &[u32], from: u32, out: &mut Vec<u8>) {
    let mut last = from;
    let (eights, rest) = toggles.as_chunks::<8>();
    for eight in eights {
        let mut distances = [0; 8];
        let mut before = last;
        for (distance, &at) in distances.iter_mut().zip(eight) {
            *distance = at - before;
            before = at;
        }
        let all = distances.iter().fold(0, |all, distance| all | distance);
        if all < ONE_BYTE {
            out.extend_from_slice(&distances.map(|distance| distance.to_le_bytes()[0]));
        } else {
            for distance in distances {
                varint::push(out, distance.into());
            }
        }
        last = before;
    }
    for &at in rest {
        varint::push(out, (at - last).into());
        last = at;
    }
}

/// Appends the offsets that distances lead to from `from` on; returns how many. `None` if they do not ascend, or do not lie
/// before `to`.
pub(super) fn add(plain: &[u8], from: u32, to: u32, out: &mut Vec<u32>) -> Option<usize> {
    const MORE: u64 = 0x8080_8080_8080_8080;
    const ONES: u64 = 0x0101_0101_0101_0101;
    let before = out.len();
    out.reserve(plain.len());
    let mut rest = plain;
    let mut at = from;
    while !rest.is_empty() {
        if let Some((eight, behind)) = rest.split_first_chunk::<8>() {
            let word = u64::from_le_bytes(*eight);
            // Neither a distance of several bytes nor a zero: most of what is stored.
            if (word | word.wrapping_sub(ONES)) & MORE == 0 {
                out.extend(eight.iter().map(|&distance| {
                    at += u32::from(distance);
                    at
                }));
                if at >= to {
                    return None;
                }
                rest = behind;
                continue;
            }
            let is_first = out.len() == before;
            let used = add_four(word, is_first, &mut at, out)?;
            if at >= to {
                return None;
            }
            if used > 0 {
                rest = &rest[used..];
                continue;
            }
        }
        let distance = varint::take(&mut rest)?;
        if distance == 0 && out.len() > before {
            return None;
        }
        at = u32::try_from(distance)
            .ok()
            .and_then(|distance| at.checked_add(distance))
            .filter(|&at| at < to)?;
        out.push(at);
    }
    Some(out.len() - before)
}

/// Takes up to four distances of one or two bytes; returns how many bytes. `None` if one is zero, and not the first of all.
#[inline(always)]
fn add_four(word: u64, is_first: bool, at: &mut u32, out: &mut Vec<u32>) -> Option<usize> {
    let mut word = word;
    let mut used = 0;
    for number in 0..4 {
        let more = word >> 7 & 1;
        if word >> 15 & more != 0 {
            break;
        }
        // Whether there is a second byte is a matter of chance: nothing branches on it.
        let distance = word & 0x7f | word >> 1 & 0x3f80 & more.wrapping_neg();
        if distance == 0 && !(is_first && number == 0) {
            return None;
        }
        *at += u32::try_from(distance).ok()?;
        out.push(*at);
        word >>= 8 + 8 * more;
        used += 1 + usize::from(more != 0);
    }
    Some(used)
}

/// Turns toggles into levels: bit `i` of the result is the parity of bits `0..=i`.
#[inline(always)]
pub(super) fn prefix_xor(toggles: u64) -> u64 {
    let mut levels = toggles;
    levels ^= levels << 1;
    levels ^= levels << 2;
    levels ^= levels << 4;
    levels ^= levels << 8;
    levels ^= levels << 16;
    levels ^= levels << 32;
    levels
}

/// Appends the levels of samples, a bit for each, as bytes. `level` is that before the first one; returns that of the last.
pub(super) fn push_plane(level: bool, toggles: &[u64], out: &mut Vec<u8>) -> bool {
    let mut level = u64::from(level).wrapping_neg();
    for word in toggles {
        let plane = prefix_xor(*word) ^ level;
        level = (plane >> 63).wrapping_neg();
        out.extend_from_slice(&plane.to_le_bytes());
    }
    level != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_of_any_length_come_back() {
        let mut state = 88_172_645_463_325_252_u64;
        for round in 0..500u32 {
            let mut toggles = vec![0u64; 16_384];
            let mut at = round % 3;
            while at < 1 << 20 {
                toggles[(at / 64) as usize] |= 1 << (at % 64);
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                // Of one, two and three bytes, as it comes.
                let most =
                    [4, 300, 20_000, 1 << 18][(state >> 40) as usize % (1 + round as usize % 4)];
                at += 1 + u32::try_from(state % most).unwrap();
            }
            let expected: Vec<u32> = (0..1 << 20)
                .filter(|at| toggles[(at / 64) as usize] >> (at % 64) & 1 != 0)
                .collect();
            let mut places = vec![3; 5];
            let find = Find {
                toggles: &toggles,
                found: &mut places,
                most: usize::MAX,
            };
            let count = find.run();
            assert_eq!(places[..count], expected);
            let mut plain = Vec::new();
            push(&places[..count], 0, &mut plain);
            let mut found = vec![7];
            assert_eq!(add(&plain, 5, u32::MAX, &mut found), Some(expected.len()));
            assert!(
                found[1..]
                    .iter()
                    .zip(&expected)
                    .all(|(found, at)| *found == at + 5)
            );
            let last = *expected.last().unwrap();
            assert_eq!(add(&plain, 0, last + 1, &mut found), Some(expected.len()));
            assert_eq!(add(&plain, 0, last, &mut found), None);
            for zero in [&[0, 0][..], &[3, 0], &[1, 0x80, 0], &[9, 9, 9, 9, 9, 0]] {
                let bytes = [zero, &plain].concat();
                assert_eq!(add(&bytes, 0, u32::MAX, &mut found), None, "{zero:?}");
            }
        }
    }
}
