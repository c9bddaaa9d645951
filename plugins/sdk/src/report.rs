//! Documents about jobs and captures: each kind is data that the host reads once, and a function.

use serde_json::Value;

use crate::Error;
use crate::bindings::handler::hostd::plugin::types;
use crate::bindings::reporter::exports::hostd::plugin::reports as wit;

/// Makes the documents of one kind.
type Render = fn(&Subject, &Options) -> Result<Artifact, Error>;

/// A kind of documents.
#[derive(Debug, Clone, Copy)]
pub struct Report {
    subject: &'static str,
    summary: &'static str,
    options: &'static [(&'static str, &'static str)],
    render: Render,
}

impl Report {
    /// About finished jobs.
    #[must_use]
    pub const fn of_jobs(render: Render) -> Self {
        Self::new("job", render)
    }

    /// About finished captures.
    #[must_use]
    pub const fn of_captures(render: Render) -> Self {
        Self::new("capture", render)
    }

    const fn new(subject: &'static str, render: Render) -> Self {
        Self {
            subject,
            summary: "",
            options: &[],
            render,
        }
    }

    /// One line for people.
    #[must_use]
    pub const fn summary(mut self, line: &'static str) -> Self {
        self.summary = line;
        self
    }

    /// Parameters of the request's query, by name and with a line for people. The host refuses others.
    #[must_use]
    pub const fn options(mut self, options: &'static [(&'static str, &'static str)]) -> Self {
        self.options = options;
        self
    }
}

/// What a document is about.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Subject {
    /// `job` or `capture`.
    pub kind: String,
    pub id: String,
    /// As [`jobs::get`](crate::jobs::get) and [`Capture::json`](crate::captures::Capture::json) have it.
    pub json: Value,
}

/// What was asked for beside the subject.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options(Vec<(String, String)>);

impl Options {
    /// The value of an option; none if the request has none.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut all = self.0.iter();
        let found = all.find(|(known, _)| known == name)?;
        Some(&found.1)
    }
}

/// A document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// File name, of which the host replaces what no file system takes.
    pub name: String,
    /// Media type.
    pub content_type: String,
    /// At most 8 MiB.
    pub content: Vec<u8>,
}

impl Artifact {
    /// A document of this name and media type.
    #[must_use]
    pub fn new(name: impl Into<String>, content_type: &str, content: impl Into<Vec<u8>>) -> Self {
        Self {
            name: name.into(),
            content_type: content_type.to_owned(),
            content: content.into(),
        }
    }
}

/// What the host asks first.
#[doc(hidden)]
#[must_use]
pub fn kinds(reports: &[Report]) -> Vec<wit::KindInfo> {
    let option = |(id, text): &(&str, &str)| wit::OptionInfo {
        id: (*id).to_owned(),
        text: (*text).to_owned(),
    };
    let kinds = reports.iter().map(|report| wit::KindInfo {
        subject: report.subject.to_owned(),
        summary: report.summary.to_owned(),
        options: report.options.iter().map(option).collect(),
        extra: Vec::new(),
    });
    kinds.collect()
}

/// Make a document as the host would have it made. For tests of a plugin.
///
/// # Errors
/// What the plugin's function refuses, or there is no report about such a subject.
pub fn report(
    reports: &[Report],
    subject: &Subject,
    options: &[(&str, &str)],
) -> Result<Artifact, Error> {
    let options = options.iter();
    let options = options.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    run(reports, subject, &Options(options.collect()))
}

/// # Errors
/// As [`report`].
#[doc(hidden)]
pub fn render(
    reports: &[Report],
    subject: wit::Subject,
    options: Vec<(String, String)>,
) -> Result<wit::Artifact, types::Error> {
    let subject = Subject {
        json: serde_json::from_str(&subject.json).unwrap_or_default(),
        kind: subject.kind,
        id: subject.id,
    };
    let made = run(reports, &subject, &Options(options))?;
    Ok(wit::Artifact {
        name: made.name,
        content_type: made.content_type,
        content: made.content,
        extra: Vec::new(),
    })
}

fn run(reports: &[Report], subject: &Subject, options: &Options) -> Result<Artifact, Error> {
    let found = reports.iter().find(|report| report.subject == subject.kind);
    let found = found.ok_or_else(|| {
        Error::new(
            "not_found",
            format!("there is no report about a {}", subject.kind),
        )
    })?;
    (found.render)(subject, options)
}

/// Export a table of reports: `reporter!(REPORTS)`.
#[macro_export]
macro_rules! reporter {
    ($reports:expr) => {
        const _: () = {
            struct Reporter;

            impl $crate::reporter_bindings::exports::hostd::plugin::reports::Guest for Reporter {
                fn kinds() -> Vec<$crate::reporter_bindings::exports::hostd::plugin::reports::KindInfo> {
                    $crate::kinds($reports)
                }

                fn render(
                    subject: $crate::reporter_bindings::exports::hostd::plugin::reports::Subject,
                    options: Vec<(String, String)>,
                ) -> Result<
                    $crate::reporter_bindings::exports::hostd::plugin::reports::Artifact,
                    $crate::reporter_bindings::exports::hostd::plugin::reports::Error,
                > {
                    $crate::render($reports, subject, options)
                }
            }

            #[cfg(target_arch = "wasm32")]
            $crate::reporter_bindings::export_reporter!(Reporter with_types_in $crate::reporter_bindings);
        };
    };
}
