//! The relay, from a client inside to a server outside.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;

use jail::{How, RELAY_PORT};
use tungstenite::{Message, WebSocket};

use crate::Case;
use crate::home::{Home, run};

pub(crate) const CASES: &[Case] = &[
    ("bytes_come_through_the_relay_and_back", echo),
    ("a_web_socket_comes_through_the_relay", web_socket),
    ("the_relay_outlives_its_server_s_refusals", refusals),
];

/// A socket to which only the slot's user and root may connect, in a folder that nobody else may
/// enter.
pub(crate) fn listen(home: &Home) -> (UnixListener, PathBuf) {
    let folder = home.path().join("sockets");
    std::fs::create_dir(&folder).unwrap();
    let path = folder.join("relay");
    let listener = UnixListener::bind(&path).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).unwrap();
    (listener, path)
}

/// Sends bytes, closes its half of the connection, and reads as many back.
pub(crate) fn talk(bytes: usize) {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, RELAY_PORT)).unwrap();
    let mut writes = stream.try_clone().unwrap();
    let writer = std::thread::spawn(move || {
        let message: Vec<u8> = (0..251).cycle().take(bytes).collect();
        writes.write_all(&message).unwrap();
        writes.shutdown(Shutdown::Write).unwrap();
    });
    let mut back = Vec::new();
    stream.read_to_end(&mut back).unwrap();
    writer.join().unwrap();
    assert_eq!(back.len(), bytes);
    assert!(
        back.iter()
            .enumerate()
            .all(|(at, byte)| usize::from(*byte) == at % 251)
    );
    println!("{}", back.len());
}

/// Sends back what it receives, until the end.
fn answer(mut stream: UnixStream) {
    let mut buffer = vec![0; 10_000];
    loop {
        let length = stream.read(&mut buffer).unwrap();
        if length == 0 {
            return;
        }
        stream.write_all(&buffer[..length]).unwrap();
    }
}

fn echo(home: &Home) {
    let (listener, path) = listen(home);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            std::thread::spawn(|| answer(stream));
        }
    });
    let jail = home.jail();
    for bytes in [0, 1, 5_000_000] {
        let mut spec = home.own(&["inside", "relay", &bytes.to_string()]);
        spec.relay = Some(path.clone());
        let outcome = run(&jail, &spec).unwrap();
        assert_eq!(outcome.stdout, format!("{bytes}\n"), "{}", outcome.stderr);
    }
}

/// A handshake and messages in both directions, the server's first.
fn web_socket(home: &Home) {
    let (listener, path) = listen(home);
    let server = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut socket = tungstenite::accept(stream).unwrap();
        socket.send(Message::text("first")).unwrap();
        let heard = socket.read().unwrap();
        socket.send(heard).unwrap();
        // The client closes; this end answers the close, and then there is nothing more.
        while socket.read().is_ok() {}
    });
    let mut spec = home.own(&["inside", "web-socket"]);
    spec.relay = Some(path);
    let outcome = run(&home.jail(), &spec).unwrap();
    assert_eq!(outcome.stdout, "first\nback\n", "{}", outcome.stderr);
    server.join().unwrap();
}

/// The client for that test, inside.
pub(crate) fn talk_by_web_socket() {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, RELAY_PORT)).unwrap();
    let url = format!("ws://127.0.0.1:{RELAY_PORT}/");
    let (mut socket, _): (WebSocket<TcpStream>, _) = tungstenite::client(url, stream).unwrap();
    println!("{}", socket.read().unwrap());
    socket.send(Message::text("back")).unwrap();
    println!("{}", socket.read().unwrap());
    socket.close(None).unwrap();
    while socket.read().is_ok() {}
}

/// A server that is gone, and connections that it closes at once: the client sees an end, and the jail
/// continues.
fn refusals(home: &Home) {
    let (listener, path) = listen(home);
    let jail = home.jail();
    let script = "import socket
for i in range(200):
    s = socket.create_connection(('127.0.0.1', 8099))
    s.settimeout(5)
    try:
        assert s.recv(1) == b''
    except ConnectionResetError:
        pass
print('done')";
    let mut spec = home.spec("python3", &["-c", script]);
    spec.relay = Some(path);
    let closing = std::thread::spawn(move || {
        for _ in 0..100 {
            drop(listener.accept().unwrap());
        }
    });
    let outcome = run(&jail, &spec).unwrap();
    assert_eq!(
        (&*outcome.stdout, outcome.end.how),
        ("done\n", How::Exited(0)),
        "{}",
        outcome.stderr
    );
    closing.join().unwrap();
}
