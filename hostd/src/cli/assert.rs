//! `hostd assert CAPTURE RULES`: whether a capture shows what rules ask for. `hostd golden CAPTURE`: what later captures are
//! compared with.

mod golden;
pub(super) mod source;

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Read as _, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, anyhow};
use clap::Args;
use pipeline::rules::{Rule, RuleFile, golden_captures, parse};
use rules::limits::{GOLDEN_BYTES_MAX, TIME_MAX};
use rules::{Capture, EvaluateError, Goldens, Judged, Report, Verdict};

use super::check;
use super::trouble::Trouble;
pub use golden::Golden;
use source::Source;

/// The exit code when a rule does not hold.
const FAILED: u8 = 1;

/// The exit code when time was over before all rules were evaluated.
const LATE: u8 = 5;

/// Letters that the name of a picture has of its rule's.
const SLUG_CHARS_MAX: usize = 40;

/// Say whether a capture shows what rules ask for.
#[derive(Debug, Args)]
pub struct Assert {
    #[command(flatten)]
    source: Source,
    /// Rules, YAML or JSON
    #[arg(required = true)]
    rules: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// Write each rule as a test case
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write a picture of the place of each rule that fails
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,
    /// With --svg: also of each rule that holds
    #[arg(long, requires = "svg")]
    all: bool,
    /// Print the JSON Schema of rules, for editors
    #[arg(long, exclusive = true)]
    schema: bool,
}

impl Assert {
    /// Evaluates the rules and writes what is asked for.
    ///
    /// # Errors
    /// Standard output cannot be written to.
    pub fn run(&self, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
        if self.schema {
            let schema = serde_json::to_string_pretty(&pipeline::rules::schema())?;
            writeln!(out, "{schema}")?;
            return Ok(ExitCode::SUCCESS);
        }
        match self.evaluate(out) {
            Ok(code) => Ok(code),
            Err(trouble) => Ok(trouble.tell()),
        }
    }

    fn evaluate(&self, out: &mut dyn Write) -> Result<ExitCode, Trouble> {
        let Some(path) = &self.rules else {
            return Err(Trouble::Asked(anyhow!("find the rules: name a file")));
        };
        let shown = path.display();
        let text = check::read(path).map_err(Trouble::Asked)?;
        let file = match parse(&text) {
            Ok(file) => file,
            Err(report) => {
                // They are what is wrong, and stand where what is right would.
                write!(out, "{}", report.render(&shown.to_string())).context("print")?;
                return Ok(ExitCode::from(check::DEFINITION));
            }
        };
        let mut goldens = goldens(path, &file).map_err(Trouble::Asked)?;
        self.add_good(&file, &mut goldens).map_err(Trouble::Asked)?;
        let stored = self.source.load().map_err(Trouble::Asked)?;
        let capture = stored.capture().map_err(Trouble::Asked)?;
        let capture = capture.with_names(file.channels());
        let begun = Instant::now();
        let stop = || begun.elapsed() > TIME_MAX;
        let report = match rules::evaluate(&capture, file.rules(), &goldens, &stop) {
            Ok(report) => report,
            Err(error) => return failed(&error),
        };
        let pictures = match &self.svg {
            Some(folder) => match self.pictures(folder, &capture, &report, &stop) {
                Ok(pictures) => pictures,
                Err(error) => return Err(Trouble::Machine(error)),
            },
            None => Vec::new(),
        };
        self.write(&report, &pictures, out)?;
        Ok(ExitCode::from(match (report.errors, report.failed) {
            (1.., _) => check::DEFINITION,
            (0, 1..) => FAILED,
            (0, 0) => 0,
        }))
    }

    /// Fetches the good captures that rules name by their ids.
    fn add_good(&self, file: &RuleFile, goldens: &mut Goldens) -> anyhow::Result<()> {
        for (_, id) in golden_captures(file.rules()) {
            let stored = self.source.fetch(id)?;
            let capture = stored.capture()?.with_names(file.channels());
            let made = goldens.add_capture(id, &capture, file.rules());
            made.with_context(|| format!("compare with the capture {id}"))?;
        }
        Ok(())
    }

    /// The pictures' paths, by rule.
    fn pictures(
        &self,
        folder: &Path,
        capture: &Capture<'_>,
        report: &Report,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> anyhow::Result<Vec<Option<PathBuf>>> {
        fs::create_dir_all(folder)
            .with_context(|| format!("create the folder {}", folder.display()))?;
        let mut paths = Vec::new();
        for (number, rule) in (1..).zip(&report.rules) {
            let is_wanted = rule.verdict == Verdict::Failed || self.all;
            let svg = match is_wanted {
                true => rules::picture(capture, rule, stop).context("draw a picture")?,
                false => None,
            };
            paths.push(match svg {
                Some(svg) => {
                    let path = folder.join(format!("{number}-{}.svg", slug(&rule.name)));
                    fs::write(&path, svg).with_context(|| format!("write {}", path.display()))?;
                    Some(path)
                }
                None => None,
            });
        }
        Ok(paths)
    }

    fn write(
        &self,
        report: &Report,
        pictures: &[Option<PathBuf>],
        out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        if let Some(path) = &self.junit {
            let what = || format!("write {}", path.display());
            let file = BufWriter::new(File::create(path).with_context(what)?);
            let of = |index: usize| {
                let picture = pictures.get(index)?.as_ref()?;
                Some(picture.display().to_string())
            };
            rules::junit(report, &self.source.name(), &of, file).with_context(what)?;
        }
        let text = match self.json {
            true => serde_json::to_string_pretty(report)? + "\n",
            false => told(report, pictures),
        };
        out.write_all(text.as_bytes()).context("print the result")
    }
}

fn failed(error: &EvaluateError) -> Result<ExitCode, Trouble> {
    let error = anyhow!("{error}");
    match error.to_string().starts_with("evaluate") {
        true => {
            // Whom standard error does not reach, the exit code does.
            let _ = writeln!(std::io::stderr(), "hostd: failed to {error}");
            Ok(ExitCode::from(LATE))
        }
        false => Err(Trouble::Asked(error)),
    }
}

/// Golden files beside the rules.
fn goldens(rules: &Path, file: &RuleFile) -> anyhow::Result<Goldens> {
    let folder = rules.parent().unwrap_or(Path::new(""));
    let mut goldens = Goldens::default();
    for name in file.rules().iter().filter_map(Rule::golden_file) {
        let path = folder.join(name);
        let what = || format!("read {}", path.display());
        let mut bytes = Vec::new();
        let from = File::open(&path).with_context(what)?;
        // A byte more, so that what is too large is refused with the limit.
        let most = GOLDEN_BYTES_MAX as u64 + 1;
        from.take(most).read_to_end(&mut bytes).with_context(what)?;
        goldens
            .add(name, &bytes)
            .with_context(|| format!("use {}", path.display()))?;
    }
    Ok(goldens)
}

/// The result for people.
fn told(report: &Report, pictures: &[Option<PathBuf>]) -> String {
    let mut text = String::new();
    for (index, rule) in report.rules.iter().enumerate() {
        let picture = pictures.get(index).and_then(Option::as_deref);
        rule_told(rule, picture, &mut text);
    }
    let all = report.rules.len();
    let _ = match (report.passed, report.errors) {
        (passed, 0) => writeln!(text, "{passed} of {all} rules hold"),
        (passed, errors) => writeln!(
            text,
            "{passed} of {all} rules hold, {errors} cannot be judged"
        ),
    };
    text
}

fn rule_told(rule: &Judged, picture: Option<&Path>, text: &mut String) {
    let word = match rule.verdict {
        Verdict::Passed => "ok   ",
        Verdict::Failed => "FAIL ",
        Verdict::Error => "ERROR",
    };
    let _ = writeln!(text, "{word} {}: {}", rule.name, rule.seen);
    if rule.verdict == Verdict::Passed {
        return;
    }
    let _ = writeln!(text, "      wanted {}", rule.wanted);
    for line in rule.told().lines() {
        let _ = writeln!(text, "      {line}");
    }
    if let Some(picture) = picture {
        let _ = writeln!(text, "      picture {}", picture.display());
    }
}

/// Letters and digits of a name, for a file.
fn slug(name: &str) -> String {
    let letters = name.chars().map(|c| match c.is_ascii_alphanumeric() {
        true => c.to_ascii_lowercase(),
        false => '-',
    });
    let slug: String = letters.take(SLUG_CHARS_MAX).collect();
    slug.trim_matches('-').to_owned()
}
