//! Archives that are not taken, and that nothing of them stays.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;
use tests::{can_isolate, until};

use super::packing::{Entry, send, send_plain, tar_gz, zip};
use super::{Jobs, below};

const PIPELINE: &[u8] = b"version: 1\nbuilds: [{ id: fw, steps: [{ run: 'true' }] }]\n";

/// The pipeline, and this beside it.
fn with(entry: Entry<'_>) -> Vec<u8> {
    tar_gz(&[Entry::File("ci.yml", PIPELINE), entry])
}

/// Bytes that no packer makes smaller.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_u32;
    let next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state.to_le_bytes()[0]
    };
    std::iter::repeat_with(next).take(len).collect()
}

/// Waits until nothing is below the data folder of jobs, of kept files, and of attempts. An archive that is refused goes
/// behind the answer.
fn assert_nothing_stays(jobs: &Jobs) {
    let left = || {
        let mut left = below(&jobs.data("jobs"));
        left.extend(below(&jobs.data("blobs")).iter().flat_map(|b| below(b)));
        left.extend(jobs.places());
        left
    };
    until(left, Vec::is_empty).unwrap();
}

#[test]
fn an_archive_that_leads_out_or_is_none_is_refused() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("");
    let mut cut = with(Entry::File("noise", &noise(4096)));
    cut.truncate(cut.len() / 2);
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(&noise(2048)).unwrap();
    for (archive, reason) in [
        (with(Entry::File("../evil", b"x")), "path_escapes"),
        (with(Entry::File("a/../../evil", b"x")), "path_escapes"),
        (with(Entry::File("/etc/evil", b"x")), "absolute_path"),
        (with(Entry::Link("out", "../../etc")), "link_escapes"),
        (with(Entry::Link("out", "/etc/passwd")), "link_escapes"),
        (with(Entry::Device("null")), "kind"),
        (
            zip(&[("ci.yml", PIPELINE), ("../evil", b"x")]),
            "path_escapes",
        ),
        (b"plain text".to_vec(), "unknown_format"),
        (cut, "truncated"),
    ] {
        let reply = send_plain(&jobs.client(), &archive);
        reply.expect_error(422, "archive_refused");
        assert_eq!(reply.json()["reason"], reason, "{}", reply.text);
    }
    let no_tar = send_plain(&jobs.client(), &gzip.finish().unwrap());
    no_tar.expect_error(422, "archive_refused");
    assert_nothing_stays(&jobs);
    // The server goes on.
    let good = send_plain(&jobs.client(), &with(Entry::Link("in", "ci.yml")));
    assert_eq!(
        jobs.ended(&super::id(&good.expect(201)))["verdict"],
        "success"
    );
}

#[test]
fn a_bomb_is_refused_before_it_is_unpacked() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("");
    let zeros = vec![0; 65 << 20];
    let tar = with(Entry::File("zeros", &zeros));
    let zip = zip(&[("ci.yml", PIPELINE), ("zeros", &zeros)]);
    for archive in [tar, zip] {
        let reply = send_plain(&jobs.client(), &archive);
        reply.expect_error(413, "archive_too_large");
        assert_eq!(reply.json()["reason"], "too_dense", "{}", reply.text);
    }
    assert_nothing_stays(&jobs);
}

#[test]
fn an_archive_for_which_there_is_no_room_is_refused() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("unpacked_mib_max = 1\narchive_entries_max = 100");
    let large = with(Entry::File("noise", &noise(1 << 20)));
    let names: Vec<String> = (0..100).map(|n| format!("f{n}")).collect();
    let mut many = vec![Entry::File("ci.yml", PIPELINE)];
    many.extend(names.iter().map(|name| Entry::File(name, b"")));
    for (archive, reason) in [
        (large, "unpacked_too_large"),
        (tar_gz(&many), "too_many_entries"),
    ] {
        let reply = send_plain(&jobs.client(), &archive);
        reply.expect_error(413, "archive_too_large");
        assert_eq!(reply.json()["reason"], reason, "{}", reply.text);
    }
    // One entry less is taken.
    many.pop();
    let submitted = send_plain(&jobs.client(), &tar_gz(&many)).expect(201);
    let id = super::id(&submitted);
    assert_eq!(jobs.ended(&id)["archive"]["entries"], 100);
}

#[test]
fn an_archive_over_the_limit_or_without_its_pipeline_is_refused() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("archive_mib_max = 1");
    let client = jobs.client();
    let large = with(Entry::File("noise", &noise(1 << 20)));
    let reply = send_plain(&client, &large);
    assert_eq!(reply.status, 413, "{}", reply.text);
    let fits = with(Entry::File("noise", &noise(1 << 19)));
    for texts in [&[("ci_yaml", "none.yml")][..], &[("ci_yaml", "")], &[]] {
        let reply = send(&client, &fits, texts);
        reply.expect_error(400, "invalid_request");
        assert_eq!(reply.json()["fields"][0]["field"], "ci_yaml");
    }
    let texts = [("ci_yaml", "ci.yml"), ("definition", "version: 1")];
    send(&client, &fits, &texts).expect_error(400, "invalid_request");
    let body = json!({"ci_yaml": "ci.yml"});
    let reply = client.post("/api/jobs/submit", &body).unwrap();
    reply.expect_error(400, "invalid_request");
    assert_nothing_stays(&jobs);
}

#[test]
fn an_archive_is_refused_where_the_disk_is_full() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("[disk]\nfloor_mib = 4294967295");
    let sent = send_plain(&jobs.client(), &with(Entry::File("a", b"b")));
    sent.expect_error(507, "no_space");
    assert_nothing_stays(&jobs);
}
