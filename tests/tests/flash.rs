//! Flashing as users do it: with a file, from a build, waiting for the end or following it; and
//! requests that make no sense.

use serde_json::{Value, json};
use tests::{Bench, Client, Server, Socket, demo_elf, flash, until};

/// The demo firmware takes more bytes of flash than this.
const DEMO_BYTES_MIN: u64 = 4000;

const TARGET: (&str, &str) = ("target", "target/stm32f0x.cfg");

fn session(server: &Server) -> Client {
    let minted = server.client().post("/api/auth/token", &json!({})).unwrap();
    let token = minted.expect(200)["token"].as_str().unwrap().to_owned();
    server
        .anonymous()
        .with_authorization(&format!("Bearer {token}"))
}

fn expect_flashed(answer: &Value) {
    assert_eq!(answer["ok"], true, "{answer}");
    assert!(
        answer["bytes"].as_u64().unwrap() > DEMO_BYTES_MIN,
        "{answer}"
    );
    assert_eq!(answer["target_unreachable"], false);
    assert!(answer.get("error").is_none());
    assert!(
        answer["chip"].as_str().unwrap().starts_with("STM32F030"),
        "{answer}"
    );
    assert!(
        answer["output"].as_str().unwrap().contains("\nverified\n"),
        "{answer}"
    );
}

/// What the target prints after its power was switched off and on again.
fn boot_text(server: &Server, device: &str) -> String {
    let client = server.client();
    let token = client.post("/api/auth/token", &json!({})).unwrap();
    let token = token.expect(200)["token"].as_str().unwrap().to_owned();
    let name = client.get(&format!("/api/bench/devices/{device}"));
    let name = name.unwrap().expect(200)["name"]
        .as_str()
        .unwrap()
        .to_owned();
    let power = |state: u8| {
        let command = json!({"command": {"cmd": "target_power", "efuse": 1, "state": state}});
        let path = format!("/api/bench/devices/{device}/command");
        client.post(&path, &command).unwrap().expect(200);
    };
    power(0);
    let path = format!("/api/cloud/devices/ws?device={name}&kind=uart&token={token}");
    let mut socket = Socket::open(&server.url, &path, &[]).unwrap().socket();
    socket
        .send(b"{\"cmd\":\"uart_proxy_start\",\"rx\":3,\"tx\":4,\"baud\":115200}\n")
        .unwrap();
    assert_eq!(socket.line().unwrap()["status"], "ok");
    power(1);
    let text = socket.until(b"APP_OK").unwrap();
    socket.close().unwrap();
    String::from_utf8_lossy(&text).into_owned()
}

#[test]
fn a_file_that_comes_along_is_flashed_and_runs() {
    let server = Server::demo().unwrap();
    let device = server.device();
    let answer = flash(&server.client(), device, &[TARGET])
        .unwrap()
        .expect(200);
    expect_flashed(&answer);
    assert_eq!(answer["artifact"]["name"], "demo.elf");
    assert_eq!(answer["artifact"]["size_bytes"], demo_elf().len());
    let range = &answer["ranges"][0];
    assert_eq!(range["address"], 0x0800_0000);
    assert_eq!(range["bytes"], answer["bytes"]);
    let crc = range["crc32"].as_str().unwrap();
    assert!(answer["output"].as_str().unwrap().contains(crc));
    assert_eq!(answer["skipped"], json!([]));
    assert!(boot_text(&server, device).contains("SCENARIO:"));
    // The wiring supplies the rest, with the chip's own name.
    let wiring = json!({"wiring": {"swd_target": "STM32F030R8", "swd_swclk": 11, "swd_swdio": 12}});
    let path = format!("/api/bench/devices/{device}");
    server.client().patch(&path, &wiring).unwrap().expect(200);
    let again = flash(
        &server.client(),
        device,
        // The address that the file has too.
        &[("verify", "true"), ("load_addr", "0x08000000")],
    )
    .unwrap();
    let again = again.expect(200);
    expect_flashed(&again);
    // Both flashes are remembered.
    let list = server
        .client()
        .get(&format!("{path}/flash"))
        .unwrap()
        .expect(200);
    let ids: Vec<&Value> = list["flashes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| &f["id"])
        .collect();
    assert_eq!(ids, [&again["id"], &answer["id"]]);
    let one = format!("{path}/flash/{}", answer["id"].as_str().unwrap());
    let one = server.client().get(&one).unwrap().expect(200);
    assert_eq!(
        (&one["phase"], &one["percent"]),
        (&json!("done"), &json!(100))
    );
    expect_flashed(&one);
}

#[test]
fn a_build_is_flashed_by_its_name() {
    let server = Server::demo().unwrap();
    let ci = session(&server);
    let source = json!({"repo_owner": "acme", "repo": "blinky", "ref": "main",
        "wiring": {"target": "target/stm32f0x.cfg", "swclk": 11, "swdio": 12}});
    let build = ci.post("/api/cloud/builds", &source).unwrap().expect(201);
    let build = build["build_id"].as_str().unwrap().to_owned();
    let hex = ihex(&demo_image());
    let path = format!("/api/cloud/builds/{build}/artifacts?name=out%2Ffw.hex");
    let typed = ci
        .clone()
        .with_header("content-type", "application/octet-stream");
    typed.send("POST", &path, Some(&hex)).unwrap().expect(201);
    let path = format!("/api/cloud/builds/{build}/status");
    ci.post(&path, &json!({"success": true}))
        .unwrap()
        .expect(200);

    let path = format!("/api/benchpod/devices/{}/flash", server.device());
    let named = json!({"job_id": build, "pack_id": "external", "artifact_name": "out/fw.hex",
        "target": "target/stm32f0x.cfg", "load_addr": "", "swclk": 11, "swdio": 12,
        "nreset": false, "efuse": 1});
    let answer = ci.post(&path, &named).unwrap().expect(200);
    expect_flashed(&answer);
    assert_eq!(answer["artifact"]["job_id"], build.as_str());
    let selected = json!({"repo": "acme/blinky", "ref": "main"});
    expect_flashed(&server.client().post(&path, &selected).unwrap().expect(200));
    for (body, status, code) in [
        (json!({"repo": "acme/other"}), 404, "not_found"),
        (
            json!({"job_id": build, "artifact_name": "fw.elf"}),
            404,
            "not_found",
        ),
        (
            json!({"job_id": build, "artifact_name": "out/fw.hex", "load_addr": 0}),
            400,
            "invalid_request",
        ),
    ] {
        ci.post(&path, &body).unwrap().expect_error(status, code);
    }
}

/// The demo's program: what its ELF file's segments hold, with their addresses.
fn demo_image() -> Vec<(u32, Vec<u8>)> {
    let elf = demo_elf();
    let word = |at: usize| u32::from_le_bytes(elf[at..at + 4].try_into().unwrap());
    let half = |at: usize| usize::from(u16::from_le_bytes(elf[at..at + 2].try_into().unwrap()));
    let headers = (0..half(44)).map(|n| word(28) as usize + n * half(42));
    let segments = headers.filter(|at| word(*at) == 1 && word(at + 16) > 0);
    segments
        .map(|at| {
            let (from, size) = (word(at + 4) as usize, word(at + 16) as usize);
            (word(at + 12), elf[from..from + size].to_vec())
        })
        .collect()
}

/// Intel HEX of some segments.
fn ihex(segments: &[(u32, Vec<u8>)]) -> String {
    let mut text = String::new();
    let mut line = |kind: u8, address: u32, data: &[u8]| {
        let [_, _, high, low] = address.to_be_bytes();
        let mut bytes = vec![u8::try_from(data.len()).unwrap(), high, low, kind];
        bytes.extend(data);
        let sum = bytes.iter().fold(0u8, |sum, b| sum.wrapping_add(*b));
        bytes.push(sum.wrapping_neg());
        text.push(':');
        text.extend(bytes.iter().map(|b| format!("{b:02X}")));
        text.push('\n');
    };
    for (address, data) in segments {
        for (n, chunk) in (0u32..).zip(data.chunks(16)) {
            let at = address + n * 16;
            line(4, 0, &at.to_be_bytes()[..2]);
            line(0, at & 0xffff, chunk);
        }
    }
    line(1, 0, &[]);
    text
}

#[test]
fn a_flash_that_is_not_waited_for_is_followed() {
    let bench = Bench::start(&["sim:v3,seed=3,target=blank,fault=slow=20000B/s+5ms"]).unwrap();
    let device = &bench.devices[0];
    let client = bench.server.client();
    let patient = client.clone().with_header("prefer", "respond-async");
    let begun = flash(&patient, device, &[TARGET]).unwrap();
    let record = begun.expect(202);
    assert_eq!(begun.header("preference-applied"), Some("respond-async"));
    let location = begun.header("location").unwrap().to_owned();
    assert!(location.ends_with(record["id"].as_str().unwrap()));
    assert!(record.get("ok").is_none() && record["finished_at"].is_null());
    // Meanwhile the device is busy.
    flash(&client, device, &[TARGET])
        .unwrap()
        .expect_error(409, "device_busy");
    let mut percent = 0;
    let mut phases = Vec::new();
    let ended = until(
        || {
            let seen = client.get(&location).unwrap().expect(200);
            let now = seen["percent"].as_u64().unwrap();
            assert!(now >= percent, "{seen}");
            percent = now;
            let phase = seen["phase"].as_str().unwrap().to_owned();
            if phases.last() != Some(&phase) {
                phases.push(phase);
            }
            seen
        },
        |seen| seen["finished_at"].is_string(),
    );
    let ended = ended.unwrap();
    expect_flashed(&ended);
    assert_eq!((&ended["phase"], percent), (&json!("done"), 100));
    assert!(phases.contains(&"programming".to_owned()), "{phases:?}");
    client
        .post(&format!("{location}/cancel"), &json!({}))
        .unwrap()
        .expect_error(409, "wrong_state");
    client
        .get(&format!("{location}0"))
        .unwrap()
        .expect_error(404, "not_found");
}

#[test]
fn a_flash_that_outlasts_its_request_is_told_how_far_it_is() {
    let address = "sim:v3,seed=3,target=blank,fault=slow=20000B/s+5ms";
    // Shorter than the flash, and far longer than a look at it takes.
    let bench = Bench::start_with("[handlers]\ndeadline_ms = 3000\n", &[address]).unwrap();
    let client = bench.server.client();
    let answer = flash(&client, &bench.devices[0], &[TARGET]).unwrap();
    let record = answer.expect(202);
    assert!(record["finished_at"].is_null(), "{record}");
    assert_eq!(answer.header("preference-applied"), None);
    let location = answer.header("location").unwrap();
    let look = || client.get(location).unwrap().expect(200);
    let ended = until(look, |seen| seen["finished_at"].is_string()).unwrap();
    assert_eq!(ended["id"], record["id"]);
    expect_flashed(&ended);
}

#[test]
fn nonsense_is_refused_before_anything_is_touched() {
    let server = Server::demo().unwrap();
    let client = server.client();
    let device = server.device();
    let wiring = format!("/api/bench/devices/{device}/wiring");
    client.send("PUT", &wiring, Some("{}")).unwrap().expect(200);
    let path = format!("/api/bench/devices/{device}/flash");
    let elf = demo_elf();
    let form = |texts: &[(&str, &str)], file: (&str, &str, &[u8])| {
        client.post_form(&path, texts, file).unwrap()
    };
    let whole: (&str, &str, &[u8]) = ("firmware", "demo.elf", &elf);
    let makefile: &[u8] = b"fw.elf: main.c\n\tarm-none-eabi-gcc -o fw.elf main.c\n";
    let plain: &[u8] = &[0, 0x20, 0, 0x20];
    let at = ("load_addr", "0x08000000");
    for (texts, file, field) in [
        (&[][..], whole, "target"),
        (&[("target", "STM33")], whole, "target"),
        (&[TARGET, ("swclk", "15")], whole, "swclk"),
        (&[TARGET, ("load_addr", "0x8000400")], whole, "load_addr"),
        (&[TARGET, ("build", "latest")], whole, "build"),
        (&[TARGET], ("file", "demo.txt", b"x"), "firmware"),
        (&[TARGET], ("firmware", "demo.elf", b""), "firmware"),
        (&[TARGET], ("firmware", "demo.elf", b"nonsense"), "firmware"),
        (&[TARGET], ("firmware", "Makefile", makefile), "firmware"),
        (&[TARGET], ("firmware", "fw.map", makefile), "firmware"),
        (&[TARGET], ("firmware", "fw.bin", makefile), "firmware"),
        (&[TARGET], ("firmware", "fw.bin", &elf), "firmware"),
        (&[TARGET], ("firmware", "fw.img", plain), "firmware"),
        (
            &[TARGET, at],
            ("firmware", "README.md", makefile),
            "firmware",
        ),
        (
            &[TARGET],
            ("firmware", "demo.elf", &elf[..elf.len() / 2]),
            "firmware",
        ),
    ] {
        let answer = form(texts, file);
        answer.expect_error(400, "invalid_request");
        let fields = answer.json()["fields"].clone();
        assert_eq!(fields[0]["field"], field, "{fields}");
    }
    form(&[TARGET, TARGET], whole).expect_error(400, "invalid_request");
    form(&[TARGET], ("other", "demo.elf", &elf)).expect_error(400, "invalid_request");
    let typed = |media_type: &str, body: &str| {
        let client = client.clone().with_header("content-type", media_type);
        client.send("POST", &path, Some(body)).unwrap()
    };
    typed("multipart/form-data", "x").expect_error(400, "invalid_request");
    typed("multipart/form-data; boundary=x", "y").expect_error(400, "invalid_request");
    typed("multipart/form-data; boundary=x", "--x\r\n").expect_error(400, "invalid_request");
    typed("text/plain", "x").expect_error(415, "unsupported_media_type");
    typed("application/json", "").expect_error(400, "invalid_request");
    typed(
        "application/json",
        &format!("{{\"build\":\"{}\"}}", "x".repeat(2 << 20)),
    )
    .expect_error(413, "body_too_large");
    client
        .post("/api/bench/devices/none/flash", &json!({}))
        .unwrap()
        .expect_error(404, "not_found");
    let list = client.get(&path).unwrap().expect(200);
    assert_eq!(list["flashes"], json!([]));
}

#[test]
fn a_wrong_target_and_a_silent_one_are_told_apart() {
    let server = Server::demo().unwrap();
    let client = server.client();
    let device = server.device();
    let failed = |texts: &[(&str, &str)]| {
        let answer = flash(&client, device, texts).unwrap().expect(200);
        assert_eq!(answer["ok"], false, "{answer}");
        assert!(answer["error"].as_str().unwrap().len() > 10, "{answer}");
        (
            answer["code"].as_str().unwrap().to_owned(),
            answer["target_unreachable"].clone(),
        )
    };
    // Nothing has power yet.
    assert_eq!(
        failed(&[TARGET, ("efuse", "0")]),
        ("no_target".into(), json!(true))
    );
    // These wires lead nowhere.
    assert_eq!(
        failed(&[TARGET, ("swclk", "9"), ("swdio", "10")]),
        ("no_target".into(), json!(true))
    );
    assert_eq!(
        failed(&[("target", "nRF51822_xxAA")]),
        ("wrong_target".into(), json!(false))
    );
    assert_eq!(failed(&[("target", "stm32f1x")]).0, "wrong_target");
    let other = flash(&client, device, &[("target", "stm32f1x")]).unwrap();
    assert!(other.text.contains("send `force`"), "{}", other.text);
    // A refusal by the pod itself: the channel has another use.
    let busy = json!({"command": {"cmd": "gpio", "la": 11, "mode": "output", "level": 1}});
    let path = format!("/api/bench/devices/{device}/command");
    assert_eq!(
        client.post(&path, &busy).unwrap().expect(200)["status"],
        "ok"
    );
    assert_eq!(failed(&[TARGET]), ("pod_refused".into(), json!(false)));
    let free = json!({"command": {"cmd": "gpio", "la": 11, "mode": "off"}});
    client.post(&path, &free).unwrap().expect(200);
    expect_flashed(&flash(&client, device, &[TARGET]).unwrap().expect(200));
}

/// A UF2 file with one block of 4 bytes for each of these families, at the start of the flash.
fn uf2(families: &[(u32, u8)]) -> Vec<u8> {
    let block = |(family, value): &(u32, u8)| {
        let words = [
            0x0a32_4655,
            0x9e5d_5157,
            0x2000,
            0x0800_0000,
            4,
            0,
            1,
            *family,
        ];
        let mut block: Vec<u8> = words
            .iter()
            .flat_map(|word: &u32| word.to_le_bytes())
            .collect();
        block.extend([*value; 4]);
        block.resize(508, 0);
        block.extend(0x0ab1_6f30u32.to_le_bytes());
        block
    };
    families.iter().flat_map(block).collect()
}

const F4: u32 = 0x5775_5a57;
const F0: u32 = 0x6478_24b6;

#[test]
fn blocks_for_other_chips_are_skipped_and_named() {
    let server = Server::demo().unwrap();
    let client = server.client();
    let path = format!("/api/bench/devices/{}/flash", server.device());
    let file = uf2(&[(F4, 4), (F0, 0)]);
    let sent = |file: &[u8]| client.post_form(&path, &[TARGET], ("firmware", "x.uf2", file));
    let answer = sent(&file).unwrap().expect(200);
    assert_eq!((&answer["ok"], &answer["bytes"]), (&json!(true), &json!(4)));
    let skipped = json!([{"family": "STM32F4", "bytes": 4}]);
    assert_eq!(answer["skipped"], skipped);
    assert!(
        answer["output"]
            .as_str()
            .unwrap()
            .contains("skipped: 4 bytes for STM32F4")
    );
    let refused = sent(&uf2(&[(F4, 4)])).unwrap();
    refused.expect_error(400, "invalid_request");
    assert!(
        refused
            .json()
            .to_string()
            .contains("is for STM32F4, not for")
    );
}

#[test]
fn a_file_is_looked_at_without_a_device() {
    let server = Server::demo().unwrap();
    let client = server.client();
    let file = uf2(&[(F4, 4), (F0, 0)]);
    let look = |texts: &[(&str, &str)], name: &str, file: &[u8]| {
        client
            .post_form("/api/bench/firmware/info", texts, ("firmware", name, file))
            .unwrap()
    };
    let found = look(&[], "x.uf2", &file).expect(200);
    assert_eq!(
        (&found["format"], &found["bytes"]),
        (&json!("uf2"), &json!(8))
    );
    assert_eq!(found["parts"][0]["family"], "STM32F4");
    assert_eq!(found["target"], Value::Null);
    let found = look(&[("target", "STM32F030R8")], "x.uf2", &file).expect(200);
    let target = &found["target"];
    let range = json!([{"address": 0x0800_0000, "bytes": 4, "crc32": "2144df1c"}]);
    assert_eq!((&target["ranges"], &target["bytes"]), (&range, &json!(4)));
    assert_eq!(
        target["erased"],
        json!([{"address": 0x0800_0000, "bytes": 1024}])
    );
    assert_eq!(
        target["skipped"],
        json!([{"family": "STM32F4", "bytes": 4}])
    );
    // What a flash refuses is refused here.
    for (texts, name, file, sentence) in [
        (
            &[("target", "STM32F030R8")][..],
            "x.uf2",
            uf2(&[(F4, 4)]),
            "is for STM32F4, not for",
        ),
        (
            &[("target", "STM32F446")],
            "x.uf2",
            file.clone(),
            "several chips",
        ),
        (
            &[("target", "nonsense")],
            "x.uf2",
            file.clone(),
            "no supported chip",
        ),
        (&[], "x.txt", b"text".to_vec(), "is text and not Intel HEX"),
        (
            &[("load_addr", "0x1000"), ("target", "STM32F030R8")],
            "x.bin",
            vec![1; 4],
            "outside the memory",
        ),
    ] {
        let refused = look(texts, name, &file);
        refused.expect_error(400, "invalid_request");
        assert!(
            refused.json().to_string().contains(sentence),
            "{}",
            refused.json()
        );
    }
    let anonymous = server.anonymous();
    let form = ("firmware", "x.uf2", &file[..]);
    let refused = anonymous
        .post_form("/api/bench/firmware/info", &[], form)
        .unwrap();
    refused.expect_error(401, "missing_credential");
}

#[test]
fn the_command_looks_at_a_file_without_a_server() {
    let file = uf2(&[(F4, 4), (F0, 0)]);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.uf2");
    std::fs::write(&path, &file).unwrap();
    let run = std::process::Command::new(tests::server::binary().unwrap())
        .args(["firmware", "info", "--target", "STM32F030R8"])
        .arg(&path)
        .output()
        .unwrap();
    let printed = String::from_utf8(run.stdout).unwrap();
    let lines: Vec<_> = printed.lines().collect();
    assert_eq!(lines[0], "UF2, 8 bytes of data");
    assert_eq!(
        lines[5..],
        [
            "on STM32F030R8:",
            "  erases 0x08000000..0x08000400 (1024 bytes)",
            "  programs 0x08000000..0x08000004 (4 bytes, CRC-32 2144df1c)",
            "  skipped: 4 bytes for STM32F4, which this chip is not",
        ]
    );
}
