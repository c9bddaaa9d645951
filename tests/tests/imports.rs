//! Files of other tools as captures, what `hostd decode` makes of them, and what people keep with a capture.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tests::{Client, Reply, Server, until};

/// A real-time clock chip read over I2C.
const RECORDING: &[u8] =
    include_bytes!("../../hostd/decode/testdata/captures/i2c_ds1307/rtc_ds1307_200khz.sr");

fn import(client: &Client, query: &str, bytes: &[u8]) -> Reply {
    let path = format!("/api/captures/import{query}");
    let body = Some(("application/octet-stream", bytes));
    client.send_typed("POST", &path, body).unwrap()
}

fn export(server: &Server, id: &Value, query: &str) -> Vec<u8> {
    let id = id.as_str().unwrap();
    let url = format!("{}/api/capture/{id}/export?{query}", server.url);
    let key = format!("ApiKey {}", server.api_key);
    let mut answer = ureq::get(url).header("authorization", key).call().unwrap();
    answer.body_mut().read_to_vec().unwrap()
}

fn text(server: &Server, id: &Value, query: &str) -> String {
    String::from_utf8(export(server, id, query)).unwrap()
}

/// A mono WAV file of 16-bit samples.
fn wav(samples: &[i16], rate_hz: u32) -> Vec<u8> {
    let data: Vec<u8> = samples.iter().flat_map(|s| s.to_le_bytes()).collect();
    let size = u32::try_from(data.len()).unwrap();
    let mut file = b"RIFF".to_vec();
    file.extend((size + 36).to_le_bytes());
    file.extend(b"WAVEfmt ");
    file.extend([16, 0, 0, 0, 1, 0, 1, 0]);
    file.extend(rate_hz.to_le_bytes());
    file.extend((rate_hz * 2).to_le_bytes());
    file.extend([2, 0, 16, 0]);
    file.extend(b"data");
    file.extend(size.to_le_bytes());
    file.extend(data);
    file
}

/// Saleae's binary export of a digital channel, version 0, which begins low.
fn saleae(end_s: f64, times_s: &[f64]) -> Vec<u8> {
    let mut file = b"<SALEAE>".to_vec();
    file.extend([0; 12]);
    file.extend(0_f64.to_le_bytes());
    file.extend(end_s.to_le_bytes());
    file.extend((times_s.len() as u64).to_le_bytes());
    file.extend(times_s.iter().flat_map(|time| time.to_le_bytes()));
    file
}

#[test]
fn files_of_each_kind_become_captures() {
    let server = Server::demo().unwrap();
    let client = server.client();
    let sound = wav(&[0, 1, -1, i16::MAX, i16::MIN, 1000, -1000, 5], 8000);
    let made = import(&client, "?name=tone", &sound).expect(201);
    assert_eq!(
        (&made["kind"], &made["channels"][0]["name"]),
        (&json!("scope"), &json!("A0"))
    );
    assert_eq!(made["channels"][0]["sample_rate_hz"], 8000.0);
    assert_eq!(export(&server, &made["id"], "format=wav"), sound);

    let times = saleae(1e-5, &[1e-6, 3e-6, 4.5e-6]);
    let made = import(&client, "", &times).expect(201);
    assert_eq!(
        (&made["kind"], &made["channels"][0]["name"]),
        (&json!("logic"), &json!("D0"))
    );
    let table = text(&server, &made["id"], "format=csv");
    let rows: Vec<(f64, &str)> = table
        .lines()
        .skip(1)
        .map(|row| row.split_once(',').unwrap())
        .map(|(time, level)| (time.parse().unwrap(), level))
        .collect();
    assert_eq!(
        rows,
        [
            (0.0, "0"),
            (1e-6, "1"),
            (3e-6, "0"),
            (4.5e-6, "1"),
            (1e-5, "1")
        ]
    );
    let again = import(&client, "", table.as_bytes()).expect(201);
    assert_eq!(text(&server, &again["id"], "format=csv"), table);

    let dump = b"$timescale 1 us $end $var wire 1 ! clk $end $var real 64 v volts $end \
        $enddefinitions $end #0 0! r1.5 v #5 1! r-2 v #9";
    let made = import(&client, "", dump).expect(201);
    assert_eq!(made["kind"], "dual");
    assert_eq!(
        (&made["channels"][0]["name"], &made["channels"][1]["name"]),
        (&json!("clk"), &json!("volts"))
    );
    let some = import(&client, "?channels=clk&rate=2e6", dump).expect(201);
    let channels = some["channels"].as_array().unwrap();
    assert_eq!((channels.len(), &channels[0]["samples"]), (1, &json!(18)));
    for (query, bytes, says) in [
        (
            "",
            &b"this is text"[..],
            "known are sigrok sessions (.sr), value change dumps (.vcd)",
        ),
        (
            "?channels=x",
            dump,
            "find the channel `x`; the file has `clk`, `volts`",
        ),
        ("", b"a,b\n0,1\n", "give `rate`"),
        ("", &sound[..30], "damaged"),
    ] {
        let refused = import(&client, query, bytes);
        refused.expect_error(400, "invalid_request");
        assert!(refused.text.contains(says), "{}", refused.text);
    }
}

#[test]
fn analog_samples_of_a_session_are_kept() {
    let server = Server::demo().unwrap();
    let client = server.client();
    let order = json!({"device_id": server.device(), "samples": 1000, "sample_rate_mhz": 0.4});
    let started = client.post("/api/scope/captures/start", &order).unwrap();
    let id = started.expect(202)["capture_id"].clone();
    let head = format!("/api/capture/{}?frames=none", id.as_str().unwrap());
    let look = || client.get(&head).unwrap().expect(200);
    let made = until(look, |head| head["status"] == "done").unwrap();
    assert_eq!(made["pinned"], false);
    let values = |id: &Value| -> Vec<f64> {
        let table = text(&server, id, "format=csv");
        let rows = table.lines().skip(1);
        rows.map(|row| row.rsplit(',').next().unwrap().parse().unwrap())
            .collect()
    };
    let session = export(&server, &id, "format=sr");
    let back = import(&client, "", &session).expect(201);
    let (before, after) = (values(&id), values(&back["id"]));
    assert_eq!(before.len(), after.len());
    for (before, after) in before.iter().zip(&after) {
        assert!((before - after).abs() < 1e-3, "{before} became {after}");
    }
    // A table says the unit.
    let table = export(&server, &id, "format=csv&from=100&to=200");
    let part = import(&client, "", &table).expect(201);
    assert_eq!(part["channels"][0]["unit"], made["channels"][0]["unit"]);
    assert_eq!(part["channels"][0]["samples"], 100);
}

#[test]
fn dumps_and_tables_are_decoded_without_a_server() {
    let server = Server::demo().unwrap();
    let made = import(&server.client(), "", RECORDING).expect(201);
    let dir = tempfile::tempdir().unwrap();
    let decoded = |path: &Path, rate: &[&str]| {
        let mut command = Command::new(tests::server::binary().unwrap());
        command.arg("decode").arg(path).args(rate);
        let output = command
            .args(["--protocol", "i2c", "--map", "scl=SCL,sda=SDA"])
            .output()
            .unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{complaint}");
        String::from_utf8(output.stdout).unwrap()
    };
    let session = dir.path().join("clock.sr");
    std::fs::write(&session, RECORDING).unwrap();
    let wanted = decoded(&session, &[]);
    assert!(wanted.lines().count() > 100, "{wanted}");
    for (format, rate) in [("vcd", &[][..]), ("csv", &["--rate", "200000"])] {
        // Its name says nothing.
        let path = dir.path().join(format!("{format}.bin"));
        let bytes = export(&server, &made["id"], &format!("format={format}"));
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(decoded(&path, rate), wanted, "{format}");
    }
}

/// The label "clock line" names the channel, and its name SCL still does.
fn the_label_names_the_channel(server: &Server, client: &Client, id: &Value) {
    let path = format!("/api/capture/{}", id.as_str().unwrap());
    let find = |channel: &str| {
        let query = format!("{path}/edges?channel={channel}&at=0");
        client.get(&query).unwrap().expect(200)["sample"].take()
    };
    assert_eq!(find("clock%20line"), find("SCL"));
    let decode = |channel: &str| {
        let query = format!("{path}/decode?protocol=i2c&scl={channel}&sda=SDA&format=csv");
        client.get(&query).unwrap().text
    };
    assert_eq!(decode("clock%20line"), decode("SCL"));
    let table = text(server, id, "format=csv&channels=clock%20line&to=100");
    assert!(table.starts_with("time_s,clock line\r\n"), "{table}");
}

#[test]
fn what_people_say_of_a_capture_stays_with_it() {
    let server = Server::demo().unwrap();
    let client = server.client();
    let made = import(&client, "?name=clock", RECORDING).expect(201);
    let names: Vec<&str> = made["channels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|channel| channel["name"].as_str().unwrap())
        .collect();
    let scl = names.iter().position(|name| *name == "SCL").unwrap();
    let path = format!("/api/capture/{}", made["id"].as_str().unwrap());
    let edit = json!({
        "name": "boot, cold",
        "pinned": true,
        "channels": [{"id": scl, "label": "clock line"}],
        "markers": [
            {"channel": scl, "sample": 900, "note": "second"},
            {"channel": scl, "sample": 7, "note": "first"}
        ]
    });
    let changed = client.patch(&path, &edit).unwrap().expect(200);
    let head = client
        .get(&format!("{path}?frames=none"))
        .unwrap()
        .expect(200);
    assert_eq!(changed, head);
    assert_eq!(
        (&head["name"], &head["pinned"]),
        (&json!("boot, cold"), &json!(true))
    );
    assert_eq!(head["markers"][0]["note"], "first");
    let listed = client.get("/api/captures").unwrap().expect(200);
    let listed = &listed["captures"][0];
    assert_eq!(listed["channels"][scl]["label"], "clock line");
    assert_eq!(
        (&listed["pinned"], listed.get("markers")),
        (&json!(true), None)
    );

    the_label_names_the_channel(&server, &client, &made["id"]);
    let metrics = server.anonymous().get("/metrics").unwrap().text;
    assert!(metrics.contains("\nhostd_captures_pinned 1\n"), "{metrics}");
    let refused = client.delete(&path).unwrap();
    refused.expect_error(409, "wrong_state");
    assert!(refused.text.contains("is pinned"), "{}", refused.text);
    for (edit, field) in [
        (
            json!({"channels": [{"id": scl, "label": "SDA"}]}),
            "channels",
        ),
        (
            json!({"markers": [{"sample": 1_u64 << 35, "note": "n"}]}),
            "markers",
        ),
        (json!({"name": "x".repeat(129)}), "name"),
    ] {
        let refused = client.patch(&path, &edit).unwrap();
        refused.expect_error(400, "invalid_request");
        assert!(refused.text.contains(field), "{}", refused.text);
    }
    let freed = json!({"pinned": false, "name": "", "markers": []});
    let freed = client.patch(&path, &freed).unwrap().expect(200);
    assert_eq!((freed.get("name"), &freed["markers"]), (None, &json!([])));
    client.delete(&path).unwrap();
    client.get(&path).unwrap().expect_error(404, "not_found");
}

#[test]
fn a_capture_says_what_it_was_made_with() {
    let server = Server::demo().unwrap();
    let client = server.client();
    let wiring = format!("/api/bench/devices/{}", server.device());
    let rewired = client.patch(&wiring, &json!({"wiring": {"la_mv": 3300}}));
    rewired.unwrap().expect(200);
    let order = json!({"device_id": server.device(), "samples": 10, "sample_rate_mhz": 0.4});
    let started = client.post("/api/scope/captures/start", &order).unwrap();
    let id = started.expect(202)["capture_id"].clone();
    let head = format!("/api/capture/{}?frames=none", id.as_str().unwrap());
    let look = || client.get(&head).unwrap().expect(200);
    let made = until(look, |head| head["status"] == "done").unwrap();
    assert_eq!(made["setup"]["wiring"]["la_mv"], 3300, "{made}");
    assert_eq!(made["setup"].get("holder"), None);
}

/// Files of the captures of a server, and bytes of blocks that they take.
fn stored(folder: &Path) -> (usize, u64) {
    use std::os::unix::fs::MetadataExt as _;
    let entries = std::fs::read_dir(folder.join("data/captures")).unwrap();
    let files = entries.map(|entry| entry.unwrap().metadata().unwrap());
    let blocks: Vec<u64> = files
        .filter(|file| file.is_file())
        .map(|file| file.blocks())
        .collect();
    (blocks.len(), blocks.iter().sum::<u64>() * 512)
}

#[test]
fn what_is_deleted_takes_no_space_any_more() {
    let server = Server::demo().unwrap();
    let client = server.client();
    let before = stored(server.dir());
    let made = import(&client, "", RECORDING).expect(201);
    let path = format!("/api/capture/{}", made["id"].as_str().unwrap());
    let tiles = client.get(&format!("{path}/tiles?level=4&index=0"));
    assert_eq!(tiles.unwrap().status, 200);
    let (files, bytes) = stored(server.dir());
    assert!(files > before.0 && bytes > before.1);
    let metric = |name: &str| {
        let text = server.anonymous().get("/metrics").unwrap().text;
        let mut lines = text.lines();
        let line = lines.find_map(|line| {
            line.strip_prefix(name)?
                .strip_prefix(' ')
                .map(str::to_owned)
        });
        line.unwrap().parse::<f64>().unwrap()
    };
    assert_eq!(metric("hostd_captures"), 1.0);
    client.delete(&path).unwrap();
    assert_eq!(stored(server.dir()), before);
    assert_eq!(
        (metric("hostd_captures"), metric("hostd_captures_bytes")),
        (0.0, 0.0)
    );
}
