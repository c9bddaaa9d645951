//! Faults under a stream: the pod is unplugged, the client vanishes, the server is killed, or the
//! bytes are not a WebSocket. Nothing may stay stuck.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use serde_json::json;
use tests::{Client, Opened, PodSim, Server, Socket};

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// Bytes that start a UART session in a tunnel.
const UART: &[u8] = b"{\"cmd\":\"uart_proxy_start\",\"rx\":10,\"tx\":9,\"baud\":115200}\n";

fn serve(pod: &PodSim, dir: &Path, settings: &str) -> Server {
    let config = dir.join("hostd.toml");
    let address = &pod.address;
    let text = format!("{settings}\n[[devices]]\nname = \"net\"\naddress = \"tcp:{address}\"\n");
    std::fs::write(&config, text).unwrap();
    Server::demo_in_with(dir, &["--config", config.to_str().unwrap()]).unwrap()
}

fn token(server: &Server) -> String {
    let token = server.client().post("/api/auth/token", &json!({}));
    let token = token.unwrap().expect(200);
    format!("Bearer {}", token["token"].as_str().unwrap())
}

fn job(server: &Server, lease: &str) -> Client {
    Client::new(&server.url)
        .with_authorization(&token(server))
        .with_header("x-bench-lease", lease)
}

fn acquire(server: &Server, lease: &str) -> tests::Reply {
    let body = json!({"lease_id": lease, "run_label": lease, "ttl_seconds": 60});
    let path = "/api/cloud/devices/lease?device=net";
    job(server, lease).post(path, &body).unwrap()
}

fn tunnel(server: &Server, lease: &str, kind: &str) -> Opened {
    let path = format!("/api/cloud/devices/ws?device=net&kind={kind}");
    let headers = [("authorization", &*token(server)), ("x-bench-lease", lease)];
    Socket::open(&server.url, &path, &headers).unwrap()
}

/// Ask until the condition holds.
fn until(right: impl FnMut() -> bool) {
    tests::until(right, |is_right| *is_right).unwrap();
}

/// A tunnel with a UART session, under a lease and with the bank's voltage on.
fn held(server: &Server) -> Socket {
    acquire(server, "mine").expect(200);
    let voltage = json!({"cmd": "la_voltage", "mv": 3300});
    let path = "/api/cloud/devices/command?device=net";
    job(server, "mine")
        .post(path, &voltage)
        .unwrap()
        .expect(200);
    let mut uart = tunnel(server, "mine", "uart").socket();
    uart.send(UART).unwrap();
    assert_eq!(uart.line().unwrap()["status"], "ok");
    uart
}

#[test]
fn a_pod_unplugged_under_a_tunnel() {
    let mut pod = PodSim::start(&[]).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let server = serve(&pod, dir.path(), "[pods]\ngrace_ms = 100\n");
    let mut uart = held(&server);
    pod.kill().unwrap();
    assert_eq!(uart.closed().unwrap().0, 4002);
    // The lease still exists, and the next caller is told.
    let (status, body) = tunnel(&server, "mine", "uart").refused();
    assert_eq!((status, &body["code"]), (503, &json!("device_offline")));
    acquire(&server, "other").expect(409);
}

#[test]
fn a_client_that_vanishes_under_a_tunnel() {
    let pod = PodSim::start(&[]).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let server = serve(&pod, dir.path(), "[http]\nping_ms = 500\n");
    let uart = held(&server);
    drop(uart);
    until(|| matches!(tunnel(&server, "mine", "flash"), Opened::Socket(_)));
    // A client that keeps its connection but sends nothing, not even pongs.
    let mut silent = None;
    until(|| match tunnel(&server, "mine", "uart") {
        Opened::Socket(socket) => silent.insert(socket).send(UART).is_ok(),
        Opened::Refused(..) => false,
    });
    until(|| matches!(tunnel(&server, "mine", "flash"), Opened::Socket(_)));
}

#[test]
fn a_server_that_is_killed_with_a_lease_and_a_tunnel() {
    let pod = PodSim::start(&[]).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut server = serve(&pod, dir.path(), "");
    let mut uart = held(&server);
    server.kill().unwrap();
    assert!(uart.closed().is_err());
    drop(server);
    let server = serve(&pod, dir.path(), "");
    // The previous holder still has it, and nobody else.
    assert_eq!(acquire(&server, "other").expect(409)["holder"], "mine");
    acquire(&server, "mine").expect(200);
    let path = "/api/cloud/devices/command?device=net";
    let ask = |command: &serde_json::Value| job(&server, "mine").post(path, command).unwrap();
    until(|| ask(&json!({"cmd": "ping"})).status == 200);
    // The pod has released the tunnel's channels, so they can be used again.
    until(|| {
        let pins = ask(&json!({"cmd": "la_pins"})).expect(200);
        pins["data"]["pins"][8]["function"] == "none"
    });
    let mut uart = tunnel(&server, "mine", "uart").socket();
    uart.send(UART).unwrap();
    assert_eq!(uart.line().unwrap()["status"], "ok");
    uart.close().unwrap();
    let body = json!({"lease_id": "mine"});
    let path = "/api/cloud/devices/lease/release?device=net";
    job(&server, "mine").post(path, &body).unwrap().expect(200);
    acquire(&server, "other").expect(200);
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }

    fn byte(&mut self) -> u8 {
        u8::try_from(self.below(256)).unwrap()
    }

    fn bytes(&mut self, max: u64) -> Vec<u8> {
        (0..self.below(max)).map(|_| self.byte()).collect()
    }
}

/// A frame such as a client might send: any first byte, a length that may be wrong, masked or not.
fn frame(random: &mut Random) -> Vec<u8> {
    let payload = random.bytes(40);
    let mut frame = vec![match random.below(4) {
        0 => random.byte(),
        _ => [0x81, 0x82, 0x01, 0x80, 0x00, 0x89, 0x8a, 0x88][usize::from(random.byte() % 8)],
    }];
    let masked = if random.below(8) == 0 { 0 } else { 0x80 };
    match random.below(8) {
        0 => {
            frame.push(masked | 127);
            let length = random.below(u64::MAX);
            frame.extend(length.to_be_bytes());
        }
        1 => {
            frame.push(masked | 126);
            let length = u16::try_from(payload.len()).unwrap();
            frame.extend(length.to_be_bytes());
        }
        _ => frame.push(masked | u8::try_from(payload.len()).unwrap()),
    }
    if masked != 0 {
        frame.extend([0; 4]);
    }
    frame.extend(payload);
    frame
}

/// Open `path` by hand, so that any bytes can be sent after it.
fn upgraded(server: &Server, path: &str) -> TcpStream {
    let address = server.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let key = &server.api_key;
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: ApiKey {key}\r\n\
         Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    .unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    assert!(head.starts_with("HTTP/1.1 101"), "{head}");
    stream
}

#[test]
fn whatever_comes_over_a_websocket_harms_nobody() {
    let server = Server::demo().unwrap();
    let device = server.device();
    let path = format!("/api/bench/devices/{device}/uart/ws?rx=10&tx=9");
    for seed in 1..=60 {
        let mut random = Random(seed * 0x9e37_79b9);
        let mut stream = upgraded(&server, &path);
        let bytes: Vec<u8> = match seed % 3 {
            0 => random.bytes(400),
            _ => (0..30).flat_map(|_| frame(&mut random)).collect(),
        };
        // A server that has seen enough may have closed already.
        let _ = stream.write_all(&bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        // Whatever happens, the connection ends.
        let mut answer = Vec::new();
        if let Err(error) = stream.read_to_end(&mut answer) {
            assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{seed}");
        }
    }
    server
        .client()
        .get("/api/bench/devices")
        .unwrap()
        .expect(200);
    assert!(!server.log().contains("panic"), "something panicked");
}
