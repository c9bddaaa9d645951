//! `POST /bench/devices/{id}/flash`: program the target with a file of a build, or with a file in
//! the request.

use guest::flashing::{self, Source};
use guest::form::{self, Form};
use guest::{ApiError, Openapi, Refusal, Request, Response, Route, builds, devices, selection};
use serde_json::{Map, Value, json};

use crate::flash::Ended;
use crate::{device, flash, wiring, wiring_get};

pub(crate) mod order;

use order::{Asked, Body, From, Terms};

/// Largest firmware file, with the debug information of an ELF file.
pub(crate) const FILE_BYTES_MAX: u32 = 64 << 20;

/// The part of a form that is the file.
pub(crate) const PART: &str = "firmware";

const DESCRIPTION: &str = "\
    Erases what the firmware needs, programs it, reads it back and starts it. The firmware is a file \
    of a build that was reported or that a job made, named by `job_id`, `pack_id` and `artifact_name` or selected by `build`, `repo`, \
    `ref` and `artifact`, or comes along as the part `firmware` of a form. Whether the target is the \
    chip that was asked for is checked first. A flash goes on when its client goes away, and ends \
    early when it is cancelled or when its lease is over. It has 2 minutes, or 10 with `Prefer: \
    respond-async`.";

pub(crate) const ROUTE: Route = Route {
    name: "devices.flash",
    method: "POST",
    pattern: "/bench/devices/{id}/flash",
    credentials: device::CREDENTIALS,
    scope: device::SCOPE,
    body_limit: form::limit(FILE_BYTES_MAX),
    summary: "Flash the target",
    openapi: Openapi::of(|operation| {
        operation
            .refusals(&[
                Refusal::NotCapable,
                Refusal::Ambiguous,
                Refusal::DeviceBusy,
                Refusal::LeaseHeld,
                Refusal::DeviceOffline,
                Refusal::UnsupportedMediaType,
            ])
            .description(DESCRIPTION)
            .path(device::ID.0, device::ID.1)
            .header(
                "Prefer",
                "`respond-async` answers at once; the flash is then followed with its id.",
            )
            .body::<Body>(json!({
                "job_id": "01JGZ5V9T3N8W2K4Q7R6D1M0XC",
                "pack_id": selection::REPORTED,
                "artifact_name": "firmware.elf",
                "target": "target/stm32f0x.cfg",
                "swclk": 11,
                "swdio": 12,
                "efuse": 1
            }))
            .form::<Terms>(
                PART,
                "ELF, Intel HEX, UF2 or plain bytes, told apart by their contents; at most 64 MiB.",
                json!({PART: "...", "target": "STM32F030R8"}),
            )
            .reply(
                200,
                "It has ended. A failure is told here too, with `ok` false.",
                &flash::ended_example(),
            )
            .reply(
                202,
                "It has begun (with `Prefer: respond-async`), or goes on although the time for the \
                 request is over; `Location` is where to follow it.",
                &flash::example(),
            );
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = device::id(request);
    let device = devices::get(id).map_err(|error| device::refusal(error, id))?;
    if device::lacks(&device, |known| known.cmsis_dap) {
        return Err(device::not_capable(&device, "debug probe", "probe"));
    }
    let mut form = form::receive(request, &[PART], FILE_BYTES_MAX.into())?;
    let file = form.file(PART);
    let Form { fields, .. } = form;
    let asked = Asked::read(fields, file.is_some())?;
    let (source, build_wiring) = match (&asked.from, file) {
        (_, Some(file)) => {
            let name = file.file_name.unwrap_or_default();
            (Source::Upload((file.content, name)), Map::new())
        }
        (From::File, None) => return Err(ApiError::internal("a form lost its file")),
        (From::Artifact { job, pack, name }, None) => {
            let selector = named(job, pack.as_deref(), name);
            artifact(&builds::select(&selector).map_err(|e| build_refusal(e, name))?)?
        }
        (From::Selector(selector), None) => {
            artifact(&builds::select(selector).map_err(|e| build_refusal(e, ""))?)?
        }
    };
    let attended = !prefers_async(request);
    let known = [wiring_get::stored(id)?.unwrap_or_default(), build_wiring];
    let order = asked.order(id, &known, &wiring::defaults(), attended)?;
    let begun = flashing::start(&order, source).map_err(|error| flash::refusal(error, id))?;
    if !attended {
        let mut reply = follow(&begun, id);
        let applied = ("preference-applied".to_owned(), "respond-async".to_owned());
        reply.headers.push(applied);
        return Ok(reply);
    }
    let seen = flashing::wait(id, &begun.id).map_err(|error| flash::refusal(error, id))?;
    let Some(outcome) = &seen.outcome else {
        // It takes longer than a request may.
        return Ok(follow(&seen, id));
    };
    Ok(Response::json(200, &Ended::new(&seen, outcome)))
}

/// The answer while a flash goes on: how far it is, and where to look next.
fn follow(flash: &flashing::Flash, device: &str) -> Response {
    let mut reply = flash::reply(202, flash);
    let location = format!("/api/bench/devices/{device}/flash/{}", flash.id);
    reply.headers.push(("location".to_owned(), location));
    reply
}

fn prefers_async(request: &Request) -> bool {
    let told = request.headers.iter().filter(|(name, _)| name == "prefer");
    let mut preferences = told.flat_map(|(_, value)| value.split(','));
    preferences.any(|preference| {
        let name = preference.split(';').next().unwrap_or_default().trim();
        name.eq_ignore_ascii_case("respond-async")
    })
}

fn named(job: &str, pack: Option<&str>, name: &str) -> builds::Selector {
    builds::Selector {
        build: Some(job.to_owned()),
        repo: None,
        ref_: None,
        pack: pack.map(str::to_owned),
        artifact: Some(name.to_owned()),
    }
}

/// The source, and what the build says about its target's wiring, in the names of a wiring profile.
fn artifact(found: &builds::Artifact) -> Result<(Source, Map<String, Value>), ApiError> {
    let told: Map<String, Value> = serde_json::from_str(&found.build.wiring)
        .map_err(|e| ApiError::internal(format!("the wiring of a build is no object: {e}")))?;
    let names = [
        ("target", "swd_target"),
        ("swclk", "swd_swclk"),
        ("swdio", "swd_swdio"),
        ("nreset", "swd_nreset"),
        ("efuse", "efuse"),
    ];
    let known = names.iter().filter_map(|(told_as, name)| {
        let value = told.get(*told_as)?.clone();
        Some(((*name).to_owned(), value))
    });
    let source = Source::Artifact((
        found.build.id.clone(),
        found.pack.clone(),
        found.name.clone(),
    ));
    Ok((source, known.collect()))
}

fn build_refusal(error: builds::Error, name: &str) -> ApiError {
    match error {
        builds::Error::Invalid((field, message)) => ApiError::field(field, message),
        error @ (builds::Error::Ambiguous(_) | builds::Error::Other(_)) => {
            selection::refusal(error)
        }
        error if name.is_empty() => selection::refusal(error),
        _ => ApiError::not_found("build or file", name),
    }
}

#[cfg(test)]
mod tests;
