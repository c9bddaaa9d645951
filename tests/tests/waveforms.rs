//! Waveforms: saved, listed, shown, deleted; played on an output and measured again by the ADC.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tests::{Client, Reply, Server, until};

const LIBRARY: &str = "/api/benchpod/waveforms";

fn raw(client: &Client) -> Client {
    client
        .clone()
        .with_header("content-type", "application/octet-stream")
}

fn codes(samples: &[u16]) -> String {
    let bytes: Vec<u8> = samples.iter().flat_map(|s| s.to_le_bytes()).collect();
    STANDARD.encode(bytes)
}

fn save(client: &Client, name: &str, samples: &[u16]) -> String {
    let body = json!({"name": name, "samples_b64": codes(samples), "sample_rate_hz": 100_000.0,
        "bits": 16});
    let saved = client.post(LIBRARY, &body).unwrap().expect(201);
    saved["id"].as_str().unwrap().to_owned()
}

fn play(client: &Client, body: &Value) -> Reply {
    client.post("/api/dac/replay/start", body).unwrap()
}

fn command(server: &Server, command: &Value) -> Value {
    let path = format!("/api/bench/devices/{}/command", server.device());
    let sent = server.client().post(&path, &json!({"command": command}));
    let answer = sent.unwrap().expect(200);
    assert_eq!(answer["status"], "ok", "{answer}");
    answer["data"].clone()
}

/// Levels that the ADC measures on `source`, at 400 000 a second.
fn look(server: &Server, source: &str, samples: u32) -> Vec<f64> {
    let body = json!({"device_id": server.device(), "samples": samples, "sample_rate_mhz": 0.4,
        "source": source});
    let client = server.client();
    let started = client.post("/api/scope/captures/start", &body).unwrap();
    levels(&client, &started.expect(202))
}

/// The samples of a capture, once it is done.
fn levels(client: &Client, started: &Value) -> Vec<f64> {
    let path = format!("/api/capture/{}", started["capture_id"].as_str().unwrap());
    let look = || client.get(&path).unwrap().expect(200);
    let is_over = |capture: &Value| {
        !["pending", "armed", "running"].contains(&capture["status"].as_str().unwrap())
    };
    let capture = until(look, is_over).unwrap();
    assert_eq!(capture["status"], "done", "{capture}");
    volts(&capture)
}

fn volts(capture: &Value) -> Vec<f64> {
    let channel = &capture["channels"][0];
    let (full, offset) = (
        channel["full_scale"].as_f64().unwrap(),
        channel["offset"].as_f64().unwrap(),
    );
    let frames = capture["frames"].as_array().unwrap();
    let data = frames.iter().flat_map(|frame| {
        assert_eq!(frame["encoding"], "b64-u16le");
        STANDARD.decode(frame["data"].as_str().unwrap()).unwrap()
    });
    let bytes: Vec<u8> = data.collect();
    bytes
        .as_chunks::<2>()
        .0
        .iter()
        .map(|pair| f64::from(u16::from_le_bytes(*pair)) / 65_536.0 * full + offset)
        .collect()
}

/// How often `levels` rise past the middle between 0 and 5 V.
fn rises(levels: &[f64]) -> usize {
    let high: Vec<bool> = levels.iter().map(|v| *v > 2.5).collect();
    high.windows(2).filter(|pair| !pair[0] && pair[1]).count()
}

/// 1 kHz at 100 kS/s: half of it at the low end, half at the high end.
fn square() -> Vec<u16> {
    (0..100).map(|i| if i < 50 { 0 } else { 65_535 }).collect()
}

#[test]
fn a_library_of_every_kind() {
    let server = Server::demo().unwrap();
    let client = server.client();
    let drawn = json!({"name": "ramp", "dac_path": "current_out", "segments": [
        {"shape": "ramp", "duration_ms": 10, "v_start": 4.0, "v_end": 20.0}]});
    let path = format!("{LIBRARY}/segments");
    let drawn = client.post(&path, &drawn).unwrap().expect(201);
    assert_eq!(
        (&drawn["kind"], &drawn["unit"]),
        (&json!("segments"), &json!("mA"))
    );
    assert_eq!(drawn["segments"][0]["v_end"], 20.0);

    // Two samples, 0x4141 and 0x4242.
    let path = format!(
        "{LIBRARY}/recording?name=a+b&sample_rate_hz=1000.0&full_scale_v=3.3&sample_count=2"
    );
    let sent = raw(&client).send("POST", &path, Some("AABB")).unwrap();
    let recording = sent.expect(201);
    assert_eq!(
        (&recording["name"], &recording["recording_size_bytes"]),
        (&json!("a b"), &json!(4))
    );
    let recorded = format!("{LIBRARY}/{}", recording["id"].as_str().unwrap());
    let samples = client.get(&format!("{recorded}/recording")).unwrap();
    assert_eq!((samples.status, samples.text.as_str()), (200, "AABB"));
    let shown = client.get(&format!("{recorded}/preview?dac_path=3v3"));
    let shown = shown.unwrap().expect(200);
    assert_eq!(shown["codes"], json!([0x4141, 0x4242]));

    let id = save(&client, "square", &square());
    let one = client.get(&format!("{LIBRARY}/{id}")).unwrap().expect(200);
    assert_eq!(one["samples_b64"], codes(&square()));
    assert_eq!(
        (&one["bits"], &one["sample_count"]),
        (&json!(16), &json!(100))
    );

    let all = client.get(LIBRARY).unwrap().expect(200);
    let all = all["waveforms"].as_array().unwrap();
    assert_eq!(all.len(), 3);
    assert!(all.iter().all(|w| w.get("samples_b64").is_none()));
    let page = client.get(&format!("{LIBRARY}?limit=2")).unwrap();
    let page = page.expect(200);
    let cursor = page["next_cursor"].as_str().unwrap();
    let rest = client.get(&format!("{LIBRARY}?limit=2&cursor={cursor}"));
    assert_eq!(
        rest.unwrap().expect(200)["waveforms"]
            .as_array()
            .unwrap()
            .len(),
        1
    );

    let renamed = client.patch(&recorded, &json!({"name": "c"})).unwrap();
    assert_eq!(renamed.expect(200)["name"], "c");
    client.delete(&recorded).unwrap().expect(204);
    client
        .get(&recorded)
        .unwrap()
        .expect_error(404, "not_found");
    client
        .delete(&recorded)
        .unwrap()
        .expect_error(404, "not_found");
    let gone = client.get(&format!("{recorded}/recording")).unwrap();
    gone.expect_error(404, "not_found");
}

#[test]
fn what_cannot_be_kept() {
    let server = Server::demo().unwrap();
    let client = server.client();
    let path = format!("{LIBRARY}/recording?name=a&sample_rate_hz=1&full_scale_v=1");
    for (query, body) in [
        ("", ""),
        ("", "odd"),
        ("&sample_count=3", "AABB"),
        ("&unit=kg", "AABB"),
    ] {
        let sent = raw(&client).send("POST", &format!("{path}{query}"), Some(body));
        sent.unwrap().expect_error(400, "invalid_request");
    }
    let over = json!({"name": "s", "dac_path": "3v3", "segments": [
        {"shape": "hold", "duration_ms": 1, "v_start": 5.0}]});
    let over = client.post(&format!("{LIBRARY}/segments"), &over).unwrap();
    over.expect_error(400, "invalid_request");
    let bad = json!({"name": "n", "samples_b64": "?", "sample_rate_hz": 1});
    let bad = client.post(LIBRARY, &bad).unwrap();
    assert_eq!(bad.expect(400)["fields"][0]["field"], "samples_b64");
    let id = save(&client, "plain", &[1]);
    let none = client.get(&format!("{LIBRARY}/{id}/recording")).unwrap();
    none.expect_error(409, "wrong_state");
    let points = client.get(&format!("{LIBRARY}/{id}/preview?points=0"));
    points.unwrap().expect_error(400, "invalid_request");
    let nobody = server.anonymous().get(LIBRARY).unwrap();
    nobody.expect_error(401, "missing_credential");
    let put = client.send("PUT", LIBRARY, Some("{}")).unwrap();
    put.expect_error(405, "method_not_allowed");
}

#[test]
fn a_kept_waveform_comes_out_of_the_output() {
    let server = Server::demo().unwrap();
    let client = server.client();
    let id = save(&client, "square", &square());
    let order = json!({"device_id": server.device(), "waveform_id": id, "dac_path": "5v"});
    let playing = play(&client, &order).expect(200);
    assert_eq!(
        (&playing["samples"], &playing["status"]),
        (&json!(100), &json!("playing"))
    );
    assert!((playing["sample_rate_hz"].as_f64().unwrap() - 1e5).abs() < 1.0);
    // 4000 samples are 10 ms: ten periods.
    let levels = look(&server, "cal1", 4000);
    assert!((9..=11).contains(&rises(&levels)), "{}", rises(&levels));
    let (low, high) = (levels[0].min(levels[250]), levels[0].max(levels[250]));
    let ends = levels
        .iter()
        .fold((low, high), |(l, h), v| (l.min(*v), h.max(*v)));
    assert!(
        (-0.2..0.2).contains(&ends.0) && (4.8..5.2).contains(&ends.1),
        "{ends:?}"
    );

    // A stretched ramp, averaged in pairs, whose second half is stuck at the low end.
    let ramp: Vec<u16> = (0..1000).collect();
    let order = json!({"device_id": server.device(), "samples_b64": codes(&ramp), "bits": 16,
        "sample_rate_hz": 50_000, "sample_rate_mhz": 0.1, "dac_path": "5v", "mapping": "fit",
        "window_start": 100, "window_len": 400, "target_samples": 200,
        "fault": {"type": "flatline", "start": 100}});
    let playing = play(&client, &order).expect(200);
    assert_eq!(
        (
            &playing["samples"],
            &playing["source_samples"],
            &playing["averaged"]
        ),
        (&json!(200), &json!(400), &json!(2))
    );
    // Means of two samples each, at twice the waveform's own rate.
    assert_eq!(playing["speed"], json!(4.0), "{playing}");
    let levels = look(&server, "cal1", 4000);
    let top = levels.iter().copied().fold(0.0, f64::max);
    // Half of the ramp is left; for the other half of the time the output is at the low end.
    assert!((2.2..2.8).contains(&top), "{top}");
    let still = levels.iter().filter(|v| **v < 0.1).count();
    assert!((1900..2300).contains(&still), "{still}");
    command(&server, &json!({"cmd": "dac_stop"}));
}

#[test]
fn a_replay_waits_for_the_next_capture() {
    let server = Server::demo().unwrap();
    let client = server.client();
    command(
        &server,
        &json!({"cmd": "dac_out", "path": "5v", "volts": 0.0}),
    );
    let mut step = vec![65_535; 1500];
    step[..50].fill(0);
    let id = save(&client, "step", &step);
    let order = json!({"device_id": server.device(), "waveform_id": id, "dac_path": "5v",
        "on_capture": true});
    let armed = play(&client, &order).expect(200);
    assert_eq!(
        (&armed["status"], &armed["cotrig"]),
        (&json!("armed"), &json!(true))
    );
    let levels = look(&server, "cal1", 1000);
    // 50 codes at 100 kS/s are 200 samples at 400 kS/s.
    let first = levels.iter().position(|v| *v > 2.5).unwrap();
    assert!((195..=205).contains(&first), "{first}");
}

#[test]
fn a_long_waveform_needs_the_deep_image() {
    let server = Server::demo().unwrap();
    let client = server.client();
    let long: Vec<u16> = (0..8192)
        .map(|i| if i < 4096 { 0 } else { 65_535 })
        .collect();
    let id = save(&client, "long", &long);
    let order = json!({"device_id": server.device(), "waveform_id": id, "dac_path": "5v"});
    let short = play(&client, &order).expect(200);
    assert_eq!(
        (&short["samples"], &short["deep"]),
        (&json!(2048), &json!(false))
    );
    command(&server, &json!({"cmd": "fpga_image", "image": 1}));
    let path = format!("/api/bench/devices/{}", server.device());
    let device = client.get(&path).unwrap().expect(200);
    let depth = &device["parameters"]["cap.dac_replay_max_samples"];
    assert_eq!(*depth, "4194304", "{device}");
    let deep = play(&client, &order).expect(200);
    assert_eq!(
        (&deep["samples"], &deep["deep"]),
        (&json!(8192), &json!(true))
    );
    // 4096 codes at 100 kS/s are 41 ms low, then as long high.
    let levels = look(&server, "cal1", 40_000);
    assert!((1..=2).contains(&rises(&levels)), "{}", rises(&levels));
}

#[test]
fn a_measurement_plays_a_waveform() {
    let server = Server::demo().unwrap();
    let client = server.client();
    let mut step = vec![65_535; 1500];
    step[..50].fill(0);
    let id = save(&client, "step", &step);
    let measure = |stimulus: Value| {
        let body = json!({"device_id": server.device(), "samples": 1000, "sample_rate_mhz": 0.4,
            "stimulus": stimulus});
        client.post("/api/scope/measure/start", &body).unwrap()
    };
    let given = json!({"samples_b64": codes(&step), "bits": 16, "sample_rate_hz": 100_000});
    for stimulus in [json!({"waveform_id": id}), given] {
        let levels = levels(&client, &measure(stimulus).expect(202));
        assert_eq!(levels.len(), 1000);
        // The first samples may still show the previous output.
        let first = 3 + levels[3..].iter().position(|v| *v > 2.5).unwrap();
        assert!((195..=205).contains(&first), "{first}");
    }
    let nothing = measure(json!({"waveform_id": "01ARZ3NDEKTSV4RRFFQ69G5FAV"}));
    nothing.expect_error(404, "not_found");
    let odd = measure(json!({"samples_b64": "AA==", "bits": 16, "sample_rate_hz": 1}));
    assert_eq!(
        odd.expect(400)["fields"][0]["field"],
        "stimulus.samples_b64"
    );
    let query = "name=r&sample_rate_hz=1&full_scale_v=20&unit=mA";
    let path = format!("{LIBRARY}/recording?{query}");
    let current = raw(&client).send("POST", &path, Some("AABB")).unwrap();
    let current = measure(json!({"waveform_id": current.expect(201)["id"]}));
    assert_eq!(
        current.expect(400)["fields"][0]["field"],
        "stimulus.waveform_id"
    );
}

#[test]
fn what_cannot_be_played() {
    let server = Server::demo().unwrap();
    let client = server.client();
    let id = save(&client, "square", &square());
    let order = |changes: Value| {
        let mut body = json!({"device_id": server.device(), "waveform_id": id});
        for (name, value) in changes.as_object().unwrap() {
            body[name] = value.clone();
        }
        play(&client, &body)
    };
    let nothing = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    order(json!({"device_id": nothing})).expect_error(404, "not_found");
    order(json!({"waveform_id": nothing})).expect_error(404, "not_found");
    order(json!({"samples_b64": "AAA=", "sample_rate_hz": 1})).expect_error(400, "invalid_request");
    for (changes, field) in [
        (json!({"window_start": 100}), "window_start"),
        (
            json!({"fault": {"type": "spike", "start": 100}}),
            "fault.start",
        ),
        (json!({"dac_path": "9v"}), "dac_path"),
    ] {
        let refused = order(changes);
        assert_eq!(refused.expect(400)["fields"][0]["field"], field);
    }
    let query = "name=r&sample_rate_hz=1&full_scale_v=20&unit=mA";
    let path = format!("{LIBRARY}/recording?{query}");
    let current = raw(&client).send("POST", &path, Some("AABB")).unwrap();
    let current = current.expect(201)["id"].clone();
    let mixed = order(json!({"waveform_id": current}));
    assert_eq!(mixed.expect(400)["fields"][0]["field"], "mapping");
    let on_loop = order(json!({"waveform_id": current, "dac_path": "current_out"})).expect(200);
    assert_eq!(on_loop["dac_path"], "current_out");

    let limits = json!({"cmd": "dac_limits", "path": "3v3", "inverted": false, "min_mv": 0,
        "max_mv": 1000});
    command(&server, &limits);
    order(json!({})).expect_error(409, "wrong_state");
    command(&server, &json!({"cmd": "dac_limits", "enabled": false}));
    order(json!({})).expect(200);

    // A caller without the lease cannot play.
    let minted = client.post("/api/auth/token", &json!({})).unwrap();
    let token = minted.expect(200)["token"].as_str().unwrap().to_owned();
    let job = Client::new(&server.url).with_authorization(&format!("Bearer {token}"));
    let name = client.get("/api/bench/devices").unwrap().expect(200);
    let name = name["devices"][0]["name"].as_str().unwrap().to_owned();
    let lease = json!({"lease_id": "a", "run_label": "run", "ttl_seconds": 60});
    let path = format!("/api/cloud/devices/lease?device={name}");
    job.post(&path, &lease).unwrap().expect(200);
    assert_eq!(order(json!({})).expect(409)["holder"], "run");
    let body = json!({"device_id": server.device(), "waveform_id": id});
    play(&job.with_header("x-benchpod-lease", "a"), &body).expect(200);
}

#[test]
fn a_board_without_a_waveform_dac_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("hostd.toml");
    let device = "[[devices]]\nname = \"plain\"\naddress = \"sim:digital\"\n";
    std::fs::write(&config, device).unwrap();
    let server = Server::demo_with(&["--config", config.to_str().unwrap()]).unwrap();
    let client = server.client();
    let listed = client.get("/api/bench/devices").unwrap().expect(200);
    let all = listed["devices"].as_array().unwrap();
    let plain = all.iter().find(|d| d["capabilities"]["ac_dac"] == false);
    let body = json!({"device_id": plain.unwrap()["id"], "samples_b64": "AAA=", "bits": 16,
        "sample_rate_hz": 1});
    play(&client, &body).expect_error(400, "not_capable");
}
