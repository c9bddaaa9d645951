//! An identity provider like those of CI services: keys over HTTP, and tokens that it signs.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};

/// A key pair made for tests and used nowhere else.
const PEM: &str = include_str!("../../hostd/identity/src/oidc/tests/key.pem");
const SET: &str = include_str!("../../hostd/identity/src/oidc/tests/keys.json");

/// A provider that serves its keys.
#[derive(Debug)]
pub struct Issuer {
    url: String,
    asked: Arc<AtomicUsize>,
}

impl Issuer {
    /// Listen on a free port, as long as the process lives.
    ///
    /// # Panics
    /// There is no free port.
    #[must_use]
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let asked = Arc::new(AtomicUsize::new(0));
        let count = asked.clone();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut head = [0; 4096];
                if stream.read(&mut head).unwrap_or(0) > 0 {
                    count.fetch_add(1, Ordering::SeqCst);
                }
                let len = SET.len();
                let answer = format!(
                    "HTTP/1.1 200 OK\r\nContent-Length: {len}\r\nConnection: close\r\n\r\n{SET}"
                );
                // A client that has left has its reasons.
                drop(stream.write_all(answer.as_bytes()));
            }
        });
        let url = format!("http://{address}");
        Self { url, asked }
    }

    /// The section of the configuration that makes a server use this provider.
    #[must_use]
    pub fn config(&self) -> String {
        let url = &self.url;
        format!(
            "[oidc]\nissuer = \"https://issuer\"\naudience = \"https://us\"\njwks = \"{url}/jwks\"\n"
        )
    }

    /// How often its keys were requested.
    #[must_use]
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

/// A token of a run of `acme/blinky` on `main`, with these changes.
///
/// # Panics
/// The key of the tests is broken.
pub fn id_token(change: impl FnOnce(&mut Value)) -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let now_s = since.expect("a clock after 1970").as_secs();
    let mut claims = json!({"iss": "https://issuer", "aud": "https://us", "exp": now_s + 300,
        "repository": "acme/blinky", "ref": "refs/heads/main", "actor": "ada"});
    change(&mut claims);
    let mut header = Header::new(Algorithm::RS256);
    header.kid = Some("test".to_owned());
    jsonwebtoken::encode(&header, &claims, &signing_key()).expect("claims can be signed")
}

/// The tests' key, without its PEM armour.
fn signing_key() -> EncodingKey {
    let body: String = PEM.lines().filter(|l| !l.starts_with("---")).collect();
    EncodingKey::from_rsa_der(&STANDARD.decode(body).expect("PEM is base 64"))
}
