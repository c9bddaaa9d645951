//! The same owner and the same simulated pod, over a socket.

use std::sync::Arc;

use pod_sim::SimConfig;
use serde_json::json;
use tokio::net::TcpListener;

use super::{Driver, TCP_PORT, TcpTransport};
use crate::tests::bench;
use crate::{AddressError, CaptureRequest, DEFAULT_REPLY_TIMEOUT, Pod, PodOptions, transport};

#[tokio::test]
async fn a_pod_is_driven_over_a_socket() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let simulated = bench(SimConfig::default());
    let serving = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let simulated = simulated.clone();
            tokio::spawn(async move { simulated.serve(stream).await });
        }
    });
    let pod = Pod::spawn(Arc::new(TcpTransport::new(&address)), PodOptions::default());
    pod.wait_online(DEFAULT_REPLY_TIMEOUT).await.unwrap();
    let command = json!({"cmd": "gpio", "la": 4, "mode": "output", "level": 1});
    let command = command.as_object().unwrap().clone();
    pod.command(command, DEFAULT_REPLY_TIMEOUT).await.unwrap();
    let la = CaptureRequest::La {
        samples: 2_000,
        rate_mhz: 1.0,
        trigger: None,
    };
    let mut stream = pod.capture(la).await.unwrap();
    let mut upto = 0;
    while let Some(frame) = stream.next().await {
        if let crate::Frame::La { upto: covered, .. } = frame.unwrap() {
            upto = covered;
        }
    }
    assert_eq!(upto, 2_000);
    serving.abort();
}

#[test]
fn an_address_is_a_host_and_perhaps_a_port() {
    let transport = |address| transport(&[&Driver], address);
    for good in ["tcp:bench.example:9000", "tcp:[::1]"] {
        assert_eq!(transport(good).unwrap().kind(), "tcp", "{good}");
    }
    for bad in ["tcp:", "tcp:a b"] {
        let error = transport(bad).err().unwrap();
        assert!(matches!(error, AddressError::Malformed { .. }), "{bad}");
    }
}

#[test]
fn an_address_without_port_gets_the_pods_port() {
    for (given, expected) in [
        ("bench", format!("bench:{TCP_PORT}")),
        ("bench:9", "bench:9".to_owned()),
        ("[::1]", format!("[::1]:{TCP_PORT}")),
        ("[::1]:9", "[::1]:9".to_owned()),
    ] {
        assert_eq!(TcpTransport::new(given).address, expected);
    }
}
