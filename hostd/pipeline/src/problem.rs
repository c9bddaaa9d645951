//! What is wrong with a pipeline, where, and what to do about it.

mod render;

use serde::Serialize;

use crate::limits::PROBLEMS_MAX;
use crate::path::Path;
use crate::yaml::{Node, Span};
use render::Excerpt;

/// The kind of a problem: a stable word for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The text is no YAML.
    Syntax,
    /// It is YAML that the format does without: anchors, aliases, merge keys, tags, second documents.
    UnsupportedYaml,
    /// The document is longer, deeper or has more values than the format allows.
    TooLarge,
    /// A key stands twice in one map.
    DuplicateKey,
    /// There is no such key at this place.
    UnknownKey,
    /// A key is missing that must be there.
    MissingKey,
    /// A list where text is wanted, and the like.
    WrongType,
    /// A value that is none of what is allowed here.
    InvalidValue,
    /// An id or name stands twice.
    DuplicateId,
    /// Nothing has the id that is named.
    UnknownReference,
    /// Runs need each other in a circle.
    Cycle,
    /// A step with no action, or with several.
    OneAction,
    /// A key or action that has no meaning at this place.
    NotHere,
    /// A pack does not make the artifact that is used.
    MissingArtifact,
    /// A placeholder where none is replaced, as in `run`.
    TemplateNotHere,
    /// A placeholder whose name nothing has.
    UnknownName,
    /// More runs than the format allows.
    TooManyRuns,
    /// More than the server's configuration allows.
    OverCap,
    /// The organisation has no secret of the name.
    UnknownSecret,
    /// The secret is not for the job's branch or tag.
    SecretRefused,
    /// The server does not run jobs in the image.
    ImageRefused,
    /// The server gives no network to jobs, or not to those of the organisation.
    NetworkRefused,
    /// A chip that is to be flashed and that is not known.
    UnknownChip,
}

impl Code {
    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::UnsupportedYaml => "unsupported_yaml",
            Self::TooLarge => "too_large",
            Self::DuplicateKey => "duplicate_key",
            Self::UnknownKey => "unknown_key",
            Self::MissingKey => "missing_key",
            Self::WrongType => "wrong_type",
            Self::InvalidValue => "invalid_value",
            Self::DuplicateId => "duplicate_id",
            Self::UnknownReference => "unknown_reference",
            Self::Cycle => "cycle",
            Self::OneAction => "one_action",
            Self::NotHere => "not_here",
            Self::MissingArtifact => "missing_artifact",
            Self::TemplateNotHere => "template_not_here",
            Self::UnknownName => "unknown_name",
            Self::TooManyRuns => "too_many_runs",
            Self::OverCap => "over_cap",
            Self::UnknownSecret => "unknown_secret",
            Self::SecretRefused => "secret_refused",
            Self::ImageRefused => "image_refused",
            Self::NetworkRefused => "network_refused",
            Self::UnknownChip => "unknown_chip",
        }
    }

    /// Whether a mistake elsewhere may be the reason: what is named here was perhaps not read.
    pub(crate) fn may_follow(self) -> bool {
        matches!(
            self,
            Self::UnknownReference | Self::MissingArtifact | Self::UnknownName
        )
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Its kind.
    pub code: Code,
    /// The value it is about, as `benches[0].steps[2].flash.artifact`; empty for the document.
    pub path: String,
    /// A sentence that says what is wrong and what to do.
    pub message: String,
    #[serde(skip)]
    excerpt: Excerpt,
}

/// Everything that is wrong with a pipeline, in the order of its lines. There is at least one problem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// At most [`PROBLEMS_MAX`].
    pub problems: Vec<Problem>,
    /// Whether there are more.
    pub truncated: bool,
}

/// A problem before its line is looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) path: Path,
    /// Where, if not at the value that `path` leads to.
    pub(crate) span: Option<Span>,
    pub(crate) code: Code,
    pub(crate) message: String,
}

impl Finding {
    pub(crate) fn new(path: Path, code: Code, message: impl Into<String>) -> Self {
        Self {
            path,
            span: None,
            code,
            message: message.into(),
        }
    }
}

impl Report {
    /// Findings with their lines. One that several cells of a matrix have is told once.
    pub(crate) fn new(text: &str, root: Option<&Node>, findings: &[Finding]) -> Self {
        let place = |finding: &Finding| {
            let at_value = || root.map_or(Span::START, |root| root.locate(&finding.path));
            finding.span.unwrap_or_else(at_value)
        };
        let mut placed: Vec<(Span, &Finding)> = findings.iter().map(|f| (place(f), f)).collect();
        placed.sort_by_key(|(span, _)| (span.line, span.column));
        placed.dedup_by(|(_, next), (_, told)| (next.code, &next.path) == (told.code, &told.path));
        let problems = placed
            .iter()
            .take(PROBLEMS_MAX)
            .map(|(span, finding)| Problem {
                line: span.line,
                column: span.column,
                code: finding.code,
                path: finding.path.to_string(),
                message: finding.message.clone(),
                excerpt: Excerpt::new(text, *span),
            });
        Self {
            problems: problems.collect(),
            truncated: placed.len() > PROBLEMS_MAX,
        }
    }
}

/// The one of `known` that is close to `word`.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// Jaro-Winkler from which on a word is more likely a slip than another word.
    const CLOSE: f64 = 0.75;
    /// Longest word that is compared: longer ones are no slip.
    const WORD_BYTES_MAX: usize = 64;
    if word.len() > WORD_BYTES_MAX {
        return None;
    }
    let rated = known
        .into_iter()
        .map(|known| (strsim::jaro_winkler(word, known), known));
    let best = rated.max_by(|(a, _), (b, _)| a.total_cmp(b));
    best.filter(|(likeness, _)| *likeness >= CLOSE)
        .map(|(_, best)| best)
}

/// `; did you mean …?` if one of `known` is close to `word`, else nothing.
pub(crate) fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map_or_else(String::new, |best| format!("; did you mean `{best}`?"))
}
