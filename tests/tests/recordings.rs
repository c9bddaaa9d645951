//! Captures as files and files as captures, and how other tools read them.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tests::{Client, Reply, Server, Socket, until};

/// A real-time clock chip read over I2C, and sigrok's decoding of it.
const RECORDING: &[u8] =
    include_bytes!("../../hostd/decode/testdata/captures/i2c_ds1307/rtc_ds1307_200khz.sr");

fn import(client: &Client, query: &str, bytes: &[u8]) -> tests::Reply {
    let path = format!("/api/captures/import{query}");
    let body = Some(("application/octet-stream", bytes));
    client.send_typed("POST", &path, body).unwrap()
}

/// A downloaded file, whatever its bytes.
fn download(server: &Server, path: &str) -> Vec<u8> {
    let key = format!("ApiKey {}", server.api_key);
    let request = ureq::get(format!("{}{path}", server.url)).header("authorization", key);
    let mut answer = request.call().unwrap();
    answer
        .body_mut()
        .with_config()
        .limit(1 << 30)
        .read_to_vec()
        .unwrap()
}

fn names(capture: &Value) -> Vec<String> {
    let channels = capture["channels"].as_array().unwrap().iter();
    channels
        .map(|c| c["name"].as_str().unwrap().to_owned())
        .collect()
}

fn captured(server: &Server, path: &str, order: &Value) -> String {
    let started = server.client().post(path, order).unwrap().expect(202);
    let id = started["capture_id"].as_str().unwrap().to_owned();
    let look = || {
        let head = format!("/api/capture/{id}?frames=none");
        let head = server.client().get(&head).unwrap().expect(200);
        assert_ne!(head["status"], "failed", "{head}");
        head
    };
    until(look, |head| head["status"] == "done").unwrap();
    id
}

/// Sigrok-cli's decoding of a file; none when it is not installed.
fn sigrok(file: &Path, format: &[&str], scl: &str, sda: &str) -> Option<String> {
    let decoder = format!("i2c:scl={scl}:sda={sda}");
    let mut command = Command::new("sigrok-cli");
    command
        .args(format)
        .arg("-i")
        .arg(file)
        .args(["-P", &decoder]);
    let output = command.output().ok()?;
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn a_recording_goes_in_and_comes_out_the_same() {
    let server = Server::demo().unwrap();
    let client = server.client();
    let made = import(&client, "?name=clock", RECORDING).expect(201);
    assert_eq!(
        (&made["status"], &made["name"]),
        (&json!("done"), &json!("clock"))
    );
    let id = made["id"].as_str().unwrap().to_owned();
    let (scl, sda) = (names(&made)[0].clone(), names(&made)[1].clone());
    let decode = format!("/api/capture/{id}/decode?protocol=i2c&scl={scl}&sda={sda}&format=csv");
    let decoded = client.get(&decode).unwrap().text;
    assert!(decoded.lines().count() > 100, "{decoded}");

    let export = |format: &str| {
        download(
            &server,
            &format!("/api/capture/{id}/export?format={format}"),
        )
    };
    for (format, query) in [("sr", ""), ("vcd", ""), ("csv", "?rate=200000")] {
        let again = import(&client, query, &export(format)).expect(201);
        assert_eq!(
            (&again["channels"], again["id"] == made["id"]),
            (&made["channels"], false),
            "{format}"
        );
        let again = decode.replace(&id, again["id"].as_str().unwrap());
        assert_eq!(client.get(&again).unwrap().text, decoded, "{format}");
    }
    let samples = made["channels"][0]["samples"].as_u64().unwrap();
    assert_eq!(export("bin").len() as u64, samples);

    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let original = file("original.sr", RECORDING);
    let Some(wanted) = sigrok(&original, &[], &scl, &sda) else {
        return;
    };
    assert!(wanted.lines().count() > 100, "{wanted}");
    let exported = file("exported.sr", &export("sr"));
    assert_eq!(sigrok(&exported, &[], &scl, &sda).unwrap(), wanted);
    let exported = file("exported.vcd", &export("vcd"));
    assert_eq!(
        sigrok(&exported, &["-I", "vcd"], &scl, &sda).unwrap(),
        wanted
    );
}

/// Samples of the recording as `export?format=bin` has them: a byte each.
fn levels(samples: &[u8], channel: usize) -> Vec<bool> {
    samples.iter().map(|s| s >> channel & 1 != 0).collect()
}

#[test]
fn tiles_edges_and_measurements_are_those_of_the_samples() {
    let server = Server::demo().unwrap();
    let client = server.client();
    let made = import(&client, "?name=clock", RECORDING).expect(201);
    let id = made["id"].as_str().unwrap();
    let (names, all) = (
        names(&made),
        made["channels"][0]["samples"].as_u64().unwrap(),
    );
    let samples = download(&server, &format!("/api/capture/{id}/export?format=bin"));
    assert_eq!(samples.len() as u64, all);
    let scl = names.iter().position(|name| name == "SCL").unwrap();
    let levels = levels(&samples, scl);

    // The whole capture in one tile, and every sample of its middle.
    let coarse = all.div_ceil(1024).next_power_of_two().ilog2();
    let middle = all / 2 / 1024;
    for (level, index) in [(coarse, 0), (0, middle)] {
        let path = format!("/api/capture/{id}/tiles?level={level}&index={index}");
        let tile = download(&server, &path);
        let wide = 1usize << level;
        let first = usize::try_from(index).unwrap() * 1024 * wide;
        let end = (first + 1024 * wide).min(samples.len());
        let expected: Vec<u8> = levels[first..end]
            .chunks(wide)
            .map(|part| u8::from(part.contains(&false)) | u8::from(part.contains(&true)) << 1)
            .collect();
        assert_eq!(&tile[..4], b"BOV1");
        assert_eq!(
            usize::from(u16::from_le_bytes([tile[4], tile[5]])),
            names.len()
        );
        let stretches = usize::from(u16::from_le_bytes([tile[6], tile[7]]));
        assert_eq!(stretches, expected.len());
        let lane = &tile[16 + scl * (4 + stretches.next_multiple_of(16) / 4) + 4..];
        let found: Vec<u8> = (0..stretches)
            .map(|at| lane[at / 4] >> (at % 4 * 2) & 3)
            .collect();
        assert_eq!(found, expected, "level {level}");
        let client = server.client().with_header("accept", "application/json");
        let json = client.get(&format!("{path}&channels=SCL")).unwrap();
        let tag = json.header("etag").unwrap().to_owned();
        let cache = json.header("cache-control").unwrap().to_owned();
        assert!(cache.contains("immutable"), "{cache}");
        let json = json.expect(200);
        assert_eq!(json["lanes"], json!([{"channel": scl, "states": expected}]));
        let again = client
            .with_header("if-none-match", &tag)
            .get(&path)
            .unwrap();
        assert_eq!((again.status, again.text.as_str()), (304, ""));
    }
    find_and_measure(&server, id, &levels);
}

fn find_and_measure(server: &Server, id: &str, levels: &[bool]) {
    let edges: Vec<usize> = (1..levels.len())
        .filter(|&at| levels[at] != levels[at - 1])
        .collect();
    let find = |query: &str| {
        let found = format!("/api/capture/{id}/edges?channel=SCL&{query}");
        server.client().get(&found).unwrap().expect(200)["sample"].take()
    };
    assert_eq!(find("at=0"), json!(edges[0]));
    assert_eq!(find(&format!("at={}", edges[7])), json!(edges[7]));
    let back = format!("at={}&direction=previous", edges[7]);
    assert_eq!(find(&back), json!(edges[6]));
    let falling = edges.iter().find(|&&at| !levels[at]);
    assert_eq!(find("at=0&edge=falling"), json!(falling));
    assert_eq!(find(&format!("at={}", levels.len())), Value::Null);

    let path = format!("/api/capture/{id}/measure?channel=SCL");
    let measured = server.client().get(&path).unwrap().expect(200);
    let rising = edges.iter().filter(|&&at| levels[at]).count();
    assert_eq!(measured["digital"]["rising"], json!(rising));
    assert_eq!(measured["digital"]["falling"], json!(edges.len() - rising));
    let high = levels.iter().filter(|&&level| level).count();
    assert_eq!(measured["digital"]["high_samples"], json!(high));
    let widths = edges.windows(2).filter(|pair| levels[pair[0]]).count();
    assert_eq!(measured["digital"]["high_s"]["count"], json!(widths));
}

#[test]
fn a_recording_is_judged_by_rules() {
    let server = Server::demo().unwrap();
    let client = server.client();
    let made = import(&client, "?name=clock", RECORDING).expect(201);
    let path = format!("/api/capture/{}/assert", made["id"].as_str().unwrap());
    let judge = |rules: &Value| client.post(&path, &json!({"rules": rules})).unwrap();
    let rules = json!({
        "version": 1,
        "channels": {"scl": "SCL", "sda": "SDA"},
        "rules": [
            {"name": "clock answers", "i2c": {"address": 0x68, "answered": true}},
            {"name": "another one is asked", "i2c": {"address": 0x50, "answered": true}},
            {"name": "the rail is up", "analog": {"channel": "ADC", "min": "3V"}},
        ],
    });
    let judged = judge(&rules).expect(200);
    let counts = ["passed", "failed", "errors"].map(|key| judged[key].as_u64().unwrap());
    assert_eq!(counts, [1, 1, 1], "{judged}");
    let first = &judged["rules"][0];
    assert_eq!(
        (&first["kind"], &first["verdict"]),
        (&json!("i2c"), &json!("passed"))
    );
    assert!(
        first["place"]["from_sample"].as_u64().unwrap() > 0,
        "{first}"
    );
    let refused = judge(&json!({"version": 1, "rules": [{"name": "a", "plse": {}}]}));
    refused.expect_error(422, "invalid_definition");
    let text = &refused.text;
    assert!(
        text.contains("did you mean `pulse`?") && text.contains("unknown_key"),
        "{text}"
    );
}

#[test]
fn a_part_of_a_capture_is_decoded() {
    let server = Server::demo().unwrap();
    let client = server.client();
    let made = import(&client, "?name=clock", RECORDING).expect(201);
    let id = made["id"].as_str().unwrap();
    let path = format!(
        "/api/capture/{id}/decode?protocol=i2c&scl=SCL&sda=SDA&annotations=addr-data&format=sigrok"
    );
    let lines = |query: &str| client.get(&format!("{path}{query}")).unwrap().text;
    let all = lines("");
    let starts = all.lines().filter(|line| line.ends_with("Start"));
    let starts: Vec<&str> = starts.collect();
    let second = starts[1].split('-').next().unwrap();
    let at = all.find(starts[1]).unwrap();
    assert_eq!(lines(&format!("&from={second}")), all[at..]);
    assert_eq!(lines(&format!("&to={second}")), all[..at]);
    let some = lines(&format!("&from={second}&limit=4"));
    assert_eq!(
        (some.lines().count(), all[at..].starts_with(&some)),
        (4, true)
    );
    assert!(lines("&glitch=1000000").len() < all.len() / 10);
    let summary = client.get(&format!("{path}&summary=8")).unwrap();
    let summary = summary.expect(200);
    let counts = summary["classes"]["start"].as_array().unwrap();
    let sum: u64 = counts.iter().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!((counts.len(), sum), (8, starts.len() as u64), "{summary}");

    // The converter's noise is far from such a level.
    let order = json!({"device_id": server.device(), "samples": 1000, "sample_rate_mhz": 0.4});
    let analog = captured(&server, "/api/scope/captures/start", &order);
    let path = format!("/api/capture/{analog}/decode?protocol=uart&rx=ADC&baudrate=9600");
    let refused = client.get(&path).unwrap();
    refused.expect_error(409, "wrong_state");
    let found = client
        .get(&format!("{path}&threshold=-900&hysteresis=1"))
        .unwrap();
    assert_eq!((found.status, found.text.as_str()), (200, ""));
}

/// All places, three at a time.
fn in_pages(search: impl Fn(&str) -> Reply) -> Value {
    let (mut skip, mut paged) = (0, Vec::new());
    loop {
        let page = search(&format!("&limit=3&skip={skip}")).expect(200);
        paged.extend(page["results"].as_array().unwrap().clone());
        match page["next"].as_u64() {
            Some(next) => skip = next,
            None => return json!(paged),
        }
    }
}

#[test]
fn places_are_found_in_one_recording_and_in_many() {
    let server = Server::demo().unwrap();
    let client = server.client();
    let made = import(&client, "?name=clock", RECORDING).expect(201);
    let id = made["id"].as_str().unwrap();
    let path = format!("/api/capture/{id}/search?q=");
    let search = |query: &str| client.get(&format!("{path}{query}")).unwrap();
    let all = search("i2c+address+ack").expect(200);
    assert_eq!(all["next"], Value::Null);
    let places = all["results"].as_array().unwrap();
    assert!(places.len() > 5, "{all}");
    assert_eq!(places[0]["text"], "i2c 0x68 write, ACK");
    // In pages.
    for query in ["i2c+address+ack", "i2c+bytes+??", "no+edge+for+1+ms"] {
        let whole = search(query).expect(200)["results"].take();
        assert_eq!(
            in_pages(|page| search(&format!("{query}{page}"))),
            whole,
            "{query}"
        );
    }
    // As lines.
    let lined = client.clone().with_header("accept", "application/x-ndjson");
    let lines = lined.get(&format!("{path}i2c+address+ack")).unwrap();
    let kind = lines.header("content-type").unwrap().to_owned();
    assert!(kind.starts_with("application/x-ndjson"), "{kind}");
    let lines = lines
        .text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    assert_eq!(&lines.collect::<Vec<Value>>(), places);
    for (query, told) in [
        ("pulse+on+SCL+thinner", "character 14"),
        ("uart+break", "name channels and options behind `with`"),
        ("edge+on+SLC", "it has SCL, SDA"),
    ] {
        let refused = search(query);
        refused.expect_error(400, "invalid_request");
        assert!(refused.text.contains(told), "{}", refused.text);
    }
    let slow = "uart+break+with+rx%3DSCL+baudrate%3D900000";
    let refused = lined.get(&format!("{path}{slow}")).unwrap();
    refused.expect_error(400, "invalid_request");

    find_in_many(&server, id, places);
}

/// The capture with this id has these places.
fn find_in_many(server: &Server, id: &str, places: &[Value]) {
    let client = server.client();
    // The newer one has them, too; a capture without such channels is skipped.
    import(&client, "?name=again", RECORDING).expect(201);
    let order = json!({"device_id": server.device(), "samples": 100, "sample_rate_mhz": 0.4});
    captured(server, "/api/scope/captures/start", &order);
    let many = |query: &str| {
        let path = format!("/api/captures/search?q=i2c+address+ack{query}");
        client.get(&path).unwrap().expect(200)
    };
    let found = many("");
    let names: Vec<&Value> = found["captures"]
        .as_array()
        .unwrap()
        .iter()
        .map(|found| &found["name"])
        .collect();
    assert_eq!(names, ["again", "clock"], "{found}");
    assert_eq!(
        (&found["searched"], &found["skipped"]),
        (&json!(2), &json!(1))
    );
    let first = &found["captures"][0];
    assert_eq!(first["results"], json!(places[..10.min(places.len())]));
    assert_eq!(first["more"], json!(places.len() >= 10));
    // From page to page.
    let page = many("&limit=2&results=1");
    assert_eq!(page["captures"].as_array().unwrap().len(), 1);
    let cursor = page["next_cursor"].as_str().unwrap();
    let page = many(&format!("&limit=2&cursor={cursor}"));
    assert_eq!(page["captures"][0]["id"], id);
    assert_eq!(page.get("next_cursor"), None);
    assert_eq!(many("&job_id=none")["searched"], 0);
    // One that is damaged does not keep the places of the others from being found.
    damage(server, first["id"].as_str().unwrap());
    let found = many("");
    assert_eq!(found["captures"][0]["id"], id, "{found}");
    assert_eq!(
        (&found["searched"], &found["skipped"]),
        (&json!(1), &json!(2))
    );
}

/// Overwrites what a capture keeps of its digital channels.
fn damage(server: &Server, id: &str) {
    let folder = server.dir().join("data/captures");
    let file = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut file = file.filter(|path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with(id) && name.ends_with(".la")
    });
    let path = file.next().unwrap();
    let length = usize::try_from(fs::metadata(&path).unwrap().len()).unwrap();
    // In place: it may be mapped.
    let mut file = OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all(&vec![0xa5; length]).unwrap();
}

#[test]
fn analog_captures_are_files_and_seen_from_afar() {
    let server = Server::demo().unwrap();
    let order = json!({"device_id": server.device(), "samples": 1000, "sample_rate_mhz": 0.4});
    let id = captured(&server, "/api/scope/captures/start", &order);
    let export = |format: &str| {
        download(
            &server,
            &format!("/api/capture/{id}/export?format={format}"),
        )
    };
    let wav = export("wav");
    assert_eq!((&wav[..4], wav.len()), (&b"RIFF"[..], 44 + 2000));
    assert_eq!(export("bin").len(), 2000);
    let csv = String::from_utf8(export("csv")).unwrap();
    assert_eq!(csv.lines().count(), 1002);
    let overview = format!("/api/capture/{id}/overview?channel=ADC&points=7");
    let seen = server.client().get(&overview).unwrap().expect(200);
    assert_eq!(
        (&seen["points"], &seen["from"], &seen["to"]),
        (&json!(7), &json!(0), &json!(1000))
    );
    // The extremes over all stretches are those of the samples.
    let values = csv
        .lines()
        .skip(1)
        .map(|row| row.rsplit(',').next().unwrap().parse::<f64>());
    let values: Vec<f64> = values.map(Result::unwrap).collect();
    let of = |name: &str| -> Vec<f64> {
        let list = seen[name].as_array().unwrap().iter();
        list.map(|v| v.as_f64().unwrap()).collect()
    };
    let low = of("min").into_iter().fold(f64::INFINITY, f64::min);
    let high = of("max").into_iter().fold(f64::NEG_INFINITY, f64::max);
    assert!((low - values.iter().copied().fold(f64::INFINITY, f64::min)).abs() < 1e-9);
    assert!((high - values.iter().copied().fold(f64::NEG_INFINITY, f64::max)).abs() < 1e-9);

    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("adc.sr");
    std::fs::write(&file, export("sr")).unwrap();
    if let Ok(shown) = Command::new("sigrok-cli")
        .arg("-i")
        .arg(&file)
        .arg("--show")
        .output()
    {
        let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
        assert!(shown.contains("ADC"), "{shown}");
    }
}

#[test]
fn sessions_of_some_devices_get_full_pages_of_theirs() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("hostd.toml");
    let device = "[[devices]]\nname = \"other\"\naddress = \"sim:v3,seed=3\"\n";
    std::fs::write(&config, device).unwrap();
    let server = Server::demo_with(&["--config", config.to_str().unwrap()]).unwrap();
    let client = server.client();
    let listed = client.get("/api/bench/devices").unwrap().expect(200);
    let mut devices = listed["devices"].as_array().unwrap().iter();
    let other = devices.find(|d| d["name"] == "other").unwrap()["id"].clone();
    let other = other.as_str().unwrap();
    let mut theirs = Vec::new();
    for query in [
        format!("?device_id={other}"),
        String::new(),
        String::new(),
        format!("?device_id={other}"),
        String::new(),
    ] {
        let made = import(&client, &query, RECORDING).expect(201);
        if !query.is_empty() {
            theirs.insert(0, made["id"].clone());
        }
    }
    let minted = client.post("/api/auth/token", &json!({"devices": ["other"]}));
    let token = minted.unwrap().expect(200)["token"]
        .as_str()
        .unwrap()
        .to_owned();
    let limited = server
        .anonymous()
        .with_authorization(&format!("Bearer {token}"));
    let page = limited.get("/api/captures?limit=2").unwrap().expect(200);
    let ids: Vec<Value> = page["captures"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["id"].clone())
        .collect();
    assert_eq!(ids, theirs);
    import(&limited, "", RECORDING).expect_error(400, "invalid_request");
    let all = client.get("/api/captures?limit=200").unwrap().expect(200);
    assert_eq!(all["captures"].as_array().unwrap().len(), 5);
}

#[test]
fn a_capture_that_a_tunnel_excludes_is_refused_at_once() {
    let server = Server::demo().unwrap();
    let client = server.client();
    let minted = client.post("/api/auth/token", &json!({})).unwrap();
    let bearer = format!("Bearer {}", minted.expect(200)["token"].as_str().unwrap());
    let path = "/api/cloud/devices/ws?device=demo&kind=flash";
    let tunnel = Socket::open(&server.url, path, &[("authorization", &bearer)]);
    let tunnel = tunnel.unwrap().socket();
    let order = json!({"device_id": server.device(), "samples": 1000, "sample_rate_mhz": 1.0, "voltage_mv": 3300});
    let refused = client.post("/api/la/captures/start", &order).unwrap();
    refused.expect_error(409, "device_busy");
    assert!(refused.text.contains("flash"), "{}", refused.text);
    drop(tunnel);
    let start = || client.post("/api/la/captures/start", &order).unwrap();
    until(start, |reply| reply.status == 202).unwrap();
}

/// The path of an address of this server.
fn path_of(server: &Server, url: &Value) -> String {
    let url = url.as_str().unwrap();
    url.strip_prefix(&server.url)
        .unwrap_or_else(|| panic!("{url}"))
        .to_owned()
}

/// A session makes an address that ends with it.
fn assert_ends_with_its_session(server: &Server, capture: &str) {
    let minted = server
        .client()
        .post("/api/auth/token", &json!({"devices": ["demo"]}))
        .unwrap();
    let token = minted.expect(200)["token"].as_str().unwrap().to_owned();
    let session = server
        .anonymous()
        .with_authorization(&format!("Bearer {token}"));
    let order = json!({"format": "vcd", "ttl_seconds": 86400});
    let made = session
        .post(&format!("/api/capture/{capture}/link"), &order)
        .unwrap()
        .expect(200);
    let path = path_of(server, &made["url"]);
    let anonymous = server.anonymous();
    assert_eq!(anonymous.get(&path).unwrap().status, 200);
    assert!(session.delete("/api/auth/session").unwrap().status < 300);
    anonymous
        .get(&path)
        .unwrap()
        .expect_error(403, "link_refused");
}

#[test]
fn an_address_opens_one_file_of_one_capture_without_a_credential() {
    let mut server = Server::demo_with(&["--log-level", "trace"]).unwrap();
    let client = server.client();
    let order = json!({"device_id": server.device(), "samples": 1000, "sample_rate_mhz": 0.4, "voltage_mv": 3300});
    let id = captured(&server, "/api/la/captures/start", &order);
    let other = captured(&server, "/api/la/captures/start", &order);
    let link = |client: &Client, order: &Value| {
        let path = format!("/api/capture/{id}/link");
        client.post(&path, order).unwrap()
    };
    let order = json!({"format": "csv", "channels": "LA2,LA1", "from": 10, "to": 20});
    let made = link(&client, &order).expect(200);
    assert!(made["expires_at"].is_string(), "{made}");
    let path = path_of(&server, &made["url"]);
    let anonymous = server.anonymous();
    let opened = anonymous.get(&path).unwrap();
    assert_eq!(opened.status, 200, "{}", opened.text);
    let query = "format=csv&channels=LA2,LA1&from=10&to=20";
    let plain = client
        .get(&format!("/api/capture/{id}/export?{query}"))
        .unwrap();
    assert_eq!(opened.text, plain.text);
    assert_eq!(
        opened.header("content-disposition"),
        plain.header("content-disposition")
    );
    // For pages of every origin, which other answers are not.
    let of_page = |path: &str| {
        let page = server
            .anonymous()
            .with_header("origin", "https://app.surfer-project.org");
        page.get(path).unwrap()
    };
    let allowed = "access-control-allow-origin";
    assert_eq!(of_page(&path).header(allowed), Some("*"));
    assert_eq!(
        of_page(&path).header("access-control-allow-credentials"),
        None
    );
    assert_eq!(plain.header(allowed), None);
    assert_eq!(of_page("/api/captures").header(allowed), None);
    // Nothing else: another file, another capture, another name, a changed link, a credential.
    let (_, token) = path.split_once("?link=").unwrap();
    let last = if token.ends_with('A') { "B" } else { "A" };
    let flipped = format!("{}{last}", &token[..token.len() - 1]);
    for path in [
        path.replace(".csv?", ".vcd?"),
        path.replace(&id, &other),
        path.replace(&format!("/{id}.csv"), "/x.csv"),
        path.replace(token, &flipped),
        path.replace(token, "x"),
        path.replace(token, server.api_key.as_str()),
    ] {
        let refused = anonymous.get(&path).unwrap();
        refused.expect_error(403, "link_refused");
        assert_eq!(refused.header(allowed), None);
    }
    let bearer = server
        .anonymous()
        .with_authorization(&format!("Bearer {token}"));
    bearer
        .get("/api/captures")
        .unwrap()
        .expect_error(401, "invalid_credential");
    // What cannot be exported has no address.
    link(&client, &json!({"format": "wav"})).expect_error(409, "wrong_state");
    assert_ends_with_its_session(&server, &id);
    // A deleted capture has no file.
    client.delete(&format!("/api/capture/{id}")).unwrap();
    anonymous.get(&path).unwrap().expect_error(404, "not_found");
    assert!(server.stop().unwrap());
    let log = server.log();
    let signature = token.rsplit('.').next().unwrap();
    assert!(log.contains("captures.linked") && !log.contains(signature));
}

#[test]
fn an_address_ends_with_the_key_that_asked_for_it() {
    let server = Server::demo().unwrap();
    let order = json!({"device_id": server.device(), "samples": 1000, "sample_rate_mhz": 0.4, "voltage_mv": 3300});
    let id = captured(&server, "/api/la/captures/start", &order);
    let code = json!({"code": server.code()});
    let session = server
        .anonymous()
        .post("/api/auth/session", &code)
        .unwrap()
        .expect(200);
    let owner = format!("Bearer {}", session["token"].as_str().unwrap());
    let owner = server.anonymous().with_authorization(&owner);
    let wanted = json!({"name": "ci", "scopes": ["bench:control"]});
    let key = owner.post("/api/keys", &wanted).unwrap().expect(201);
    let client = server.anonymous();
    let client = client.with_authorization(&format!("ApiKey {}", key["secret"].as_str().unwrap()));
    let path = format!("/api/capture/{id}/link");
    let made = client
        .post(&path, &json!({"format": "sr"}))
        .unwrap()
        .expect(200);
    let path = path_of(&server, &made["url"]);
    assert_eq!(server.anonymous().get(&path).unwrap().status, 200);
    let kid = key["kid"].as_str().unwrap();
    owner.delete(&format!("/api/keys/{kid}")).unwrap();
    let refused = server.anonymous().get(&path).unwrap();
    refused.expect_error(403, "link_refused");
    assert!(refused.text.contains("has ended"), "{}", refused.text);
}
