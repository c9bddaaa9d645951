//! `hostd:host/measurements`: what jobs of the caller's organisation measured.

use base::clock;
use dispatch::{JobError, Jobs, Named, Submitter, Wanted};
use evidence::measurement::is_within;
use store::measurements::Measurement;
use wasmtime::component::HasData;

use super::bindings::hostd::host::measurements as w;
use super::{CallLinker, Context, cursor_rule, internal, wit};

/// Most measurements of one list.
const LIST_MAX: u32 = 200;

/// What this interface gets of a call.
pub(super) struct View<'a> {
    context: &'a Context,
    jobs: &'a Jobs,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut CallLinker) -> wasmtime::Result<()> {
    wit::measurements::add_to_linker::<_, View<'static>>(linker, |state| View {
        context: &state.data.context,
        jobs: &state.data.services.jobs,
    })
}

impl w::Host for View<'_> {
    async fn list(
        &mut self,
        wanted: w::Wanted,
        limit: u32,
        cursor: Option<String>,
    ) -> Result<w::Page, w::Error> {
        if let Some(rule) = cursor.as_deref().and_then(place_rule) {
            return Err(w::Error::Invalid(("cursor".to_owned(), rule.to_owned())));
        }
        let Some(caller) = &self.context.caller else {
            // Every route that gets here asks for a credential.
            return Ok(page(dispatch::Numbers::default()));
        };
        let by = Submitter {
            org: caller.org().to_owned(),
            user: caller.user().to_owned(),
        };
        let wanted = Wanted {
            name: wanted.name,
            device: wanted.device,
            serial: wanted.serial,
            job: wanted.job,
            r#ref: wanted.ref_,
            since: wanted.since,
        };
        let limit = limit.clamp(1, LIST_MAX) as usize;
        let found = self.jobs.measurements(&by, wanted, limit, cursor).await;
        found.map(page).map_err(|error| match error {
            JobError::Full(sentence) => w::Error::Full(sentence),
            error => w::Error::Other(internal(self.context, "measurements", &error)),
        })
    }
}

/// What is wrong with a place in the list, as a phrase to follow its name: a job, the number of the attempt and that in it.
fn place_rule(cursor: &str) -> Option<&'static str> {
    const RULE: &str = "must be the next_cursor of a page";
    let is_number = |text: &str| text.len() == 5 && text.bytes().all(|b| b.is_ascii_digit());
    let parts: Vec<&str> = cursor.split('-').collect();
    match parts[..] {
        [job, attempt, number] if is_number(attempt) && is_number(number) => cursor_rule(job),
        _ => Some(RULE),
    }
}

fn page(found: dispatch::Numbers) -> w::Page {
    let last = found.measurements.last();
    w::Page {
        next: last.filter(|_| found.has_more).map(Measurement::id),
        names: found.names.into_iter().map(named).collect(),
        has_more_names: found.has_more_names,
        forgotten: found.forgotten,
        measurements: found.measurements.into_iter().map(to_wit).collect(),
    }
}

fn named(named: Named) -> w::Named {
    let of = named.statistics;
    w::Named {
        name: named.name,
        unit: named.unit,
        count: of.count,
        min: of.min,
        max: of.max,
        mean: of.mean,
        deviation: of.deviation,
        low: named.low,
        high: named.high,
        cp: of.cp,
        cpk: of.cpk,
        trend: of.trend,
    }
}

/// A measurement in the words of the contract.
pub(super) fn to_wit(measured: Measurement) -> w::Measurement {
    w::Measurement {
        id: measured.id(),
        is_within: is_within(measured.value, measured.low, measured.high),
        name: measured.name,
        value: measured.value,
        unit: measured.unit,
        low: measured.low,
        high: measured.high,
        serial: measured.serial,
        job: measured.job,
        run: measured.run,
        attempt: measured.attempt,
        step: measured.step,
        ref_: measured.r#ref,
        device: measured.device,
        device_name: measured.device_name,
        at: clock::text(measured.at_ms),
    }
}

#[cfg(test)]
mod tests {
    use super::place_rule;

    #[test]
    fn a_place_is_one_that_a_page_ends_with() {
        assert_eq!(place_rule("01JGZ5V9T3N8W2K4Q7R6D1M0XC-00001-00042"), None);
        for wrong in [
            "",
            "01JGZ5V9T3N8W2K4Q7R6D1M0XC",
            "01JGZ5V9T3N8W2K4Q7R6D1M0XC-00001",
            "01JGZ5V9T3N8W2K4Q7R6D1M0XC-00001-0004",
            "01JGZ5V9T3N8W2K4Q7R6D1M0XC-0000a-00042",
            "x-00001-00042",
        ] {
            assert!(place_rule(wrong).is_some(), "{wrong}");
        }
    }
}
