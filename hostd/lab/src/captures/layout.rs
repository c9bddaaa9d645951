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
pub fn frames(samples: &[u64], from: u32) -> impl Iterator<Item = Span> {
    Spans::new(samples.to_vec()).skip(from as usize)
}

/// The frames of a capture, one by one: a long one has hundreds of thousands.
#[derive(Debug)]
pub(crate) struct Spans {
    samples: Vec<u64>,
    start_sample: u64,
    channel: usize,
    seq: u32,
}

impl Spans {
    /// Of channels that have these numbers of samples.
    pub(crate) fn new(samples: Vec<u64>) -> Self {
        Self {
            samples,
            start_sample: 0,
            channel: 0,
            seq: 0,
        }
    }
}

impl Iterator for Spans {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        let longest = self.samples.iter().copied().max().unwrap_or(0);
        while self.start_sample < longest {
            let (channel, start_sample) = (self.channel, self.start_sample);
            self.channel += 1;
            if self.channel == self.samples.len() {
                self.channel = 0;
                self.start_sample += FRAME_SAMPLES;
            }
            let left = self.samples[channel].saturating_sub(start_sample);
            if left == 0 {
                continue;
            }
            let seq = self.seq;
            self.seq = seq.checked_add(1)?;
            return Some(Span {
                seq,
                channel,
                start_sample,
                count: left.min(FRAME_SAMPLES),
            });
        }
        None
    }
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
