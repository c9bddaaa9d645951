//! What is kept once for equal content, whoever sent it: two organisations keep the same, and neither finds what is the
//! other's, learns that it is there, or loses its own when the other removes its.

use serde_json::{Value, json};
use tests::offline::stranger;
use tests::{Client, can_isolate, until};

use super::packing::{Entry, send_plain, tar_gz};
use super::{Jobs, build, id};
use crate::boards::desk::{Desk, SLOT, digest};

/// A short recording of a bus.
const RECORDING: &[u8] =
    include_bytes!("../../../hostd/decode/testdata/captures/i2c_ds1307/rtc_ds1307_200khz.sr");

/// Something that is kept by its content.
struct Kind {
    name: &'static str,
    /// Keeps it, and returns the path at which its owner finds it.
    keep: fn(&Client) -> String,
    /// The path at which owners list such things; none where [`keep`](Self::keep) looks itself.
    list: Option<&'static str>,
    /// How an owner removes it; what is evidence stays.
    remove: Option<fn(&str) -> String>,
}

const KINDS: [Kind; 5] = [
    Kind {
        name: "captures",
        keep: capture,
        list: Some("/api/captures"),
        remove: Some(same),
    },
    Kind {
        name: "recordings of waveforms",
        keep: recording,
        list: Some("/api/bench/waveforms"),
        remove: Some(same),
    },
    Kind {
        name: "boards",
        keep: board,
        list: None,
        remove: Some(same),
    },
    Kind {
        name: "sources of jobs",
        keep: sources,
        list: Some("/api/jobs"),
        remove: None,
    },
    Kind {
        name: "artifacts of jobs",
        keep: artifact,
        list: Some("/api/jobs"),
        remove: None,
    },
];

fn same(path: &str) -> String {
    path.to_owned()
}

fn raw(client: &Client, path: &str, bytes: &[u8]) -> Value {
    let body = Some(("application/octet-stream", bytes));
    client.send_typed("POST", path, body).unwrap().expect(201)
}

fn capture(client: &Client) -> String {
    let kept = raw(client, "/api/captures/import?name=same", RECORDING);
    format!("/api/capture/{}", id(&kept))
}

fn recording(client: &Client) -> String {
    let path = "/api/bench/waveforms/recording?name=same&sample_rate_hz=1000&full_scale_v=3";
    format!(
        "/api/bench/waveforms/{}",
        id(&raw(client, path, &[7; 2000]))
    )
}

fn board(client: &Client) -> String {
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

fn sources(client: &Client) -> String {
    passed(client, "sources")
}

fn artifact(client: &Client) -> String {
    format!("{}/artifacts/fw.a/same", passed(client, "artifact"))
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
    let acme = jobs.server.anonymous().with_authorization(&key);
    let own = jobs.client();
    for kind in &KINDS {
        let name = kind.name;
        let status = |client: &Client, path: &str| client.get(path).unwrap().status;
        let ours = (kind.keep)(&own);
        if let Some(list) = kind.list {
            let listed = |client: &Client| client.get(list).unwrap().expect(200).to_string();
            let id = ours.split('/').find(|part| part.len() > 20).expect("an id");
            assert!(listed(&own).contains(id), "{name} are not listed");
            assert!(!listed(&acme).contains(id), "{name} are listed elsewhere");
        }
        let theirs = (kind.keep)(&acme);
        assert_ne!(ours, theirs, "{name}");
        for (client, path, expected) in [
            (&own, &ours, 200),
            (&acme, &theirs, 200),
            (&own, &theirs, 404),
            (&acme, &ours, 404),
        ] {
            assert_eq!(status(client, path), expected, "{name}: {path}");
        }
        let Some(remove) = kind.remove else { continue };
        let not_theirs = acme.delete(&remove(&ours)).unwrap();
        assert_eq!(not_theirs.status, 404, "{name}: {}", not_theirs.text);
        let gone = acme.delete(&remove(&theirs)).unwrap();
        assert_eq!(gone.status / 100, 2, "{name}: {}", gone.text);
        assert_eq!(status(&own, &ours), 200, "{name} went with another's");
    }
    // Where the other organisation's jobs ran, nothing of them is left for this one.
    let next = super::submit(&acme, &build("ls -A"));
    ended(&acme, &next);
    let log = acme.get(&format!("/api/jobs/{next}/log")).unwrap().text;
    assert!(!log.contains("same"), "{log}");
}
