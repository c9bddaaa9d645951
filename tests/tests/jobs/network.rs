//! Jobs with a network: who may have one, what it reaches, and that nothing is left of it.

use std::io::Write;
use std::net::{IpAddr, TcpListener, UdpSocket};

use serde_json::{Value, json};
use tests::{Reply, can_isolate, doctor};

use super::{Jobs, assert_no_processes, build, endless, mark};

/// The id of no organisation.
const OTHER: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

/// A build with a network that runs `script`.
fn networked(script: &str) -> String {
    let asks = "{ id: fw, sandbox: { network: true },";
    let build = build(script).replace("{ id: fw,", asks);
    build.replace("64MiB", "256MiB")
}

fn refusal(reply: &Reply) -> (Value, String) {
    reply.expect_error(422, "invalid_definition");
    let problem = reply.json()["problems"][0].clone();
    assert_eq!(problem["path"], "builds[0].sandbox.network");
    assert!(problem["line"].as_u64() > Some(1), "{problem}");
    let message = problem["message"].as_str().unwrap().to_owned();
    (problem["code"].clone(), message)
}

#[test]
fn a_network_takes_a_permission() {
    if !can_isolate() {
        return;
    }
    let listed = format!("network = \"all\"\nnetwork_orgs = \"{OTHER}\"");
    for (settings, key) in [("", "`jobs.network`"), (&listed, "`jobs.network_orgs`")] {
        let jobs = Jobs::start(settings);
        let body = json!({"definition": networked("true")});
        let reply = jobs.client().post("/api/jobs/submit", &body).unwrap();
        let (code, message) = refusal(&reply);
        assert_eq!(code, "network_refused");
        assert!(message.contains(key), "{message}");
        let id = jobs.submit(&build("true"));
        assert_eq!(jobs.ended(&id)["verdict"], "success");
    }
}

#[test]
fn a_permission_that_is_gone_when_the_run_begins_ends_it() {
    if !can_isolate() {
        return;
    }
    let mut jobs = Jobs::start("build_slots = 1\nnetwork = \"public\"");
    let running = jobs.submit(&build(&endless(61)));
    jobs.until_said(&running, 1, "\nhere\n");
    let waiting = jobs.submit(&networked("echo begun"));
    jobs.server.kill().unwrap();
    let config = "[jobs]\nbuild_slots = 2\nnetwork = \"off\"\n";
    std::fs::write(jobs.dir.path().join("hostd.toml"), config).unwrap();
    jobs.restart();
    let job = jobs.ended(&waiting);
    assert_eq!(job["ended_because"], "infra_error", "{job}");
    assert!(job.to_string().contains("jobs.network"), "{job}");
    assert!(!jobs.get(&waiting, "/log").text.contains("begun"));
    jobs.post(&running, "cancel").expect(200);
    assert_eq!(jobs.ended(&running)["ended_because"], "cancelled");
    assert_no_processes(&mark(61));
}

/// The address of this machine that others know it by.
fn own_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    // Nothing is sent there.
    socket.connect("198.51.100.1:9").ok()?;
    let address = socket.local_addr().ok()?.ip();
    (!address.is_loopback() && !address.is_unspecified()).then_some(address)
}

/// The address at which whoever connects hears `hello`; none if jobs have no network here, which is told.
#[allow(clippy::print_stderr, reason = "a test that is left out says why")]
pub(super) fn greeter() -> Option<(IpAddr, u16)> {
    let Some(address) = own_address() else {
        eprintln!("left out: this machine has no route");
        return None;
    };
    if doctor()["slirp4netns"].is_null() || doctor()["tun"] != true {
        eprintln!("left out: hostd doctor says what jobs with a network lack here");
        return None;
    }
    let listener = TcpListener::bind((address, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let _ = stream.unwrap().write_all(b"hello");
        }
    });
    Some((address, port))
}

#[test]
fn a_job_reaches_what_it_may_and_leaves_nothing() {
    if !can_isolate() {
        return;
    }
    let Some((address, port)) = greeter() else {
        return;
    };
    // With a connection that comes about, in time on a busy machine too; with one that does not.
    let [script, in_vain] = [30, 3].map(|wait_s| {
        format!(
            "python3 -c 'import socket; s = socket.create_connection((\"{address}\", {port}), {wait_s}); print(s.recv(9).decode())'"
        )
    });
    let mut jobs = Jobs::start("network = \"all\"");
    let own = jobs.submit(&networked(&script));
    assert_eq!(
        jobs.ended(&own)["verdict"],
        "success",
        "{}",
        jobs.get(&own, "/log").text
    );
    let log = jobs.get(&own, "/log").text;
    assert!(log.contains("\nhello\n"), "{log}");
    assert!(log.contains("with a network: all addresses\n"), "{log}");
    let junit = jobs.get(&own, "/junit.xml").text;
    assert!(
        junit.contains("name=\"hostd.network\" value=\"all\""),
        "{junit}"
    );
    assert!(
        jobs.get(&own, "/report")
            .text
            .contains("with a network (all addresses)")
    );
    // Without asking for one there is none, and to public addresses this is none.
    let none = jobs.submit(&build(&in_vain));
    assert_eq!(jobs.ended(&none)["verdict"], "failure");
    // A job that is cancelled, and a server that dies.
    let held = jobs.submit(&networked(&endless(62)));
    jobs.until_said(&held, 1, "\nhere\n");
    jobs.post(&held, "cancel").expect(200);
    assert_eq!(jobs.ended(&held)["ended_because"], "cancelled");
    let held = jobs.submit(&networked(&endless(63)));
    jobs.until_said(&held, 1, "\nhere\n");
    jobs.server.kill().unwrap();
    for number in [62, 63] {
        assert_no_processes(&mark(number));
    }
    let config = "[jobs]\nnetwork = \"public\"\n";
    std::fs::write(jobs.dir.path().join("hostd.toml"), config).unwrap();
    jobs.restart();
    let own = jobs.submit(&networked(&in_vain));
    assert_eq!(jobs.ended(&own)["verdict"], "failure");
    jobs.post(&held, "cancel").expect(200);
    jobs.ended(&held);
}
