//! Assembles capture packets: assigns dense samples to their converter, and checks that edges only
//! go forward and that there are exactly as many samples as requested.

use crate::capture::Frame;
use crate::chunk::{Chunk, Extent, Payload};

/// Why packets do not form the requested capture.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum AssemblyError {
    /// An edge lies before one already seen, or outside its packet.
    #[error("the edge at sample {index} lies outside {from}..{upto}")]
    EdgeOutOfOrder {
        /// The edge's sample.
        index: u64,
        /// The first sample it might have.
        from: u64,
        /// The end of its packet.
        upto: u64,
    },
    /// A packet ends before the previous one.
    #[error("a packet covers {upto} logic samples after {seen} were covered")]
    Backwards {
        /// Where the packet ends.
        upto: u64,
        /// What was covered.
        seen: u64,
    },
    /// More samples than asked for.
    #[error("the pod sent {found} {kind} samples where {asked} were asked for")]
    TooMany {
        /// `analog` or `logic`.
        kind: &'static str,
        /// Samples sent.
        found: u64,
        /// Samples asked for.
        asked: u64,
    },
    /// The last packet came too early.
    #[error("the pod ended the capture after {found} of {asked} {kind} samples")]
    TooFew {
        /// `analog` or `logic`.
        kind: &'static str,
        /// Samples sent.
        found: u64,
        /// Samples asked for.
        asked: u64,
    },
    /// Samples that were lost lie elsewhere than where they are missing.
    #[error(
        "the pod says that samples {from} to {to} were lost, where {seen} came and {upto} follow"
    )]
    Gap {
        /// The first that is said to be lost.
        from: u64,
        /// The first behind them.
        to: u64,
        /// Samples that came.
        seen: u64,
        /// Where the packet ends.
        upto: u64,
    },
    /// Samples are lost too often.
    #[error("the pod lost samples {limit} times; ask for a lower rate")]
    ManyGaps {
        /// The limit.
        limit: usize,
    },
    /// It says that it has other samples than can be.
    #[error(
        "the pod says that the capture has {adc_samples} analog and {la_samples} logic samples, with the trigger at \
         sample {trigger_sample}, which is not what was asked for"
    )]
    Extent {
        /// Where the trigger is said to be.
        trigger_sample: u64,
        /// Analog samples that it is said to have.
        adc_samples: u64,
        /// Logic samples.
        la_samples: u64,
    },
    /// Packets without samples keep announcing more.
    #[error("the pod sent {limit} packets without samples in a row")]
    Stalled {
        /// The limit.
        limit: u32,
    },
}

/// Most consecutive packets without samples.
const EMPTY_PACKETS_MAX: u32 = 64;

/// Most ranges of lost samples of one capture.
const GAPS_MAX: usize = 4096;

/// Words that are compared at once.
const ALIKE: usize = 64;

/// The state of a capture that is arriving.
#[derive(Debug)]
pub struct Assembly {
    adc_asked: u64,
    la_asked: u64,
    adc_seen: u64,
    la_seen: u64,
    word: Option<u16>,
    empty_packets: u32,
    /// Samples before the trigger that were asked for.
    pre_samples: u64,
    /// Logic samples that were lost, in order.
    gaps: Vec<(u64, u64)>,
}

impl Assembly {
    /// A capture of this many requested ADC and LA samples.
    pub fn new((adc_asked, la_asked): (u64, u64)) -> Self {
        Self {
            adc_asked,
            la_asked,
            adc_seen: 0,
            la_seen: 0,
            word: None,
            empty_packets: 0,
            pre_samples: 0,
            gaps: Vec::new(),
        }
    }

    /// Logic samples that were lost, from one up to another, in order. They are as the one before them.
    pub fn gaps(&self) -> &[(u64, u64)] {
        &self.gaps
    }

    /// Notes samples that were lost.
    fn lose(&mut self, (from, to): (u64, u64), upto: u64) -> Result<(), AssemblyError> {
        let seen = self.la_seen;
        if from != seen || to != upto || to <= from {
            return Err(AssemblyError::Gap {
                from,
                to,
                seen,
                upto,
            });
        }
        if let Some(last) = self.gaps.last_mut().filter(|(_, end)| *end == from) {
            last.1 = to;
            return Ok(());
        }
        if self.gaps.len() == GAPS_MAX {
            return Err(AssemblyError::ManyGaps { limit: GAPS_MAX });
        }
        self.gaps.push((from, to));
        Ok(())
    }

    /// The same with so many samples before the trigger, or fewer if the pod says so.
    #[must_use]
    pub fn with_pre_samples(self, pre_samples: u64) -> Self {
        Self {
            pre_samples,
            ..self
        }
    }

    /// ADC and LA samples that the capture has: those asked for, or fewer once the pod has said so.
    pub fn samples(&self) -> (u64, u64) {
        (self.adc_asked, self.la_asked)
    }

    /// Takes what the pod says about a capture whose trigger came early.
    fn begin(&mut self, extent: Extent) -> Result<(), AssemblyError> {
        let Extent {
            trigger_sample,
            adc_samples,
            la_samples,
        } = extent;
        let short = self.pre_samples.checked_sub(trigger_sample);
        // A kind that was asked for has at least the samples from the trigger on.
        let fits = |found: u64, asked: u64| found <= asked && (found > 0) == (asked > 0);
        let is_counted = |short: u64| match self.la_asked {
            0 => adc_samples + short == self.adc_asked,
            _ => la_samples + short == self.la_asked,
        };
        let is_sound = self.adc_seen + self.la_seen == 0
            && fits(adc_samples, self.adc_asked)
            && fits(la_samples, self.la_asked)
            && short.is_some_and(is_counted);
        if !is_sound {
            return Err(AssemblyError::Extent {
                trigger_sample,
                adc_samples,
                la_samples,
            });
        }
        (self.adc_asked, self.la_asked) = (adc_samples, la_samples);
        // Said once.
        self.pre_samples = trigger_sample;
        Ok(())
    }

    /// Takes a packet; returns its frames, at most one of each kind.
    pub fn push(&mut self, chunk: Chunk) -> Result<Vec<Frame>, AssemblyError> {
        if let Some(extent) = chunk.extent {
            self.begin(extent)?;
        }
        if let Some(gap) = chunk.gap {
            let upto = match &chunk.payload {
                Payload::Edges { upto, .. } => *upto,
                _ => 0,
            };
            self.lose(gap, upto)?;
        }
        let seen = self.adc_seen + self.la_seen;
        let frames = match chunk.payload {
            Payload::Dense(values) => self.dense(values)?,
            Payload::Edges { edges, upto } => vec![self.edges(edges, upto)?],
            Payload::Words(words) => vec![self.words(&words)?],
            Payload::Runs(runs) => vec![self.runs(&runs)?],
            // Whoever reads lines alone has no samples.
            Payload::Raw(_) => Vec::new(),
        };
        if chunk.more && self.adc_seen + self.la_seen == seen {
            self.empty_packets += 1;
            if self.empty_packets > EMPTY_PACKETS_MAX {
                return Err(AssemblyError::Stalled {
                    limit: EMPTY_PACKETS_MAX,
                });
            }
        } else {
            self.empty_packets = 0;
        }
        if !chunk.more {
            self.complete()?;
        }
        Ok(frames)
    }

    fn complete(&self) -> Result<(), AssemblyError> {
        for (kind, found, asked) in [
            ("analog", self.adc_seen, self.adc_asked),
            ("logic", self.la_seen, self.la_asked),
        ] {
            if found < asked {
                return Err(AssemblyError::TooFew { kind, found, asked });
            }
        }
        Ok(())
    }

    /// Dense values are ADC counts until there are enough; the rest are LA words.
    fn dense(&mut self, mut values: Vec<u16>) -> Result<Vec<Frame>, AssemblyError> {
        let mut frames = Vec::new();
        let missing = self.adc_asked - self.adc_seen;
        let adc_count = usize::try_from(missing).map_or(values.len(), |n| n.min(values.len()));
        let words = values.split_off(adc_count);
        if !values.is_empty() {
            let start_sample = self.adc_seen;
            self.adc_seen += values.len() as u64;
            frames.push(Frame::Adc {
                start_sample,
                counts: values,
            });
        }
        if !words.is_empty() {
            if self.la_asked == 0 {
                return Err(AssemblyError::TooMany {
                    kind: "analog",
                    found: self.adc_seen + words.len() as u64,
                    asked: self.adc_asked,
                });
            }
            let upto = self.la_seen + words.len() as u64;
            let edges = (self.la_seen..).zip(words).collect();
            frames.push(self.edges(edges, upto)?);
        }
        Ok(frames)
    }

    fn words(&mut self, words: &[u16]) -> Result<Frame, AssemblyError> {
        let from = self.la_seen;
        let upto = self.la_upto(words.len() as u64)?;
        let mut edges = Vec::new();
        let mut last = self.word;
        for (piece, at) in words.chunks(ALIKE).zip((from..).step_by(ALIKE)) {
            // Most words are as the one before; this is one comparison for many.
            let differs = |last: u16| piece.iter().fold(0, |sum, word| sum | (word ^ last));
            if last.is_some_and(|last| differs(last) == 0) {
                continue;
            }
            for (word, at) in piece.iter().zip(at..) {
                if last != Some(*word) {
                    edges.push((at, *word));
                    last = Some(*word);
                }
            }
        }
        (self.word, self.la_seen) = (last, upto);
        Ok(Frame::La { edges, upto })
    }

    fn runs(&mut self, runs: &[(u16, u16)]) -> Result<Frame, AssemblyError> {
        let mut at = self.la_seen;
        let upto = self.la_upto(runs.iter().map(|(run, _)| u64::from(*run)).sum())?;
        let mut edges = Vec::with_capacity(runs.len());
        for (run, word) in runs {
            if self.word != Some(*word) && *run > 0 {
                edges.push((at, *word));
                self.word = Some(*word);
            }
            at += u64::from(*run);
        }
        self.la_seen = upto;
        Ok(Frame::La { edges, upto })
    }

    /// Where the logic samples end with so many more.
    fn la_upto(&self, more: u64) -> Result<u64, AssemblyError> {
        let upto = self.la_seen + more;
        match upto <= self.la_asked {
            true => Ok(upto),
            false => Err(AssemblyError::TooMany {
                kind: "logic",
                found: upto,
                asked: self.la_asked,
            }),
        }
    }

    fn edges(&mut self, edges: Vec<(u64, u16)>, upto: u64) -> Result<Frame, AssemblyError> {
        if upto < self.la_seen {
            return Err(AssemblyError::Backwards {
                upto,
                seen: self.la_seen,
            });
        }
        if upto > self.la_asked {
            return Err(AssemblyError::TooMany {
                kind: "logic",
                found: upto,
                asked: self.la_asked,
            });
        }
        let mut from = self.la_seen;
        let mut kept: Vec<(u64, u16)> = Vec::with_capacity(edges.len() + 1);
        for (index, word) in edges {
            if index < from || index >= upto {
                return Err(AssemblyError::EdgeOutOfOrder { index, from, upto });
            }
            from = index;
            if kept.last().is_some_and(|(last, _)| *last == index) {
                kept.pop();
            }
            let before = kept.last().map(|(_, word)| *word).or(self.word);
            if before != Some(word) {
                kept.push((index, word));
            }
        }
        if self.word.is_none() && upto > 0 {
            // Samples before the first edge have its word; a capture without edges is all zeros.
            match kept.first_mut() {
                Some(first) => first.0 = 0,
                None => kept.push((0, 0)),
            }
        }
        self.word = kept.last().map(|(_, word)| *word).or(self.word);
        self.la_seen = upto;
        Ok(Frame::La { edges: kept, upto })
    }
}

#[cfg(test)]
mod tests;
