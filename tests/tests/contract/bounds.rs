//! Each field of each route is tried at its bounds and just beyond them: values that the document
//! allows must not be refused because of that field, and values that it does not allow must be, by
//! name.

use serde_json::{Value, json};
use tests::Reply;

use crate::bench::Bench;
use crate::call::{Call, Rows};
use crate::document::{Document, Operation};
use crate::edges::Edges;
use crate::fields::{Field, Place};

/// A member or parameter that does not exist. A request with it is read completely and then
/// refused.
const STRANGER: &str = "no-such-field";

/// How to try a field whose allowed values the server may refuse because of a rule that is not in
/// the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// In a body that has nothing else.
    Alone,
    /// In a request that is refused because of another field: the value is read, but has no effect.
    Read,
    /// Only with values beyond its bounds.
    Beyond,
}

/// Route, fields, how they are tried, and the rule that is described elsewhere. `*` stands for any rest
/// of a name.
const OTHERWISE: &[(&str, &[&str], How, &str)] = &[
    (
        "badges.create",
        &["name", "ref", "label"],
        How::Read,
        "as many as an organisation may have",
    ),
    (
        "captures.assert",
        &["rules_yaml"],
        How::Alone,
        "in place of rules",
    ),
    (
        "cloud.command",
        &["|1.command.cmd"],
        How::Beyond,
        "a command that hostd or the pod knows",
    ),
    (
        "devices.command",
        &["command.cmd"],
        How::Beyond,
        "a command that hostd or the pod knows",
    ),
    (
        "captures.start_*",
        &["samples", "adc_samples", "la_samples"],
        How::Read,
        "as many as the device has memory for",
    ),
    (
        "captures.start_*",
        &["trigger.edge", "trigger.pulse*"],
        How::Beyond,
        "an edge beside a channel, a pulse with one length",
    ),
    (
        "captures.start_*",
        &["pre_samples"],
        How::Read,
        "fewer than samples, before a trigger",
    ),
    (
        "captures.start_*",
        &["trigger.pattern*", "trigger.level*", "trigger.protocol"],
        How::Read,
        "one condition, whole",
    ),
    (
        "captures.start_*",
        &[
            "trigger.scl*",
            "trigger.sda*",
            "trigger.address*",
            "trigger.direction",
            "trigger.rx*",
            "trigger.bytes",
            "trigger.baudrate",
            "trigger.parity",
        ],
        How::Beyond,
        "what the protocol takes beside it",
    ),
    (
        "captures.start_dual",
        &["la_rate_mhz"],
        How::Read,
        "what the ADC leaves of the memory's rate",
    ),
    (
        "captures.start_i2c",
        &["scl", "sda"],
        How::Read,
        "two channels",
    ),
    (
        "captures.start_measure",
        &["trigger*"],
        How::Read,
        "a stimulus starts the capture",
    ),
    (
        "captures.start_measure",
        &["stimulus|2.samples_b64"],
        How::Read,
        "as many as the device has memory for",
    ),
    (
        "devices.update",
        &["wiring.swd_target"],
        How::Beyond,
        "a chip that hostd knows",
    ),
    (
        "devices.wiring_put",
        &["swd_target"],
        How::Beyond,
        "a chip that hostd knows",
    ),
    (
        "captures.overview",
        &["?channel", "?from", "?to"],
        How::Read,
        "in the capture",
    ),
    (
        "captures.export",
        &["?channels", "?from", "?to"],
        How::Read,
        "in the capture",
    ),
    (
        "events.follow",
        &["?seconds"],
        How::Beyond,
        "a test does not wait for the end of a stream",
    ),
    ("captures.import", &["?channels"], How::Read, "in the file"),
    (
        "captures.update",
        &["channels*", "markers*"],
        How::Beyond,
        "of the capture",
    ),
    (
        "captures.tiles",
        &["?index", "?channels"],
        How::Read,
        "in the capture",
    ),
    (
        "captures.measure",
        &["?channel", "?from", "?to"],
        How::Read,
        "in the capture",
    ),
    (
        "captures.search",
        &["?q", "?from", "?to"],
        How::Read,
        "a query, and in the capture",
    ),
    ("captures.search_many", &["?q"], How::Read, "a query"),
    (
        "captures.spectrum",
        &["?channel", "?from", "?to"],
        How::Read,
        "in the capture",
    ),
    ("captures.edges", &["?channel"], How::Read, "in the capture"),
    ("captures.assert", &["rules"], How::Beyond, "rules"),
    (
        "captures.link",
        &["channels", "from", "to"],
        How::Read,
        "in the capture",
    ),
    (
        "captures.decoders",
        &["?protocol"],
        How::Beyond,
        "with engine=sigrok",
    ),
    (
        "captures.decoders",
        &["?engine"],
        How::Beyond,
        "where sigrok-cli is installed",
    ),
    (
        "captures.decode",
        &[
            "?engine",
            "?protocol",
            "?annotations",
            "?scl",
            "?sda",
            "?rx",
            "?tx",
            "?clk",
            "?mosi",
            "?miso",
            "?cs",
            "?from",
            "?to",
            "?threshold",
            "?hysteresis",
        ],
        How::Beyond,
        "of the protocol, and in the capture",
    ),
    ("captures.live", &["?from_seq"], How::Read, "with a capture"),
    (
        "captures.live",
        &[
            "?protocol",
            "?annotations",
            "?frames",
            "?scl",
            "?sda",
            "?rx",
            "?tx",
            "?clk",
            "?mosi",
            "?miso",
            "?cs",
        ],
        How::Beyond,
        "of a protocol",
    ),
    (
        "dac.replay_start",
        &["bits", "full_scale_v", "sample_rate_hz", "samples_b64"],
        How::Read,
        "they come together",
    ),
    (
        "dac.replay_start",
        &["fault.start", "window_start"],
        How::Read,
        "in the waveform",
    ),
    (
        "devices.update",
        &["wiring*"],
        How::Alone,
        "a channel has one signal",
    ),
    (
        "devices.wiring_put",
        &["*"],
        How::Alone,
        "a channel has one signal",
    ),
    (
        "devices.flash",
        &["target", "form target"],
        How::Read,
        "a chip that is known",
    ),
    (
        "devices.firmware_info",
        &["form target"],
        How::Read,
        "a chip that is known",
    ),
    (
        "emi.project_create",
        &["name"],
        How::Read,
        "as many as an organisation may have",
    ),
    (
        "plugins.approve",
        &["*"],
        How::Read,
        "names of what there is, and of what the plugin wants",
    ),
    ("plugins.revoke", &["org"], How::Read, "an organisation"),
    ("plugins.configure", &["org"], How::Read, "an organisation"),
    (
        "jobs.submit",
        &["form ci_yaml"],
        How::Read,
        "a file in the archive",
    ),
    (
        "trust.create",
        &["ref", "repository"],
        How::Read,
        "as GitHub writes them",
    ),
    (
        "updates.start",
        &["artifact.*"],
        How::Read,
        "ids, or what is known of a build",
    ),
    (
        "updates.start",
        &["sha256", "signature", "form sha256", "form signature"],
        How::Read,
        "of the image",
    ),
    (
        "waveforms.save_recording",
        &["?sample_count"],
        How::Read,
        "as many as come",
    ),
    (
        "waveforms.save_segments",
        &["segments*"],
        How::Read,
        "levels of the output, and an hour together",
    ),
    (
        "webhooks.create",
        &["url", "events", "name", "ref"],
        How::Read,
        "a URL, and as many as an organisation may have",
    ),
    (
        "webhooks.update",
        &["url", "events"],
        How::Read,
        "a URL, and events that there are",
    ),
];

/// How the fields of one route were tried.
#[derive(Debug, Default)]
pub(crate) struct Tried {
    /// Requests at and beyond bounds.
    pub(crate) count: usize,
    /// Fields of [`OTHERWISE`], by entry and index, that were found.
    used: Vec<(usize, usize)>,
}

/// Try the fields of one route; returns what went wrong.
pub(crate) fn check(
    bench: &Bench,
    document: &Document,
    operation: &Operation,
    rows: &Rows,
    tried: &mut Tried,
) -> Vec<String> {
    let good: Vec<&Call> = rows.success.iter().map(|(_, call)| call).collect();
    let mut problems = Vec::new();
    for field in Field::all(operation) {
        let name = field.to_string();
        let (entry, how) = otherwise(rows.route, &name).unzip();
        tried.used.extend(entry);
        let is_read = how == Some(How::Read);
        let make = |value: &Value| {
            if how == Some(How::Alone) {
                field.alone(document, good[0], value)
            } else {
                field.call(document, operation, &good, value)
            }
        };
        let edges = Edges::of(field.schema);
        let mut told = |what: &str, value: &Value, reply: &Reply| {
            let value: String = value.to_string().chars().take(80).collect();
            let text: String = reply.text.chars().take(300).collect();
            let status = reply.status;
            let route = rows.route;
            problems.push(format!(
                "{route}: {name} = {value} is {what} → {status}\n    {text}"
            ));
        };
        let differs = |value: &&Value| !field.is_text() || is_text_for(field.schema, value);
        for value in edges.inside.iter().filter(differs) {
            if how == Some(How::Beyond) || document.fits(field.schema, value).is_err() {
                continue;
            }
            let mut call = make(value);
            if is_read {
                call = call.with_stranger(field.place, STRANGER);
            }
            tried.count += 1;
            let reply = send(bench, operation, &call);
            let named = names(&reply, &field.told());
            let refused = names(&reply, STRANGER);
            if named || refused != is_read {
                told("within bounds", value, &reply);
            } else if let Err(why) = document.describes(operation, &reply) {
                told(
                    &format!("answered in a way not described: {why}"),
                    value,
                    &reply,
                );
            }
            bench.clear(&reply);
        }
        for value in edges.outside.iter().filter(differs) {
            if document.fits(field.schema, value).is_ok() {
                continue;
            }
            let reply = send(
                bench,
                operation,
                &field.call(document, operation, &good, value),
            );
            if reply.status != 400 || !names(&reply, &field.told()) {
                told("out of bounds", value, &reply);
            }
            bench.clear(&reply);
        }
    }
    problems
}

/// The entry of [`OTHERWISE`] with this field, and the index of the field in it.
fn otherwise(route: &str, field: &str) -> Option<((usize, usize), How)> {
    let fits = |pattern: &str, name: &str| match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    };
    let entries = OTHERWISE.iter().enumerate();
    let mut of_route = entries.filter(|(_, (pattern, ..))| fits(pattern, route));
    of_route.find_map(|(entry, (_, fields, how, _))| {
        let at = fields.iter().position(|pattern| fits(pattern, field));
        at.map(|at| ((entry, at), *how))
    })
}

/// Fields in [`OTHERWISE`] that do not exist.
pub(crate) fn stale(tried: &Tried) -> Vec<String> {
    let mut stale = Vec::new();
    for (entry, (route, fields, ..)) in OTHERWISE.iter().enumerate() {
        for (at, field) in fields.iter().enumerate() {
            if !tried.used.contains(&(entry, at)) {
                stale.push(format!(
                    "bounds.rs excuses {field} of {route}, which is not there"
                ));
            }
        }
    }
    stale
}

/// Whether a value differs from others of its schema once it is text.
fn is_text_for(schema: &Value, value: &Value) -> bool {
    let is_string = schema["type"] == "string";
    match value {
        Value::String(_) => true,
        Value::Number(_) | Value::Bool(_) => !is_string,
        _ => false,
    }
}

fn send(bench: &Bench, operation: &Operation, call: &Call) -> Reply {
    let usual = operation.accepts.first();
    let usual = usual.map(|kind| bench.owner.credential(*kind));
    let usual = usual.filter(|_| !call.has_own_credential());
    let reply = if operation.is_socket {
        bench.open(call, usual)
    } else {
        bench.send(&operation.method, call, usual)
    };
    bench.forget_new();
    reply
}

/// Whether a refusal is about a field, a field inside it, or one that contains it.
fn names(reply: &Reply, field: &str) -> bool {
    if reply.status != 400 {
        return false;
    }
    let body = serde_json::from_str(&reply.text).unwrap_or(json!({}));
    let fields = body["fields"].as_array().into_iter().flatten();
    let mut told = fields.filter_map(|problem| problem["field"].as_str());
    told.any(|told| {
        told == field
            || field.starts_with(&format!("{told}."))
            || told.starts_with(&format!("{field}."))
    })
}

impl Call {
    /// With a member or parameter that does not exist.
    fn with_stranger(&self, place: Place, name: &str) -> Self {
        match place {
            Place::Query | Place::Header => self.with_parameter(name, "1"),
            Place::Form => self.with_part(name, "1"),
            Place::Json => {
                let mut body = self.json_body().expect("made as JSON");
                body[name] = 1.into();
                self.with_json(&body)
            }
        }
    }
}

impl Bench {
    /// End what a request has begun, so that the next one finds the device free.
    fn clear(&self, reply: &Reply) {
        let body = serde_json::from_str(&reply.text).unwrap_or(json!({}));
        let Some(capture) = body["capture_id"].as_str() else {
            return;
        };
        let path = format!("/api/capture/{capture}");
        drop(self.server().client().delete(&path));
    }
}
