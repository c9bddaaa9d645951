//! What plugins read of captures and jobs by the host's functions, beside what the API tells of the same.

use serde_json::{Value, json};
use tests::can_isolate;

use super::reports::{Lab, on_the_bench};
use super::{ID, WANTS, call};

fn lab() -> Lab {
    let lab = Lab::new();
    let folder = lab.bench.version("1.0.0", WANTS, "");
    lab.bench
        .plugin(&["install", &folder.display().to_string()])
        .ok();
    lab.bench.plugin(&["approve", ID]).ok();
    lab
}

impl Lab {
    /// A function about the capture, with these members.
    fn read(&self, function: &str, members: &Value) -> tests::Reply {
        let mut asked = members.clone();
        asked["function"] = json!(format!("captures.{function}"));
        asked["capture"] = json!(self.capture);
        self.bench.call(&asked)
    }

    fn api(&self, path: &str) -> Value {
        let path = format!("/api/capture/{}{path}", self.capture);
        self.bench.client().get(&path).unwrap().expect(200)
    }
}

#[test]
fn captures_are_read_as_the_api_shows_them() {
    let lab = lab();
    let marks = json!({"pinned": true, "channels": [{"id": 1, "label": "data line"}]});
    let path = format!("/api/capture/{}", lab.capture);
    lab.bench.client().patch(&path, &marks).unwrap().expect(200);
    let opened = lab.read("open", &json!({})).expect(200);
    assert_eq!(opened["json"]["channels"][1]["label"], "data line");
    let listed = lab.bench.client().get("/api/captures").unwrap().expect(200);
    assert_eq!(opened["json"], listed["captures"][0]);
    let shown = listed["captures"][0]["channels"].as_array().unwrap();
    let names: Vec<&Value> = shown.iter().map(|channel| &channel["name"]).collect();
    assert!(names.len() >= 2);
    assert_eq!(
        (&opened["channels"], &opened["roles"]),
        (&json!(names), &json!([]))
    );
    let demo = lab.bench.server.device();
    for (device, ids) in [
        (json!(null), json!([lab.capture])),
        (json!("demo"), json!([lab.capture])),
        (json!(demo), json!([lab.capture])),
        (json!("second"), json!([])),
    ] {
        let recent = lab.read("recent", &json!({"device": device, "limit": 5}));
        assert_eq!(recent.expect(200), ids, "{device}");
    }
    let unknown = lab.read("recent", &json!({"device": "third", "limit": 5}));
    unknown.expect_error(404, "not_found");

    // The levels that changes tell, in small pages, are those of the API's frames.
    let frames = lab.api("?max_bytes=1048576");
    let (mut toggles, mut at) = (vec![], 0);
    let own = frames["frames"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|frame| frame["channel"] == 0);
    for frame in own {
        let data = frame["data"].as_array().unwrap();
        let mut level = data[0].as_u64().unwrap();
        for run in &data[1..] {
            if toggles.last().is_none_or(|(_, last)| *last != level) {
                toggles.push((at, level));
            }
            at += run.as_u64().unwrap();
            level ^= 1;
        }
    }
    assert!(frames.get("next_seq").is_none_or(Value::is_null) && toggles.len() > 100);
    let mut seen = Vec::new();
    let mut start = Some(0);
    while let Some(from) = start {
        let asked = json!({"channels": ["SCL"], "start": from, "limit": 100});
        let page = lab.read("changes", &asked).expect(200);
        for pair in page["seen"].as_array().unwrap() {
            seen.push((pair[0].as_u64().unwrap(), pair[1].as_u64().unwrap()));
        }
        start = page["next"].as_u64();
    }
    assert_eq!(seen, toggles);
    let both = json!({"channels": ["SDA", "SCL"], "start": 0, "limit": 1});
    let both = lab.read("changes", &both).expect(200);
    assert_eq!(both["seen"].as_array().unwrap().len(), 1);
}

#[test]
fn captures_of_a_removed_device_are_for_whoever_is_not_restricted() {
    let lab = lab();
    let client = lab.bench.client();
    let token = client.post("/api/auth/token", &json!({"devices": ["demo"]}));
    let token = token.unwrap().expect(200);
    let bearer = format!("Bearer {}", token["token"].as_str().unwrap());
    let restricted = lab.bench.server.anonymous().with_authorization(&bearer);
    let recent = json!({"function": "captures.recent", "limit": 5});
    let open = json!({"function": "captures.open", "capture": lab.capture});
    assert_eq!(call(&restricted, &recent).expect(200), json!([lab.capture]));
    call(&restricted, &open).expect(200);
    let device = lab.bench.server.device();
    let removed = client.delete(&format!("/api/bench/devices/{device}"));
    removed.unwrap().expect(204);
    // What lists captures tells of none that it does not open.
    assert_eq!(call(&restricted, &recent).expect(200), json!([]));
    call(&restricted, &open).expect_error(404, "not_found");
    assert_eq!(lab.bench.call(&recent).expect(200), json!([lab.capture]));
}

#[test]
fn decoders_find_what_they_find_in_the_api() {
    let lab = lab();
    let roles = json!({"scl": "SCL", "sda": "SDA"});
    let order =
        json!({"decoder": "i2c", "roles": roles, "classes": ["addr-data"], "limit": 65_536});
    let found = lab.read("decode", &order).expect(200);
    assert_eq!(found["more"], false);
    let path = format!(
        "/api/capture/{}/decode?protocol=i2c&scl=SCL&sda=SDA&annotations=i2c%3Daddr-data&format=json",
        lab.capture
    );
    let lines = lab.bench.client().get(&path).unwrap().text;
    let wanted: Vec<Value> = lines
        .lines()
        .map(|line| {
            let one: Value = serde_json::from_str(line).unwrap();
            let numbers = one.get("value").map(|value| json!([value]));
            json!({
                "start": one["start"], "end": one["end"], "class": one["class"], "text": one["text"],
                "numbers": numbers.unwrap_or(json!([])),
            })
        })
        .collect();
    let found = found["found"].as_array().unwrap();
    assert!(found.len() > 100);
    assert_eq!(found, &wanted);
    let page =
        json!({"decoder": "i2c", "roles": roles, "classes": ["addr-data"], "skip": 7, "limit": 3});
    let page = lab.read("decode", &page).expect(200);
    assert_eq!(page["found"].as_array().unwrap(), &wanted[7..10]);
    assert_eq!(page["more"], true);
    for wrong in [
        json!({"decoder": "i3c", "roles": roles}),
        json!({"decoder": "i2c", "roles": {"scl": "SCL"}}),
        json!({"decoder": "i2c", "roles": {"scl": "SCL", "sda": "other"}}),
        json!({"decoder": "i2c", "roles": roles, "classes": ["nothing"]}),
    ] {
        lab.read("decode", &wrong).expect_error(400, "invalid");
    }
}

#[test]
fn analog_channels_have_values_and_digital_ones_changes() {
    let mut lab = lab();
    let client = lab.bench.client();
    let order =
        json!({"device_id": lab.bench.server.device(), "samples": 5000, "sample_rate_mhz": 0.5});
    let started = client
        .post("/api/scope/captures/start", &order)
        .unwrap()
        .expect(202);
    started["capture_id"]
        .as_str()
        .unwrap()
        .clone_into(&mut lab.capture);
    let head = || lab.api("?frames=none");
    tests::until(head, |head| head["status"] == "done").unwrap();
    let values = lab.read(
        "values",
        &json!({"channel": "ADC", "start": 4_000, "limit": 65_536}),
    );
    let values = values.expect(200);
    assert_eq!(values.as_array().unwrap().len(), 1_000);
    let seen = lab
        .read("overview", &json!({"channel": "ADC", "limit": 10}))
        .expect(200);
    let shown = lab.api("/overview?channel=ADC&points=10");
    let pairs = shown["min"]
        .as_array()
        .unwrap()
        .iter()
        .zip(shown["max"].as_array().unwrap());
    let pairs: Vec<Value> = pairs.map(|(min, max)| json!([min, max])).collect();
    assert_eq!(seen.as_array().unwrap(), &pairs);
    let last = values
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v.as_f64().unwrap());
    let lowest = last.fold(f64::INFINITY, f64::min);
    let wanted = shown["min"].as_array().unwrap()[8..].iter();
    let wanted = wanted
        .map(|v| v.as_f64().unwrap())
        .fold(f64::INFINITY, f64::min);
    assert!((lowest - wanted).abs() < 1e-3, "{lowest} {wanted}");
    let changes = json!({"channels": ["ADC"], "limit": 1});
    lab.read("changes", &changes).expect_error(400, "invalid");
    let decode = json!({"decoder": "i2c", "roles": {"scl": "ADC", "sda": "ADC"}});
    lab.read("decode", &decode).expect_error(409, "wrong_state");
}

#[test]
fn reading_is_bounded() {
    let lab = lab();
    assert_eq!(lab.read("hoard", &json!({"limit": 16})).expect(200), 16);
    let refused = lab.read("hoard", &json!({"limit": 17}));
    refused.expect_error(507, "quota_exceeded");
    assert_eq!(lab.read("reopen", &json!({"limit": 40})).expect(200), 40);
    for channels in [json!([]), json!(vec!["SCL"; 9])] {
        let asked = json!({"channels": channels, "limit": 1});
        lab.read("changes", &asked).expect_error(400, "invalid");
    }
    let far = json!({"channels": ["SCL"], "start": u64::MAX, "limit": u32::MAX});
    assert_eq!(
        lab.read("changes", &far).expect(200),
        json!({"seen": [], "next": null})
    );
    let wrong = json!({"channel": "SCL", "limit": 1});
    lab.read("values", &wrong).expect_error(400, "invalid");
    lab.read("overview", &json!({"channel": "x", "limit": 1}))
        .expect_error(400, "invalid");
    let long = "x".repeat(1_025);
    for (function, asked) in [
        ("changes", json!({"channels": [long], "limit": 1})),
        ("values", json!({"channel": long, "limit": 1})),
        ("overview", json!({"channel": long, "limit": 1})),
        ("recent", json!({"device": long, "limit": 1})),
        ("decode", json!({"decoder": long})),
        ("decode", json!({"decoder": "i2c", "roles": {"scl": long}})),
    ] {
        let refused = lab.read(function, &asked);
        refused.expect_error(400, "invalid");
        let told = refused.text.contains("at most 1024 bytes");
        assert!(told, "{function}: {}", refused.text);
    }
    let many: serde_json::Map<String, Value> =
        (0..65).map(|n| (format!("r{n}"), json!("SCL"))).collect();
    lab.read("decode", &json!({"decoder": "i2c", "roles": many}))
        .expect_error(400, "invalid");
}

#[test]
fn jobs_are_read_as_the_api_shows_them() {
    if !can_isolate() {
        return;
    }
    let lab = lab();
    let id = lab.job(on_the_bench());
    let client = lab.bench.client();
    let shown = client.get(&format!("/api/jobs/{id}")).unwrap().expect(200);
    let get = json!({"function": "jobs.get", "job": id});
    assert_eq!(lab.bench.call(&get).expect(200), shown);
    let tail = |limit: u32| {
        let asked = json!({"function": "jobs.log-tail", "job": id, "limit": limit});
        lab.bench.call(&asked).expect(200)
    };
    let log = client.get(&format!("/api/jobs/{id}/log")).unwrap().text;
    let lines: Vec<&str> = log.lines().collect();
    assert!(lines.contains(&"line 3"), "{log}");
    assert_eq!(tail(1000), json!(lines));
    assert_eq!(tail(2), json!(lines[lines.len() - 2..]));
    call(&lab.bench_only, &get).expect_error(403, "missing_scope");
    // A session that may be restricted to devices sees no jobs, as in the API.
    let token = client
        .post("/api/auth/token", &json!({}))
        .unwrap()
        .expect(200);
    let bearer = format!("Bearer {}", token["token"].as_str().unwrap());
    let session = lab.bench.server.anonymous().with_authorization(&bearer);
    call(&session, &get).expect_error(403, "missing_scope");
}
