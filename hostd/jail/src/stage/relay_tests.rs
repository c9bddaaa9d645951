//! Tests of the relay's copying, over sockets of this process.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;

use super::relay::{Connection, Progress};

/// A connection between two peers, whose ends are returned too.
fn connection() -> (UnixStream, Connection, UnixStream) {
    let (client, inner_client) = UnixStream::pair().unwrap();
    let (server, inner_server) = UnixStream::pair().unwrap();
    for socket in [&client, &inner_client, &server, &inner_server] {
        socket.set_nonblocking(true).unwrap();
    }
    let connection = Connection::new(inner_client.into(), inner_server.into());
    (client, connection, server)
}

/// Reads what has arrived, and returns whether it was the end.
fn take(socket: &mut UnixStream, into: &mut Vec<u8>, most: usize) -> bool {
    let mut buffer = vec![0; most];
    match socket.read(&mut buffer) {
        Ok(0) => true,
        Ok(length) => {
            into.extend_from_slice(&buffer[..length]);
            false
        }
        Err(error) => {
            assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
            false
        }
    }
}

#[test]
fn a_closed_half_leaves_the_other_open() {
    let (mut client, mut connection, mut server) = connection();
    client.write_all(b"last words").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    let mut heard = Vec::new();
    for _ in 0..4 {
        assert_eq!(connection.step().unwrap(), Progress::Open);
        take(&mut server, &mut heard, 64);
    }
    assert_eq!(heard, b"last words");
    assert!(take(&mut server, &mut heard, 64), "the end was passed on");
    server.write_all(b"answer").unwrap();
    drop(server);
    let mut answer = Vec::new();
    let mut steps = 0;
    while connection.step().unwrap() == Progress::Open {
        steps += 1;
        assert!(steps < 8);
    }
    while !take(&mut client, &mut answer, 64) {}
    assert_eq!(answer, b"answer");
}

#[test]
fn a_reader_that_does_not_read_holds_its_writer_back() {
    let (mut client, mut connection, _server) = connection();
    let mut sent = 0;
    for _ in 0..10_000 {
        match client.write(&[7; 65_536]) {
            Ok(length) => sent += length,
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock),
        }
        assert_eq!(connection.step().unwrap(), Progress::Open);
    }
    assert!(sent < 4 << 20, "{sent} bytes were taken and lie somewhere");
}

/// Two peers that write, read, pause and close in any order: what arrives is what was sent, and both see the
/// end.
#[test]
fn whatever_the_order_everything_arrives() {
    for seed in 0..200 {
        let mut random = fastrand::Rng::with_seed(seed);
        let (client, mut connection, server) = connection();
        let mut peers = [client, server];
        let messages: [Vec<u8>; 2] = std::array::from_fn(|_| {
            let length = random.usize(..200_000);
            std::iter::repeat_with(|| random.u8(..))
                .take(length)
                .collect()
        });
        let mut sent = [0, 0];
        let mut closed = [false, false];
        let mut heard = [Vec::new(), Vec::new()];
        let mut ended = [false, false];
        let mut rounds = 0;
        while !(ended[0] && ended[1]) {
            rounds += 1;
            assert!(rounds < 1_000_000, "seed {seed} does not end");
            let peer = random.usize(..2);
            match random.u8(..3) {
                0 if sent[peer] < messages[peer].len() => {
                    let rest = &messages[peer][sent[peer]..];
                    let length = random.usize(1..=rest.len().min(50_000));
                    sent[peer] += peers[peer].write(&rest[..length]).unwrap_or_default();
                }
                0 if !closed[peer] => {
                    peers[peer].shutdown(Shutdown::Write).unwrap();
                    closed[peer] = true;
                }
                1 => {
                    let most = random.usize(1..50_000);
                    ended[peer] |= take(&mut peers[peer], &mut heard[peer], most);
                }
                _ => {
                    connection.step().unwrap();
                }
            }
        }
        assert!(heard[0] == messages[1], "seed {seed}");
        assert!(heard[1] == messages[0], "seed {seed}");
        assert_eq!(connection.step().unwrap(), Progress::Done);
    }
}

/// What the fuzzer looks for, with fixed seeds.
#[test]
fn whatever_both_do_nothing_is_made_up_and_nothing_goes_on_for_ever() {
    for seed in 0..500 {
        let mut random = fastrand::Rng::with_seed(seed);
        // Most scripts drop nobody, so that all that was said must arrive.
        let kinds = if seed % 4 == 0 { 4 } else { 3 };
        let length = random.usize(..60);
        let script: Vec<u8> = std::iter::repeat_with(|| random.u8(..kinds) | random.u8(..2) << 2)
            .take(length)
            .collect();
        super::relay_fuzz::connection(&script);
        let noise: Vec<u8> = std::iter::repeat_with(|| random.u8(..))
            .take(length)
            .collect();
        super::relay_fuzz::connection(&noise);
    }
}
