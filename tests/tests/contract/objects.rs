//! Makes the objects of the rows: `<capture>` is a finished capture, made when the first row names
//! it; objects whose names begin with `new-` are made afresh for each row.

use serde_json::{Value, json};
use tests::issuer::id_token;
use tests::{Client, until};

use crate::bench::{Bench, text};
use crate::document::Kind;
use crate::rows::{TAR, packed};

/// A build that leaves a file.
const BUILD: &str = "version: 1\nbuilds:\n  - id: fw\n    steps:\n      - { run: 'echo made > \"$HOSTD_OUT/fw.bin\"', case: makes }\n    packs: [{ id: a, artifacts: [fw.bin] }]\n";

/// A bench that records.
const RECORDS: &str = "version: 1\nbenches:\n  - id: b\n    device: { name: demo }\n    steps: [{ id: line, capture: { kind: la, channels: { a: 1 }, rate: 1MHz, samples: 1000 } }]\n";

/// A bench on a device that nobody has: it waits until it is cancelled.
const NOWHERE: &str =
    "version: 1\nbenches: [{ id: b, device: { name: nowhere }, steps: [{ reset: {} }] }]\n";

/// How the names of secret objects begin.
const SECRET: [&str; 13] = [
    "capture.link",
    "file.signature",
    "id-token",
    "key.bench",
    "key.boardless",
    "key.narrow",
    "new-code",
    "new-refresh",
    "new-session",
    "new-upload.signature",
    "upload.signature",
    "secret",
    "token.",
];

impl Bench {
    /// The id, name or secret that `<name>` stands for.
    pub(crate) fn object(&self, name: &str) -> String {
        if let Some(made) = self.made.borrow().get(name) {
            return made.clone();
        }
        let made = self.make(name);
        if SECRET.iter().any(|start| name.starts_with(start)) {
            self.keep_secret(&made);
        }
        let mut all = self.made.borrow_mut();
        all.insert(name.to_owned(), made.clone());
        made
    }

    /// Forget these objects, so that the next row gets new ones.
    pub(crate) fn forget_new(&self) {
        let mut all = self.made.borrow_mut();
        all.retain(|name, _| !name.starts_with("new-"));
    }

    fn make(&self, name: &str) -> String {
        match name {
            "device" => self.device("demo"),
            "digital" | "gone" | "lent" | "patient" | "removable" | "spare" | "target"
            | "unwired" | "updatable" | "mailed" => self.device(name),
            // Callers who are restricted to other devices must not learn what it was.
            "tombstone" => self.object("removable"),
            "replaced" => self.replaced(),
            "leased" => {
                self.lease("leased");
                self.device("leased")
            }
            "updating" | "new-updating" => self.updating(),
            "missing" => "01ARZ3NDEKTSV4RRFFQ69G5FAV".to_owned(),
            "capture" | "new-capture" => self.capture("demo", 1000, None),
            "capture.link" => self.capture_link(),
            "capture.waiting" | "new-capture.waiting" => self.capture(
                "patient",
                1000,
                Some(json!({"channel": 9, "edge": "falling", "timeout_ms": 600_000})),
            ),
            "capture.analog" => self.analog("demo", 256),
            "job" => self.job(BUILD),
            "job.recorded" => self.job(RECORDS),
            "capture.of-job" => self.recorded(),
            "job.waiting" | "new-job.waiting" => self.submit(NOWHERE),
            "key" | "new-key" => text(&self.key()["kid"]),
            "owner" => self.owner_id(),
            "user" | "new-user" => text(&self.user()["id"]),
            "new-code" => text(&self.user()["code"]),
            "new-session" => text(&self.sign_in()["token"]),
            "new-refresh" => text(&self.sign_in()["refresh_token"]),
            "rule" | "new-rule" => text(&self.rule()["id"]),
            "id-token" => {
                self.object("rule");
                id_token(|_| {})
            }
            "id-token.untrusted" => {
                self.object("rule");
                id_token(|claims| claims["repository"] = "acme/unknown".into())
            }
            "secret.token" => self.token(),
            "flash" => text(&self.flash("demo", 200)["id"]),
            "new-flash.running" => text(&self.flash("unwired", 202)["id"]),
            "name.demo" => "demo".to_owned(),
            "new-name.plugin" => self.plugin(),
            "build" | "new-build" => self.build("open", &[]),
            "build.open" => self.build("open", &["fw.elf"]),
            "build.finished" => self.finished("finished", &["fw.elf"]),
            "build.twins" => self.finished("twins", &["a.elf", "b.elf"]),
            "waveform" | "new-waveform" => self.recording(),
            "waveform.codes" => {
                let body = json!({"name": "codes", "samples_b64": "AP8=", "sample_rate_hz": 1000});
                text(&self.post(Kind::ApiKey, "/bench/waveforms", &body)["id"])
            }
            "new-name" => format!("name-{}", self.next()),
            "new-name.secret" => format!("S{}", self.next()),
            "org-secret" | "new-org-secret" => self.org_secret(),
            "lease.spare" => self.lease("spare"),
            "lease.other" => {
                self.object("lease.spare");
                "another-lease".to_owned()
            }
            other => {
                let made = self.told(other).or_else(|| self.of_boards(other));
                let made = made.or_else(|| self.credential(other));
                made.unwrap_or_else(|| panic!("objects.rs cannot make <{other}>"))
            }
        }
    }

    fn next(&self) -> u32 {
        self.serial.set(self.serial.get() + 1);
        self.serial.get()
    }

    /// The owner's client, with a credential of this kind.
    fn own(&self, kind: Kind) -> Client {
        self.client(self.owner.credential(kind))
    }

    pub(crate) fn post(&self, kind: Kind, path: &str, body: &Value) -> Value {
        let reply = self.own(kind).post(&format!("/api{path}"), body).unwrap();
        assert!((200..300).contains(&reply.status), "{path}: {}", reply.text);
        reply.json()
    }

    /// The name of a secret of the owner's organisation.
    fn org_secret(&self) -> String {
        let name = format!("S{}", self.next());
        let body = json!({"value": "correct horse battery staple"}).to_string();
        let path = format!("/api/secrets/{name}");
        let reply = self.own(Kind::ApiKey).send("PUT", &path, Some(&body));
        reply.unwrap().expect(201);
        name
    }

    fn device(&self, name: &str) -> String {
        let listed = self.own(Kind::ApiKey).get("/api/bench/devices");
        let listed = listed.unwrap().expect(200);
        let mut devices = listed["devices"].as_array().unwrap().iter();
        let device = devices.find(|d| d["name"] == name);
        text(&device.unwrap_or_else(|| panic!("no device {name}"))["id"])
    }

    /// A removed device whose name another device has now.
    fn replaced(&self) -> String {
        let id = self.device("replaced");
        let owner = self.own(Kind::UserSession);
        let removed = owner.delete(&format!("/api/bench/devices/{id}"));
        assert_eq!(removed.unwrap().status, 204);
        let other = format!("/api/bench/devices/{}", self.device("removable"));
        let renamed = owner.patch(&other, &json!({"name": "replaced"}));
        renamed.unwrap().expect(200);
        id
    }

    /// Lease a device for the rest of the test; returns the device's lease id.
    fn lease(&self, device: &str) -> String {
        let id = format!("lease-of-{device}");
        let path = format!("/cloud/devices/lease?device={device}");
        let body = json!({"lease_id": id, "run_label": "a run", "ttl_seconds": 600});
        self.post(Kind::CloudSession, &path, &body);
        id
    }

    /// A capture of the logic analyzer, finished unless it waits for a trigger.
    fn capture(&self, device: &str, samples: u32, trigger: Option<Value>) -> String {
        let waits = trigger.is_some();
        let mut order = json!({"device_id": self.device(device), "samples": samples,
            "sample_rate_mhz": 1.0, "voltage_mv": 3300});
        if let Some(trigger) = trigger {
            order["trigger"] = trigger;
        }
        self.started("/la/captures/start", &order, waits)
    }

    /// A finished capture of the converter.
    fn analog(&self, device: &str, samples: u32) -> String {
        let order =
            json!({"device_id": self.device(device), "samples": samples, "sample_rate_mhz": 0.4});
        self.started("/scope/captures/start", &order, false)
    }

    /// A capture that was started, and has finished unless it waits for something.
    fn started(&self, path: &str, order: &Value, waits: bool) -> String {
        let started = self.post(Kind::ApiKey, path, order);
        let id = text(&started["capture_id"]);
        let look = || {
            let path = format!("/api/capture/{id}?frames=none");
            let head = self.own(Kind::ApiKey).get(&path).unwrap().expect(200);
            assert_ne!(head["status"], "failed", "{head}");
            head
        };
        until(look, |head| waits || head["status"] == "done").unwrap();
        id
    }

    /// A device whose pod is being updated, at the start of the update.
    fn updating(&self) -> String {
        let device = self.device("slow");
        let path = format!("/api/bench/devices/{device}/ota/abort");
        let aborted = self.own(Kind::ApiKey).post(&path, &json!({})).unwrap();
        assert!([200, 409].contains(&aborted.status), "{}", aborted.text);
        let build = self.build_with("pod", "pod.bin", &[b'f'; 200_000]);
        let order = json!({"artifact": {"job_id": build, "artifact_name": "pod.bin"}});
        self.post(
            Kind::ApiKey,
            &format!("/bench/devices/{device}/ota"),
            &order,
        );
        device
    }

    /// A recording of two samples.
    fn recording(&self) -> String {
        let path = "/api/bench/waveforms/recording?name=boot&sample_rate_hz=1000&full_scale_v=3.3";
        let body = ("application/octet-stream", &b"AABB"[..]);
        let sent = self.own(Kind::ApiKey).send_typed("POST", path, Some(body));
        text(&sent.unwrap().expect(201)["id"])
    }

    /// A flash that has ended (200), or one that has begun (202): the latter of a target that is absent,
    /// for which the pod waits.
    fn flash(&self, device: &str, status: u16) -> Value {
        let path = format!("/api/bench/devices/{}/flash", self.device(device));
        let file = ("firmware", "fw.bin", &b"\0 \0 "[..]);
        let mut client = self.own(Kind::ApiKey);
        if status == 202 {
            client = client.with_header("prefer", "respond-async");
        }
        let begun = client.post_form(&path, &[("target", "stm32f0x")], file);
        begun.unwrap().expect(status)
    }

    fn key(&self) -> Value {
        let body = json!({"name": "ci", "scopes": ["bench:control"]});
        self.post(Kind::ApiKey, "/keys", &body)
    }

    fn owner_id(&self) -> String {
        let me = self.own(Kind::UserSession).get("/api/auth/session");
        text(&me.unwrap().expect(200)["user"])
    }

    fn submit(&self, definition: &str) -> String {
        let body = json!({"definition": definition});
        text(&self.post(Kind::ApiKey, "/jobs/submit", &body)["id"])
    }

    /// The capture that a job made.
    fn recorded(&self) -> String {
        let job = self.object("job.recorded");
        let record = self.own(Kind::ApiKey).get(&format!("/api/jobs/{job}"));
        let record = record.unwrap().expect(200);
        text(&record["captures"][0]["id"])
    }

    /// A job that has ended well.
    fn job(&self, definition: &str) -> String {
        let id = self.submit(definition);
        let look = || {
            let job = self.own(Kind::ApiKey).get(&format!("/api/jobs/{id}"));
            job.unwrap().expect(200)
        };
        let job = until(look, |job| job["state"] == "finished").unwrap();
        assert_eq!(job["verdict"], "success", "{job}");
        id
    }

    /// What has to do with telling others of jobs.
    fn told(&self, name: &str) -> Option<String> {
        Some(match name {
            "badge" | "new-badge" => {
                let made = self.post(Kind::ApiKey, "/badges", &json!({"name": "hello"}));
                text(&made["id"])
            }
            "webhook" | "new-webhook" | "webhook.tried" => self.webhook(),
            "webhook.disabled" => {
                let id = self.webhook();
                self.enable(&id, false);
                id
            }
            "delivery.failed" => {
                let id = self.object("webhook.tried");
                let path = format!("/webhooks/{id}/test");
                let sent = self.post(Kind::ApiKey, &path, &json!({}));
                // What waits for one that is disabled is given up.
                self.enable(&id, false);
                self.enable(&id, true);
                text(&sent["id"])
            }
            _ => return None,
        })
    }

    /// A webhook that leads nowhere.
    fn webhook(&self) -> String {
        let body = json!({"url": "https://receiver.invalid/hook"});
        let made = self.post(Kind::ApiKey, "/webhooks", &body);
        self.keep_secret(&text(&made["secret"]));
        text(&made["id"])
    }

    fn enable(&self, webhook: &str, enabled: bool) {
        let path = format!("/api/webhooks/{webhook}");
        let changed = self
            .own(Kind::ApiKey)
            .patch(&path, &json!({"enabled": enabled}));
        changed.unwrap().expect(200);
    }

    /// Id of a plugin with two versions.
    fn plugin(&self) -> String {
        let id = format!("test.plugin-{}", self.next());
        // A server has room for some.
        if let Some(before) = self.plugin.replace(Some(id.clone())) {
            let gone = self
                .own(Kind::ApiKey)
                .delete(&format!("/api/plugins/{before}"));
            assert!(matches!(gone.unwrap().status, 204 | 404));
        }
        for version in ["1.0.0", "2.0.0"] {
            let client = self.own(Kind::ApiKey);
            let package = packed(&id, version);
            let body = Some((TAR, &package[..]));
            let installed = client.send_typed("POST", "/api/plugins", body);
            installed.unwrap().expect(200);
        }
        id
    }

    /// A new user, with a sign-in code.
    fn user(&self) -> Value {
        let body = json!({"login": format!("user-{}", self.next())});
        self.post(Kind::UserSession, "/users", &body)
    }

    /// The session of a new user.
    fn sign_in(&self) -> Value {
        let body = json!({"code": self.user()["code"], "keep": true});
        let reply = self.server().anonymous().post("/api/auth/session", &body);
        reply.unwrap().expect(200)
    }

    /// A session token for every device.
    fn token(&self) -> String {
        text(&self.post(Kind::ApiKey, "/auth/token", &json!({}))["token"])
    }

    fn rule(&self) -> Value {
        let body = json!({"repository": "acme/blinky", "ttl_seconds": 600});
        self.post(Kind::UserSession, "/github/trust", &body)
    }

    /// What the address of `<capture>` as a value change dump carries.
    fn capture_link(&self) -> String {
        let path = format!("/capture/{}/link", self.object("capture"));
        let made = self.post(Kind::ApiKey, &path, &json!({"format": "vcd"}));
        let url = made["url"].as_str().unwrap();
        let (_, link) = url.split_once("?link=").unwrap();
        link.to_owned()
    }

    /// A build with these files.
    fn build(&self, repo: &str, files: &[&str]) -> String {
        let source = json!({"repo_owner": "acme", "repo": repo, "ref": "main"});
        let id = text(&self.post(Kind::CloudSession, "/cloud/builds", &source)["build_id"]);
        for file in files {
            self.add(&id, file, file.as_bytes());
        }
        id
    }

    /// A build with one file.
    fn build_with(&self, repo: &str, file: &str, bytes: &[u8]) -> String {
        let id = self.build(repo, &[]);
        self.add(&id, file, bytes);
        id
    }

    fn add(&self, build: &str, file: &str, bytes: &[u8]) {
        let path = format!("/api/cloud/builds/{build}/artifacts?name={file}");
        let body = Some(("application/octet-stream", bytes));
        let added = self.own(Kind::CloudSession).send_typed("POST", &path, body);
        added.unwrap().expect(201);
    }

    fn finished(&self, repo: &str, files: &[&str]) -> String {
        let id = self.build(repo, files);
        let path = format!("/cloud/builds/{id}/status");
        self.post(Kind::CloudSession, &path, &json!({"success": true}));
        id
    }
}
