//! A server with two pods on cables, a run of a bench on the way to its phase, and a look at what is left afterwards.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use serde_json::Value;
use tests::{Cable, Opened, PodSim, Socket, demo_elf, until};

use super::phase::{Before, PYTEST, Phase, Sign, mark};
use crate::jobs::packing::{Entry, send_plain, tar_gz};
use crate::jobs::{Jobs, assert_no_processes, id};

/// A link so slow that each part of a flash can be seen.
const SLOW: &[&str] = &[
    "--seed",
    "9",
    "--target=blank",
    "--fault",
    "slow=5000B/s+5ms",
];

/// The next job waits no longer for its device: one that is free is given at once, and not when the server looks again,
/// which it does every half minute.
const SOON: Duration = Duration::from_secs(10);

/// A job that passes on a device that can be used.
const NEXT: &str = "
      - power: { rail: internal, state: on }
      - reset: { pulse: 1ms }
      - run: 'true'";

/// A pod, and the cable that the server reaches it by.
struct Pod {
    pod: PodSim,
    cable: Cable,
}

impl Pod {
    fn start(arguments: &[&str]) -> Self {
        let pod = PodSim::start(arguments).unwrap();
        let cable = Cable::to(&pod.address).unwrap();
        Self { pod, cable }
    }
}

pub(super) struct Scene {
    pub(super) jobs: Jobs,
    quick: Pod,
    slow: Pod,
    /// Somebody who has the serial line of a device open.
    occupant: RefCell<Option<Box<Socket>>>,
}

impl Scene {
    pub(super) fn new() -> Self {
        let (quick, slow) = (Pod::start(&["--seed", "8"]), Pod::start(SLOW));
        let device = |name: &str, pod: &Pod| {
            let address = &pod.cable.address;
            format!("[[devices]]\nname = \"{name}\"\naddress = \"tcp:{address}\"\n")
        };
        let devices = device("quick", &quick) + &device("slow", &slow);
        let jobs = Jobs::start(&format!("[pods]\ngrace_ms = 100\n{devices}"));
        let scene = Self {
            jobs,
            quick,
            slow,
            occupant: RefCell::new(None),
        };
        for name in ["quick", "slow"] {
            scene.until_free(name);
        }
        scene
    }

    fn pod(&self, phase: &Phase) -> &Pod {
        if phase.is_slow {
            &self.slow
        } else {
            &self.quick
        }
    }

    fn device(&self, name: &str) -> Value {
        let list = self
            .jobs
            .client()
            .get("/api/bench/devices")
            .unwrap()
            .expect(200);
        let mut list = list["devices"].as_array().unwrap().iter();
        list.find(|device| device["name"] == name).unwrap().clone()
    }

    /// Waits until the device is there, nobody has it, and it is safe.
    fn until_free(&self, name: &str) {
        until(
            || self.device(name),
            |device| {
                device["online"] == true
                    && device["lease"].is_null()
                    && device["making_safe_since"].is_null()
            },
        )
        .unwrap();
    }

    pub(super) fn submit(&self, phase: &Phase) -> String {
        if phase.before == Before::Occupied {
            let device = self.device(phase.device());
            let path = format!("/api/bench/devices/{}/uart/ws?rx=3&tx=4", id(&device));
            let key = format!("ApiKey {}", self.jobs.server.api_key);
            let opened = Socket::open(&self.jobs.server.url, &path, &[("authorization", &key)]);
            let Opened::Socket(mut socket) = opened.unwrap() else {
                panic!("{}: the line is not open", phase.name);
            };
            // It says that it is open.
            socket.message().unwrap();
            self.occupant.replace(Some(socket));
            self.pod(phase).pod.hang().unwrap();
        }
        self.send(&phase.pipeline())
    }

    fn send(&self, pipeline: &str) -> String {
        let test = format!("p{}/test_it.py", mark());
        let archive = tar_gz(&[
            Entry::File("ci.yml", pipeline.as_bytes()),
            Entry::File("fw.elf", &demo_elf()),
            Entry::File("pytest.py", PYTEST.as_bytes()),
            Entry::File(&test, b""),
        ]);
        id(&send_plain(&self.jobs.client(), &archive).expect(201))
    }

    /// Waits until the job is in the phase.
    pub(super) fn until_in(&self, phase: &Phase, job: &str) {
        if phase.before == Before::Hung {
            self.jobs.until_said(job, 1, "\nready\n");
            self.pod(phase).pod.hang().unwrap();
            self.jobs.make("go");
        }
        match phase.sign {
            Sign::Assigned => {
                let is_there = |job: &Value| job["state"] == "assigned";
                until(|| self.jobs.job(job), is_there).unwrap();
            }
            Sign::Log(text) => self.jobs.until_said(job, 1, text),
            Sign::Flash(phases) => {
                let path = format!(
                    "/api/bench/devices/{}/flash",
                    id(&self.device(phase.device()))
                );
                let list = || self.jobs.client().get(&path).unwrap().expect(200);
                let newest = || list()["flashes"][0].clone();
                let is_there = |flash: &Value| phases.iter().any(|phase| flash["phase"] == *phase);
                until(newest, is_there).unwrap();
            }
            Sign::Capture => {
                let path = format!(
                    "/api/captures?limit=1&device_id={}",
                    id(&self.device(phase.device()))
                );
                let list = || self.jobs.client().get(&path).unwrap().expect(200);
                let newest = || list()["captures"][0].clone();
                until(newest, |capture| capture["status"] == "running").unwrap();
            }
        }
    }

    /// Whatever keeps the run in its phase ends.
    pub(super) fn go_on(&self, phase: &Phase) {
        if phase.before != Before::Nothing {
            self.pod(phase).pod.go_on().unwrap();
        }
        self.occupant.replace(None);
        if phase.ends_by_file() {
            self.jobs.make("go");
        }
    }

    /// The server dies, and everything that jobs run with it.
    pub(super) fn kill(&mut self, phase: &Phase) {
        self.jobs.server.kill().unwrap();
        assert_no_processes(&mark());
        self.occupant.replace(None);
        if phase.before != Before::Nothing {
            self.pod(phase).pod.go_on().unwrap();
        }
    }

    pub(super) fn restart(&mut self, phase: &Phase) {
        self.jobs.restart();
        // Its key is one of this start.
        let online = |device: &Value| device["online"] == true;
        until(|| self.device(phase.device()), online).unwrap();
    }

    pub(super) fn unplug(&self, phase: &Phase) {
        self.pod(phase).cable.pull();
    }

    /// Puts the cable back once the run has ended over it. Who gives a device back waits a while for it to be safe, which
    /// it becomes when it is there again.
    pub(super) fn plug_when_lost(&self, phase: &Phase) {
        let is_owing = |device: &Value| {
            device["state"] == "offline"
                && device["lease"].is_null()
                && !device["making_safe_since"].is_null()
        };
        until(|| self.device(phase.device()), is_owing).unwrap();
        self.pod(phase).cable.plug();
    }

    /// The last attempt at the bench.
    pub(super) fn bench<'j>(&self, job: &'j Value) -> &'j Value {
        let mut attempts = job["attempts"].as_array().unwrap().iter().rev();
        let is_bench = |attempt: &&Value| !attempt["device"].is_null();
        attempts.find(is_bench).unwrap_or_else(|| panic!("{job}"))
    }

    /// Waits until another attempt has taken the place of one that died with the server.
    pub(super) fn until_repeated(&self, phase: &Phase, job: &str) {
        let benches = |job: &Value| -> Vec<Value> {
            let attempts = job["attempts"].as_array().unwrap().iter();
            attempts
                .filter(|attempt| !attempt["device"].is_null())
                .cloned()
                .collect()
        };
        let job = until(|| self.jobs.job(job), |job| benches(job).len() == 2).unwrap();
        let dead = &benches(&job)[0];
        assert_eq!(
            dead["code"], "infra.server_restarted",
            "{}: {job}",
            phase.name
        );
        let message = dead["message"].as_str().unwrap();
        assert!(message.contains("repeated"), "{}: {message}", phase.name);
    }

    /// Nothing is left of the job, its device is safe, and the next job gets it.
    pub(super) fn assert_over(&self, phase: &Phase, job: &str) {
        self.jobs.assert_nothing_is_left(job, &mark());
        self.until_free(phase.device());
        let pod = &self.pod(phase).pod;
        assert!(!pod.is_powered(), "{}: its power is on", phase.name);
        let device = phase.device();
        let next = format!(
            "version: 1\nbenches:\n  - id: b\n    device: {{ name: {device} }}\n    steps:{NEXT}\n"
        );
        let next = self.send(&next);
        let began = Instant::now();
        until(|| self.jobs.job(&next), |job| job["state"] != "queued").unwrap();
        let waited = began.elapsed();
        assert!(
            waited < SOON,
            "after {}: {waited:?} for the next",
            phase.name
        );
        let told = self.jobs.ended(&next);
        assert_eq!(told["verdict"], "success", "after {}: {told}", phase.name);
        assert!(!pod.is_powered(), "{}: its power is on", phase.name);
    }
}

impl Drop for Scene {
    /// A pod that hangs cannot end by itself.
    fn drop(&mut self) {
        for pod in [&self.quick, &self.slow] {
            let _ = pod.pod.go_on();
        }
    }
}
