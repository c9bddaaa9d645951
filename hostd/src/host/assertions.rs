//! `hostd:host/assertions`: rules about the signals of captures.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Instant;

use admission::Requester;
use pipeline::Code;
use pipeline::rules::{RuleFile, golden_captures, parse};
use rules::limits::{GOLDEN_FILES_MAX, TIME_MAX};
use rules::{EvaluateError, Goldens, evaluate};
use wasmtime::component::HasData;

use super::bindings::hostd::host::assertions::{Error, Host, Problem, Refusal};
use super::door::Door;
use super::recordings::refusal;
use super::waiting::{Gone, in_place};
use super::{CallLinker, Context, internal, wit};
use lab::captures::reader::{ReadError, Reader};
use lab::captures::{CaptureError as Failure, Captures};

/// What this interface gets of a call.
pub(super) struct View<'a> {
    context: &'a Context,
    requester: Option<&'a Requester>,
    door: Door<'a>,
    captures: &'a Arc<Captures>,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut CallLinker) -> wasmtime::Result<()> {
    wit::assertions::add_to_linker::<_, View<'static>>(linker, |state| View {
        context: &state.data.context,
        requester: state.data.requester.as_ref(),
        door: Door::new(&state.data.context, &state.data.services),
        captures: &state.data.services.captures,
    })
}

impl Host for View<'_> {
    async fn judge(&mut self, capture: String, rules: String) -> Result<String, Refusal> {
        let found = self.door.capture(self.captures, &capture).await;
        let record = found.map_err(|error| Refusal::Capture(refusal(error)))?;
        let file = parse(&rules).map_err(|report| {
            let problems = report.problems.into_iter().map(|problem| Problem {
                line: problem.line,
                column: problem.column,
                code: problem.code.as_str().to_owned(),
                path: problem.path,
                message: problem.message,
            });
            Refusal::Rules(problems.collect())
        })?;
        let read = self.captures.read(&record.org, &record.id).await;
        let reader = read.map_err(|error| self.failed(error))?;
        let good = self.good(&file).await?;
        let work = move |gone: &Gone| judged(&reader, &file, &good, gone);
        let done = in_place(self.captures, self.requester, work).await;
        let done = done.map_err(|error| self.failed(error))?;
        let judged = done.map_err(|error| self.broken(&error))?;
        judged.map_err(|error| match error {
            Broken::Read(error) => self.failed(error.into()),
            Broken::Good(place, why) => no_good(place, why),
            Broken::Late(sentence) => Refusal::Late(sentence),
            Broken::Text(error) => self.broken(&error),
        })
    }
}

/// Why there is no result.
enum Broken {
    Read(ReadError),
    /// The good capture of the rule at this place cannot be compared with: why.
    Good(usize, String),
    Late(String),
    Text(serde_json::Error),
}

fn judged(
    reader: &Reader,
    file: &RuleFile,
    good: &[(usize, Arc<Reader>)],
    gone: &Gone,
) -> Result<String, Broken> {
    let view = |reader| rig::view(reader, &|_| None, file.channels()).map_err(Broken::Read);
    let capture = view(reader)?;
    let begun = Instant::now();
    let stop = || gone.is_gone() || begun.elapsed() > TIME_MAX;
    let late = || Broken::Late(format!("failed to {}", EvaluateError::Late));
    let mut goldens = Goldens::default();
    for (place, reader) in good {
        if stop() {
            return Err(late());
        }
        let added = goldens.add_capture(&reader.record().id, &view(reader)?, file.rules());
        added.map_err(|error| Broken::Good(*place, format!("failed to {error}")))?;
    }
    let report = evaluate(&capture, file.rules(), &goldens, &stop);
    let report = report.map_err(|error| match error {
        EvaluateError::Damaged(error) => Broken::Read(ReadError::Logic(error)),
        EvaluateError::Late => late(),
    })?;
    serde_json::to_string(&report).map_err(Broken::Text)
}

/// What is wrong with the rule at this place, whose good capture cannot be used.
fn no_good(place: usize, message: String) -> Refusal {
    Refusal::Rules(vec![Problem {
        line: 1,
        column: 1,
        code: Code::UnknownReference.as_str().to_owned(),
        path: format!("rules[{place}].golden.capture"),
        message,
    }])
}

impl View<'_> {
    /// Good captures that rules name, each once with the place of the first that does: those that the caller may see.
    async fn good(&self, file: &RuleFile) -> Result<Vec<(usize, Arc<Reader>)>, Refusal> {
        let mut found: Vec<(usize, Arc<Reader>)> = Vec::new();
        for (place, id) in golden_captures(file.rules()) {
            if found.len() == GOLDEN_FILES_MAX {
                let why = format!("rules name more than {GOLDEN_FILES_MAX} good captures");
                return Err(no_good(place, why));
            }
            let unusable = |why: &dyn Display| no_good(place, format!("the capture {id} {why}"));
            let record = self.door.capture(self.captures, id).await;
            let record = record.map_err(|_| unusable(&"is not there, or is not yours to see"))?;
            let read = self.captures.read(&record.org, &record.id).await;
            let reader = read.map_err(|error| match error {
                Failure::State(_) => unusable(&"is not done"),
                other => self.failed(other),
            })?;
            found.push((place, reader));
        }
        Ok(found)
    }

    fn failed(&self, error: Failure) -> Refusal {
        Refusal::Capture(refusal(self.context.capture_error(error)))
    }

    fn broken(&self, error: &(dyn std::error::Error + 'static)) -> Refusal {
        Refusal::Capture(Error::Other(internal(self.context, "assertions", error)))
    }
}
