//! The driver against a simulated pod that speaks TLS: which certificates it trusts, and how it says
//! that it does not.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pod_protocol::connection::Transport;
use pod_sim::{SimConfig, SimPod};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::{Driver, Fingerprint, PinMismatch, TLS_PORT, TlsTransport, split};
use crate::tests::bench;
use crate::{DEFAULT_REPLY_TIMEOUT, Pod, PodError, PodOptions, transport};

/// A simulated pod behind a TLS listener.
struct Served {
    pod: Arc<SimPod>,
    address: String,
    accepting: JoinHandle<()>,
}

impl Served {
    async fn start(seed: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let pod = bench(SimConfig {
            seed,
            ..SimConfig::default()
        });
        let serving = pod.clone();
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let pod = serving.clone();
                tokio::spawn(async move { pod.serve_tls(stream).await });
            }
        });
        Self {
            pod,
            address,
            accepting,
        }
    }

    /// What the pod says of its certificate.
    async fn sha256(&self) -> String {
        let tls = self.over_usb(json!({"cmd": "lan_tls"})).await;
        tls["sha256"].as_str().unwrap().to_owned()
    }

    /// Runs a command on the pod's USB port.
    async fn over_usb(&self, command: Value) -> Value {
        let pod = Pod::spawn(self.pod.clone(), PodOptions::default());
        pod.wait_online(DEFAULT_REPLY_TIMEOUT).await.unwrap();
        let command = command.as_object().unwrap().clone();
        pod.command(command, DEFAULT_REPLY_TIMEOUT).await.unwrap()
    }

    fn transport(&self, pin: Option<&str>) -> Arc<dyn Transport> {
        let pin = pin.map_or(String::new(), |pin| format!(",sha256={pin}"));
        transport(&[&Driver], &format!("tls:{}{pin}", self.address)).unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

fn mismatch(error: &std::io::Error) -> PinMismatch {
    let inner = error.get_ref().unwrap();
    *inner.downcast_ref::<PinMismatch>().unwrap()
}

#[tokio::test]
async fn a_pinned_pod_is_driven_over_tls() {
    let served = Served::start(1).await;
    let pin = served.sha256().await.to_uppercase();
    let pod = Pod::spawn(served.transport(Some(&pin)), PodOptions::default());
    pod.wait_online(DEFAULT_REPLY_TIMEOUT).await.unwrap();
    assert_eq!(pod.certificate_pin(), Some(pin.to_lowercase()));
    let command = json!({"cmd": "lan_tls"}).as_object().unwrap().clone();
    let tls = pod.command(command, DEFAULT_REPLY_TIMEOUT).await.unwrap();
    assert_eq!(tls["sessions"], 1);
    assert_eq!(tls["sha256"], pin.to_lowercase());
}

#[tokio::test]
async fn the_wrong_certificate_is_told_with_both_fingerprints() {
    let served = Served::start(1).await;
    let found = served.sha256().await;
    let pinned = "ab".repeat(32);
    let transport = served.transport(Some(&pinned));
    let error = transport.connect().await.err().unwrap();
    assert_eq!(mismatch(&error).found.to_string(), found);
    let pod = Pod::spawn(transport, PodOptions::default());
    let state = pod.watch().wait_for(|state| {
        matches!(state, crate::PodState::Offline { reason } if reason.contains(&found) && reason.contains(&pinned))
    }).await.unwrap().clone();
    assert!(!state.is_online());
    let error = pod.open().await.err().unwrap();
    assert!(matches!(error, PodError::Offline { .. }));
}

#[tokio::test]
async fn the_first_certificate_is_kept_until_it_is_given_up() {
    let served = Served::start(1).await;
    let before = served.sha256().await;
    let transport = served.transport(None);
    assert_eq!(transport.certificate_pin(), None);
    for _ in 0..3 {
        drop(transport.connect().await.unwrap());
        assert_eq!(transport.certificate_pin(), Some(before.clone()));
    }
    let regenerate = json!({"cmd": "lan_tls", "regenerate": true});
    served.over_usb(regenerate).await;
    let after = served.sha256().await;
    assert_ne!(after, before);
    let error = transport.connect().await.err().unwrap();
    assert_eq!(mismatch(&error).pinned.to_string(), before);
    assert_eq!(mismatch(&error).found.to_string(), after);
    drop(served.transport(None).connect().await.unwrap());
}

#[tokio::test]
async fn the_certificate_follows_from_the_seed() {
    let (one, same, other) = (
        Served::start(1).await,
        Served::start(1).await,
        Served::start(2).await,
    );
    assert_eq!(one.sha256().await, same.sha256().await);
    assert_ne!(one.sha256().await, other.sha256().await);
}

#[tokio::test]
async fn a_key_that_is_not_the_certificates_is_refused() {
    let served = Served::start(1).await;
    let pin = served.sha256().await;
    // A relay that answers with the right certificate and cannot sign for it: it changes one byte of
    // what the pod sends after the certificate.
    let relay = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = relay.local_addr().unwrap().to_string();
    let real = served.address.clone();
    let flipped = Arc::new(AtomicUsize::new(0));
    let count = flipped.clone();
    let relaying = tokio::spawn(async move {
        let (mut near, _) = relay.accept().await.unwrap();
        let mut far = tokio::net::TcpStream::connect(real).await.unwrap();
        let (mut near_in, mut near_out) = near.split();
        let (mut far_in, mut far_out) = far.split();
        let up = tokio::io::copy(&mut near_in, &mut far_out);
        let down = async {
            use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
            let mut bytes = vec![0; 16 * 1024];
            let read = far_in.read(&mut bytes).await?;
            bytes[read - 20] ^= 1;
            count.fetch_add(1, Ordering::Relaxed);
            near_out.write_all(&bytes[..read]).await?;
            tokio::io::copy(&mut far_in, &mut near_out).await
        };
        let _ = tokio::join!(up, down);
    });
    let pinned = Fingerprint::from_hex(&pin);
    let transport = TlsTransport::new(&address, pinned).unwrap();
    assert!(transport.connect().await.is_err());
    assert_eq!(flipped.load(Ordering::Relaxed), 1);
    relaying.abort();
}

#[test]
fn addresses_have_a_host_and_perhaps_a_port() {
    for (given, expected) in [
        ("bench", Some(("bench", TLS_PORT))),
        ("bench:9", Some(("bench", 9))),
        ("[::1]", Some(("::1", TLS_PORT))),
        ("[::1]:9", Some(("::1", 9))),
        ("bench:", None),
        ("bench:0", None),
        ("bench:99999", None),
        ("[::1", None),
        ("[::1]9", None),
    ] {
        assert_eq!(split(given), expected, "{given}");
    }
    let pin = "0123456789abcdef".repeat(4);
    for good in [
        "tls:bench".to_owned(),
        "tls:[::1]:9".to_owned(),
        format!("tls:10.0.0.7,sha256={pin}"),
    ] {
        assert!(transport(&[&Driver], &good).is_ok(), "{good}");
    }
    for bad in [
        "tls:".to_owned(),
        "tls:a b".to_owned(),
        "tls:bench,sha256=".to_owned(),
        format!("tls:bench,sha256={pin}0"),
        format!("tls:bench,sha256={}", pin.replace('f', "g")),
        format!("tls:bench,sha1={pin}"),
    ] {
        assert!(transport(&[&Driver], &bad).is_err(), "{bad}");
    }
}
