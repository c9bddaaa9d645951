//! Two sides of a link over a pipe, and one side against bytes that no sound peer sends.

mod transfers;

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use fastrand::Rng;
use tokio::io::{
    AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, ReadBuf, ReadHalf, WriteHalf,
    duplex, simplex, split,
};
use tokio::task::{JoinHandle, JoinSet};

use super::frame::{HEADER_BYTES, Header, Kind, TRANSFER_BYTES};
use super::fuzzing::fuzz;
use super::{Incoming, KEEP_ALIVE, Link, LinkError, Outgoing, SILENCE_MAX, Terms, Transfer};
use crate::fuzzing::mutated;

const SMALL: Terms = Terms {
    channels: 4,
    frame_bytes: 512,
    window_bytes: 2048,
};

/// One end of a pipe, each way: transfers of whatever length fits.
struct Pipe<S> {
    stream: S,
    /// What was sent and has not left.
    rest: Vec<u8>,
}

impl<S> Pipe<S> {
    fn new(stream: S) -> Self {
        let rest = Vec::new();
        Self { stream, rest }
    }
}

impl<S: AsyncRead + Unpin + Send> Incoming for Pipe<S> {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<io::Result<Bytes>> {
        let mut bytes = [0; 3000];
        let mut into = ReadBuf::new(&mut bytes);
        ready!(Pin::new(&mut self.stream).poll_read(context, &mut into))?;
        match into.filled() {
            [] => Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into())),
            bytes => Poll::Ready(Ok(Bytes::copy_from_slice(bytes))),
        }
    }
}

impl<S: AsyncWrite + Unpin + Send> Outgoing for Pipe<S> {
    fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(context)
    }

    fn free(&mut self) -> Option<Transfer> {
        Some(Box::new(Vec::new()))
    }

    fn send(&mut self, transfer: Transfer) {
        assert!(self.rest.is_empty() && transfer.bytes().len() <= TRANSFER_BYTES);
        self.rest = transfer.bytes().to_vec();
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.rest.is_empty() {
            let count = ready!(Pin::new(&mut self.stream).poll_write(context, &self.rest))?;
            self.rest.drain(..count);
        }
        Poll::Ready(Ok(()))
    }
}

const NONCE: [u8; 8] = *b"01234567";

/// Both sides, driven by tasks of their own, over pipes that hold `bytes`.
async fn pair(bytes: usize) -> (Link, Link, [JoinHandle<LinkError>; 2]) {
    let (near, far) = duplex(bytes);
    let ((near_reader, near_writer), (far_reader, far_writer)) = (split(near), split(far));
    let (host, pod) = tokio::join!(
        Link::host(Pipe::new(near_reader), Pipe::new(near_writer), NONCE),
        Link::pod(Pipe::new(far_reader), Pipe::new(far_writer), SMALL),
    );
    let ((host, drives_host), (pod, drives_pod)) = (host.unwrap(), pod.unwrap());
    let driven = [tokio::spawn(drives_host), tokio::spawn(drives_pod)];
    (host, pod, driven)
}

/// A host, and the bare wires of the pod that it talks to.
async fn host_alone() -> (
    Link,
    ReadHalf<DuplexStream>,
    WriteHalf<DuplexStream>,
    JoinHandle<LinkError>,
) {
    let (near, far) = duplex(1 << 16);
    let ((near_reader, near_writer), (mut far_reader, mut far_writer)) = (split(near), split(far));
    let echo = async {
        let mut greeting = [0; 32];
        far_reader.read_exact(&mut greeting).await.unwrap();
        far_writer.write_all(&greeting).await.unwrap();
    };
    let (host, ()) = tokio::join!(
        Link::host(Pipe::new(near_reader), Pipe::new(near_writer), NONCE),
        echo
    );
    let (host, drives) = host.unwrap();
    (host, far_reader, far_writer, tokio::spawn(drives))
}

fn frame(channel: u16, kind: Kind, bytes: &[u8]) -> Vec<u8> {
    let mut frame = Header::new(channel, kind, bytes.len()).to_bytes().to_vec();
    frame.extend(bytes);
    frame
}

fn noise(random: &mut Rng, count: usize) -> Vec<u8> {
    (0..count).map(|_| random.u8(..)).collect()
}

#[tokio::test]
async fn every_byte_of_many_connections_arrives_once_and_in_order() {
    let mut random = Rng::with_seed(0x11BC);
    for pipe in [64, 1000, 1 << 20] {
        let (host, pod, _driven) = pair(pipe).await;
        let mut clients = JoinSet::new();
        for round in 0..24 {
            let (host, mut random) = (host.clone(), random.fork());
            clients.spawn(async move {
                // Four at once: the pod serves no more.
                tokio::time::sleep(Duration::from_millis(round % 3)).await;
                let Ok(stream) = host.open().await else {
                    return false;
                };
                let sent = noise(&mut random, 20_000);
                let (mut reader, mut writer) = split(stream);
                let sending = async {
                    let mut rest = &sent[..];
                    while !rest.is_empty() {
                        let count = random.usize(1..=rest.len().min(5000));
                        writer.write_all(&rest[..count]).await.unwrap();
                        rest = &rest[count..];
                    }
                    writer.shutdown().await.unwrap();
                };
                let mut back = Vec::new();
                let (_, read) = tokio::join!(sending, reader.read_to_end(&mut back));
                read.unwrap();
                assert_eq!(back, sent);
                true
            });
        }
        tokio::spawn(async move {
            while let Some(stream) = pod.accept().await {
                tokio::spawn(async move {
                    let (mut reader, mut writer) = split(stream);
                    let _ = tokio::io::copy(&mut reader, &mut writer).await;
                    writer.shutdown().await.unwrap();
                });
            }
        });
        let served = clients.join_all().await;
        assert!(served.iter().filter(|was_served| **was_served).count() >= 4);
    }
}

#[tokio::test]
async fn a_connection_that_nobody_reads_holds_up_no_other() {
    let (host, pod, _driven) = pair(1 << 16).await;
    let (stuck, silent) = (host.open().await.unwrap(), pod.accept().await.unwrap());
    let (_, mut stuck) = split(stuck);
    let flood = tokio::spawn(async move {
        let mut sent = 0;
        while let Ok(count) = stuck.write(&[7; 4096]).await {
            sent += count;
            tokio::task::yield_now().await;
        }
        sent
    });
    for _ in 0..50 {
        let mut other = host.open().await.unwrap();
        let mut served = pod.accept().await.unwrap();
        other.write_all(b"ping").await.unwrap();
        let mut got = [0; 4];
        served.read_exact(&mut got).await.unwrap();
        assert_eq!(&got, b"ping");
    }
    // What was written waits on this side: the pod was sent its window and no more.
    assert!(!flood.is_finished());
    let mut silent = silent;
    let mut got = vec![0; SMALL.window_bytes as usize];
    silent.read_exact(&mut got).await.unwrap();
    drop(silent);
    assert!(flood.await.unwrap() > 2048);
}

#[tokio::test]
async fn a_pod_that_is_full_says_so() {
    let (host, pod, _driven) = pair(1 << 16).await;
    let mut open = Vec::new();
    for _ in 0..SMALL.channels {
        open.push((host.open().await.unwrap(), pod.accept().await.unwrap()));
    }
    let refused = host.open().await.unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    assert!(
        refused.to_string().contains("no more connections"),
        "{refused}"
    );
    drop(open.pop());
    // The pod learns of the end in its turn.
    for _ in 0..100 {
        if host.open().await.is_ok() {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("the place did not become free");
}

#[tokio::test]
async fn closing_ends_a_connection_as_tcp_does() {
    let (host, pod, _driven) = pair(1 << 16).await;
    // What was written before the end arrives, then the end.
    let (mut near, mut far) = (host.open().await.unwrap(), pod.accept().await.unwrap());
    near.write_all(b"last words").await.unwrap();
    drop(near);
    let mut got = String::new();
    far.read_to_string(&mut got).await.unwrap();
    assert_eq!(got, "last words");
    drop(far);
    // Whoever writes to somebody who has left is told.
    let (mut near, far) = (host.open().await.unwrap(), pod.accept().await.unwrap());
    drop(far);
    let failed = async {
        loop {
            if let Err(error) = near.write_all(&[0; 512]).await {
                return error;
            }
            tokio::task::yield_now().await;
        }
    };
    assert_eq!(failed.await.kind(), std::io::ErrorKind::ConnectionReset);
    // Leaving with something unread resets.
    let (mut near, mut far) = (host.open().await.unwrap(), pod.accept().await.unwrap());
    far.write_all(b"unread").await.unwrap();
    let mut one = [0];
    near.read_exact(&mut one).await.unwrap();
    drop(near);
    let failed = far.read(&mut one).await.unwrap_err();
    assert_eq!(failed.kind(), std::io::ErrorKind::ConnectionReset);
}

#[tokio::test(start_paused = true)]
async fn two_that_have_nothing_to_say_stay_linked() {
    let (host, pod, driven) = pair(1 << 16).await;
    tokio::time::sleep(20 * SILENCE_MAX).await;
    assert!(!host.has_ended() && !pod.has_ended());
    driven[1].abort();
    tokio::time::sleep(2 * SILENCE_MAX).await;
    assert!(host.has_ended());
}

#[tokio::test(start_paused = true)]
async fn a_silent_pod_is_given_up() {
    let (host, _reader, mut writer, driven) = host_alone().await;
    let opening = tokio::spawn({
        let host = host.clone();
        async move { host.open().await.map(drop) }
    });
    tokio::time::sleep(SILENCE_MAX - KEEP_ALIVE).await;
    writer.write_all(&frame(0, Kind::Alive, &[])).await.unwrap();
    tokio::time::sleep(SILENCE_MAX - KEEP_ALIVE).await;
    assert!(!host.has_ended());
    assert!(matches!(driven.await.unwrap(), LinkError::Silent));
    let refused = opening.await.unwrap().unwrap_err().to_string();
    assert!(refused.contains("nothing was heard"), "{refused}");
    let refused = host.open().await.unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::NotConnected);
}

#[tokio::test]
async fn what_an_earlier_link_left_is_skipped() {
    let mut random = Rng::with_seed(0x57A1E);
    let (near, far) = duplex(1 << 20);
    let ((near_reader, near_writer), (mut far_reader, mut far_writer)) = (split(near), split(far));
    let mut stale = frame(3, Kind::Data, &noise(&mut random, 400));
    stale.extend(noise(&mut random, 3000));
    let pod = async {
        let mut greeting = [0; 32];
        far_reader.read_exact(&mut greeting).await.unwrap();
        let mut other = greeting;
        other[31] ^= 1;
        stale.extend(other);
        far_writer.write_all(&stale).await.unwrap();
        far_writer.write_all(&greeting).await.unwrap();
        far_writer
            .write_all(&frame(0, Kind::Alive, &[]))
            .await
            .unwrap();
    };
    let (host, ()) = tokio::join!(
        Link::host(Pipe::new(near_reader), Pipe::new(near_writer), NONCE),
        pod
    );
    assert_eq!(host.unwrap().0.channels_max(), Terms::HOST.channels);
}

#[tokio::test]
async fn only_a_greeting_of_this_version_begins_a_link() {
    let greeting = |change: fn(&mut [u8])| {
        let mut bytes = frame(0, Kind::Greeting, b"POD\x01");
        bytes[4] = 24;
        bytes.extend([4, 0, 0, 0, 0, 2, 0, 0, 0, 8, 0, 0]);
        bytes.extend(NONCE);
        change(&mut bytes);
        bytes
    };
    let answered = async |bytes: Vec<u8>| {
        let (reader, mut writer) = simplex(1 << 10);
        writer.write_all(&bytes).await.unwrap();
        let pod = Link::pod(Pipe::new(reader), Pipe::new(tokio::io::sink()), SMALL).await;
        pod.map(|(link, _)| link.channels_max())
    };
    assert_eq!(answered(greeting(|_| ())).await.unwrap(), 4);
    let wrong: [fn(&mut [u8]); 6] = [
        |bytes| bytes[0] = 1,
        |bytes| bytes[8 + 3] = 2,
        |bytes| bytes[8 + 4] = 0,
        |bytes| bytes[8 + 4] = 65,
        |bytes| bytes[8 + 9] = 1,
        |bytes| bytes[8 + 15] = 2,
    ];
    for change in wrong {
        let refused = answered(greeting(change)).await;
        assert!(matches!(refused, Err(LinkError::NoGreeting)));
    }
    // A pod that sends anything but a greeting is not listened to for ever.
    let (near, far) = duplex(1 << 16);
    let ((near_reader, near_writer), (_, mut far_writer)) = (split(near), split(far));
    let noisy =
        tokio::spawn(async move { while far_writer.write_all(&[1; 4096]).await.is_ok() {} });
    let refused = Link::host(Pipe::new(near_reader), Pipe::new(near_writer), NONCE).await;
    assert!(matches!(refused, Err(LinkError::NoGreeting)));
    drop(refused);
    noisy.await.unwrap();
}

#[tokio::test]
async fn a_pod_that_breaks_the_rules_ends_the_link() {
    let window = Terms::HOST.window_bytes;
    let too_much = |channel| {
        let mut bytes = Vec::new();
        for _ in 0..=window / 65536 {
            bytes.extend(frame(channel, Kind::Data, &[0; 65536]));
        }
        bytes
    };
    let mut reserved = frame(0, Kind::Alive, &[]);
    reserved[3] = 1;
    let cases: [(Vec<u8>, &str); 9] = [
        (too_much(1), "more data came than was granted"),
        (frame(9, Kind::Data, &[0]), "a channel that is closed"),
        (frame(0, Kind::Data, &[0]), "wrong channel"),
        (frame(1, Kind::Alive, &[]), "wrong channel"),
        (frame(1, Kind::Credit, &[0; 3]), "not of four bytes"),
        (frame(1, Kind::Credit, &[255; 4]), "overflows"),
        (frame(7, Kind::Open, &[]), "the pod opened"),
        (vec![0, 0, 99, 0, 0, 0, 0, 0], "unknown kind 99"),
        (reserved, "not zero"),
    ];
    for (bytes, expected) in cases {
        let (host, _reader, mut writer, driven) = host_alone().await;
        let opening = tokio::spawn(async move { host.open().await });
        writer.write_all(&frame(0, Kind::Alive, &[])).await.unwrap();
        tokio::task::yield_now().await;
        let _ = writer.write_all(&frame(1, Kind::Accept, &[])).await;
        let stream = opening.await.unwrap().unwrap();
        // The link may end before all was written.
        let _ = writer.write_all(&bytes).await;
        let ended = driven.await.unwrap().to_string();
        assert!(ended.contains(expected), "{ended}");
        drop(stream);
    }
}

#[test]
fn any_bytes_are_borne() {
    let sound = [
        frame(1, Kind::Open, &[]),
        frame(1, Kind::Accept, &[]),
        frame(1, Kind::Data, b"ping\n"),
        frame(2, Kind::Data, &[9; 500]),
        frame(1, Kind::Credit, &[0, 1, 0, 0]),
        frame(1, Kind::End, &[]),
        frame(2, Kind::Reset, b"no room"),
        frame(0, Kind::Alive, &[]),
    ];
    let mut random = Rng::with_seed(0x11BC_F022);
    for _ in 0..20_000 {
        let mut bytes = vec![random.u8(..)];
        for _ in 0..random.usize(..12) {
            bytes.extend(random.choice(&sound).unwrap());
        }
        let below = &mut |limit| random.usize(..limit);
        fuzz(&mutated(below, &bytes));
    }
    assert_eq!(HEADER_BYTES, 8);
}
