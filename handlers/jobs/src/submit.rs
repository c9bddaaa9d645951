//! `POST /jobs/submit`: queue a pipeline, alone or with the sources that it builds. An archive goes from
//! the connection to disk without passing here.

use guest::form::{self, Form};
use guest::jobs::{self, NewJob, Source};
use guest::{
    ApiError, Fields, Openapi, Operation, Refusal, Request, Response, Route, Shape, like, lines,
    members, text,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::job::{Archive, OUTCOMES, STATUSES};
use crate::{example, job, refusal};

/// Largest archive. The server's configuration may allow less.
const ARCHIVE_BYTES_MAX: u32 = 256 << 20;

/// The part of a form that is the archive.
const PART: &str = "archive";

/// Names of the part with the path of the pipeline: published clients call it by the second.
const PATH: &str = "ci_yaml";
const PATH_ALIAS: &str = "embeddedci_yaml";

/// Longest pipeline, in characters; the format allows as many bytes.
const DEFINITION_CHARS_MAX: usize = 256 << 10;

/// Longest path in an archive, in characters.
const PATH_CHARS_MAX: usize = 255;

/// Longest name of a job, in characters.
pub(crate) const NAME_CHARS_MAX: usize = 120;

/// Longest branch, tag or commit, in characters.
pub(crate) const REF_CHARS_MAX: usize = 255;

/// Header by which a request that is sent again is known.
const KEY: &str = "idempotency-key";

/// Longest key, in characters.
const KEY_CHARS_MAX: usize = 255;

const DESCRIPTION: &str = "\
    The pipeline comes as text, for one whose steps need no files, or as the path of a file in an archive of \
    sources, in a form. It is checked whole before the job is queued: 422 `invalid_definition` tells all that is \
    wrong in `problems`, each with its line. `embeddedci_yaml` is another name of the part `ci_yaml`.";

pub(crate) const ROUTE: Route = Route {
    name: "jobs.submit",
    method: "POST",
    pattern: "/jobs/submit",
    credentials: job::CREDENTIALS,
    scope: job::SCOPE,
    body_limit: form::limit(ARCHIVE_BYTES_MAX),
    summary: "Submit a job",
    openapi: Openapi::of(describe),
    handle,
};

members! {
    struct Body {
        /// Text of the pipeline, YAML of at most 256 KiB; `GET /jobs/schema.json` describes it.
        definition: String = required(definition()),
        labels: Labels = inline(),
    }
}

members! {
    struct Packed {
        /// Path of the pipeline in the archive.
        ci_yaml: String = required(like::path(1..=PATH_CHARS_MAX)),
        labels: Labels = inline(),
    }
}

members! {
    #[derive(Debug, Default, PartialEq)]
    struct Labels {
        /// What the job is called in lists; the pipeline's own name when it is left out.
        name: Option<String> = optional(text(0..=NAME_CHARS_MAX)),
        /// Branch or tag.
        r#ref: Option<String> = optional(text(0..=REF_CHARS_MAX)),
        /// Id of the commit.
        commit: Option<String> = optional(text(0..=REF_CHARS_MAX)),
    }
}

/// The text of a pipeline.
pub(crate) fn definition() -> impl Shape<Value = String> {
    lines(1..=DEFINITION_CHARS_MAX)
}

/// A job that was queued.
#[derive(Serialize, JsonSchema)]
struct Submitted<'a> {
    /// Job id, a ULID.
    id: &'a str,
    #[schemars(extend("enum" = STATUSES.all()))]
    status: &'static str,
    builds: Vec<Build<'a>>,
    source_metadata: SourceMetadata<'a>,
}

/// A run of a build.
#[derive(Serialize, JsonSchema)]
struct Build<'a> {
    /// `build.variant.pack`, without what there is not.
    id: &'a str,
    #[schemars(extend("enum" = OUTCOMES.all()))]
    status: &'static str,
    /// Chips that it is for.
    targets: &'a [String],
}

/// Where the sources come from.
#[derive(Serialize, JsonSchema)]
struct SourceMetadata<'a> {
    name: Option<&'a str>,
    r#ref: Option<&'a str>,
    commit: Option<&'a str>,
    /// Null when the pipeline came alone.
    archive: Option<Archive<'a>>,
}

impl<'a> From<&'a jobs::Job> for Submitted<'a> {
    fn from(job: &'a jobs::Job) -> Self {
        let builds = job.runs.iter().filter(|run| !run.is_bench);
        let builds = builds.map(|run| Build {
            id: &run.id,
            status: OUTCOMES.word(run.outcome),
            targets: &run.targets,
        });
        Self {
            id: &job.id,
            status: STATUSES.word(job.status),
            builds: builds.collect(),
            source_metadata: SourceMetadata {
                name: job.name.as_deref(),
                r#ref: job.ref_.as_deref(),
                commit: job.commit.as_deref(),
                archive: job.archive.as_ref().map(Into::into),
            },
        }
    }
}

fn describe(operation: &mut Operation) {
    operation
        .description(DESCRIPTION)
        .refusals(&[
            Refusal::IdempotencyKeyReused,
            Refusal::ArchiveTooLarge,
            Refusal::UnsupportedMediaType,
            Refusal::InvalidDefinition,
            Refusal::ArchiveRefused,
            Refusal::QuotaExceeded,
            Refusal::TooManyJobs,
            Refusal::NoIsolation,
            Refusal::Stopping,
        ])
        .header(
            "Idempotency-Key",
            "1 to 255 printable ASCII characters of the client's choice. The same request with the same key \
             again makes no second job: it is answered with the first one and `idempotency-replayed: true`.",
        )
        .body::<Body>(json!({
            "definition": "version: 1\nbuilds:\n  - id: hello\n    steps:\n      - run: echo hello\n",
            "name": "hello",
            "ref": "main"
        }))
        .form::<Packed>(
            PART,
            "The sources: a tar file packed by gzip, or a zip file; at most 256 MiB, and unpacked 2 GiB and \
             100,000 entries.",
            json!({PART: "...", PATH: "pipeline.yml", "name": "blinky", "ref": "main", "commit": "0a1b2c3"}),
        )
        .reply(
            201,
            "Queued; `Location` is where to follow it. With `idempotency-replayed: true` an earlier request \
             has queued it.",
            &Submitted::from(&example::queued()),
        );
}

/// What a request asks for, without its archive.
#[derive(Debug, PartialEq)]
struct Asked {
    pipeline: Pipeline,
    labels: Labels,
}

#[derive(Debug, PartialEq)]
enum Pipeline {
    /// The text of a pipeline.
    Text(String),
    /// Its path in the archive.
    Path(String),
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let refused = |error| refusal::of(error, "job", "");
    let key = key(request)?;
    let room = jobs::room().map_err(refused)?;
    let mut form = form::receive(request, &[PART], room.min(ARCHIVE_BYTES_MAX.into()))?;
    let file = form.file(PART);
    let Form { fields, .. } = form;
    let Asked { pipeline, labels } = parse(fields, file.is_some())?;
    let source = match (pipeline, file) {
        (Pipeline::Text(text), _) => Source::Definition(text),
        (Pipeline::Path(path), Some(file)) => Source::Archive((file.content, path)),
        (Pipeline::Path(_), None) => return Err(ApiError::internal("a form lost its archive")),
    };
    let submitted = jobs::submit(NewJob {
        name: labels.name,
        ref_: labels.r#ref,
        commit: labels.commit,
        idempotency_key: key,
        source,
    });
    Ok(reply(&submitted.map_err(refused)?))
}

fn key(request: &Request) -> Result<Option<String>, ApiError> {
    let Some(key) = request.header(KEY) else {
        return Ok(None);
    };
    let is_printable = key.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    if !is_printable || !(1..=KEY_CHARS_MAX).contains(&key.len()) {
        let rule = format!("must have 1..={KEY_CHARS_MAX} printable ASCII characters");
        return Err(ApiError::field("Idempotency-Key", rule));
    }
    Ok(Some(key.to_owned()))
}

/// `has_archive`: the request brings one along.
fn parse(mut fields: Fields, has_archive: bool) -> Result<Asked, ApiError> {
    let (pipeline, labels) = if fields.are_texts() {
        fields.rename(PATH_ALIAS, PATH);
        if !has_archive {
            fields.problem(PART, "is required in a form");
        }
        let Packed { ci_yaml, labels } = fields.read()?;
        (Pipeline::Path(ci_yaml), labels)
    } else {
        let Body { definition, labels } = fields.read()?;
        (Pipeline::Text(definition), labels)
    };
    // CI systems have variables that are empty at times.
    let given = |text: Option<String>| text.filter(|text| !text.is_empty());
    let labels = Labels {
        name: given(labels.name),
        r#ref: given(labels.r#ref),
        commit: given(labels.commit),
    };
    Ok(Asked { pipeline, labels })
}

fn reply(submitted: &jobs::Submitted) -> Response {
    let job = &submitted.job;
    let mut response = job::made(job, &Submitted::from(job));
    if submitted.is_replay {
        let replayed = ("idempotency-replayed".to_owned(), "true".to_owned());
        response.headers.push(replayed);
    }
    response
}

#[cfg(test)]
mod tests;
