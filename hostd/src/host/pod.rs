//! `hostd:host/pod`: single commands to the pod behind a device.

use std::time::Duration;

use base::likeness;
use pods::PodError;
use pods::protocol::RefusalKind;
use pods::protocol::commands;
pub(crate) use pods::protocol::commands::Tier;
use serde_json::{Map, Value};
use wasmtime::component::HasData;

pub(crate) use super::bindings::hostd::host::pod::Error;
use super::bindings::hostd::host::pod::Host;
use super::door::Door;
use super::{CallLinker, Context, wit};
use lab::leases::Entered;

/// Characters of an unknown command that its refusal shows.
const SHOWN_CHARS_MAX: usize = 40;

/// Longest wait a handler may ask for.
const TIMEOUT_MS_MAX: u32 = 120_000;

/// What this interface gets of a call.
pub(super) struct View<'a> {
    context: &'a Context,
    door: Door<'a>,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut CallLinker) -> wasmtime::Result<()> {
    wit::pod::add_to_linker::<_, View<'static>>(linker, |state| View {
        context: &state.data.context,
        door: Door::new(&state.data.context, &state.data.services),
    })
}

impl Host for View<'_> {
    async fn command(
        &mut self,
        device: String,
        command: String,
        timeout_ms: u32,
    ) -> Result<String, Error> {
        let tier_max = self.context.tier_max();
        send(&self.door, &device, &command, timeout_ms, tier_max).await
    }
}

/// Send one command (JSON text), of at most `tier_max`, and return the JSON text of the reply's data.
pub(crate) async fn send(
    door: &Door<'_>,
    device: &str,
    command: &str,
    timeout_ms: u32,
    tier_max: Tier,
) -> Result<String, Error> {
    let beside = door.look(device)?;
    let command: Map<String, Value> = serde_json::from_str(command)
        .map_err(|e| Error::Invalid(format!("the command is not a JSON object: {e}")))?;
    let strange = strange(&command);
    if commands::tier_of(&command) > tier_max {
        return Err(strange.map_or(Error::Forbidden, Error::Invalid));
    }
    let wait_ms = timeout_ms.clamp(1, TIMEOUT_MS_MAX);
    let wait = Duration::from_millis(wait_ms.into());
    let asks_for_rails = command
        .get("cmd")
        .is_some_and(|verb| verb == "power_status");
    let id = beside.device.record.id.clone();
    let answered = if is_light_read(&command) {
        beside.pod.command(command, wait).await
    } else {
        let Entered { pod, mut visit, .. } = door.drive(beside)?;
        tokio::select! {
            biased;
            answered = pod.command(command, wait) => answered,
            // A command that was not sent yet never will be.
            () = visit.over() => {
                drop(visit);
                return Err(Error::Held(door.cut(device)));
            }
        }
    };
    match answered {
        Ok(data) => {
            // What is measured anyway need not be measured once more.
            let status = asks_for_rails.then(|| serde_json::from_value(data.clone()));
            if let Some(Ok(status)) = status {
                door.note_rails(&id, &status);
            }
            Ok(data.to_string())
        }
        Err(error) => Err(match (error, strange) {
            // Neither this server nor the pod knows it.
            (PodError::Refused(refusal), Some(sentence))
                if refusal.kind == RefusalKind::UnknownCommand =>
            {
                Error::Invalid(sentence)
            }
            (error, _) => pod_error(door.context, error, wait_ms),
        }),
    }
}

/// What is wrong with a command that this server does not know, which newer firmware may know; none if it knows it.
fn strange(command: &Map<String, Value>) -> Option<String> {
    let verb = command.get("cmd").and_then(Value::as_str)?;
    if commands::find(verb).is_some() {
        return None;
    }
    let shown: String = verb.chars().take(SHOWN_CHARS_MAX).collect();
    let meant = likeness::nearest(verb, commands::all().map(|known| known.verb));
    let hint = meant.map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"));
    Some(format!("has the unknown `cmd` `{shown}`{hint}"))
}

/// Whether the command only reads: such commands are allowed even beside a lease.
fn is_light_read(command: &Map<String, Value>) -> bool {
    let verb = command.get("cmd").and_then(Value::as_str);
    let known = verb.and_then(commands::find);
    known.is_some_and(|known| known.is_light_read(command))
}

fn pod_error(context: &Context, error: PodError, wait_ms: u32) -> Error {
    let request_id = &context.request_id;
    match error {
        PodError::Offline { reason } => {
            tracing::info!(request_id, reason, "pod offline");
            Error::Offline
        }
        PodError::Timeout { .. } => Error::TimedOut(wait_ms),
        PodError::Refused(refusal) => Error::Refused(refusal.to_string()),
        PodError::Protocol(cause) => {
            tracing::warn!(request_id, error = %cause, source = ?std::error::Error::source(&cause), "pod answered nonsense");
            Error::Protocol(cause.to_string())
        }
        PodError::NeedsTunnel { .. } => Error::NeedsTunnel,
        PodError::MissingCommand | PodError::LineTooLong { .. } | PodError::Request(_) => {
            Error::Invalid(error.to_string())
        }
        PodError::QueueFull { .. }
        | PodError::Busy { .. }
        | PodError::NoPermit { .. }
        | PodError::NotReleased { .. }
        | PodError::Ended(_) => Error::Other(error.to_string()),
    }
}
