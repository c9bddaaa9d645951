//! `hostd:host/assertions`: rules about the signals of captures.

use std::sync::Arc;
use std::time::Instant;

use admission::Requester;
use pipeline::rules::{RuleFile, parse};
use rules::limits::TIME_MAX;
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
        let work = move |gone: &Gone| judged(&reader, &file, gone);
        let done = in_place(self.captures, self.requester, work).await;
        let done = done.map_err(|error| self.failed(error))?;
        let judged = done.map_err(|error| self.broken(&error))?;
        judged.map_err(|error| match error {
            Broken::Read(error) => self.failed(error.into()),
            Broken::Late(sentence) => Refusal::Late(sentence),
            Broken::Text(error) => self.broken(&error),
        })
    }
}

/// Why there is no result.
enum Broken {
    Read(ReadError),
    Late(String),
    Text(serde_json::Error),
}

fn judged(reader: &Reader, file: &RuleFile, gone: &Gone) -> Result<String, Broken> {
    let names = file.channels();
    let capture = rig::view(reader, &|_| None, names).map_err(Broken::Read)?;
    let begun = Instant::now();
    let stop = || gone.is_gone() || begun.elapsed() > TIME_MAX;
    let report = evaluate(&capture, file.rules(), &Goldens::default(), &stop);
    let report = report.map_err(|error| match error {
        EvaluateError::Damaged(error) => Broken::Read(ReadError::Logic(error)),
        EvaluateError::Late => Broken::Late(format!("failed to {error}")),
    })?;
    serde_json::to_string(&report).map_err(Broken::Text)
}

impl View<'_> {
    fn failed(&self, error: Failure) -> Refusal {
        Refusal::Capture(refusal(self.context.capture_error(error)))
    }

    fn broken(&self, error: &(dyn std::error::Error + 'static)) -> Refusal {
        Refusal::Capture(Error::Other(internal(self.context, "assertions", error)))
    }
}
