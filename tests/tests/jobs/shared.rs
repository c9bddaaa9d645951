//! What is kept once for equal content, whoever sent it: two organisations keep the same, and neither finds what is the
//! other's, learns that it is there, or loses its own when the other removes its.

use std::path::Path;

use serde_json::{Value, json};
use tests::offline::stranger;
use tests::package::{self, MARK};
use tests::{Client, Operator, can_isolate, until};

use super::packing::{Entry, send_plain, tar_gz};
use super::{Jobs, build, id};
use crate::boards::desk::{Desk, SLOT, digest};
use crate::plugins::WANTS;

/// A short recording of a bus.
const RECORDING: &[u8] =
    include_bytes!("../../../hostd/decode/testdata/captures/i2c_ds1307/rtc_ds1307_200khz.sr");

/// Somebody who keeps such things, in an organisation.
struct Owner<'a> {
    client: Client,
    org: &'static str,
    /// The folder of the server.
    dir: &'a Path,
}

/// Something that is kept by its content.
struct Kind {
    name: &'static str,
    /// Keeps it, and returns the path at which its owner finds it.
    keep: fn(&Owner<'_>) -> String,
    /// The path at which owners list such things; none where [`keep`](Self::keep) looks itself.
    list: Option<&'static str>,
    /// Where another organisation looks for it.
    elsewhere: u16,
    /// Whether an owner removes it; what is evidence stays, and plugins are the operator's.
    is_removed: bool,
}

const KINDS: [Kind; 6] = [
    Kind {
        name: "captures",
        keep: capture,
        list: Some("/api/captures"),
        elsewhere: 404,
        is_removed: true,
    },
    Kind {
        name: "recordings of waveforms",
        keep: recording,
        list: Some("/api/bench/waveforms"),
        elsewhere: 404,
        is_removed: true,
    },
    Kind {
        name: "boards",
        keep: board,
        list: None,
        elsewhere: 404,
        is_removed: true,
    },
    Kind {
        name: "sources of jobs",
        keep: sources,
        list: Some("/api/jobs"),
        elsewhere: 404,
        is_removed: false,
    },
    Kind {
        name: "artifacts of jobs",
        keep: artifact,
        list: Some("/api/jobs"),
        elsewhere: 404,
        is_removed: false,
    },
    Kind {
        name: "compiled plugins",
        keep: plugin,
        list: None,
        elsewhere: 403,
        is_removed: false,
    },
];

fn raw(client: &Client, path: &str, bytes: &[u8]) -> Value {
    let body = Some(("application/octet-stream", bytes));
    client.send_typed("POST", path, body).unwrap().expect(201)
}

fn capture(owner: &Owner<'_>) -> String {
    let client = &owner.client;
    let kept = raw(client, "/api/captures/import?name=same", RECORDING);
    format!("/api/capture/{}", id(&kept))
}

fn recording(owner: &Owner<'_>) -> String {
    let client = &owner.client;
    let path = "/api/bench/waveforms/recording?name=same&sample_rate_hz=1000&full_scale_v=3";
    format!(
        "/api/bench/waveforms/{}",
        id(&raw(client, path, &[7; 2000]))
    )
}

fn board(owner: &Owner<'_>) -> String {
    let client = &owner.client;
    let desk = Desk::of(client.clone());
    let lookup = format!("/boards/lookup?sha256={}", digest(SLOT));
    assert_eq!(desk.get(&lookup).expect(200), json!({"found": false}));
    let project = desk.project("same");
    // It is asked for the bytes, whoever else has sent them.
    assert!(desk.ask(&project, SLOT).url.is_some());
    let (board, _) = desk.analysed(&project, SLOT);
    assert_eq!(desk.get(&lookup).expect(200)["found"], true);
    format!("/api/emi/boards/{board}")
}

/// The job of these sources, once it has passed. `key` is that of the request.
fn passed(client: &Client, key: &str) -> String {
    let text = "version: 1\nbuilds:\n  - id: fw\n    steps: [{ run: 'cp same \"$HOSTD_OUT/same\"' }]\n    packs: [{ id: a, artifacts: [same] }]\n";
    let archive = tar_gz(&[
        Entry::File("ci.yml", text.as_bytes()),
        Entry::File("same", &[b'x'; 4096]),
    ]);
    // A request that another organisation has made is none of this one.
    let keyed = client.clone().with_header("idempotency-key", key);
    let sent = send_plain(&keyed, &archive);
    assert_eq!(sent.header("idempotency-replayed"), None);
    let job = id(&sent.expect(201));
    assert_eq!(ended(client, &job)["verdict"], "success");
    format!("/api/jobs/{job}")
}

fn sources(owner: &Owner<'_>) -> String {
    passed(&owner.client, "sources")
}

fn artifact(owner: &Owner<'_>) -> String {
    format!("{}/artifacts/fw.a/same", passed(&owner.client, "artifact"))
}

/// A plugin of the same component as the other organisation's, granted to this one alone.
fn plugin(owner: &Owner<'_>) -> String {
    let id = format!("test.of-{}", owner.org);
    let folder = owner.dir.join(&id);
    let component = package::component("guests/plugin.wasm").unwrap();
    let tables = format!("[wants]\n{WANTS}");
    package::write(&folder, &component, (&id, "1.0.0"), &tables).unwrap();
    let operator = Operator::on(&owner.dir.join("data"));
    operator.install(&folder).unwrap();
    let approve = json!({"approve": {"id": id, "org": owner.org}});
    operator.command(&approve).unwrap();
    let path = format!("/api/x/{id}/mark");
    assert_eq!(owner.client.get(&path).unwrap().expect(200)["mark"], MARK);
    path
}

/// Files below a folder that have this suffix.
fn count(folder: &Path, suffix: &str) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let below = entries.map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => count(&entry.path(), suffix),
        _ => usize::from(entry.path().to_string_lossy().ends_with(suffix)),
    });
    below.sum()
}

/// A job once it has ended.
fn ended(client: &Client, job: &str) -> Value {
    let look = || client.get(&format!("/api/jobs/{job}")).unwrap().expect(200);
    until(look, |job| job["state"] == "finished").unwrap()
}

#[test]
fn equal_content_of_two_organisations_is_apart() {
    if !can_isolate() {
        return;
    }
    let mut jobs = Jobs::start("");
    assert!(jobs.server.stop().unwrap());
    let key = format!("ApiKey {}", stranger(jobs.dir.path()));
    jobs.restart();
    let dir = jobs.dir.path();
    let acme = Owner {
        client: jobs.server.anonymous().with_authorization(&key),
        org: "acme",
        dir,
    };
    let own = Owner {
        client: jobs.client(),
        org: "default",
        dir,
    };
    for kind in &KINDS {
        apart(kind, &own, &acme);
    }
    // Their component was compiled once, and is kept for the one plugin when the other goes.
    let data = dir.join("data");
    assert_eq!(count(&data, ".cwasm"), 1);
    let removed = json!({"remove": {"id": "test.of-acme", "data": true}});
    Operator::on(&data).command(&removed).unwrap();
    let status = |owner: &Owner<'_>, of: &str| {
        let path = format!("/api/x/test.of-{of}/mark");
        owner.client.get(&path).unwrap().status
    };
    assert_eq!(status(&own, "default"), 200);
    assert_eq!(status(&acme, "acme"), 404);
    // Where the other organisation's jobs ran, nothing of them is left for this one.
    let acme = &acme.client;
    let next = super::submit(acme, &build("ls -A"));
    ended(acme, &next);
    let log = acme.get(&format!("/api/jobs/{next}/log")).unwrap().text;
    assert!(!log.contains("same"), "{log}");
}

/// Two organisations keep the same, and each has its own.
fn apart(kind: &Kind, own: &Owner<'_>, acme: &Owner<'_>) {
    let name = kind.name;
    let status = |owner: &Owner<'_>, path: &str| owner.client.get(path).unwrap().status;
    let ours = (kind.keep)(own);
    if let Some(list) = kind.list {
        let listed = |owner: &Owner<'_>| owner.client.get(list).unwrap().expect(200).to_string();
        let id = ours.split('/').find(|part| part.len() > 20).expect("an id");
        assert!(listed(own).contains(id), "{name} are not listed");
        assert!(!listed(acme).contains(id), "{name} are listed elsewhere");
    }
    let theirs = (kind.keep)(acme);
    assert_ne!(ours, theirs, "{name}");
    for (owner, path, expected) in [
        (own, &ours, 200),
        (acme, &theirs, 200),
        (own, &theirs, kind.elsewhere),
        (acme, &ours, kind.elsewhere),
    ] {
        assert_eq!(status(owner, path), expected, "{name}: {path}");
    }
    if !kind.is_removed {
        return;
    }
    let not_theirs = acme.client.delete(&ours).unwrap();
    assert_eq!(not_theirs.status, 404, "{name}: {}", not_theirs.text);
    let gone = acme.client.delete(&theirs).unwrap();
    assert_eq!(gone.status / 100, 2, "{name}: {}", gone.text);
    assert_eq!(status(own, &ours), 200, "{name} went with another's");
}
