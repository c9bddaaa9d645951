//! Servers that stop and die while jobs wait and run.

use std::time::{Duration, Instant};

use serde_json::Value;
use tests::{can_isolate, until};

use super::{Jobs, assert_no_processes, build, endless, held, mark};

/// Far longer than a stop takes, and far shorter than the job that is cut off.
const STOP_MAX: Duration = Duration::from_secs(60);

#[test]
fn a_server_that_stops_lets_running_jobs_end_and_others_wait() {
    if !can_isolate() {
        return;
    }
    let mut jobs = Jobs::one_by_one();
    let running = jobs.submit(&build(&held(52)));
    jobs.until_said(&running, 1, "\nhere\n");
    let waiting = jobs.submit(&build("true"));
    jobs.server.begin_stop().unwrap();
    let why = || jobs.get(&waiting, "/why").expect(200)["runs"][0]["message"].clone();
    let is_stopping = |why: &Value| why.as_str().unwrap().contains("about to stop");
    until(why, is_stopping).unwrap();
    jobs.make("go");
    assert!(jobs.server.stopped().unwrap());
    let log = jobs.data("jobs").join(&waiting).join("1/log");
    assert!(!log.exists(), "it began while the server stopped");
    jobs.restart();
    let job = jobs.job(&running);
    assert_eq!(
        (&job["state"], &job["verdict"]),
        (&"finished".into(), &"success".into())
    );
    assert_eq!(job["attempts"].as_array().unwrap().len(), 1, "{job}");
    assert!(jobs.get(&running, "/log").text.contains("\nover\n"));
    let job = jobs.ended(&waiting);
    assert_eq!(job["verdict"], "success");
    assert_eq!(job["attempts"].as_array().unwrap().len(), 1, "{job}");
    jobs.assert_nothing_runs(&mark(52));
}

#[test]
fn a_server_that_stops_waits_no_longer_than_it_may() {
    if !can_isolate() {
        return;
    }
    let mut jobs = Jobs::start("drain_ms = 200");
    let running = jobs.submit(&build(&endless(46)));
    jobs.until_said(&running, 1, "\nhere\n");
    let began = Instant::now();
    assert!(jobs.server.stop().unwrap());
    assert!(began.elapsed() < STOP_MAX, "{:?}", began.elapsed());
    assert_no_processes(&mark(46));
    jobs.restart();
    // A build is repeated; nobody has seen a test of it.
    jobs.until_said(&running, 2, "\nhere\n");
    let job = jobs.job(&running);
    assert_eq!(job["state"], "running", "{job}");
    let first = &job["attempts"][0];
    assert_eq!(first["outcome"], "broken", "{job}");
    assert_eq!(first["code"], "infra.server_restarted", "{job}");
    let message = first["message"].as_str().unwrap();
    assert!(message.contains("repeated"), "{message}");
    jobs.post(&running, "cancel").expect(200);
    jobs.ended(&running);
    jobs.assert_nothing_runs(&mark(46));
}

#[test]
fn a_server_that_dies_goes_on_with_its_jobs() {
    if !can_isolate() {
        return;
    }
    let mut jobs = Jobs::one_by_one();
    // The first attempt waits for its death, a later one ends.
    let running = jobs.submit(&build(&format!("touch left; {}", held(47))));
    jobs.until_said(&running, 1, "\nhere\n");
    let waiting = jobs.submit(&build("true"));
    assert_eq!(jobs.job(&waiting)["state"], "queued");
    assert_eq!(jobs.places().len(), 1);
    jobs.server.kill().unwrap();
    assert_no_processes(&mark(47));
    jobs.restart();
    jobs.until_said(&running, 2, "\nhere\n");
    jobs.make("go");
    let job = jobs.ended(&running);
    assert_eq!(
        (&job["ended_because"], &job["verdict"]),
        (&"completed".into(), &"success".into())
    );
    let attempts = job["attempts"].as_array().unwrap();
    let told: Vec<_> = attempts
        .iter()
        .map(|a| (&a["number"], &a["outcome"]))
        .collect();
    let expected = [(&1.into(), &"broken".into()), (&2.into(), &"passed".into())];
    assert_eq!(told, expected, "{job}");
    assert_eq!(attempts[0]["code"], "infra.server_restarted", "{job}");
    assert!(attempts[0]["ended_at"].is_string(), "{job}");
    // What the dead attempt said stays.
    let first = jobs.get(&running, "/log?attempt=1");
    assert!(first.text.contains("\nhere\n") && !first.text.contains("\nover\n"));
    assert_eq!(first.header("x-log-complete"), Some("true"));
    assert_eq!(attempts[0]["log_bytes"], first.text.len());
    assert!(
        jobs.get(&running, "/log?attempt=2")
            .text
            .contains("\nover\n")
    );
    let job = jobs.ended(&waiting);
    assert_eq!(job["verdict"], "success");
    assert_eq!(job["attempts"].as_array().unwrap().len(), 1, "{job}");
    jobs.assert_nothing_runs(&mark(47));
}

#[test]
fn a_job_during_which_the_server_died_twice_is_not_tried_a_third_time() {
    if !can_isolate() {
        return;
    }
    let mut jobs = Jobs::one_by_one();
    let deadly = jobs.submit(&build("echo here; sleep 1000.59"));
    let innocent = jobs.submit(&build("true"));
    for death in 1..=2 {
        jobs.until_said(&deadly, death, "\nhere\n");
        jobs.server.kill().unwrap();
        jobs.restart();
    }
    let job = jobs.ended(&deadly);
    assert_eq!(job["ended_because"], "infra_error", "{job}");
    assert_eq!(job["verdict"], "pending", "{job}");
    assert_eq!(job["runs"][0]["code"], "infra.server_died", "{job}");
    assert_eq!(job["attempts"].as_array().unwrap().len(), 2, "{job}");
    assert_eq!(jobs.ended(&innocent)["verdict"], "success");
    jobs.assert_nothing_runs("sleep 1000.59");
}
