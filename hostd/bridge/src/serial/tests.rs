//! RFC 2217 as clients speak it, the bounds of what is kept for them, and the seeded run of the fuzz entry.

use std::time::Duration;

use bytes::Bytes;
use fastrand::Rng;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::*;

const IAC: u8 = 255;
const SB: [u8; 3] = [IAC, 250, 44];
const SE: [u8; 2] = [IAC, 240];

fn command(bytes: &[u8]) -> Vec<u8> {
    [&SB, bytes, &SE].concat()
}

fn port() -> Rfc2217 {
    let mut port = Rfc2217::new(115_200, None, "bench");
    let mut out = Vec::new();
    port.greet(&mut out);
    assert_eq!(out.len(), 3 * 7);
    let will = [IAC, 251, 44];
    assert_eq!(asked(&mut port, &will).1, command(&[107, 0xb0]));
    port
}

fn asked(port: &mut Rfc2217, bytes: &[u8]) -> (Vec<Asked>, Vec<u8>) {
    let mut out = Vec::new();
    (port.receive(bytes, &mut out), out)
}

#[test]
fn options_are_agreed_to_once_and_never_discussed_for_ever() {
    let mut port = port();
    // Answers to what was proposed are not answered.
    for option in [0, 1, 3, 44] {
        assert_eq!(asked(&mut port, &[IAC, 253, option]).1, b"");
        assert_eq!(asked(&mut port, &[IAC, 253, option]).1, b"");
    }
    // What nobody proposed is answered once.
    assert_eq!(asked(&mut port, &[IAC, 253, 31]).1, [IAC, 252, 31]);
    assert_eq!(asked(&mut port, &[IAC, 251, 31]).1, [IAC, 254, 31]);
    assert_eq!(asked(&mut port, &[IAC, 254, 31, IAC, 252, 31]).1, b"");
    // What was agreed to can be taken back, once.
    assert_eq!(asked(&mut port, &[IAC, 254, 1]).1, [IAC, 252, 1]);
    assert_eq!(asked(&mut port, &[IAC, 254, 1]).1, b"");
    assert_eq!(asked(&mut port, &[IAC, 253, 1]).1, [IAC, 251, 1]);
}

#[test]
fn two_ends_of_the_same_kind_come_to_rest() {
    let (mut one, mut other) = (Rfc2217::new(9600, None, ""), Rfc2217::new(9600, None, ""));
    let (mut to_other, mut to_one) = (Vec::new(), Vec::new());
    one.greet(&mut to_other);
    other.greet(&mut to_one);
    for _ in 0..10 {
        let (from_one, from_other) = (std::mem::take(&mut to_other), std::mem::take(&mut to_one));
        other.receive(&from_one, &mut to_one);
        one.receive(&from_other, &mut to_other);
    }
    assert!(to_one.is_empty() && to_other.is_empty());
}

#[test]
fn data_is_what_is_left_and_every_byte_gets_through() {
    let mut port = port();
    let every: Vec<u8> = (0..=255).collect();
    let mut sent = Vec::new();
    telnet::escape(&every, &mut sent);
    assert_eq!(sent.len(), 257);
    sent.splice(10..10, command(&[1, 0, 0, 0, 0]));
    // Carriage returns have zeros behind them until both sides speak binary.
    asked(&mut port, &[IAC, 251, 0]);
    let mut got = Vec::new();
    for piece in sent.chunks(5) {
        for asked in asked(&mut port, piece).0 {
            match asked {
                Asked::Bytes(bytes) => got.extend(bytes),
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!(got, every);
    asked(&mut port, &[IAC, 252, 0]);
    let (text, _) = asked(&mut port, b"a\r\0b\r\n\0");
    assert_eq!(text, [Asked::Bytes(b"a\rb\r\n\0".to_vec())]);
}

#[test]
fn settings_are_answered_with_what_there_is() {
    let mut port = port();
    for (asks, answers) in [
        (&[2, 8][..], &[102, 8][..]),
        (&[2, 7], &[102, 8]),
        (&[3, 3], &[103, 1]),
        (&[4, 2], &[104, 1]),
        (&[5, 1], &[105, 1]),
        (&[5, 3], &[105, 1]),
        (&[5, 9], &[105, 9]),
        (&[5, 7], &[105, 9]),
        (&[5, 11], &[105, 11]),
        (&[5, 10], &[105, 11]),
        (&[5, 16], &[105, 14]),
        (&[5, 6], &[105, 6]),
        (&[10, 0x60], &[110, 0x60]),
        (&[6, 0], &[106, 0]),
        (&[7], &[107, 0xb0]),
        (&[0], b"\x64bench"),
        // The rate it has, and rates that it cannot have.
        (&[1, 0, 1, 0xc2, 0], &[101, 0, 1, 0xc2, 0]),
        (&[1, 0, 0, 0, 50], &[101, 0, 1, 0xc2, 0]),
        (
            &[1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
            &[101, 0, 1, 0xc2, 0],
        ),
    ] {
        let (wants, out) = asked(&mut port, &command(asks));
        assert_eq!((wants, out), (vec![], command(answers)), "{asks:?}");
    }
    let (_, out) = asked(&mut port, &command(&[11, IAC, IAC]));
    let state = [command(&[111, IAC, IAC]), command(&[107, 0xb0])].concat();
    assert_eq!(out, state);
    // Settings without a value, and none that is known.
    for odd in [&[1, 0][..], &[2], &[99, 1], &[]] {
        assert_eq!(asked(&mut port, &command(odd)), (vec![], vec![]));
    }
}

#[test]
fn whoever_agrees_to_nothing_and_begins_is_told_of_the_wires_once() {
    let mut port = Rfc2217::new(115_200, None, "bench");
    let told = [command(&[107, 0xb0]), command(&[102, 8])].concat();
    assert_eq!(asked(&mut port, &command(&[2, 8])).1, told);
    assert_eq!(asked(&mut port, &command(&[2, 8])).1, command(&[102, 8]));
}

#[test]
fn a_rate_is_answered_when_the_line_has_it() {
    let mut port = port();
    let ask = command(&[1, 0, 0, 0x25, 0x80]);
    assert_eq!(asked(&mut port, &ask), (vec![Asked::Baud(9600)], vec![]));
    let mut out = Vec::new();
    port.baud_is(9600, &mut out);
    assert_eq!(out, command(&[101, 0, 0, 0x25, 0x80]));
    // Of another client's rate nothing is said until it is asked for.
    out.clear();
    port.baud_is(300, &mut out);
    assert_eq!(out, b"");
    assert_eq!(
        asked(&mut port, &command(&[1, 0, 0, 0, 0])).1,
        command(&[101, 0, 0, 1, 44])
    );
    // Nobody asks without end.
    let asks: Vec<_> = (0..100).map(|n| command(&[1, 0, 1, 0, n])).collect();
    assert_eq!(asked(&mut port, &asks.concat()).0.len(), 8);
}

#[test]
fn a_parity_is_answered_when_the_line_has_it() {
    let mut port = Rfc2217::new(115_200, Some(Parity::Even), "bench");
    let wires = command(&[107, 0xb0]);
    let (_, told) = asked(&mut port, &command(&[3, 0]));
    assert_eq!(told, [wires, command(&[103, 3])].concat());
    let odd = asked(&mut port, &command(&[3, 2]));
    assert_eq!(odd, (vec![Asked::Parity(Parity::Odd)], vec![]));
    let mut out = Vec::new();
    port.parity_is(Parity::Odd, &mut out);
    assert_eq!(out, command(&[103, 2]));
    // A port that refuses keeps what it had, and so it is told.
    assert_eq!(
        asked(&mut port, &command(&[3, 1])).0,
        [Asked::Parity(Parity::None)]
    );
    out.clear();
    port.parity_is(Parity::Odd, &mut out);
    assert_eq!(out, command(&[103, 2]));
    // Mark and space it does not have; nobody asks without end.
    for beyond in [4, 5, 77] {
        let told = asked(&mut port, &command(&[3, beyond]));
        assert_eq!(told, (vec![], command(&[103, 2])), "{beyond}");
    }
    let asks: Vec<_> = (0..100).map(|n| command(&[3, 1 + n % 2])).collect();
    assert_eq!(asked(&mut port, &asks.concat()).0.len(), 8);
}

#[test]
fn a_break_is_answered_when_it_is_over() {
    let mut port = port();
    assert_eq!(
        asked(&mut port, &command(&[5, 5])),
        (vec![Asked::Break], vec![])
    );
    let mut out = Vec::new();
    port.broke(&mut out);
    port.broke(&mut out);
    assert_eq!(out, command(&[105, 5]));
}

/// A client, the target's end, and who serves.
type Served = JoinHandle<std::io::Result<super::Served>>;
struct Rig {
    client: DuplexStream,
    from_client: mpsc::Receiver<ToLine>,
    target: Option<mpsc::Sender<FromLine>>,
    serving: Served,
}

fn rig(codec: Codec, buffer: usize) -> Rig {
    let (client, near) = duplex(buffer);
    let (to, from_client) = mpsc::channel(4);
    let (target, from) = mpsc::channel(4);
    let line = Line {
        to,
        from,
        baud: 115_200,
        parity: None,
    };
    Rig {
        client,
        from_client,
        target: Some(target),
        serving: tokio::spawn(serve(near, line, codec)),
    }
}

impl Rig {
    async fn say(&self, bytes: &[u8]) {
        let bytes = Bytes::copy_from_slice(bytes);
        self.target
            .as_ref()
            .unwrap()
            .send(FromLine::Bytes(bytes))
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn raw_bytes_go_both_ways_and_the_last_ones_arrive() {
    let mut rig = rig(Codec::raw(), 1 << 16);
    rig.say(b"boot\xff\r\n").await;
    let mut read = [0; 7];
    rig.client.read_exact(&mut read).await.unwrap();
    assert_eq!(&read, b"boot\xff\r\n");
    rig.client.write_all(b"help\xff\r").await.unwrap();
    let got = rig.from_client.recv().await;
    assert_eq!(got, Some(ToLine::Bytes(Bytes::from_static(b"help\xff\r"))));
    // The line ends while something waits for the client.
    rig.say(b"bye").await;
    rig.target = None;
    let mut last = Vec::new();
    rig.client.read_to_end(&mut last).await.unwrap();
    assert_eq!(last, b"bye");
    assert!(rig.serving.await.unwrap().unwrap().line_ended);
}

#[tokio::test]
async fn what_a_client_wrote_before_it_left_arrives() {
    let mut rig = rig(Codec::raw(), 1 << 16);
    rig.client.write_all(b"reset\r").await.unwrap();
    drop(rig.client);
    let got = rig.from_client.recv().await;
    assert_eq!(got, Some(ToLine::Bytes(Bytes::from_static(b"reset\r"))));
    assert!(!rig.serving.await.unwrap().unwrap().line_ended);
}

#[tokio::test]
async fn a_slow_client_loses_bytes_and_nobody_waits_for_it() {
    let mut rig = rig(Codec::raw(), 64);
    let piece = [b'x'; 4096];
    let pieces = 100;
    for _ in 0..pieces {
        tokio::time::timeout(Duration::from_secs(5), rig.say(&piece))
            .await
            .unwrap();
    }
    rig.target = None;
    let mut read = Vec::new();
    rig.client.read_to_end(&mut read).await.unwrap();
    let served = rig.serving.await.unwrap().unwrap();
    assert!(served.lost_bytes > 0);
    assert_eq!(read.len() as u64 + served.lost_bytes, pieces * 4096);
}

#[tokio::test]
async fn a_suspended_client_gets_its_bytes_later_and_a_purge_drops_them() {
    let mut rig = rig(Codec::rfc2217(115_200, None, ""), 1 << 16);
    let mut greeting = [0; 21];
    rig.client.read_exact(&mut greeting).await.unwrap();
    rig.client.write_all(&[IAC, 251, 44]).await.unwrap();
    let mut answer = [0; 7];
    rig.client.read_exact(&mut answer).await.unwrap();
    rig.client.write_all(&command(&[8])).await.unwrap();
    rig.client.write_all(&command(&[12, 2])).await.unwrap();
    rig.client.read_exact(&mut answer).await.unwrap();
    rig.say(b"later\xff").await;
    let read = tokio::time::timeout(Duration::from_millis(50), rig.client.read_u8()).await;
    assert!(read.is_err(), "it was suspended");
    rig.client.write_all(&command(&[9])).await.unwrap();
    let mut later = [0; 7];
    rig.client.read_exact(&mut later).await.unwrap();
    assert_eq!(&later, b"later\xff\xff");
    rig.client.write_all(&command(&[8])).await.unwrap();
    rig.client.write_all(&command(&[12, 2])).await.unwrap();
    rig.client.read_exact(&mut answer).await.unwrap();
    rig.say(b"never").await;
    tokio::time::sleep(Duration::from_millis(20)).await;
    rig.client.write_all(&command(&[12, 3])).await.unwrap();
    rig.client.read_exact(&mut answer).await.unwrap();
    assert_eq!(answer, *command(&[112, 3]));
    rig.client.write_all(&command(&[9])).await.unwrap();
    rig.target = None;
    let mut last = Vec::new();
    rig.client.read_to_end(&mut last).await.unwrap();
    assert_eq!(last, b"");
}

#[test]
fn any_bytes_are_a_client_that_is_answered_within_bounds() {
    let mut random = Rng::with_seed(2217);
    let valid = [
        command(&[1, 0, 0, 0x25, 0x80]),
        command(&[5, 5]),
        command(&[12, 3]),
        vec![IAC, 253, 0, IAC, 251, 44],
        b"text\r\0\xff\xff".to_vec(),
    ];
    for _ in 0..20_000 {
        let mut bytes = Vec::new();
        for _ in 0..random.usize(1..8) {
            bytes.extend(random.choice(&valid).unwrap());
        }
        for _ in 0..random.usize(0..6) {
            let at = random.usize(..bytes.len());
            match random.u8(..3) {
                0 => bytes[at] = random.u8(..),
                1 => bytes.insert(at, [IAC, 250, 240, 44, 0][random.usize(..5)]),
                _ => bytes.truncate(at.max(1)),
            }
        }
        crate::fuzz::rfc2217(&bytes);
    }
}
