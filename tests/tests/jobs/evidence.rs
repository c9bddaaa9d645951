//! What a job leaves: its log, its files, and the pages about it.

use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tests::{Reply, can_isolate, until};

use super::{Jobs, build};

/// Makes a file, with output and a name that a page must not take for its own.
const CASES: &str = "version: 1\nname: <b>bold\nbuilds:\n  - id: fw\n    steps:\n      - { run: 'echo \"<script>alert(1)</script>\"', case: makes }\n      - { run: 'mkdir \"$HOSTD_OUT/sub\"; seq 1 2000 > \"$HOSTD_OUT/sub/fw.bin\"' }\n    packs: [{ id: a, artifacts: [sub/fw.bin] }]\n";

fn number(reply: &Reply, header: &str) -> usize {
    reply.header(header).unwrap().parse().unwrap()
}

#[test]
fn a_log_is_read_piece_by_piece_while_it_grows() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("");
    // It goes on with each part once the one before was read.
    let id = jobs.submit(&build(
        "for part in 1 2 3 4 5 6; do seq 1 5000; until test -e read$part; do sleep 0.01; done; done; echo over",
    ));
    let numbers: String = (1..=5000).map(|n| format!("{n}\n")).collect();
    let (mut pieces, mut counted) = (String::new(), 0);
    let look = || {
        let from = pieces.len();
        let reply = jobs.get(&id, &format!("/log?attempt=1&offset={from}"));
        if reply.status == 404 {
            // It has not begun.
            return false;
        }
        reply.expect_text();
        pieces += &reply.text;
        counted += usize::from(!reply.text.is_empty());
        assert_eq!(number(&reply, "x-log-bytes"), pieces.len());
        for part in 1..=pieces.matches(&numbers).count() {
            jobs.make(&format!("read{part}"));
        }
        reply.header("x-log-complete") == Some("true")
    };
    until(look, |is_complete| *is_complete).unwrap();
    let whole = jobs.get(&id, "/log?attempt=1").text;
    assert!(counted > 2, "all came at once");
    assert!(pieces == whole, "pieces differ from the whole");
    assert_eq!(whole.matches(&numbers).count(), 6);
    assert!(whole.contains("\nover\n"));
    for offset in [1, whole.len() / 2, whole.len() - 1, whole.len()] {
        let rest = jobs.get(&id, &format!("/log?attempt=1&offset={offset}"));
        assert!(rest.text == whole[offset..], "from {offset}");
    }
    let beyond = jobs.get(&id, &format!("/log?attempt=1&offset={}", whole.len() + 9));
    assert_eq!((beyond.status, &*beyond.text), (200, ""));
    let all = jobs.get(&id, "/log");
    assert!(all.text == format!("=== fw, attempt 1\n{whole}"));
    assert_eq!(jobs.ended(&id)["attempts"][0]["log_bytes"], whole.len());
    jobs.get(&id, "/log?attempt=2")
        .expect_error(404, "not_found");
    jobs.get(&id, "/log?offset=1")
        .expect_error(400, "invalid_request");
}

trait Text {
    fn expect_text(&self);
}

impl Text for Reply {
    fn expect_text(&self) {
        assert_eq!(self.status, 200, "{}", self.text);
        assert_eq!(
            self.header("content-type"),
            Some("text/plain; charset=utf-8")
        );
    }
}

#[test]
fn files_are_listed_with_their_digests_and_fetched() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("");
    let id = jobs.submit(CASES);
    assert_eq!(jobs.ended(&id)["verdict"], "success");
    let made: String = (1..=2000).map(|n| format!("{n}\n")).collect();
    let digest = Sha256::digest(&made);
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let listed = jobs.get(&id, "/artifacts").expect(200);
    let [file] = listed["artifacts"].as_array().unwrap().as_slice() else {
        panic!("{listed}");
    };
    assert_eq!(
        (&file["run"], &file["name"]),
        (&"fw.a".into(), &"sub/fw.bin".into())
    );
    assert_eq!(file["sha256"], *digest);
    assert_eq!(file["size_bytes"], made.len());
    let fetched = jobs.get(&id, "/artifacts/fw.a/sub/fw.bin");
    assert_eq!(fetched.status, 200);
    assert!(fetched.text == made);
    assert_eq!(fetched.header("etag"), Some(&*format!("\"{digest}\"")));
    assert_eq!(fetched.header("content-disposition"), Some("attachment"));
    assert_eq!(
        fetched.header("content-type"),
        Some("application/octet-stream")
    );
    for path in ["fw.a/fw.bin", "fw.b/sub/fw.bin", "fw.a/sub/..%2Ffw.bin"] {
        jobs.get(&id, &format!("/artifacts/{path}"))
            .expect_error(404, "not_found");
    }
}

#[test]
fn pages_tell_what_happened() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("");
    let id = jobs.submit(CASES);
    jobs.ended(&id);
    let junit = jobs.get(&id, "/junit.xml");
    assert_eq!(
        junit.header("content-type"),
        Some("application/xml; charset=utf-8")
    );
    let cases = cases(&junit.text);
    assert_eq!(
        cases,
        [
            ("fw.a".into(), "build".into()),
            ("fw.a".into(), "makes".into())
        ]
    );
    let report = jobs.get(&id, "/report");
    assert_eq!(
        report.header("content-type"),
        Some("text/html; charset=utf-8")
    );
    let policy = report.header("content-security-policy").unwrap();
    assert!(
        policy.contains("default-src 'none'") && policy.contains("sandbox"),
        "{policy}"
    );
    let text = report.text.to_lowercase();
    assert!(text.starts_with("<!doctype html>"));
    assert!(!text.contains("<script") && !text.contains("<b>bold"));
    assert!(text.contains("&lt;b&gt;bold") && text.contains("&lt;script&gt;alert(1)"));
    for outside in ["src=\"http", "href=\"http", "@import", "url(http"] {
        assert!(!text.contains(outside), "{outside}");
    }
    let trace = jobs.get(&id, "/trace.json").expect(200);
    let events = trace.as_array().unwrap();
    let made = events
        .iter()
        .find(|e| e["name"] == "makes" && e["ph"] == "X");
    let made = made.unwrap_or_else(|| panic!("{trace}"));
    assert!(
        made["ts"].as_u64().is_some() && made["dur"].as_u64() > Some(0),
        "{made}"
    );
    assert!(made["args"]["outcome"].is_string(), "{made}");
}

#[test]
fn a_failure_of_the_code_is_told_as_one() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("");
    let id = jobs.submit(&build("echo sorry; exit 7"));
    let job = jobs.ended(&id);
    let axes = ["ended_because", "verdict", "status"].map(|axis| &job[axis]);
    assert_eq!(axes, ["completed", "failure", "failed"]);
    let run = &job["runs"][0];
    assert_eq!(
        (&run["outcome"], &run["code"]),
        (&"failed".into(), &"exit_code".into())
    );
    assert!(
        run["message"].as_str().unwrap().contains("exit code 7"),
        "{run}"
    );
    // The code's own failures are not repeated.
    assert_eq!(job["attempts"].as_array().unwrap().len(), 1, "{job}");
    let junit = jobs.get(&id, "/junit.xml").text;
    assert!(
        junit.contains("<failure") && !junit.contains("<error"),
        "{junit}"
    );
    let why = jobs.get(&id, "/why").expect(200);
    assert_eq!(why["runs"][0]["message"], run["message"]);
    assert_eq!(
        jobs.get(&id, "/artifacts").expect(200)["artifacts"],
        Value::Array(vec![])
    );
}

/// Cases that wrote more than could be kept at once before: each is there, with its outcome.
#[test]
fn every_case_of_tests_that_write_much_is_told() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("");
    let script = r#"text=$(yes 'line [[ATTACHMENT|/etc/passwd]]' | head -c 60000)
          (echo '<testsuite>'
          i=0; while [ $i -lt 200 ]; do
            echo "<testcase name='t$i'>"
            test $i = 7 && echo "<failure message='broken'/>"
            echo "<system-out>$text</system-out></testcase>"; i=$((i+1))
          done
          echo '</testsuite>') > a.xml; cp a.xml b.xml"#;
    let id = jobs.submit(&format!(
        "version: 1\nbuilds:\n  - id: fw\n    steps:\n      - run: |\n          {script}\n        junit: '*.xml'\n"
    ));
    let job = jobs.ended(&id);
    assert_eq!(job["verdict"], "failure", "{job}");
    assert_eq!(job["runs"][0]["code"], "tests", "{job}");
    let junit = jobs.get(&id, "/junit.xml").text;
    let names = cases(&junit);
    assert_eq!(names.len(), 400);
    assert_eq!(names[399].1, "t199 (2)");
    assert_eq!(junit.matches("<failure").count(), 2);
    assert!(junit.contains("tests=\"400\" skipped=\"0\" errors=\"0\" failures=\"2\""));
    assert!(junit.len() > 400 * 60_000, "{}", junit.len());
    assert!(!junit.contains("[[ATTACHMENT|"));
    let report = jobs.get(&id, "/report").text;
    assert_eq!(report.matches("<details").count(), 400);
    assert!(report.contains("398 passed, 2 failed"));
}

#[test]
fn cases_of_one_name_take_no_longer_than_others() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("");
    let script = "(echo '<testsuite>'; yes '<testcase/>' | head -n 20000; echo '</testsuite>') > a.xml; cp a.xml b.xml";
    let id = jobs.submit(&format!(
        "version: 1\nbuilds:\n  - id: fw\n    steps: [{{ run: \"{script}\", junit: '*.xml' }}]\n"
    ));
    assert_eq!(jobs.ended(&id)["verdict"], "success");
    // Each name compared with those before it took 26 s for half as many.
    let began = std::time::Instant::now();
    let junit = jobs.get(&id, "/junit.xml").text;
    assert_eq!(junit.matches("<testcase").count(), 40_001);
    let took = began.elapsed();
    assert!(took < std::time::Duration::from_secs(20), "{took:?}");
}

/// Class and name of each case.
fn cases(junit: &str) -> Vec<(String, String)> {
    let mut reader = Reader::from_str(junit);
    let mut cases = Vec::new();
    loop {
        match reader.read_event().unwrap() {
            Event::Start(element) | Event::Empty(element)
                if element.name().as_ref() == b"testcase" =>
            {
                let attribute = |name: &str| {
                    let found = element.try_get_attribute(name).unwrap().unwrap();
                    String::from_utf8(found.value.into_owned()).unwrap()
                };
                cases.push((attribute("classname"), attribute("name")));
            }
            Event::Eof => return cases,
            _ => {}
        }
    }
}
