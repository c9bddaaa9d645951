//! Many jobs of several users on a few devices, while the server is killed again and again: none is lost, none is tested
//! twice, no device is idle, and whoever has few does not wait behind whoever has many.

mod record;

use std::time::{Duration, Instant};

use record::Record;

use serde_json::{Value, json};
use tests::{Client, Server, can_isolate, until};

/// Jobs, unless `MANY_JOBS` says how many.
const JOBS: usize = 60;

/// Each of them until the queue is empty.
const KILLS: usize = 5;

/// The server runs so long before it is killed.
const LIFE: Duration = Duration::from_millis(1500);

/// All jobs together take no longer.
const PATIENCE: Duration = Duration::from_secs(600);

/// Says something, once for each time that it is tested.
const PIPELINE: &str = "
version: 1
benches:
  - id: smoke
    device: { select: { la_channels: '>=1' } }
    steps:
      - wait: 200ms
      - run: echo tested
";

/// A user, and the ids of the jobs that they submitted.
struct User {
    authorization: String,
    jobs: Vec<String>,
}

impl User {
    fn client(&self, server: &Server) -> Client {
        server.anonymous().with_authorization(&self.authorization)
    }

    fn submit(&mut self, server: &Server) {
        let body = json!({"definition": PIPELINE});
        let made = self.client(server).post("/api/jobs/submit", &body).unwrap();
        let id = made.expect(201)["id"].as_str().unwrap().to_owned();
        self.jobs.push(id);
    }
}

/// Three users of one organisation, whose sessions outlive the server.
fn users(server: &Server) -> Vec<User> {
    let sign_in = |code: &Value| User {
        authorization: server.session(code),
        jobs: Vec::new(),
    };
    let owner = sign_in(&json!(server.code()));
    let mut users = Vec::new();
    for login in ["ada", "ben"] {
        let made = owner
            .client(server)
            .post("/api/users", &json!({"login": login}));
        users.push(sign_in(&made.unwrap().expect(201)["code"]));
    }
    users.insert(0, owner);
    users
}

fn unfinished(client: &Client) -> usize {
    let mut count = 0;
    for state in ["queued", "assigned", "running", "stopping"] {
        let list = client
            .get(&format!("/api/jobs?state={state}&limit=200"))
            .unwrap();
        count += list.expect(200)["jobs"].as_array().unwrap().len();
    }
    count
}

#[test]
fn none_is_lost_and_none_is_tested_twice() {
    if !can_isolate() {
        return;
    }
    let count = std::env::var("MANY_JOBS").map_or(JOBS, |count| count.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let config = folder.path().join("hostd.toml");
    // Pods of the same seed are one and the same.
    let device = |n| format!("[[devices]]\nname = \"d{n}\"\naddress = \"sim:v3,seed={n}\"\n");
    let devices = (10..13).map(device);
    std::fs::write(&config, devices.collect::<String>()).unwrap();
    let start = || Server::demo_in_with(&data, &["--config", config.to_str().unwrap()]).unwrap();
    std::fs::create_dir(&data).unwrap();
    let mut server = start();
    let mut users = users(&server);
    // The first has four of five.
    for number in 0..count {
        let user = [0, 0, 0, 0, 1, 0, 0, 0, 0, 2][number % 10];
        users[user].submit(&server);
    }
    for _ in 0..KILLS {
        std::thread::sleep(LIFE);
        server.kill().unwrap();
        server = start();
    }
    let client = users[0].client(&server);
    let began = Instant::now();
    while unfinished(&client) > 0 {
        assert!(
            began.elapsed() < PATIENCE,
            "{} jobs are left",
            unfinished(&client)
        );
        std::thread::sleep(Duration::from_millis(200));
    }
    let mut repeated = 0;
    for user in &users {
        for id in &user.jobs {
            let job = client.get(&format!("/api/jobs/{id}")).unwrap().expect(200);
            let attempts = job["attempts"].as_array().unwrap();
            let tested = attempts.iter().filter(|attempt| {
                let path = format!("/api/jobs/{id}/log?attempt={}&offset=0", attempt["number"]);
                client.get(&path).unwrap().text.contains("\ntested\n")
            });
            assert!(tested.count() <= 1, "{job}");
            repeated += attempts.len() - 1;
            // A job that ran at two of the kills is suspected of them.
            let cut_off = ["infra.server_restarted", "infra.server_died"];
            let is_cut_off = cut_off.map(Value::from).contains(&job["runs"][0]["code"]);
            assert!(is_cut_off || job["verdict"] == "success", "{job}");
        }
    }
    let devices = || client.get("/api/bench/devices").unwrap().expect(200);
    let all_free = |listed: &Value| {
        let mut devices = listed["devices"].as_array().unwrap().iter();
        devices.all(|device| device["lease"].is_null())
    };
    until(devices, all_free).unwrap();
    let record = Record::of(&server.log());
    assert_eq!(record.devices(), 4);
    let idle = record.check_that_no_device_was_idle();
    println!(
        "{count} jobs on {} devices, {repeated} attempts repeated, a device idle for at most {idle:.1?}",
        record.devices()
    );
    print!("{}", waits(&record, &users));
}

/// How long the jobs of each user waited, and would have waited if whoever comes first were served first. The first user
/// has most of them, and pays for the others.
fn waits(record: &Record, users: &[User]) -> String {
    let mut told = String::new();
    for (number, user) in users.iter().enumerate() {
        let fair = record.mean_wait(&user.jobs);
        let in_turn = record.mean_wait_in_turn(&user.jobs);
        let count = user.jobs.len();
        told += &format!(
            "user {number} with {count} jobs: mean wait {fair:.1?}, first come, first served {in_turn:.1?}\n"
        );
        assert!(number == 0 || fair < in_turn, "{told}");
    }
    told
}
