//! Jobs that use secrets: the steps that name them get them, and nothing else ever shows them.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tests::{can_isolate, until};

use super::{Jobs, build, endless, id};
use crate::secrets::with_text;

const VALUE: &str = "correct-horse battery staple";

/// How its SHA-256 begins.
const DIGEST: &str = "913505c14bf3476d";

/// Says the secret in every way that it knows, in each place that something of it may be kept of.
const TELLTALE: &str = r#"
version: 1
builds:
  - id: says
    steps:
      - run: |
          printf '%s' "$TOKEN" | sha256sum | grep -q ^913505c14bf3476d
          printf '%s\n' "$TOKEN"
          printf '%s' "$TOKEN" | base64
          printf 'user:%s!' "$TOKEN" | base64 -w0; echo
          printf '?key=%s\n' "$TOKEN" | sed 's/ /%20/g' >&2
          printf '%s' "$TOKEN" | cut -c1-9 | tr -d '\n'; sleep 0.2; printf '%s\n' "$TOKEN" | cut -c10-
          echo over
        case: says
        env: { TOKEN: { secret: CAL } }
      - { run: 'test -z "${TOKEN+x}"' }
  - id: cases
    steps:
      - run: |
          echo "<testsuite name='s'><testcase name='n $TOKEN' classname='c'><failure message='m $TOKEN' type='t $TOKEN'>d $TOKEN</failure><system-out>o $TOKEN</system-out></testcase></testsuite>" > cases.xml
        junit: '*.xml'
        env: { TOKEN: { secret: CAL } }
  - id: files
    steps:
      - { run: 'echo made > "$HOSTD_OUT/$TOKEN"', env: { TOKEN: { secret: CAL } } }
    packs: [{ id: a, artifacts: [fw.bin] }]
  - id: broken
    steps:
      - run: 'echo "<oops" > "$TOKEN.xml"'
        junit: '*.xml'
        env: { TOKEN: { secret: CAL } }
benches:
  - id: bench
    device: { name: demo }
    steps:
      - { run: 'printf "%s\n" "$TOKEN" "$BENCHPOD_API_KEY"; echo "bench over"', env: { TOKEN: { secret: CAL } } }
    always:
      - { run: 'printf "always %s\n" "$TOKEN"', env: { TOKEN: { secret: CAL } } }
"#;

/// A pipeline whose one step passes if it gets the value, which is not in the text.
fn naming(secret: &str) -> String {
    format!(
        "version: 1\nretry: {{ infra: 3 }}\nbuilds:\n  - id: fw\n    steps:\n      - run: printf %s \"$T\" | sha256sum | grep -q ^{DIGEST}\n        env: {{ T: {{ secret: {secret} }} }}\n"
    )
}

pub(super) fn set(jobs: &Jobs, name: &str, refs: &[&str]) {
    let body = json!({"value": VALUE, "refs": refs}).to_string();
    let path = format!("/api/secrets/{name}");
    let reply = jobs.client().send("PUT", &path, Some(&body)).unwrap();
    assert!([200, 201].contains(&reply.status), "{}", reply.text);
}

fn remove(jobs: &Jobs, name: &str) {
    let reply = jobs.client().delete(&format!("/api/secrets/{name}"));
    assert_eq!(reply.unwrap().status, 204);
}

fn assert_hidden(what: &str, text: &str) {
    let encoded = STANDARD.encode(VALUE);
    let url = VALUE.replace(' ', "%20");
    for form in [VALUE, &encoded[..encoded.len() - 2], &url] {
        assert!(!text.contains(form), "{what} has {form}: {text}");
    }
}

#[test]
fn steps_get_a_secret_and_nobody_sees_it() {
    if !can_isolate() {
        return;
    }
    let mut jobs = Jobs::start("");
    set(&jobs, "CAL", &[]);
    let all = jobs.submit(TELLTALE);
    let job = jobs.ended(&all);
    let outcomes: Vec<_> = job["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| (run["id"].as_str().unwrap(), run["code"].as_str().unwrap()))
        .collect();
    let expected = [
        ("says", "passed"),
        ("cases", "tests"),
        ("files.a", "missing_artifact"),
        ("broken", "bad_junit"),
        ("bench", "passed"),
    ];
    assert_eq!(outcomes, expected, "{job}");
    let log = jobs.get(&all, "/log").text;
    assert!(
        log.contains("\nover\n") && log.contains("\nbench over\n"),
        "{log}"
    );
    assert!(log.contains("always [secret]\n"), "{log}");
    assert!(log.matches("[secret]").count() >= 8, "{log}");
    assert!(jobs.get(&all, "/junit.xml").text.contains("m [secret]"));
    for what in [
        "",
        "/why",
        "/log",
        "/junit.xml",
        "/report",
        "/trace.json",
        "/artifacts",
    ] {
        assert_hidden(what, &jobs.get(&all, what).text);
    }
    for run in job["runs"].as_array().unwrap() {
        assert_hidden("the run", &run.to_string());
    }
    assert!(jobs.server.stop().unwrap());
    assert_hidden("the server's log", &jobs.server.log());
    for form in [VALUE, &STANDARD.encode(VALUE)[..30]] {
        assert_eq!(with_text(jobs.dir.path(), form), [] as [&str; 0]);
    }
    // A restart keeps it.
    jobs.restart();
    let again = jobs.submit(&naming("CAL"));
    assert_eq!(jobs.ended(&again)["verdict"], "success");
}

#[test]
fn a_job_that_may_not_have_a_secret_is_refused_where_it_names_it() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("");
    set(&jobs, "CAL", &["main", "release/*"]);
    let submit = |secret: &str, reference: Option<&str>| {
        let body = json!({"definition": naming(secret), "ref": reference});
        jobs.client().post("/api/jobs/submit", &body).unwrap()
    };
    let problem = |reply: &tests::Reply| {
        reply.expect_error(422, "invalid_definition");
        let problem = reply.json()["problems"][0].clone();
        assert_eq!(problem["path"], "builds[0].steps[0].env.T.secret");
        assert_eq!(
            (&problem["line"], &problem["column"]),
            (&7.into(), &29.into()),
            "{problem}"
        );
        (
            problem["code"].clone(),
            problem["message"].as_str().unwrap().to_owned(),
        )
    };
    let (code, message) = problem(&submit("NONE", None));
    assert_eq!(code, "unknown_secret");
    assert!(message.contains("no secret `NONE`"), "{message}");
    for reference in [None, Some("dev"), Some("main/x"), Some("refs/heads/main")] {
        let (code, message) = problem(&submit("CAL", reference));
        assert_eq!(code, "secret_refused");
        assert!(message.contains("CAL"), "{message}");
    }
    let own = id(&submit("CAL", Some("release/1.2")).expect(201));
    assert_eq!(jobs.ended(&own)["verdict"], "success");
    // Who repeats a job is asked again.
    set(&jobs, "CAL", &["main"]);
    let (code, _) = problem(&jobs.post(&own, "retry"));
    assert_eq!(code, "secret_refused");
    set(&jobs, "CAL", &[]);
    let keyed = |key: &str| {
        let body = json!({"definition": naming("CAL")});
        let client = jobs.client().with_header("idempotency-key", key);
        client.post("/api/jobs/submit", &body).unwrap()
    };
    let first = id(&keyed("a").expect(201));
    remove(&jobs, "CAL");
    let (code, _) = problem(&jobs.post(&own, "retry"));
    assert_eq!(code, "unknown_secret");
    // A repeated request gets the first one's answer all the same.
    let again = keyed("a");
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(id(&again.json()), first);
    let (code, _) = problem(&keyed("b"));
    assert_eq!(code, "unknown_secret");
    set(&jobs, "CAL", &[]);
    jobs.post(&own, "retry").expect(201);
}

#[test]
fn a_secret_that_is_gone_when_the_run_begins_ends_it() {
    if !can_isolate() {
        return;
    }
    let mut jobs = Jobs::one_by_one();
    set(&jobs, "CAL", &[]);
    let first = jobs.submit(&build(&endless(61)));
    jobs.until_said(&first, 1, "\nhere\n");
    let gone = jobs.submit(&naming("CAL"));
    remove(&jobs, "CAL");
    jobs.post(&first, "cancel").expect(200);
    let ended = |jobs: &Jobs, id: &str, part: &str| {
        let job = jobs.ended(id);
        let axes = ["ended_because", "verdict"].map(|axis| &job[axis]);
        assert_eq!(axes, ["infra_error", "pending"], "{job}");
        let run = &job["runs"][0];
        assert_eq!(run["code"], "infra.secret_unavailable", "{job}");
        assert!(run["message"].as_str().unwrap().contains(part), "{job}");
        // Another attempt would find no more.
        assert_eq!(job["attempts"].as_array().unwrap().len(), 1, "{job}");
    };
    ended(&jobs, &gone, "no secret CAL any more");

    // As after a restore without the key file, and with a wrong one.
    set(&jobs, "CAL", &[]);
    let (key, apart) = (jobs.data("secrets.key"), jobs.dir.path().join("apart"));
    jobs.server.kill().unwrap();
    fs::rename(&key, &apart).unwrap();
    jobs.restart();
    let unread = jobs.submit(&naming("CAL"));
    ended(&jobs, &unread, "find secrets.key in the data folder");
    fs::write(&key, "5a".repeat(32)).unwrap();
    let unread = jobs.submit(&naming("CAL"));
    ended(&jobs, &unread, "others may read it");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    let unread = jobs.submit(&naming("CAL"));
    ended(&jobs, &unread, "sealed under the key");
    fs::rename(&apart, &key).unwrap();
    let job = jobs.submit(&naming("CAL"));
    assert_eq!(jobs.ended(&job)["verdict"], "success");
}

#[test]
fn a_job_that_waits_while_the_server_dies_gets_its_secret_afterwards() {
    if !can_isolate() {
        return;
    }
    let mut jobs = Jobs::one_by_one();
    set(&jobs, "CAL", &["main"]);
    let first = jobs.submit(&build(&endless(62)));
    jobs.until_said(&first, 1, "\nhere\n");
    let body = json!({"definition": naming("CAL"), "ref": "main"});
    let waits = jobs.client().post("/api/jobs/submit", &body).unwrap();
    let waits = id(&waits.expect(201));
    jobs.server.kill().unwrap();
    assert_eq!(with_text(&jobs.data(""), VALUE), [] as [&str; 0]);
    jobs.restart();
    let look = || jobs.post(&first, "cancel").json();
    until(look, |job: &Value| job["id"].is_string()).unwrap();
    assert_eq!(jobs.ended(&waits)["verdict"], "success");
}

#[test]
fn what_one_run_masks_the_next_does_not_show() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("");
    let pipeline = "
version: 1
builds:
  - { id: fetches, steps: [{ run: 'echo ::add-mask::opensesame; echo fetched opensesame' }, { run: 'echo then opensesame' }] }
  - { id: uses, needs: [fetches], steps: [{ run: 'echo used opensesame' }] }
";
    let id = jobs.submit(pipeline);
    let job = jobs.ended(&id);
    let log = jobs.get(&id, "/log").text;
    assert_eq!(job["verdict"], "success", "{log}");
    for said in ["fetched", "then", "used"] {
        assert!(log.contains(&format!("\n{said} [secret]\n")), "{log}");
    }
    // Another job has not asked for it.
    let other = jobs.submit(&build("echo other opensesame"));
    jobs.ended(&other);
    assert!(
        jobs.get(&other, "/log")
            .text
            .contains("\nother opensesame\n")
    );
}
