//! Random command sequences made from the table of commands: whatever is sent, the pod answers each
//! request once and on time, stays usable, and leaks neither channels nor capture hardware.

use fastrand::Rng;
use pod_protocol::commands::{Answer, Command, Field, Kind, all};
use serde_json::{Map, Value, json};
use tokio::time::{Duration, timeout};

use super::{Client, bench};
use crate::{Board, SimConfig};

/// Longer than any answer may take.
const PATIENCE: Duration = Duration::from_secs(7_200);

/// Most samples in a random capture; more would add time but no states.
const SAMPLES_MAX: i64 = 3_000;

/// Commands that end everything that outlives a connection.
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
fn any_value(random: &mut Rng) -> Value {
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
    random.choice(&values).unwrap().clone()
}

fn within(random: &mut Rng, min: i64, max: i64) -> i64 {
    let span = usize::try_from(max.saturating_sub(min).saturating_add(1)).unwrap();
    let near = [min, max, min + i64::try_from(random.usize(..span)).unwrap()];
    *random.choice(&near).unwrap()
}

/// A value for a field: mostly a valid one, sometimes one just outside, seldom nonsense.
fn value(random: &mut Rng, field: &Field) -> Value {
    if random.usize(..12) == 0 {
        return any_value(random);
    }
    let channel = |random: &mut Rng| random.usize(..16);
    match field.kind {
        Kind::Int(min, max) | Kind::HexOrInt(min, max) => {
            let max = if field.name.ends_with("samples") {
                max.min(SAMPLES_MAX)
            } else {
                max
            };
            let outside = [min - 1, max + 1];
            match random.usize(..8) {
                0 => json!(random.choice(&outside).unwrap()),
                _ => json!(within(random, min, max)),
            }
        }
        Kind::OneOf(numbers) => json!(random.choice(numbers).unwrap()),
        Kind::Number(min, max) => {
            let share = f64::from(u8::try_from(random.usize(..140)).unwrap()) / 128.0;
            json!(min + (max - min) * share)
        }
        Kind::Positive => json!(
            random
                .choice(&[0.001, 0.05, 1.0, 440.0, 12.0, 0.0])
                .unwrap()
        ),
        Kind::Flag => random
            .choice(&[json!(true), json!(false), json!(1), json!(0)])
            .unwrap()
            .clone(),
        Kind::Word(words) => json!(random.choice(words).unwrap()),
        Kind::La => json!(channel(random)),
        Kind::Las => match random.usize(..4) {
            0 => json!("all"),
            1 => json!([channel(random), channel(random)]),
            _ => json!(channel(random)),
        },
        Kind::Bytes(..) => json!("A".repeat(random.usize(..12))),
        Kind::ByteList => json!(vec![7; random.usize(..10)]),
        Kind::Trigger => {
            let edge = *random
                .choice(&["rising", "falling", "high", "low"])
                .unwrap();
            json!({"la": channel(random), "edge": edge})
        }
        Kind::Text | Kind::Mixed => {
            json!(random.choice(&["b64", "x", "current_in", "17"]).unwrap())
        }
    }
}

/// A request: an example with some fields changed, or with arbitrary fields.
fn request(random: &mut Rng, commands: &[&'static Command]) -> (&'static Command, Value) {
    let command = *random.choice(commands).unwrap();
    let mut request = Map::new();
    if !command.examples.is_empty() && random.usize(..3) > 0 {
        request = super::table::parsed(random.choice(command.examples).unwrap().request);
    }
    request.insert("cmd".to_owned(), command.verb.into());
    if !command.fields.is_empty() {
        for _ in 0..random.usize(..4) {
            let field = random.choice(command.fields).unwrap();
            request.insert(field.name.to_owned(), value(random, field));
        }
    }
    (command, Value::Object(request))
}

/// Sends a request and reads its whole answer; returns whether the connection still carries lines.
async fn exchange(client: &mut Client, command: &Command, request: &Value) -> bool {
    client.send(request).await;
    loop {
        let reply = timeout(PATIENCE, client.reply()).await;
        let reply = reply.unwrap_or_else(|_| panic!("no answer to {request}"));
        let reply = reply.unwrap_or_else(|| panic!("closed on {request}"));
        assert!(reply["status"].is_string(), "{request} gave {reply}");
        if let Some(bytes) = reply["raw"].as_u64() {
            client.read_raw(usize::try_from(bytes).unwrap()).await;
        }
        if reply["more"] != json!(true) {
            let raw = matches!(command.answer, Answer::Raw(_));
            return !(raw && reply["status"] == "ok");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_random_command_sequence_never_wedges_the_pod() {
    // One restarts the pod, the other may close the plaintext port, which this client uses.
    let harmless = |command: &&Command| !matches!(command.verb, "psram_recover" | "lan_tls");
    let commands: Vec<&'static Command> = all().filter(harmless).collect();
    for (seed, board) in [
        (1, Board::V2),
        (2, Board::V3),
        (3, Board::Digital),
        (4, Board::V3),
    ] {
        let mut random = Rng::with_seed(seed << 32);
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
    let mut random = Rng::with_seed(77);
    let valid = br#"{"cmd":"gpio","la":[1,2],"mode":"output","level":1}"#;
    for _ in 0..2000 {
        let mut line = valid.to_vec();
        for _ in 0..=random.usize(..4) {
            let at = random.usize(..line.len());
            line[at] = u8::try_from(random.usize(..256)).unwrap();
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
