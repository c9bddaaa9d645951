//! A plugin whose reports are what the request asks for, for tests of what becomes of them.

#![cfg(target_arch = "wasm32")]

use hostd_plugin::{Artifact, Error, Options, Report, Subject, captures, jobs};
use serde_json::json;

/// Bytes of a document that is too large.
const LARGE_BYTES: usize = 9 << 20;

/// Parameters of both reports.
const OPTIONS: &[(&str, &str)] = &[
    ("say", "Told again."),
    ("name", "File name of the document."),
    ("type", "Its media type."),
    ("content", "Its text."),
    ("refuse", "Code of a refusal."),
    (
        "read",
        "Whether to read the subject by the host's functions.",
    ),
    ("crime", "trap, loop, memory or large."),
];

static REPORTS: &[Report] = &[
    Report::of_jobs(render).summary("A job").options(OPTIONS),
    Report::of_captures(render)
        .summary("A capture")
        .options(OPTIONS),
];

hostd_plugin::reporter!(REPORTS);

fn render(subject: &Subject, options: &Options) -> Result<Artifact, Error> {
    if let Some(code) = options.get("refuse") {
        let message = format!("not this one\n{}", "x".repeat(10_000));
        return Err(Error::new(code, message));
    }
    let content = match options.get("crime") {
        Some("trap") => std::process::abort(),
        Some("loop") => loop {
            std::hint::spin_loop();
        },
        Some("memory") => vec![1; usize::MAX / 4],
        Some("large") => vec![b'x'; LARGE_BYTES],
        _ => match options.get("content") {
            Some(content) => content.as_bytes().to_vec(),
            None => told(subject, options)?.into_bytes(),
        },
    };
    let name = options.get("name").unwrap_or("report.json");
    let media_type = options.get("type").unwrap_or("application/json");
    Ok(Artifact::new(name, media_type, content))
}

fn told(subject: &Subject, options: &Options) -> Result<String, Error> {
    let read = match (options.get("read"), subject.kind.as_str()) {
        (None, _) => json!(null),
        (Some(_), "job") => jobs::get(&subject.id)?,
        (Some(_), _) => captures::open(&subject.id)?.json(),
    };
    let told = json!({
        "kind": subject.kind,
        "id": subject.id,
        "json": subject.json,
        "say": options.get("say"),
        "read": read,
    });
    Ok(told.to_string())
}
