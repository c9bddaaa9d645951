//! Who is cut, and who is not.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

use super::*;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;

/// More than anything here holds.
const ROOM: usize = 64 << 20;

/// Both ends of a connection that has announced HTTP/2, and how often it was cut.
async fn connection() -> (
    DuplexStream,
    Floods<DuplexStream, impl Fn() + Unpin>,
    Arc<AtomicU32>,
) {
    let (mut client, server) = tokio::io::duplex(ROOM);
    let cuts = Arc::new(AtomicU32::new(0));
    let counted = cuts.clone();
    let cut = move || {
        counted.fetch_add(1, Ordering::Relaxed);
    };
    client
        .write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        .await
        .unwrap();
    (client, Floods::new(server, cut), cuts)
}

fn frames(kind: u8, length: u32, count: u64) -> Vec<u8> {
    let size = length.to_be_bytes();
    let mut frame = vec![size[1], size[2], size[3], kind, 0, 0, 0, 0, 1];
    frame.resize(frame.len() + length as usize, 0);
    frame.repeat(usize::try_from(count).unwrap())
}

/// Whether the server reads all that the client has sent.
async fn takes(server: &mut Floods<DuplexStream, impl Fn() + Unpin>, mut bytes: usize) -> bool {
    let mut buffer = vec![0; 16 << 10];
    while bytes > 0 {
        let most = buffer.len().min(bytes);
        match server.read(&mut buffer[..most]).await {
            Ok(read) => bytes -= read,
            Err(_) => return false,
        }
    }
    true
}

const PREFACE: usize = 24;

#[tokio::test(start_paused = true)]
async fn a_flood_of_any_kind_is_cut() {
    for (kind, length) in [
        (SETTINGS, 0),
        (PING, 8),
        (WINDOW_UPDATE, 4),
        (CONTINUATION, 0),
        (RST_STREAM, 4),
        (DATA, 0),
        (DATA, 1),
        (0xFA, 3),
    ] {
        let (mut client, mut server, cuts) = connection().await;
        let sent = frames(kind, length, BURST);
        client.write_all(&sent).await.unwrap();
        assert!(takes(&mut server, PREFACE + sent.len()).await, "{kind}");
        let more = frames(kind, length, BURST);
        client.write_all(&more).await.unwrap();
        assert!(!takes(&mut server, more.len()).await, "{kind}");
        assert_eq!(cuts.load(Ordering::Relaxed), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_steady_rate_is_not() {
    let (mut client, mut server, cuts) = connection().await;
    assert!(takes(&mut server, PREFACE).await);
    for _ in 0..600 {
        let sent = frames(PING, 8, PER_S / 10);
        client.write_all(&sent).await.unwrap();
        assert!(takes(&mut server, sent.len()).await);
        tokio::time::advance(Duration::from_millis(100)).await;
    }
    assert_eq!(cuts.load(Ordering::Relaxed), 0);
}

#[tokio::test(start_paused = true)]
async fn what_goes_with_bodies_is_not() {
    let (mut client, mut server, _) = connection().await;
    assert!(takes(&mut server, PREFACE).await);
    // A download that is acknowledged twice for each of its frames.
    let part = vec![0; 16 << 10];
    for _ in 0..4 * BURST {
        server.write_all(&part).await.unwrap();
        client.read_exact(&mut vec![0; part.len()]).await.unwrap();
        let sent = frames(WINDOW_UPDATE, 4, 2);
        client.write_all(&sent).await.unwrap();
        assert!(takes(&mut server, sent.len()).await);
    }
    // An upload in small frames, and requests without anything else.
    for (kind, length) in [(DATA, 1000), (HEADERS, 30)] {
        let sent = frames(kind, length, 8 * BURST);
        client.write_all(&sent).await.unwrap();
        assert!(takes(&mut server, sent.len()).await, "{kind}");
    }
}

#[tokio::test(start_paused = true)]
async fn other_protocols_are_not_looked_at() {
    let (mut client, server) = tokio::io::duplex(ROOM);
    let mut server = Floods::new(server, || panic!("not cut"));
    let sent = frames(PING, 8, 4 * BURST);
    client.write_all(&sent).await.unwrap();
    assert!(takes(&mut server, sent.len()).await);
}
