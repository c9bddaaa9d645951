//! One page about a job, to attach or to mail: it contains everything, needs no script, font or
//! network, and follows the reader's choice of light or dark.

mod picture;
mod style;
#[cfg(test)]
mod tests;

use std::fmt::{self, Write as _};
use std::io;

use crate::cases::TEXT_BYTES_MAX;
use crate::making::{Bits, Document, Making, Part, write_all};
use crate::plain;
use crate::result::{Case, Fault, JobResult, Outcome, RunResult};

/// Most bytes of a case's output that the page shows.
const OUTPUT_BYTES_MAX: usize = 16 << 10;

/// Most failures that are listed at the beginning.
const FAILURES_MAX: u64 = 100;

/// Characters that are told of a failure there.
const FAILURE_CHARS_MAX: usize = 300;

/// Most files of a run that are linked.
const FILES_MAX: usize = 200;

/// Most bytes of the log's end that the page shows.
const LOG_BYTES_MAX: usize = 128 << 10;

/// What is said of a case that the bench failed in, and of one in which the pipeline lacks something.
const BENCH_FAILED: &str = "bench failed";
const NOT_JUDGED: &str = "not judged";

/// Writes the page.
///
/// # Errors
/// A case cannot be read, or `out` cannot be written to.
pub fn write(job: &JobResult, out: impl io::Write) -> io::Result<()> {
    write_all(bits(job.clone()), out)
}

/// The page, bit by bit.
#[must_use]
pub fn bits(job: JobResult) -> impl Bits {
    Making::new(job, Page::default())
}

#[derive(Default)]
struct Page {
    /// Failures that are listed at the beginning.
    listed: u64,
    /// Runs that have begun, and cases of the last one that were told.
    runs: usize,
    cases: usize,
}

impl Document for Page {
    fn write(&mut self, job: &JobResult, part: Part<'_>, out: &mut Vec<u8>) -> io::Result<()> {
        let mut page = String::new();
        let written = match part {
            Part::Begin => begin(job, &mut page),
            Part::Failure(place, run, case) => {
                self.listed += 1;
                failure(self.listed == 1, &anchor(place), (run, case), &mut page)
            }
            Part::FailuresEnd => failures_end(job, self.listed, &mut page),
            Part::Run(run) => {
                (self.runs, self.cases) = (self.runs + 1, 0);
                run_begins(run, &mut page)
            }
            Part::Case(_, case) => {
                self.cases += 1;
                case_of(case, &anchor((self.runs - 1, self.cases - 1)), &mut page)
            }
            Part::RunEnd(run) => run_ends(run, &mut page),
            Part::End => end(job, &mut page),
        };
        written.map_err(io::Error::other)?;
        out.extend_from_slice(page.as_bytes());
        Ok(())
    }

    fn wants_failures(&self) -> bool {
        self.listed < FAILURES_MAX
    }
}

/// A text with everything escaped that HTML would interpret, and without characters that no page may
/// contain.
struct Text<'t>(&'t str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                '\n' | '\t' => f.write_char(c)?,
                '\0'..='\u{1f}' | '\u{7f}' => {}
                // In place of it, since what is around it must not come to stand together.
                c if c.is_control() => f.write_char(char::REPLACEMENT_CHARACTER)?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// What a terminal would show of `text`, at most `max` bytes of its end.
fn end_of(text: &str, max: usize) -> String {
    let mut from = text.len().saturating_sub(max);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    plain::text(&text[from..])
}

/// A duration in the form that people use.
fn time(us: u64) -> String {
    let ms = us / 1000;
    match us {
        0..1000 => format!("{us} µs"),
        1000..1_000_000 => format!("{}.{} ms", ms, us % 1000 / 100),
        1_000_000..60_000_000 => format!("{}.{:02} s", ms / 1000, ms % 1000 / 10),
        _ => format!("{} min {:02} s", ms / 60_000, ms / 1000 % 60),
    }
}

fn begin(job: &JobResult, page: &mut String) -> fmt::Result {
    let title = Text(&job.name);
    write!(
        page,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\
         <title>{title}: {}</title><style>{}</style></head><body>\n",
        Text(&job.verdict),
        style::CSS
    )?;
    summary(job, page)
}

/// What went wrong, before all that went well, with a link to where the page says more of it.
fn failure(
    is_first: bool,
    anchor: &str,
    (run, case): (&RunResult, &Case),
    page: &mut String,
) -> fmt::Result {
    if is_first {
        page.push_str("<section><h2>What failed</h2><ul>\n");
    }
    let message = case.outcome.fault().map_or("", |fault| &fault.message);
    let message: String = message.chars().take(FAILURE_CHARS_MAX).collect();
    writeln!(
        page,
        "<li><a href=\"#{anchor}\">{}: {}</a>: {}</li>",
        Text(&run.class),
        Text(&case.name),
        Text(&plain::text(&message))
    )
}

fn failures_end(job: &JobResult, listed: u64, page: &mut String) -> fmt::Result {
    if listed > 0 {
        page.push_str("</ul>");
        let all = job.runs.iter().map(RunResult::bad_count).sum::<u64>();
        if let more @ 1.. = all.saturating_sub(listed) {
            write!(page, "<p class=\"facts\">and {more} more.</p>")?;
        }
        page.push_str("</section>\n");
    }
    if !job.spans.is_empty() {
        page.push_str("<h2>Timeline</h2>\n");
        picture::timeline(job, page)?;
    }
    Ok(())
}

/// Where the page tells a case, by the places of its run and of it in that.
fn anchor((run, case): (usize, usize)) -> String {
    format!("case-{run}-{case}")
}

/// What a run measured, those outside their limits first.
fn measurements(run: &RunResult, page: &mut String) -> fmt::Result {
    if run.measurements.is_empty() {
        return Ok(());
    }
    page.push_str(
        "<table><thead><tr><th>Measured</th><th>Value</th><th>Limits</th><th>Board</th></tr></thead><tbody>\n",
    );
    for measured in &run.measurements {
        let class = if measured.is_within() { "good" } else { "bad" };
        let limits = measured.limits().unwrap_or_default();
        writeln!(
            page,
            "<tr class=\"{class}\"><td>{}</td><td class=\"word\">{}</td><td>{}</td><td>{}</td></tr>",
            Text(&measured.name),
            Text(&measured.value_told()),
            Text(&limits),
            Text(measured.serial.as_deref().unwrap_or_default())
        )?;
    }
    page.push_str("</tbody></table>\n");
    if let more @ 1.. = run.measured.saturating_sub(run.measurements.len() as u64) {
        write!(page, "<p class=\"facts\">and {more} more measurements.</p>")?;
    }
    Ok(())
}

fn run_ends(run: &RunResult, page: &mut String) -> fmt::Result {
    measurements(run, page)?;
    if !run.files.is_empty() {
        page.push_str("<p class=\"facts\">It left:</p>\n");
    }
    for (name, address) in run.files.iter().take(FILES_MAX) {
        link(name, address, page)?;
    }
    if let more @ 1.. = run.files.len().saturating_sub(FILES_MAX) {
        write!(page, "<p class=\"facts\">and {more} more files.</p>")?;
    }
    page.write_str("</section>\n")
}

fn end(job: &JobResult, page: &mut String) -> fmt::Result {
    log(job, page)?;
    page.push_str("</body></html>\n");
    Ok(())
}

/// The class that gives the page its colour; a job without a known result is grey.
fn colour(job: &JobResult) -> &'static str {
    match (job.verdict.as_str(), job.ended_because.as_deref()) {
        ("success", _) => "good",
        ("failure", _) => "bad",
        (_, Some("device_lost" | "infra_error" | "timeout" | "definition_error")) => "bench",
        _ => "none",
    }
}

fn summary(job: &JobResult, page: &mut String) -> fmt::Result {
    writeln!(
        page,
        "<header class=\"{}\"><h1>{}</h1><p class=\"sentence\">{}</p>",
        colour(job),
        Text(&job.name),
        Text(&job.sentence)
    )?;
    let because = job.ended_because.as_deref().unwrap_or("");
    let axes = [
        ("State", job.state.as_str()),
        ("Ended because", because),
        ("Verdict", job.verdict.as_str()),
    ];
    page.push_str("<dl class=\"axes\">");
    for (name, value) in axes.into_iter().filter(|(_, value)| !value.is_empty()) {
        write!(page, "<div><dt>{name}</dt><dd>{}</dd></div>", Text(value))?;
    }
    page.push_str("</dl>\n<dl>");
    let took = time(job.duration_us);
    let facts = [
        ("Job", job.id.as_str()),
        ("Ref", job.reference.as_deref().unwrap_or("")),
        ("Commit", job.commit.as_deref().unwrap_or("")),
        ("Submitted by", job.submitted_by.as_str()),
        ("Submitted", job.submitted_at.as_str()),
        ("Took", took.as_str()),
    ];
    for (name, value) in facts.into_iter().filter(|(_, value)| !value.is_empty()) {
        write!(page, "<div><dt>{name}</dt><dd>{}</dd></div>", Text(value))?;
    }
    let counts = job.counts();
    let counts = [
        ("passed", counts.passed),
        ("failed", counts.failed),
        (BENCH_FAILED, counts.bench_failed),
        (NOT_JUDGED, counts.not_judged),
        ("skipped", counts.skipped),
    ];
    let counts: Vec<String> = counts
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(what, count)| format!("{count} {what}"))
        .collect();
    if !counts.is_empty() {
        write!(
            page,
            "<div><dt>Cases</dt><dd>{}</dd></div>",
            counts.join(", ")
        )?;
    }
    page.push_str("</dl></header>\n");
    Ok(())
}

fn run_begins(run: &RunResult, page: &mut String) -> fmt::Result {
    write!(
        page,
        "<section><h2>{}</h2><p class=\"facts\">",
        Text(&run.class)
    )?;
    if let Some(device) = &run.device {
        write!(page, "on {}, ", Text(device))?;
    }
    page.push_str(&time(run.duration_us));
    if run.attempts > 1 {
        write!(page, ", {} attempts", run.attempts)?;
    }
    if let Some(network) = &run.network {
        write!(page, ", with a network ({} addresses)", Text(network))?;
    }
    page.push_str("</p>\n");
    if run.cut_bytes > 0 {
        writeln!(
            page,
            "<p class=\"facts\">{} bytes that its cases wrote are left out: a run keeps {} MiB of that. Every outcome \
             is here.</p>",
            run.cut_bytes,
            TEXT_BYTES_MAX >> 20
        )?;
    }
    if run.told_counts().all() == 0 {
        page.push_str("<p>It had no cases.</p>\n");
    }
    Ok(())
}

fn case_of(case: &Case, anchor: &str, page: &mut String) -> fmt::Result {
    let (class, word) = match &case.outcome {
        Outcome::Passed => ("good", "passed"),
        Outcome::Failed(_) => ("bad", "failed"),
        Outcome::BenchFailed(fault) if fault.is_of_bench() => ("bench", BENCH_FAILED),
        Outcome::BenchFailed(_) => ("bench", NOT_JUDGED),
        Outcome::Skipped(_) => ("none", "skipped"),
    };
    // Parts that went wrong are open when the page opens, and the list at its beginning leads to them.
    let (open, id) = match case.outcome.fault() {
        Some(_) => (" open=\"\"", format!(" id=\"{anchor}\"")),
        None => ("", String::new()),
    };
    let took = match case.duration_us {
        0 => String::new(),
        us => time(us),
    };
    write!(
        page,
        "<details class=\"case {class}\"{open}><summary{id}><span class=\"word\">{word}</span> \
         <span class=\"name\">{}</span> <span class=\"time\">{took}</span></summary>",
        Text(&case.name)
    )?;
    if let Some(fault) = case.outcome.fault() {
        fault_of(fault, page)?;
    }
    if let Outcome::Skipped(why) = &case.outcome {
        write!(page, "<p>{}</p>", Text(why))?;
    }
    for capture in &case.captures {
        picture::capture(capture, page)?;
    }
    if !case.output.is_empty() {
        let output = end_of(&case.output, OUTPUT_BYTES_MAX);
        write!(page, "<pre>{}</pre>", Text(&output))?;
    }
    for (name, address) in &case.links {
        link(name, address, page)?;
    }
    page.push_str("</details>\n");
    Ok(())
}

fn fault_of(fault: &Fault, page: &mut String) -> fmt::Result {
    write!(page, "<p class=\"fault\">{}", Text(&fault.message))?;
    if !fault.kind.is_empty() {
        write!(page, " <code>{}</code>", Text(&fault.kind))?;
    }
    page.push_str("</p>");
    if !fault.detail.is_empty() {
        let detail = end_of(&fault.detail, OUTPUT_BYTES_MAX);
        write!(page, "<pre>{}</pre>", Text(&detail))?;
    }
    Ok(())
}

/// A link, if it leads to a web page or to a file beside this one; any other address could run as a program.
fn link(name: &str, address: &str, page: &mut String) -> fmt::Result {
    let is_page = ["https://", "http://", "/", "./"]
        .iter()
        .any(|start| address.starts_with(start));
    if is_page {
        write!(
            page,
            "<p><a href=\"{}\">{}</a></p>",
            Text(address),
            Text(name)
        )
    } else {
        write!(page, "<p>{}: {}</p>", Text(name), Text(address))
    }
}

fn log(job: &JobResult, page: &mut String) -> fmt::Result {
    if job.log_tail.is_empty() {
        return Ok(());
    }
    let shown = end_of(&job.log_tail, LOG_BYTES_MAX);
    let before = job.log_before + job.log_tail.len().saturating_sub(LOG_BYTES_MAX) as u64;
    page.push_str("<section><h2>Log</h2>");
    if before > 0 {
        write!(
            page,
            "<p class=\"facts\">{before} bytes before this are in the whole log.</p>"
        )?;
    }
    writeln!(page, "<pre>{}</pre></section>", Text(&shown))
}
