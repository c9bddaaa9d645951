//! How a capture is cut into numbered frames: blocks of equal time, each with one frame per
//! channel.

/// Samples of one frame; the last one of a channel may be shorter. Small enough that the densest
/// frame stays far below a page of frames.
pub(crate) const FRAME_SAMPLES: u64 = 65_536;

/// What one frame covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub seq: u32,
    /// Index into the capture's channels.
    pub channel: usize,
    pub start_sample: u64,
    pub count: u64,
}

/// Frames of a capture whose channels have these numbers of samples, from number `from` on.
///
/// Numbers run by block, then by channel; a channel that has ended gets no number.
pub fn frames(samples: &[u64], from: u32) -> impl Iterator<Item = Span> + '_ {
    let blocks = samples
        .iter()
        .map(|n| n.div_ceil(FRAME_SAMPLES))
        .max()
        .unwrap_or(0);
    (0..blocks)
        .flat_map(move |block| {
            samples.iter().enumerate().filter_map(move |(channel, n)| {
                let start_sample = block * FRAME_SAMPLES;
                let count = n.saturating_sub(start_sample).min(FRAME_SAMPLES);
                (count > 0).then_some((channel, start_sample, count))
            })
        })
        .zip(0u32..)
        .map(|((channel, start_sample, count), seq)| Span {
            seq,
            channel,
            start_sample,
            count,
        })
        .skip(from as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_run_by_block_then_channel() {
        let all: Vec<_> = frames(&[FRAME_SAMPLES + 1, 10, 0], 0).collect();
        let short: Vec<_> = all
            .iter()
            .map(|p| (p.seq, p.channel, p.start_sample, p.count))
            .collect();
        assert_eq!(
            short,
            [
                (0, 0, 0, FRAME_SAMPLES),
                (1, 1, 0, 10),
                (2, 0, FRAME_SAMPLES, 1)
            ]
        );
        assert_eq!(
            frames(&[FRAME_SAMPLES + 1, 10], 2).next(),
            all.last().copied()
        );
        assert_eq!(frames(&[FRAME_SAMPLES], 1).next(), None);
        assert_eq!(frames(&[], 0).next(), None);
    }
}
