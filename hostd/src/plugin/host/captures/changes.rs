//! Changes of digital channels, packed as the contract has them: `distance << 8 | levels`.

use decode::segment::{Segment, SegmentError};

/// Longest distance of one entry.
const DISTANCE_MAX: u64 = (1 << 24) - 1;

/// Changes of up to eight channels from sample `start` on, in at most `limit` entries, and the sample at which to go on.
pub(super) fn packed(
    segment: &Segment<'_>,
    channels: &[usize],
    start: u64,
    limit: usize,
) -> Result<(Vec<u32>, Option<u64>), SegmentError> {
    let end = segment.samples();
    if start >= end {
        return Ok((Vec::new(), None));
    }
    let mut levels = 0;
    for (lane, channel) in channels.iter().enumerate() {
        levels |= u64::from(segment.level_at(*channel, start)?) << lane;
    }
    let mut packed = vec![entry(0, levels)];
    let mut at = start;
    for edge in segment.edges(channels, start + 1, end) {
        let (sample, after) = edge?;
        let mut distance = sample - at;
        let needed = usize::try_from(distance.div_ceil(DISTANCE_MAX)).unwrap_or(usize::MAX);
        if needed > limit.saturating_sub(packed.len()) {
            return Ok((packed, Some(sample)));
        }
        while distance > DISTANCE_MAX {
            packed.push(entry(DISTANCE_MAX, levels));
            distance -= DISTANCE_MAX;
        }
        packed.push(entry(distance, after));
        (at, levels) = (sample, after);
    }
    Ok((packed, None))
}

fn entry(distance: u64, levels: u64) -> u32 {
    u32::try_from(distance << 8 | levels & 0xff).expect("24 bits of distance, 8 of levels")
}

#[cfg(test)]
mod tests {
    use decode::segment::{Encoder, EncoderSpec};

    use super::*;

    /// A stored capture of two channels, as runs of samples and the levels in them.
    fn stored(runs: &[(u64, u64)]) -> Vec<u8> {
        let spec = EncoderSpec {
            channels: 2,
            sample_rate_hz: 1e6,
        };
        let mut encoder = Encoder::new(spec).unwrap();
        let (mut at, mut edges) = (0, Vec::new());
        for (count, levels) in runs {
            edges.push((at, *levels));
            at += count;
        }
        encoder.push_edges(&edges, at).unwrap();
        encoder.finish()
    }

    fn unpacked(packed: &[u32]) -> Vec<(u64, u64)> {
        let each = packed.iter();
        each.map(|entry| (u64::from(entry >> 8), u64::from(entry & 0xff)))
            .collect()
    }

    #[test]
    fn levels_come_with_the_distance_from_the_change_before() {
        let file = stored(&[(3, 0b01), (4, 0b11), (1, 0b00)]);
        let segment = Segment::open(&file).unwrap();
        let (all, next) = packed(&segment, &[0, 1], 0, 10).unwrap();
        assert_eq!((unpacked(&all), next), (vec![(0, 1), (3, 3), (4, 0)], None));
        // In the order in which channels are asked for, and only those.
        let (turned, _) = packed(&segment, &[1, 0], 0, 10).unwrap();
        assert_eq!(unpacked(&turned), [(0, 2), (3, 3), (4, 0)]);
        let (one, _) = packed(&segment, &[0], 0, 10).unwrap();
        assert_eq!(unpacked(&one), [(0, 1), (7, 0)]);
    }

    #[test]
    fn pages_follow_each_other_without_a_gap() {
        let file = stored(&[(3, 1), (4, 3), (1, 0), (2, 2)]);
        let segment = Segment::open(&file).unwrap();
        let (mut start, mut seen) = (Some(0), Vec::new());
        while let Some(from) = start {
            let (page, next) = packed(&segment, &[0, 1], from, 2).unwrap();
            let mut at = from;
            for (distance, levels) in unpacked(&page) {
                at += distance;
                seen.push((at, levels));
            }
            start = next;
        }
        assert_eq!(seen, [(0, 1), (3, 3), (7, 0), (8, 2)]);
        assert_eq!(packed(&segment, &[0], 10, 2).unwrap(), (Vec::new(), None));
        assert_eq!(
            packed(&segment, &[0], u64::MAX, 2).unwrap(),
            (Vec::new(), None)
        );
    }

    #[test]
    fn long_distances_come_as_several_entries() {
        let far = DISTANCE_MAX * 2 + 5;
        let file = stored(&[(far, 1), (1, 0)]);
        let segment = Segment::open(&file).unwrap();
        let (all, next) = packed(&segment, &[0], 0, 10).unwrap();
        let wanted = vec![(0, 1), (DISTANCE_MAX, 1), (DISTANCE_MAX, 1), (5, 0)];
        assert_eq!((unpacked(&all), next), (wanted, None));
        // No room for all of it: the next page begins behind.
        let (some, next) = packed(&segment, &[0], 0, 3).unwrap();
        assert_eq!((unpacked(&some), next), (vec![(0, 1)], Some(far)));
    }
}
