//! Amplitudes by frequency.

use std::ops::Range;

use decode::analog::AnalogSegment;
use decode::segment::SegmentError;
use realfft::RealFftPlanner;
use realfft::num_complex::Complex;

use crate::Window;
use crate::scale::Scale;
use crate::stats::float;

/// Longest transform, in samples. Longer ranges are cut into pieces of this length, which are averaged.
pub const LENGTH_MAX: usize = 1 << 18;

/// Most pieces; of longer ranges, as many pieces are taken at equal distances.
pub const AVERAGES_MAX: usize = 64;

/// Most amplitudes that are returned; of more, the highest of neighbours stands for them.
pub const POINTS_MAX: usize = 10_000;

/// Most peaks.
pub const PEAKS_MAX: usize = 16;

/// A peak is this many times higher than half of all amplitudes (20 dB).
const PEAK_RATIO_MIN: f64 = 10.0;

/// Amplitudes of an analog channel by frequency.
///
/// The amplitude of a tone is that of its sine: 1 V for one that swings between -1 V and 1 V. The mean of each piece is
/// taken off before the transform, and is what the first amplitude says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spectrum {
    /// Samples of the range that the capture has.
    pub samples: u64,
    /// Samples of a transform.
    pub length: usize,
    /// Transforms whose power was averaged.
    pub averages: usize,
    /// From one amplitude to the next, in hertz.
    pub step_hz: f64,
    /// From one step of the transform to the next, in hertz: what it can tell apart, times the width of the window.
    pub resolution_hz: f64,
    /// In the channel's unit; number `i` is that of the frequencies from `i * step_hz` on.
    pub amplitudes: Vec<f64>,
    /// The highest peaks first.
    pub peaks: Vec<Peak>,
}

/// A tone that stands out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peak {
    /// In hertz; between two steps where its neighbours say so.
    pub frequency_hz: f64,
    /// In the channel's unit.
    pub amplitude: f64,
}

/// The spectrum of a range of samples, with at most `points` amplitudes (1 to [`POINTS_MAX`]).
///
/// # Errors
/// The segment is damaged.
pub fn spectrum(
    segment: &AnalogSegment<'_>,
    scale: Scale,
    range: Range<u64>,
    window: Window,
    points: usize,
) -> Result<Spectrum, SegmentError> {
    let found = spectrum_while(segment, scale, range, (window, points), &mut || true)?;
    Ok(found.unwrap_or_default())
}

/// The same, as long as `go_on` says so; none when it did not.
///
/// # Errors
/// As [`spectrum`].
pub fn spectrum_while(
    segment: &AnalogSegment<'_>,
    scale: Scale,
    range: Range<u64>,
    (window, points): (Window, usize),
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Option<Spectrum>, SegmentError> {
    let end = range.end.min(segment.samples());
    let start = range.start.min(end);
    let samples = end - start;
    let length = usize::try_from(samples)
        .unwrap_or(usize::MAX)
        .min(LENGTH_MAX);
    if length < 2 {
        return Ok(Some(Spectrum {
            samples,
            ..Spectrum::default()
        }));
    }
    let pieces = Pieces::of(samples, length);
    let mut transform = Transform::new(length, window);
    let mut counts = Vec::new();
    for piece in 0..pieces.count {
        if !go_on() {
            return Ok(None);
        }
        let from = start + pieces.start(piece);
        counts.clear();
        segment.read(from, from + length as u64, &mut counts)?;
        transform.add(&counts, scale);
    }
    let rate_hz = segment.sample_rate_hz();
    let (amplitudes, mean) = transform.amplitudes();
    let resolution_hz = rate_hz / float(length as u64);
    let peaks = peaks(&amplitudes, window, resolution_hz);
    let group = amplitudes.len().div_ceil(points.clamp(1, POINTS_MAX));
    let highest = |group: &[f64]| group.iter().copied().fold(0.0, f64::max);
    let mut seen: Vec<f64> = amplitudes.chunks(group).map(highest).collect();
    seen[0] = seen[0].max(mean.abs());
    Ok(Some(Spectrum {
        samples,
        length,
        averages: pieces.count,
        step_hz: resolution_hz * float(group as u64),
        resolution_hz,
        amplitudes: seen,
        peaks,
    }))
}

/// Where the pieces of a range begin: half a piece apart, or further where there would be too many.
struct Pieces {
    count: usize,
    /// From the first start to the last.
    span: u64,
}

impl Pieces {
    fn of(samples: u64, length: usize) -> Self {
        let span = samples - length as u64;
        let halves = span.div_ceil((length as u64 / 2).max(1));
        let count = usize::try_from(halves)
            .unwrap_or(usize::MAX)
            .saturating_add(1);
        Self {
            count: count.min(AVERAGES_MAX),
            span,
        }
    }

    fn start(&self, piece: usize) -> u64 {
        let steps = (self.count - 1).max(1) as u128;
        let at = u128::from(self.span) * piece as u128 / steps;
        u64::try_from(at).expect("it is within the span")
    }
}

/// A transform that is made again and again.
struct Transform {
    plan: std::sync::Arc<dyn realfft::RealToComplex<f64>>,
    window: Vec<f64>,
    input: Vec<f64>,
    output: Vec<Complex<f64>>,
    scratch: Vec<Complex<f64>>,
    /// Sum of squared magnitudes.
    power: Vec<f64>,
    mean: f64,
    pieces: u32,
}

impl Transform {
    fn new(length: usize, window: Window) -> Self {
        let plan = RealFftPlanner::<f64>::new().plan_fft_forward(length);
        Self {
            window: window.values(length),
            input: plan.make_input_vec(),
            output: plan.make_output_vec(),
            scratch: plan.make_scratch_vec(),
            power: vec![0.0; length / 2 + 1],
            mean: 0.0,
            pieces: 0,
            plan,
        }
    }

    fn add(&mut self, counts: &[u16], scale: Scale) {
        let sum: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        let mean = float(sum) / float(counts.len() as u64);
        let windowed = counts.iter().zip(&self.window);
        for (input, (count, window)) in self.input.iter_mut().zip(windowed) {
            *input = (f64::from(*count) - mean) * scale.per_count * window;
        }
        let done =
            self.plan
                .process_with_scratch(&mut self.input, &mut self.output, &mut self.scratch);
        done.expect("the lengths are those of the plan");
        for (power, value) in self.power.iter_mut().zip(&self.output) {
            *power += value.norm_sqr();
        }
        self.mean += scale.value(mean);
        self.pieces += 1;
    }

    /// Amplitudes of sines, and the mean.
    fn amplitudes(&self) -> (Vec<f64>, f64) {
        let pieces = f64::from(self.pieces);
        let gain: f64 = self.window.iter().sum();
        let last = self.power.len() - 1;
        let has_middle = self.window.len().is_multiple_of(2);
        let amplitude = |(index, power): (usize, &f64)| {
            // The first frequency and, of an even number of samples, the last one have no mirror image.
            let images = if index == 0 || (has_middle && index == last) {
                1.0
            } else {
                2.0
            };
            images * (power / pieces).sqrt() / gain
        };
        let all = self.power.iter().enumerate().map(amplitude).collect();
        (all, self.mean / pieces)
    }
}

/// The highest local maxima, each out of reach of the higher ones.
fn peaks(amplitudes: &[f64], window: Window, step_hz: f64) -> Vec<Peak> {
    let reach = window.reach();
    let mut sorted = amplitudes.to_vec();
    let middle = sorted.len() / 2;
    let (_, median, _) = sorted.select_nth_unstable_by(middle, f64::total_cmp);
    let least = *median * PEAK_RATIO_MIN;
    let is_peak = |&index: &usize| {
        let own = amplitudes[index];
        own > least
            && own > 0.0
            && own >= amplitudes[index - 1]
            && amplitudes.get(index + 1).is_none_or(|&next| own > next)
    };
    let mut found: Vec<usize> = (1..amplitudes.len()).filter(is_peak).collect();
    found.sort_by(|&a, &b| amplitudes[b].total_cmp(&amplitudes[a]));
    let mut taken: Vec<usize> = Vec::new();
    for index in found {
        if taken.len() == PEAKS_MAX {
            break;
        }
        if taken.iter().all(|other| other.abs_diff(index) > reach) {
            taken.push(index);
        }
    }
    let peak = |&index: &usize| {
        let (shift, top) = vertex(amplitudes, index);
        Peak {
            frequency_hz: (float(index as u64) + shift) * step_hz,
            // A flat top is no parabola, and as high as its highest.
            amplitude: match window {
                Window::FlatTop => amplitudes[index],
                _ => top,
            },
        }
    };
    taken.iter().map(peak).collect()
}

/// Top of the parabola through the logarithms of a maximum and its neighbours: how many steps away, and how high.
fn vertex(amplitudes: &[f64], index: usize) -> (f64, f64) {
    let own = amplitudes[index];
    let Some((&before, &after)) = amplitudes.get(index - 1).zip(amplitudes.get(index + 1)) else {
        return (0.0, own);
    };
    if before <= 0.0 || after <= 0.0 {
        return (0.0, own);
    }
    let (before, middle, after) = (before.ln(), own.ln(), after.ln());
    let bend = before - 2.0 * middle + after;
    if bend >= 0.0 {
        return (0.0, own);
    }
    let shift = (0.5 * (before - after) / bend).clamp(-0.5, 0.5);
    (shift, (middle - 0.25 * (before - after) * shift).exp())
}
