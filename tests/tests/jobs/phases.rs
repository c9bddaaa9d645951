//! Runs of a bench that end in the middle, in each of their phases: somebody cancels the job, the server is killed, or
//! the pod is unplugged. The job says what happened and what to do, nothing of it stays, and the next one gets the
//! device.

mod phase;
mod scene;

use serde_json::Value;
use tests::can_isolate;

use phase::{PHASES, Phase};
use scene::Scene;

/// What a job says of itself at its end.
fn axes(job: &Value) -> [&str; 3] {
    ["state", "ended_because", "verdict"].map(|axis| job[axis].as_str().unwrap_or_default())
}

/// Its message names what happened by one of `words`, and what to do.
fn assert_says(phase: &Phase, job: &Value, words: &[&str]) {
    let message = job["message"].as_str().unwrap();
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    assert!(says(words), "{}: {message}", phase.name);
    let todo = ["etry the job", "look at", "run it again", "Check its cable"];
    assert!(says(&todo), "{}: {message}", phase.name);
}

#[test]
fn a_job_is_cancelled_in_each_phase() {
    if !can_isolate() {
        return;
    }
    let scene = Scene::new();
    for phase in phase::possible() {
        let id = scene.submit(phase);
        scene.until_in(phase, &id);
        let told = scene.jobs.post(&id, "cancel").expect(200);
        assert_eq!(told["ended_because"], "cancelled", "{}: {told}", phase.name);
        scene.go_on(phase);
        let job = scene.jobs.ended(&id);
        assert_eq!(
            axes(&job),
            ["finished", "cancelled", "pending"],
            "{}: {job}",
            phase.name
        );
        assert_says(phase, &job, &["cancelled"]);
        scene.assert_over(phase, &id);
    }
}

#[test]
fn a_server_is_killed_in_each_phase() {
    if !can_isolate() {
        return;
    }
    let mut scene = Scene::new();
    for phase in phase::possible() {
        let id = scene.submit(phase);
        scene.until_in(phase, &id);
        scene.kill(phase);
        scene.restart(phase);
        if phase.says_something {
            // What a test began is not repeated unasked.
            let job = scene.jobs.ended(&id);
            assert_eq!(
                axes(&job),
                ["finished", "infra_error", "pending"],
                "{}: {job}",
                phase.name
            );
            assert_eq!(
                scene.bench(&job)["code"],
                "infra.server_restarted",
                "{}: {job}",
                phase.name
            );
            assert_says(phase, &job, &["server was restarted"]);
        } else {
            scene.until_repeated(phase, &id);
            scene.jobs.post(&id, "cancel").expect(200);
            let job = scene.jobs.ended(&id);
            assert_eq!(
                axes(&job),
                ["finished", "cancelled", "pending"],
                "{}: {job}",
                phase.name
            );
        }
        scene.assert_over(phase, &id);
    }
}

#[test]
fn a_cancel_outlives_the_server() {
    if !can_isolate() {
        return;
    }
    let mut scene = Scene::new();
    let phase = PHASES.iter().find(|phase| phase.name == "always").unwrap();
    let id = scene.submit(phase);
    scene.until_in(phase, &id);
    // What is done under `always` goes on, and the server dies over it.
    scene.jobs.post(&id, "cancel").expect(200);
    scene.kill(phase);
    scene.restart(phase);
    let job = scene.jobs.ended(&id);
    assert_eq!(axes(&job), ["finished", "cancelled", "pending"], "{job}");
    scene.assert_over(phase, &id);
}

#[test]
fn a_pod_is_unplugged_in_each_phase() {
    if !can_isolate() {
        return;
    }
    let scene = Scene::new();
    for phase in phase::possible() {
        let id = scene.submit(phase);
        scene.until_in(phase, &id);
        scene.unplug(phase);
        scene.go_on(phase);
        scene.plug_when_lost(phase);
        let job = scene.jobs.ended(&id);
        assert_eq!(
            axes(&job),
            ["finished", "device_lost", "pending"],
            "{}: {job}",
            phase.name
        );
        assert_eq!(
            scene.bench(&job)["code"],
            "infra.device_lost",
            "{}: {job}",
            phase.name
        );
        assert_says(phase, &job, &["device was lost", "device went away"]);
        scene.assert_over(phase, &id);
    }
}
