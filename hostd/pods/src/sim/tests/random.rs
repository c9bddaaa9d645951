//! Random command sequences made from the table of commands: whatever is sent, the pod answers each
//! request once and in time, stays usable, and leaks neither channel nor capture hardware.

use serde_json::{Map, Value, json};
use tokio::time::{Duration, timeout};

use super::{Client, Random, bench};
use crate::protocol::commands::{Answer, Command, Field, Kind, all};
use crate::sim::{Board, SimConfig};

/// Longer than any answer may take.
const PATIENCE: Duration = Duration::from_secs(7_200);

/// Samples a random capture takes at most; more adds time and no states.
const SAMPLES_MAX: i64 = 3_000;

/// What ends everything that outlives a connection.
const STOPS: [&str; 8] = [
    r#"{"cmd":"ota_abort"}"#,
    r#"{"cmd":"dac_stop"}"#,
    r#"{"cmd":"spi_stop"}"#,
    r#"{"cmd":"sensor_stop"}"#,
    r#"{"cmd":"gps_stop"}"#,
    r#"{"cmd":"can_disable"}"#,
    r#"{"cmd":"la_voltage","mv":3300}"#,
    r#"{"cmd":"gpio","la":"all","mode":"off"}"#,
];

/// A value of any type.
fn any_value(random: &mut Random) -> Value {
    let values = [
        json!(null),
        json!(0),
        json!(-1),
        json!(15),
        json!(1e300),
        json!(0.5),
        json!(true),
        json!("on"),
        json!("warp"),
        json!([1, 7]),
        json!([]),
        json!({"la": 99}),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(""),
    ];
    random.pick(&values).clone()
}

fn within(random: &mut Random, min: i64, max: i64) -> i64 {
    let span = usize::try_from(max.saturating_sub(min).saturating_add(1)).unwrap();
    let near = [min, max, min + i64::try_from(random.below(span)).unwrap()];
    *random.pick(&near)
}

/// A value for a field: mostly one it may have, sometimes one just outside, seldom nonsense.
fn value(random: &mut Random, field: &Field) -> Value {
    if random.below(12) == 0 {
        return any_value(random);
    }
    let channel = |random: &mut Random| random.below(16);
    match field.kind {
        Kind::Int(min, max) | Kind::HexOrInt(min, max) => {
            let max = if field.name.ends_with("samples") {
                max.min(SAMPLES_MAX)
            } else {
                max
            };
            let outside = [min - 1, max + 1];
            match random.below(8) {
                0 => json!(random.pick(&outside)),
                _ => json!(within(random, min, max)),
            }
        }
        Kind::OneOf(numbers) => json!(random.pick(numbers)),
        Kind::Number(min, max) => {
            let share = f64::from(u8::try_from(random.below(140)).unwrap()) / 128.0;
            json!(min + (max - min) * share)
        }
        Kind::Positive => json!(random.pick(&[0.001, 0.05, 1.0, 440.0, 12.0, 0.0])),
        Kind::Flag => random
            .pick(&[json!(true), json!(false), json!(1), json!(0)])
            .clone(),
        Kind::Word(words) => json!(random.pick(words)),
        Kind::La => json!(channel(random)),
        Kind::Las => match random.below(4) {
            0 => json!("all"),
            1 => json!([channel(random), channel(random)]),
            _ => json!(channel(random)),
        },
        Kind::Bytes(..) => json!("A".repeat(random.below(12))),
        Kind::ByteList => json!(vec![7; random.below(10)]),
        Kind::Trigger => {
            let edge = *random.pick(&["rising", "falling", "high", "low"]);
            json!({"la": channel(random), "edge": edge})
        }
        Kind::Text | Kind::Mixed => json!(random.pick(&["b64", "x", "current_in", "17"])),
    }
}

/// A request: an example with some fields changed, or fields at will.
fn request(random: &mut Random, commands: &[&'static Command]) -> (&'static Command, Value) {
    let command = *random.pick(commands);
    let mut request = Map::new();
    if !command.examples.is_empty() && random.below(3) > 0 {
        request = super::table::parsed(random.pick(command.examples).request);
    }
    request.insert("cmd".to_owned(), command.verb.into());
    if !command.fields.is_empty() {
        for _ in 0..random.below(4) {
            let field = random.pick(command.fields);
            request.insert(field.name.to_owned(), value(random, field));
        }
    }
    (command, Value::Object(request))
}

/// Sends a request and reads its whole answer; gives whether the connection still carries lines.
async fn exchange(client: &mut Client, command: &Command, request: &Value) -> bool {
    client.send(request).await;
    loop {
        let reply = timeout(PATIENCE, client.reply()).await;
        let reply = reply.unwrap_or_else(|_| panic!("no answer to {request}"));
        let reply = reply.unwrap_or_else(|| panic!("closed on {request}"));
        assert!(reply["status"].is_string(), "{request} gave {reply}");
        if reply["more"] != json!(true) {
            let raw = matches!(command.answer, Answer::Raw(_));
            return !(raw && reply["status"] == "ok");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_random_command_sequence_never_wedges_the_pod() {
    // One restarts the pod, the other may close the plain port, which is where this client is.
    let harmless = |command: &&Command| !matches!(command.verb, "psram_recover" | "lan_tls");
    let commands: Vec<&'static Command> = all().filter(harmless).collect();
    for (seed, board) in [
        (1, Board::V2),
        (2, Board::V3),
        (3, Board::Digital),
        (4, Board::V3),
    ] {
        let mut random = Random(seed << 32);
        let pod = bench(SimConfig {
            seed,
            board,
            ..SimConfig::default()
        });
        let mut client = Client::new(&pod).await;
        for _ in 0..1500 {
            let (command, request) = request(&mut random, &commands);
            if !exchange(&mut client, command, &request).await {
                // A raw mode: some bytes, then the client leaves.
                client.send_raw(b"+++\x00").await;
                client = Client::new(&pod).await;
            }
        }
        drop(client);
        // Everything can be brought back to a known state: nothing has leaked.
        tokio::time::sleep(Duration::from_secs(9_000)).await;
        let mut client = Client::new(&pod).await;
        for stop in STOPS {
            let request = Value::Object(super::table::parsed(stop));
            client.ask(request).await;
        }
        let table = client.ok(json!({"cmd": "la_pins"})).await;
        for pin in table["pins"].as_array().unwrap() {
            assert_eq!(pin["function"], "none", "{pin}");
        }
        if client.ok(json!({"cmd": "la_voltage"})).await["mv"] == 0 {
            client.ok(json!({"cmd": "la_voltage", "mv": 3300})).await;
        }
        let capture = client.capture(json!({"cmd": "la_capture"})).await;
        assert_eq!(capture.words.len(), 256);
    }
}

#[tokio::test(start_paused = true)]
async fn random_bytes_never_wedge_the_pod() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let mut random = Random(77);
    let valid = br#"{"cmd":"gpio","la":[1,2],"mode":"output","level":1}"#;
    for _ in 0..2000 {
        let mut line = valid.to_vec();
        for _ in 0..=random.below(4) {
            let at = random.below(line.len());
            line[at] = u8::try_from(random.below(256)).unwrap();
        }
        line.retain(|byte| *byte != b'\n');
        client.send_bytes(&line).await;
        let blank = line.trim_ascii().is_empty();
        if !blank {
            let reply = client.reply().await.expect("an answer to every line");
            assert!(reply["status"].is_string());
        }
    }
    assert_eq!(client.ok(json!({"cmd": "ping"})).await, "pong");
}
