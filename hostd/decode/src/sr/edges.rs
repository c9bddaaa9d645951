//! A recording as edges: small enough to keep in memory for playback.

use super::{Archive, Piece, SrError};
use crate::changes::{each_change, word};
use std::ops::ControlFlow;

/// Channels that fit into a recording's word.
const CHANNELS_MAX: usize = 16;

/// Some channels of a capture.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// Samples per second, if the file says.
    pub sample_rate_hz: Option<f64>,
    /// Length in samples.
    pub samples: u64,
    /// Sample number and the levels from there on; the first is sample 0. Bit `i` of a word is the
    /// `i`-th requested channel.
    pub edges: Vec<(u64, u16)>,
}

/// Loads the edges of up to 16 `channels`.
///
/// # Errors
/// The archive is damaged, lacks a channel, or has more than `max_edges` edges.
///
/// # Panics
/// More than 16 channels are requested.
pub fn load_edges(
    archive: &Archive<'_>,
    channels: &[usize],
    max_edges: usize,
) -> Result<Recording, SrError> {
    assert!(
        channels.len() <= CHANNELS_MAX,
        "a recording has 16 channels"
    );
    let unit = archive.unit_size();
    let known = archive.channels().len();
    if let Some(&channel) = channels.iter().find(|&&channel| channel >= known) {
        return Err(SrError::NoChannel {
            channel,
            channels: known,
        });
    }
    // A file may name channels that do not fit into its samples; those stay low.
    let stored = |channel: &usize| *channel < unit * 8;
    let mask = channels
        .iter()
        .filter(|channel| stored(channel))
        .fold(0, |mask, c| mask | 1 << c);
    let pick = |word: u64| {
        let lanes = channels
            .iter()
            .enumerate()
            .filter(|(_, channel)| stored(channel));
        lanes.fold(0, |picked, (lane, channel)| {
            picked | ((word >> channel & 1) as u16) << lane
        })
    };
    let mut edges: Vec<(u64, u16)> = Vec::new();
    let mut samples = 0;
    let mut last = 0;
    let mut is_full = false;
    let flow = archive.visit_pieces(&mut |piece| {
        // Of what rests, one sample says all.
        let (raw, rest) = match piece {
            Piece::Samples(raw) => (raw, 0),
            Piece::Repeated { samples, times } => {
                let count = (samples.len() / unit) as u64;
                (&samples[..unit], count.saturating_mul(times) - 1)
            }
        };
        if samples == 0 {
            last = word(&raw[..unit]) & mask;
            edges.push((0, pick(last)));
        }
        let scan = each_change(raw, unit, mask, last, |index, word| {
            if edges.len() >= max_edges {
                return Err(());
            }
            edges.push((samples + index, pick(word)));
            Ok(())
        });
        let Ok(end) = scan else {
            is_full = true;
            return ControlFlow::Break(());
        };
        last = end;
        samples += (raw.len() / unit) as u64 + rest;
        ControlFlow::Continue(())
    })?;
    if flow.is_break() || is_full {
        return Err(SrError::TooManyEdges { limit: max_edges });
    }
    Ok(Recording {
        sample_rate_hz: archive.sample_rate_hz(),
        samples,
        edges,
    })
}
