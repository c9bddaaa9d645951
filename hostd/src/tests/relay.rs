//! The way of a job to its bench: who may use it, what it opens, what ends it.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use futures_util::StreamExt;
use hostd::http::gateway::job::ROUTES;
use hostd::http::relay::{FOLDER, RelayError, Relays};
use http::header::AUTHORIZATION;
use identity::{JobGrant, Origin, Stay};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use super::http::Ask;
use super::stage::{COMMAND, DEVICE, Job, OTHER, Stage, ping};

const WRONG: (u16, &str) = (403, "wrong_credential");

/// As published clients choose them: at random.
const CHOSEN: &str = "lease-4f9d2c7be6a148d3b1a0c5e8f7263d94";

/// Connections of one relay.
const CONNECTIONS: usize = 64;

/// Ends a test that hangs.
const WAIT: Duration = Duration::from_secs(30);

#[tokio::test(flavor = "multi_thread")]
async fn a_job_finds_and_drives_its_device_as_published_clients_do() {
    let stage = Stage::new().await;
    let job = stage.job("j1").await;
    let variables = job.relay.variables();
    let of = |name: &str| {
        let found = variables.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.as_str()).unwrap()
    };
    assert_eq!(of("BENCHPOD_API_BASE"), "http://127.0.0.1:8099");
    assert_eq!(of("BENCHPOD_CONNECTION"), "embeddedci:demo");
    assert_eq!(format!("ApiKey {}", of("BENCHPOD_API_KEY")), job.key);

    let held = job.lease("", CHOSEN).await.ok();
    assert_eq!(held["lease_id"], CHOSEN);
    assert_eq!(
        (&held["device"], &held["holder"]),
        (&json!(DEVICE), &json!("j1"))
    );
    job.ask(&ping(COMMAND, &job.session).showing(CHOSEN))
        .await
        .ok();
    for credential in [&job.key, &job.session] {
        let devices = Ask::new("GET", "/api/benchpod/devices", credential);
        let devices = job.ask(&devices).await.ok();
        let devices = devices["devices"].as_array().unwrap();
        assert_eq!(devices.len(), 1);
        assert_eq!(devices[0]["name"], DEVICE);
    }
    job.lease("/renew", CHOSEN).await.ok();
    job.lease("/release", CHOSEN).await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_keeps_its_lease_whatever_its_programs_take_and_release() {
    let stage = Stage::new().await;
    let job = stage.job("j1").await;
    let holder = || stage.services.leases.holder(&stage.device(DEVICE));
    let before = holder().unwrap();
    for lease in [CHOSEN, "another"] {
        let taken = job.lease("", lease).await.ok();
        assert_eq!(taken["lease_id"], lease);
        assert_eq!(job.lease("/renew", lease).await.ok()["lease_id"], lease);
    }
    for shown in [None, Some(CHOSEN), Some("never-taken")] {
        let command = ping(COMMAND, &job.session);
        let command = shown.into_iter().fold(command, Ask::showing);
        job.ask(&command).await.ok();
    }
    let released = job.lease("/release", CHOSEN).await.ok();
    assert_eq!(released["released"], true);
    // A client that asks for 15 s does not shorten the job's lease, of minutes.
    let after = holder().unwrap();
    assert_eq!(after.0, before.0);
    let moved_ms = after.1.abs_diff(before.1);
    assert!(
        moved_ms < 1000,
        "by the wall clock, which steps: {moved_ms}"
    );
    job.ask(&ping(COMMAND, &job.session)).await.ok();
    job.lease("", CHOSEN).await.ok();

    // Nobody else is let in by it, not even the job's user by the lease's own id.
    let owner = Ask::post("/api/auth/token", &stage.owner, json!({}));
    let token = stage.ask(&owner).await.ok();
    let owner = format!("Bearer {}", token["token"].as_str().unwrap());
    for lease in [CHOSEN, "lease-of-j1"] {
        let command = ping(COMMAND, &owner).showing(lease);
        let refused = stage.ask(&command).await;
        assert_eq!(refused.refused(), (409, "lease_held"), "{lease}");
    }

    // When the job's lease is over, its programs cannot take the device again.
    let device = stage.device(DEVICE);
    let taken = stage.services.leases.take_away(&device, "j1");
    taken.await.unwrap();
    for endpoint in ["", "/renew"] {
        let refused = job.lease(endpoint, CHOSEN).await;
        assert_eq!(refused.refused(), (409, "lease_held"), "{endpoint}");
    }
    job.lease("/release", CHOSEN).await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_s_credentials_are_worth_nothing_elsewhere() {
    let stage = Stage::new().await;
    let job = stage.job("j1").await;
    let devices = "/api/benchpod/devices";
    for credential in [&job.key, &job.session] {
        let refused = stage.ask(&Ask::new("GET", devices, credential)).await;
        assert_eq!(refused.refused(), WRONG);
    }
    let exchange = Ask::post("/api/auth/token", &job.key, json!({}));
    assert_eq!(stage.ask(&exchange).await.refused(), WRONG);
    let sibling = stage.relays.open(stage.grant("j2")).unwrap();
    for credential in [&job.key, &job.session] {
        let stream = UnixStream::connect(sibling.socket()).await.unwrap();
        let refused = Ask::new("GET", devices, credential).over(stream).await;
        assert_eq!(refused.refused(), WRONG);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relay_answers_its_job_alone() {
    let stage = Stage::new().await;
    let job = stage.job("j1").await;
    let devices = "/api/benchpod/devices";
    let exchange = Ask::post("/api/auth/token", &stage.owner, json!({}));
    let token = stage.ask(&exchange).await.ok();
    let session = format!("Bearer {}", token["token"].as_str().unwrap());
    for credential in [&stage.owner, &session] {
        stage.ask(&Ask::new("GET", devices, credential)).await.ok();
        let refused = job.ask(&Ask::new("GET", devices, credential)).await;
        assert_eq!(refused.refused(), WRONG);
    }
    for (credential, code) in [
        ("", "missing_credential"),
        (
            "ApiKey bk_AAAAAAAAAAAA_0123456789012345678901",
            "invalid_credential",
        ),
    ] {
        let refused = job.ask(&Ask::new("GET", devices, credential)).await;
        assert_eq!(refused.refused(), (401, code));
    }
    // Not even by those who sign in on it, and nothing about the server as a whole.
    let sign_in = Ask::post("/api/auth/session", "", json!({"code": "x"}));
    assert_eq!(stage.ask(&sign_in).await.refused().0, 401);
    assert_eq!(job.ask(&sign_in).await.refused(), WRONG);
    for path in [
        "/",
        "/metrics",
        "/healthz",
        "/readyz",
        "/api/openapi.json",
        "/api/docs",
    ] {
        let open = stage.ask(&Ask::new("GET", path, "")).await;
        assert_ne!(open.status.as_u16(), 403, "{path}");
        for credential in ["", &job.key, &job.session] {
            for method in ["GET", "HEAD"] {
                let refused = job.ask(&Ask::new(method, path, credential)).await;
                assert_eq!(refused.status.as_u16(), 403, "{method} {path}: {refused:?}");
            }
        }
    }
    let refused = job.ask(&Ask::new("GET", "/healthz", &job.key)).await;
    assert_eq!(refused.refused(), WRONG);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_may_drive_one_device_and_administer_nothing() {
    let stage = Stage::new().await;
    let job = stage.job("j1").await;
    let command = format!("/api/cloud/devices/command?device={OTHER}");
    let refused = job.ask(&ping(&command, &job.session)).await;
    assert_eq!(refused.refused(), (404, "not_found"));
    let lease = format!("/api/cloud/devices/lease?device={OTHER}");
    let body = json!({"lease_id": CHOSEN});
    let refused = job.ask(&Ask::post(&lease, &job.session, body)).await;
    assert_eq!(refused.refused(), (404, "not_found"));
    let token = json!({"devices": [OTHER]});
    let refused = job
        .ask(&Ask::post("/api/auth/token", &job.key, token))
        .await;
    assert_eq!(refused.refused(), (404, "not_found"));

    // Its user is an admin; the job is not.
    let make = json!({"name": "mine", "scopes": ["bench:control"]});
    let device = format!("/api/bench/devices/{}", stage.device(DEVICE));
    for credential in [&job.key, &job.session] {
        for ask in [
            Ask::new("GET", "/api/keys", credential),
            Ask::post("/api/keys", credential, make.clone()),
            Ask::new("GET", "/api/users", credential),
            Ask::new("GET", "/api/github/trust", credential),
            Ask::new("GET", "/api/plugins", credential),
            Ask::post("/api/plugins/acme.x/approve", credential, json!({})),
            Ask::new("DELETE", &device, credential),
        ] {
            let refused = job.ask(&ask).await;
            assert_eq!(refused.status.as_u16(), 403, "{ask:?}: {refused:?}");
        }
    }
    for body in [
        json!({"lease_id": CHOSEN, "override": true}),
        json!({"holder": "j1"}),
    ] {
        let endpoint = if body["holder"].is_null() {
            ""
        } else {
            "/release"
        };
        let path = format!("/api/cloud/devices/lease{endpoint}?device={DEVICE}");
        let refused = job.ask(&Ask::post(&path, &job.session, body)).await;
        assert_eq!(refused.refused(), (403, "forbidden"));
    }
}

/// A path of this pattern: with the job's device wherever one is named.
fn path_of(pattern: &str, device: &str) -> String {
    let pattern = pattern.replace("/bench/devices/{id}", &format!("/bench/devices/{device}"));
    let mut path = "/api".to_owned();
    for segment in pattern.split('/').skip(1) {
        path.push('/');
        path.push_str(if segment.starts_with('{') {
            "x"
        } else {
            segment
        });
    }
    path
}

#[tokio::test(flavor = "multi_thread")]
async fn each_route_is_open_to_jobs_or_says_that_it_is_not() {
    let stage = Stage::new().await;
    let job = stage.job("j1").await;
    let device = stage.device(DEVICE);
    let mut open = Vec::new();
    for entry in stage.gateway.table.iter() {
        let route = &entry.declared;
        let method = match route.method.as_str() {
            "WS" => "GET",
            method => method,
        };
        // What would end the session that the others show.
        if route.name == "auth.session.end" {
            open.push(route.name.as_str());
            continue;
        }
        let path = path_of(&route.pattern, &device);
        let mut answers = Vec::new();
        for credential in [&job.key, &job.session] {
            let answer = job.ask(&Ask::new(method, &path, credential)).await;
            let code = answer.body["code"].as_str().unwrap_or_default();
            answers.push((answer.status.as_u16(), code.to_owned()));
        }
        let is_refused = |(status, code): &(u16, String)| {
            *status == 403 && ["not_for_jobs", "wrong_credential"].contains(&code.as_str())
        };
        if !answers.iter().all(is_refused) {
            let is_listed = ROUTES.contains(&route.name.as_str());
            assert!(is_listed, "{}: {answers:?}", route.name);
            open.push(&route.name);
        }
    }
    open.sort_unstable();
    let mut listed = ROUTES;
    listed.sort_unstable();
    assert_eq!(open, listed);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_job_does_to_its_device_ends_with_it() {
    let stage = Stage::new().await;
    let job = stage.job("j1").await;
    let device = format!("/api/bench/devices/{}", stage.device(DEVICE));
    let wiring = format!("{device}/wiring");
    let profile = format!("{wiring}/profile");
    let before = stage.ask(&Ask::new("GET", &profile, &stage.owner)).await;
    let before = before.ok();
    let put = |method: &'static str, path, credential: &str, body| Ask {
        body,
        ..Ask::new(method, path, credential)
    };
    let samples = json!({"name": "w", "samples_b64": "AAAA"});
    for credential in [&job.key, &job.session] {
        for ask in [
            put("PATCH", &device, credential, json!({"name": "mine"})),
            put("PUT", &wiring, credential, json!({})),
            Ask::post("/api/bench/devices", credential, json!({})),
            Ask::post("/api/bench/devices/admit", credential, json!({})),
            Ask::post("/api/bench/waveforms", credential, samples.clone()),
            Ask::post("/api/captures/import", credential, json!({})),
            Ask::post("/api/cloud/builds", credential, json!({})),
        ] {
            let refused = job.ask(&ask).await;
            assert_eq!(refused.refused(), (403, "not_for_jobs"), "{ask:?}");
        }
    }
    let after = job.ask(&Ask::new("GET", &profile, &job.key)).await.ok();
    assert_eq!(after, before);
    assert_eq!(stage.services.devices.all().len(), 2);
    assert!(
        stage
            .services
            .devices
            .all()
            .iter()
            .any(|d| d.name == DEVICE)
    );
}

/// Starts a capture; its id, once it is done.
async fn recorded(job: &Job, stage: &Stage, credential: &str) -> String {
    let order = json!({
        "device_id": stage.device(DEVICE), "samples": 1000, "sample_rate_mhz": 1, "voltage_mv": 3300
    });
    let start = Ask::post("/api/la/captures/start", credential, order);
    let is_job = credential != stage.owner;
    let ask = async |ask: &Ask<'_>| match is_job {
        true => job.ask(ask).await.ok(),
        false => stage.ask(ask).await.ok(),
    };
    let id = ask(&start).await["capture_id"].as_str().unwrap().to_owned();
    let captures = &stage.services.captures;
    let org = stage.services.auth.default_org();
    let finished = tokio::time::timeout(WAIT, captures.finished(&org, &id)).await;
    finished.unwrap().unwrap();
    id
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_sees_and_deletes_what_it_recorded_alone() {
    let stage = Stage::new().await;
    let first = stage.job("j1").await;
    let of_first = recorded(&first, &stage, &first.key).await;
    let leases = &stage.services.leases;
    leases.take_away(&stage.device(DEVICE), "j1").await.unwrap();
    let of_person = recorded(&first, &stage, &stage.owner).await;
    let job = stage.job("j2").await;
    let own = recorded(&job, &stage, &job.key).await;
    for credential in [&job.key, &job.session] {
        for capture in [&of_first, &of_person] {
            for (method, what) in [
                ("GET", ""),
                ("GET", "/export?format=vcd"),
                ("GET", "/decode?protocol=uart&rx=1"),
                ("GET", "/overview?channel=LA1"),
                ("POST", "/cancel"),
                ("DELETE", ""),
            ] {
                let path = format!("/api/capture/{capture}{what}");
                let refused = job.ask(&Ask::new(method, &path, credential)).await;
                assert_eq!(refused.refused(), (404, "not_found"), "{method} {path}");
            }
        }
        let list = job.ask(&Ask::new("GET", "/api/captures", credential)).await;
        let list = list.ok()["captures"].clone();
        let ids: Vec<&str> = list.as_array().unwrap().iter().map(id_of).collect();
        assert_eq!(ids, [own.as_str()]);
    }
    let path = format!("/api/capture/{own}");
    let read = job.ask(&Ask::new("GET", &path, &job.session)).await.ok();
    assert_eq!(read["status"], "done");
    let deleted = job.ask(&Ask::new("DELETE", &path, &job.key)).await;
    assert_eq!(deleted.status.as_u16(), 204);
    let list = Ask::new("GET", "/api/captures", &stage.owner);
    let list = stage.ask(&list).await.ok()["captures"].clone();
    let ids: Vec<&str> = list.as_array().unwrap().iter().map(id_of).collect();
    assert_eq!(ids, [of_person.as_str(), of_first.as_str()]);
}

fn id_of(capture: &serde_json::Value) -> &str {
    capture["id"].as_str().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relay_ends_with_all_that_came_over_it() {
    let stage = Stage::new().await;
    let job = stage.job("j1").await;
    let path = format!("ws://x/api/cloud/devices/ws?device={DEVICE}&kind=capture");
    let mut upgrade = path.into_client_request().unwrap();
    let bearer = job.session.parse().unwrap();
    upgrade.headers_mut().insert(AUTHORIZATION, bearer);
    let stream = job.connect().await;
    let (mut tunnel, _) = tokio_tungstenite::client_async(upgrade, stream)
        .await
        .unwrap();
    let mut idle = job.connect().await;
    let mut kept = job.connect().await;
    let ask = format!(
        "GET /healthz HTTP/1.1\r\nhost: x\r\nauthorization: {}\r\n\r\n",
        job.key
    );
    kept.write_all(ask.as_bytes()).await.unwrap();
    assert!(kept.read(&mut [0; 4096]).await.unwrap() > 0);

    let Job {
        relay,
        key,
        session,
        ..
    } = job;
    let socket = relay.socket().to_owned();
    drop(relay);
    let ends = async {
        assert_eq!(idle.read(&mut [0; 16]).await.unwrap_or(0), 0);
        assert_eq!(kept.read(&mut [0; 16]).await.unwrap_or(0), 0);
        while let Some(Ok(_)) = tunnel.next().await {}
    };
    tokio::time::timeout(WAIT, ends).await.unwrap();
    assert!(UnixStream::connect(&socket).await.is_err() && !socket.exists());
    for (credential, code) in [(key, "invalid_credential"), (session, "revoked_credential")] {
        let devices = Ask::new("GET", "/api/benchpod/devices", &credential);
        assert_eq!(stage.ask(&devices).await.refused(), (401, code));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relay_is_of_no_use_once_its_user_is_gone() {
    let stage = Stage::new().await;
    let job = stage.job("j1").await;
    let auth = &stage.services.auth;
    let asks = [
        Ask::new("GET", "/api/benchpod/devices", &job.key),
        ping(COMMAND, &job.session),
    ];
    auth.user_set_disabled(&stage.user, true).await.unwrap();
    for ask in &asks {
        assert_eq!(job.ask(ask).await.refused(), (401, "revoked_credential"));
    }
    assert!(matches!(
        stage.relays.open(stage.grant("j2")),
        Err(RelayError::Key(_))
    ));
    auth.user_set_disabled(&stage.user, false).await.unwrap();
    for ask in &asks {
        job.ask(ask).await.ok();
    }
    let owner = auth.user_by_login("owner").await.unwrap().unwrap();
    let code = auth.issue_code(&owner.id).await.unwrap();
    let session = auth.sign_in_code(Origin::Address(None), code.expose(), Stay::Short);
    let session = format!("Bearer {}", session.await.unwrap().token.expose());
    let path = format!("/api/users/{}", stage.user);
    let removed = stage.ask(&Ask::new("DELETE", &path, &session)).await;
    removed.ok();
    for ask in &asks {
        assert_eq!(job.ask(ask).await.refused(), (401, "revoked_credential"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relay_serves_so_many_connections_and_no_more() {
    let stage = Stage::new().await;
    let job = stage.job("j1").await;
    let half = format!(
        "POST /api/auth/token HTTP/1.1\r\nhost: x\r\nauthorization: {}\r\ncontent-length: 2\r\n\
         content-type: application/json\r\nexpect: 100-continue\r\n\r\n",
        job.key
    );
    let mut busy = Vec::new();
    for _ in 0..CONNECTIONS {
        let mut stream = job.connect().await;
        stream.write_all(half.as_bytes()).await.unwrap();
        // Its request is under way once it is asked for the body.
        let mut go_on = [0; 25];
        stream.read_exact(&mut go_on).await.unwrap();
        assert!(go_on.starts_with(b"HTTP/1.1 100"));
        busy.push(stream);
    }
    let mut one_more = job.connect().await;
    let mut nothing = [0; 16];
    let turned_away = tokio::time::timeout(WAIT, one_more.read(&mut nothing));
    assert_eq!(turned_away.await.unwrap().unwrap_or(0), 0);
    // Those inside are served on, and make room.
    let mut first = busy.swap_remove(0);
    first.write_all(b"{}").await.unwrap();
    let mut answer = [0; 12];
    first.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200");
    drop(first);
    let ask = format!(
        "GET /api/benchpod/devices HTTP/1.1\r\nhost: x\r\nauthorization: {}\r\nconnection: close\r\n\r\n",
        job.key
    );
    let served = async {
        let mut text = String::new();
        while !text.starts_with("HTTP/1.1 200") {
            let mut stream = job.connect().await;
            // Turned away until the server, too, has done with the other one.
            let _ = stream.write_all(ask.as_bytes()).await;
            let _ = stream.read_to_string(&mut text).await;
        }
    };
    tokio::time::timeout(WAIT, served).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_folder_is_private_and_what_an_earlier_server_left_is_removed() {
    let stage = Stage::new().await;
    let folder = stage.folder.path().join("data").join(FOLDER);
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    // From a thread that knows of no async runtime, as those that carry out jobs.
    let open = || stage.relays.open(stage.grant("j1")).unwrap();
    let relay = std::thread::scope(|scope| scope.spawn(open).join().unwrap());
    assert_eq!(mode(relay.socket()), 0o666);
    assert!(relay.socket().is_absolute());
    let open_to_all = std::fs::Permissions::from_mode(0o755);

    let left = stage.folder.path().join("left");
    std::fs::create_dir(&left).unwrap();
    std::fs::set_permissions(&left, open_to_all).unwrap();
    drop(std::os::unix::net::UnixListener::bind(left.join("0")).unwrap());
    std::fs::write(left.join("note"), "not a socket").unwrap();
    let gateway = stage.gateway.clone();
    let relays = Relays::new(gateway, &stage.config.http, &left).unwrap();
    assert_eq!(mode(&left), 0o700);
    assert!(!left.join("0").exists() && left.join("note").exists());
    assert!(relays.open(stage.grant("j2")).is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_without_a_device_has_no_relay() {
    let stage = Stage::new().await;
    let gone = JobGrant {
        device: "01JGZ5V9T3N8W2K4Q7R6D1M0XB".to_owned(),
        ..stage.grant("j1")
    };
    let none = stage.relays.open(gone);
    assert!(matches!(none, Err(RelayError::NoDevice)));
}
