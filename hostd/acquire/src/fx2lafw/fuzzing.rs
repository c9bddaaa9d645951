//! An entry that fuzzers and the seeded tests feed with what an analyzer sends.

use pod_protocol::capture::{Condition, Edge, Trigger};

use super::stream::{After, after};
use crate::edges::{Edges, naive};
use crate::intake::Intake;
use crate::trigger::Search;
use crate::wiring::Wiring;

/// Bytes of a transfer.
const TRANSFER_BYTES: usize = 64;

/// Any bytes as transfers of an analyzer, after a few that say what is captured: exactly the samples asked for, from the
/// trigger on, and the edges that these have by definition.
///
/// # Panics
/// If they are not.
pub fn fx2lafw(bytes: &[u8]) {
    let Some(([kind, channel, asked, short], bytes)) = bytes.split_first_chunk::<4>() else {
        return;
    };
    let unit = usize::from(kind & 1) + 1;
    let bits: Vec<usize> = (0..8 * unit).take(14).collect();
    let Some(wiring) = Wiring::new(unit, &bits) else {
        unreachable!("8 or 14 bits fit")
    };
    let edge = [Edge::Rising, Edge::Falling, Edge::High, Edge::Low][usize::from(kind >> 1 & 3)];
    let watched = channel % 16;
    let trigger = Trigger {
        condition: Condition::edge(watched, edge),
        pre_samples: 0,
        // At a sample a millisecond.
        timeout_ms: u32::from(*channel) + 1,
    };
    let search = match kind & 8 {
        0 => None,
        _ => Search::new(trigger, &wiring, 1_000),
    };
    let is_searched = search.is_some();
    let asked = u64::from(*asked) + 1;
    let mut intake = Intake::new(unit, asked, search);
    let mut edges = Edges::new(wiring);
    let (mut raw, mut found, mut sent) = (Vec::new(), Vec::new(), 0);
    for (number, transfer) in bytes.chunks(TRANSFER_BYTES).enumerate() {
        // One may be short, which ends the samples.
        let cut = if number == usize::from(*short) {
            33
        } else {
            TRANSFER_BYTES
        };
        let transfer = &transfer[..transfer.len().min(cut)];
        sent += transfer.len();
        let Ok([samples, _none]) = intake.push(transfer.to_vec().into()) else {
            let waited = usize::try_from(trigger.timeout_ms).unwrap_or(usize::MAX);
            assert!(is_searched && raw.is_empty() && waited <= sent / unit);
            return;
        };
        let samples = samples.bytes;
        found.extend(edges.of(&samples, (raw.len() / unit) as u64));
        raw.extend(samples);
        if after(TRANSFER_BYTES, transfer.len(), Ok(())) == After::End {
            break;
        }
    }
    assert_eq!((raw.len() / unit) as u64, intake.found());
    assert_eq!(intake.found() + intake.missing(), asked);
    assert_eq!(found, naive(unit, &bits, &raw));
    if !is_searched {
        assert_eq!(raw[..], bytes[..raw.len()]);
        let most = usize::try_from(asked).unwrap_or(usize::MAX);
        assert_eq!(raw.len() / unit, (sent / unit).min(most));
    }
    if is_searched && !raw.is_empty() {
        let level = found[0].1 >> (watched - 1) & 1 == 1;
        assert_eq!(level, matches!(edge, Edge::Rising | Edge::High));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_transfers_become_the_samples_asked_for() {
        let mut random = fastrand::Rng::with_seed(21);
        for _ in 0..20_000 {
            let mut bytes: Vec<u8> = (0..4).map(|_| random.u8(..)).collect();
            let still = random.u8(..);
            let mut last = 0;
            for _ in 0..random.usize(..600) {
                if random.u8(..) >= still {
                    last = random.u8(..);
                }
                bytes.push(last);
            }
            fx2lafw(&bytes);
        }
    }
}
