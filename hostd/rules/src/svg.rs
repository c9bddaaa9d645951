//! A picture of the place of a rule: its channels as lanes, the place marked, a time axis. It is for light and for dark pages,
//! of a size that does not depend on the capture, and loads nothing.

mod axis;
mod lane;

use std::fmt::Write as _;

use crate::capture::{Capture, Found};
use crate::evaluate::{EvaluateError, Fault};
use crate::lane::{Range, Stop};
use crate::limits::LANES_MAX;
use crate::number::{float, whole};
use crate::report::{Judged, Verdict};

/// Sizes in pixels.
const WIDTH: u32 = 960;
const LEFT: u32 = 120;
const RIGHT: u32 = 16;
const TOP: u32 = 56;
const LANE: u32 = 56;
const BOTTOM: u32 = 34;

/// Columns of a lane.
const COLUMNS: u32 = WIDTH - LEFT - RIGHT;

/// Samples that are shown beside a place at least.
const BESIDE: f64 = 12.0;

/// Characters of a line above the lanes, and of a name beside one.
const LINE_CHARS_MAX: usize = 140;
const NAME_CHARS_MAX: usize = 16;

const STYLE: &str = "text{font:12px system-ui,sans-serif;fill:#1f2328}.small{font-size:11px;fill:#59636e}\
.title{font-weight:600;font-size:14px}.back{fill:#fff}.lane{stroke:#d1d9e0;stroke-width:1}\
.wave{fill:none;stroke:#0969da;stroke-width:1.5}\
.place{fill:#d1242f;fill-opacity:.16;stroke:#d1242f}.near{fill:#1a7f37;fill-opacity:.14;stroke:#1a7f37}\
.guide{stroke:#9a6700;stroke-dasharray:5 3}.due{stroke:#8250df;stroke-dasharray:3 3;stroke-width:1.5}\
.trigger{stroke:#bc4c00}@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.small{fill:#9198a1}\
.back{fill:#0d1117}.lane{stroke:#3d444d}.wave{stroke:#4493f8}\
.place{fill:#f85149;stroke:#f85149}.near{fill:#3fb950;stroke:#3fb950}.guide{stroke:#d29922}\
.due{stroke:#ab7df8}.trigger{stroke:#db6d28}}";

/// What part of a capture is shown, in seconds from its first sample.
#[derive(Debug, Clone, Copy)]
struct Window {
    from: f64,
    to: f64,
}

impl Window {
    /// The column of a time; outside of the window one of its ends.
    fn x(&self, seconds: f64) -> f64 {
        let part = (seconds - self.from) / (self.to - self.from);
        f64::from(LEFT) + part.clamp(0.0, 1.0) * f64::from(COLUMNS)
    }
}

/// The picture of a rule's place as SVG; none if it has no place.
///
/// # Errors
/// The capture is damaged, or `stop` says that time is over.
pub fn picture(
    capture: &Capture<'_>,
    judged: &Judged,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Option<String>, EvaluateError> {
    match drawn(capture, judged, stop) {
        Ok(svg) => Ok(svg),
        Err(Fault::Damaged(error)) => Err(error.into()),
        Err(Fault::Late) => Err(EvaluateError::Late),
        // A channel that is not there has no lane.
        Err(Fault::Unfit(_)) => Ok(None),
    }
}

fn drawn(capture: &Capture<'_>, judged: &Judged, stop: Stop<'_>) -> Result<Option<String>, Fault> {
    let Some(place) = &judged.place else {
        return Ok(None);
    };
    let lanes: Vec<&String> = judged.lanes.iter().take(LANES_MAX).collect();
    let Some(whole) = lanes.iter().find_map(|name| range(capture, name)) else {
        return Ok(None);
    };
    let trigger = capture.trigger_s;
    let (from, to) = (place.from_s + trigger, place.to_s + trigger);
    let beside = (to - from).max(BESIDE / whole.rate_hz);
    let end = float(whole.to) / whole.rate_hz;
    let window = Window {
        from: (from - beside).max(0.0),
        to: (to + beside)
            .min(end)
            .max((from - beside).max(0.0) + 1.0 / whole.rate_hz),
    };
    let count = u32::try_from(lanes.len()).unwrap_or_default();
    let height = TOP + count * LANE + BOTTOM;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" role=\"img\">"
    );
    head(&mut svg, judged, height);
    let bottom = TOP + count * LANE;
    axis::draw(&mut svg, &window, trigger, bottom);
    let class = match judged.verdict {
        Verdict::Passed => "near",
        Verdict::Failed | Verdict::Error => "place",
    };
    // At least wide enough to be seen.
    let (x, end) = (window.x(from), window.x(to + 1.0 / whole.rate_hz));
    let width = (end - x).max(3.0);
    let tall = bottom - TOP;
    let _ = write!(
        svg,
        "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{TOP}\" width=\"{width:.1}\" height=\"{tall}\"/>"
    );
    let mut top = TOP;
    for name in lanes {
        let view = lane::View {
            window,
            top,
            name,
            judged,
            stop,
        };
        view.draw(&mut svg, capture)?;
        top += LANE;
    }
    svg.push_str("</svg>\n");
    Ok(Some(svg))
}

/// All samples of a channel.
fn range(capture: &Capture<'_>, name: &str) -> Option<Range> {
    let (samples, rate_hz) = match capture.find_exact(name).ok()? {
        Found::Logic(_) => {
            let segment = &capture.logic.as_ref()?.segment;
            (segment.samples(), segment.sample_rate_hz())
        }
        Found::Analog(at) => {
            let segment = &capture.analog.get(at)?.segment;
            (segment.samples(), segment.sample_rate_hz())
        }
    };
    (samples > 0).then_some(Range {
        from: 0,
        to: samples,
        rate_hz,
        trigger: capture.trigger_s * rate_hz,
    })
}

fn head(svg: &mut String, judged: &Judged, height: u32) {
    let verdict = match judged.verdict {
        Verdict::Passed => "holds",
        Verdict::Failed => "fails",
        Verdict::Error => "cannot be judged",
    };
    let title = escaped(&format!("{} {verdict}", judged.name), LINE_CHARS_MAX);
    let line = escaped(
        &format!("wanted {}; {}", judged.wanted, judged.seen),
        LINE_CHARS_MAX,
    );
    let _ = write!(
        svg,
        "<title>{title}</title><style>{STYLE}</style>\
         <rect class=\"back\" width=\"{WIDTH}\" height=\"{height}\"/>\
         <text class=\"title\" x=\"16\" y=\"22\">{title}</text>\
         <text class=\"small\" x=\"16\" y=\"42\">{line}</text>"
    );
}

/// Text that means nothing else in XML, its beginning.
fn escaped(text: &str, chars_max: usize) -> String {
    let mut out = String::new();
    for (index, c) in text.chars().enumerate() {
        if index == chars_max {
            out.push('…');
            break;
        }
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// The samples of a range that a window shows: the first one, and the first one behind them.
fn shown(window: &Window, range: &Range) -> (u64, u64) {
    let sample = |seconds: f64| whole((seconds * range.rate_hz).max(0.0)).unwrap_or_default();
    let from = sample(window.from).min(range.to - 1);
    (from, (sample(window.to) + 2).clamp(from + 1, range.to))
}
