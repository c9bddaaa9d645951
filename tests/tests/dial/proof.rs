//! Who may dial in: the holder of a registered key, once per nonce, and by the server's name.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::{Signer as _, SigningKey};
use serde_json::{Value, json};
use tests::offline::stranger;
use tests::{Client, Server};

use super::{HOST, address, register, serve};

/// A pod's connection, by hand.
struct Knock {
    stream: TcpStream,
    device: String,
}

impl Knock {
    fn at(server: &Server, device: &str) -> Self {
        let stream = TcpStream::connect(address(server)).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        let device = device.to_owned();
        Self { stream, device }
    }

    /// Status and body of an answer.
    fn answer(&mut self, ask: &str) -> (u16, Value) {
        self.stream.write_all(ask.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        loop {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let status = head["HTTP/1.1 ".len()..][..3].parse().unwrap();
                let length = head.lines().find_map(|line| {
                    let (name, value) = line.split_once(':')?;
                    name.eq_ignore_ascii_case("content-length")
                        .then(|| value.trim().parse().unwrap())
                });
                match length {
                    _ if status == 101 => return (status, Value::Null),
                    Some(length) if body.len() < length => {}
                    _ => return (status, serde_json::from_str(body).unwrap_or_default()),
                }
            }
            let mut part = [0; 4096];
            let count = self.stream.read(&mut part).unwrap();
            assert_ne!(count, 0, "closed after {text}");
            bytes.extend_from_slice(&part[..count]);
        }
    }

    /// A nonce, as it is written.
    fn nonce(&mut self) -> String {
        let (status, body) = self.challenge();
        assert_eq!(status, 200, "{body}");
        body["nonce"].as_str().unwrap().to_owned()
    }

    fn challenge(&mut self) -> (u16, Value) {
        let device = self.device.clone();
        self.answer(&format!(
            "POST /api/benchpod/devices/{device}/challenge HTTP/1.1\r\nHost: elsewhere.example\r\n\
             Connection: keep-alive\r\nContent-Length: 0\r\n\r\n"
        ))
    }

    /// The status of the upgrade with these parameters.
    fn upgrade(&mut self, nonce: &str, signature: &str, auth: &str) -> u16 {
        let device = self.device.clone();
        let (status, body) = self.answer(&format!(
            "GET /api/benchpod/ws?device_id={device}&nonce={nonce}&signature={signature}{auth} HTTP/1.1\r\n\
             Host: elsewhere.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n"
        ));
        assert!(
            status == 101 || body["error"].is_string(),
            "{status} {body}"
        );
        status
    }

    /// The status for a proof of this pod, after a nonce of its own.
    fn prove(&mut self, pod: &SigningKey, auth: &str, host: &str) -> u16 {
        let nonce = self.nonce();
        self.upgrade(&nonce, &signature(pod, auth, host, &nonce), auth)
    }
}

fn signature(pod: &SigningKey, auth: &str, host: &str, nonce: &str) -> String {
    let nonce = URL_SAFE_NO_PAD.decode(nonce).unwrap();
    let message = match auth {
        "" => [b"benchpod-ws-auth:v1\0", &nonce[..]].concat(),
        _ => [b"benchpod-ws-auth:v2\0", host.as_bytes(), b"\0", &nonce].concat(),
    };
    URL_SAFE_NO_PAD.encode(pod.sign(&message).to_bytes())
}

fn key_of(pod: &SigningKey) -> String {
    URL_SAFE_NO_PAD.encode(pod.verifying_key().as_bytes())
}

/// A server, a pod, and the id of its device.
fn registered(folder: &Path) -> (Server, SigningKey, String) {
    let server = serve(folder);
    let pod = SigningKey::from_bytes(&[42; 32]);
    let made = register(&server.client(), "afar", &key_of(&pod)).expect(201);
    (server, pod, made["id"].as_str().unwrap().to_owned())
}

const V1: &str = "";
const V2: &str = "&auth=v2";

#[test]
fn a_pod_proves_its_key_once_and_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let (mut server, pod, id) = registered(folder.path());
    let other = SigningKey::from_bytes(&[43; 32]);
    assert_eq!(Knock::at(&server, &id).prove(&other, V2, HOST), 401);
    // The server's own name, not the one that the request says.
    assert_eq!(
        Knock::at(&server, &id).prove(&pod, V2, "elsewhere.example"),
        401
    );
    assert_eq!(Knock::at(&server, &id).prove(&pod, "&auth=v3", HOST), 401);
    assert_eq!(Knock::at(&server, &id).prove(&pod, V1, ""), 101);

    let mut first = Knock::at(&server, &id);
    let nonce = first.nonce();
    let signed = signature(&pod, V2, HOST, &nonce);
    // Not on another connection, nor for another device, nor after an attempt.
    assert_eq!(Knock::at(&server, &id).upgrade(&nonce, &signed, V2), 401);
    assert_eq!(first.upgrade(&nonce, "", V2), 401);
    assert_eq!(first.upgrade(&nonce, &signed, V2), 401);
    assert_eq!(Knock::at(&server, &id).upgrade("", "", V2), 401);
    let mut second = Knock::at(&server, &id);
    assert_eq!(second.prove(&pod, V2, HOST), 101);
    // From now on by name, and after a restart as well.
    assert_eq!(Knock::at(&server, &id).prove(&pod, V1, ""), 401);
    server.kill().unwrap();
    let server = serve(folder.path());
    assert_eq!(Knock::at(&server, &id).prove(&pod, V1, ""), 401);
    assert_eq!(Knock::at(&server, &id).prove(&pod, V2, HOST), 101);

    for device in ["01JGZ5V9T3N8W2K4Q7R6D1M0XA", server.device()] {
        assert_eq!(Knock::at(&server, device).challenge().0, 404, "{device}");
    }
    let client = server.client();
    client.delete(&format!("/api/bench/devices/{id}")).unwrap();
    assert_eq!(Knock::at(&server, &id).challenge().0, 403);
}

#[test]
fn a_server_without_a_name_says_what_it_lacks() {
    let server = Server::demo().unwrap();
    let pod = SigningKey::from_bytes(&[42; 32]);
    let made = register(&server.client(), "afar", &key_of(&pod)).expect(201);
    let id = made["id"].as_str().unwrap();
    assert_eq!(Knock::at(&server, id).prove(&pod, V2, HOST), 503);
    assert_eq!(Knock::at(&server, id).prove(&pod, V1, ""), 101);
}

#[test]
fn a_key_belongs_to_one_organisation() {
    let folder = tempfile::tempdir().unwrap();
    let (mut server, pod, id) = registered(folder.path());
    server.stop().unwrap();
    let key = stranger(folder.path());
    let server = serve(folder.path());
    let stranger = server
        .anonymous()
        .with_authorization(&format!("ApiKey {key}"));
    let refused = register(&stranger, "mine", &key_of(&pod)).expect(409);
    assert!(
        !refused["error"].as_str().unwrap().contains("organisation"),
        "{refused}"
    );
    assert_eq!(
        stranger
            .get(&format!("/api/bench/devices/{id}"))
            .unwrap()
            .status,
        404
    );
    // Only administrators decide what is a device.
    let body = json!({"name": "ci", "scopes": ["bench:control"]});
    let key = server
        .client()
        .post("/api/keys", &body)
        .unwrap()
        .expect(201);
    let limited = Client::new(&server.url)
        .with_authorization(&format!("ApiKey {}", key["secret"].as_str().unwrap()));
    register(&limited, "mine", &key_of(&SigningKey::from_bytes(&[1; 32]))).expect(403);
    register(&server.anonymous(), "mine", &key_of(&pod)).expect(401);
}

#[test]
fn those_who_prove_nothing_keep_nobody_out() {
    let folder = tempfile::tempdir().unwrap();
    let (server, pod, id) = registered(folder.path());
    let mut idle: Vec<Knock> = (0..100).map(|_| Knock::at(&server, &id)).collect();
    for knock in idle.iter_mut().step_by(2) {
        knock.nonce();
    }
    assert_eq!(Knock::at(&server, &id).prove(&pod, V2, HOST), 101);
    assert_eq!(server.anonymous().get("/healthz").unwrap().status, 200);
    drop(idle);
}
