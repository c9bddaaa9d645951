//! `hostd submit --wait` where no WebSocket gets through: the log is fetched piece by piece, whole and once.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tests::{Server, can_isolate};

use super::{command, folder, jobs, text};

/// Longest head of a request that is looked at.
const HEAD_BYTES_MAX: usize = 16 << 10;

/// What becomes of a request for a WebSocket.
#[derive(Clone, Copy, Debug)]
enum Bar {
    /// It is answered with this status.
    Status(&'static str),
    /// The connection is closed without an answer.
    Close,
    /// Nothing ever comes.
    Silence,
    /// It is granted, and then the connection is closed.
    Hollow,
    /// So many bytes of the server's come through of the first one, and all others are refused.
    After(u64),
}

/// Passes on what asks for no WebSocket. How many asked for one.
fn barring(server: &Server, bar: Bar) -> (String, Arc<AtomicUsize>) {
    let to = server.url.strip_prefix("http://").unwrap().to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let count = Arc::<AtomicUsize>::default();
    let asked = count.clone();
    thread::spawn(move || {
        for client in listener.incoming() {
            let (client, to, asked) = (client.unwrap(), to.clone(), asked.clone());
            thread::spawn(move || pass(&client, &to, bar, &asked));
        }
    });
    (url, count)
}

/// A client that asks for a WebSocket does so first.
fn pass(client: &TcpStream, to: &str, bar: Bar, asked: &AtomicUsize) {
    let head = head(client);
    let is_upgrade = head.to_ascii_lowercase().contains("upgrade: websocket");
    let mut most = u64::MAX;
    if is_upgrade {
        let before = asked.fetch_add(1, Ordering::SeqCst);
        let refuse = |status: &str| {
            let answer = format!(
                "HTTP/1.1 {status}\r\ncontent-type: text/html\r\ncontent-length: 3\r\nconnection: close\r\n\r\nno\n"
            );
            let _ = (&*client).write_all(answer.as_bytes());
        };
        match bar {
            Bar::Status(status) => return refuse(status),
            Bar::Close => return,
            Bar::Silence => {
                // Until the client gives up.
                let _ = (&*client).read(&mut [0]);
                return;
            }
            Bar::Hollow => most = 0,
            Bar::After(bytes) if before == 0 => most = bytes,
            Bar::After(_) => return refuse("502 Bad Gateway"),
        }
    }
    let server = TcpStream::connect(to).unwrap();
    (&server).write_all(head.as_bytes()).unwrap();
    let (mut from, mut into) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    thread::spawn(move || {
        let _ = std::io::copy(&mut from, &mut into);
        let _ = into.shutdown(Shutdown::Write);
    });
    // Whoever was cut off notices.
    if is_upgrade {
        let granted = self::head(&server);
        let _ = (&*client).write_all(granted.as_bytes());
    }
    let _ = std::io::copy(&mut (&server).take(most), &mut &*client);
    let _ = client.shutdown(Shutdown::Both);
    let _ = server.shutdown(Shutdown::Both);
}

/// The head of a request or an answer, byte by byte, so that nothing behind it is taken.
fn head(mut from: &TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && head.len() < HEAD_BYTES_MAX {
        match from.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            _ => break,
        }
    }
    text(&head)
}

/// Says many things over some seconds, and fails at its end.
const STEPS: &str =
    "      - run: 'for i in $(seq 300); do echo \"line $i of many\"; test $((i % 50)) -gt 0 || sleep 0.4; done; exit 7'
      - { run: 'echo behind', if: always }";

fn follow(url: &str, key: &str, steps: &str) -> Output {
    let folder = folder(steps);
    command(url, key, folder.path(), &["pipeline.yml", "--wait"])
        .output()
        .unwrap()
}

/// The log was printed, each line once and in order, and the command ended as the job did.
fn assert_whole(bar: Bar, output: &Output) {
    let (told, notes) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{bar:?}: {told}{notes}");
    let lines = told.lines().filter(|line| line.ends_with(" of many"));
    let expected: Vec<String> = (1..=300).map(|i| format!("line {i} of many")).collect();
    assert!(lines.eq(expected.iter()), "{bar:?}: {told}{notes}");
    for said in ["\nbehind\n", "\n=== fw: ", "\nfailure: "] {
        assert_eq!(told.matches(said).count(), 1, "{bar:?}: {said:?} in {told}");
    }
    let note = "no WebSocket gets through, so the log is fetched every 1s";
    assert_eq!(notes.matches(note).count(), 1, "{bar:?}: {notes}");
}

#[test]
fn a_log_is_whole_where_no_web_socket_gets_through() {
    if !can_isolate() {
        return;
    }
    let server = Server::demo().unwrap();
    let statuses = [
        "200 OK",
        "400 Bad Request",
        "403 Forbidden",
        "404 Not Found",
        "426 Upgrade Required",
        "503 Service Unavailable",
    ];
    let bars = statuses.map(Bar::Status).into_iter();
    let bars = bars.chain([Bar::Close, Bar::Silence, Bar::Hollow]);
    thread::scope(|scope| {
        for bar in bars {
            let (url, asked) = barring(&server, bar);
            let key = &server.api_key;
            scope.spawn(move || {
                assert_whole(bar, &follow(&url, key, STEPS));
                assert_eq!(asked.load(Ordering::SeqCst), 1, "{bar:?}");
            });
        }
    });
}

#[test]
fn what_a_broken_stream_has_told_is_not_fetched_again() {
    if !can_isolate() {
        return;
    }
    let server = Server::demo().unwrap();
    // The text alone has more bytes, however many lines come in one message.
    for bytes in [2_000, 4_000] {
        let bar = Bar::After(bytes);
        let (url, asked) = barring(&server, bar);
        assert_whole(bar, &follow(&url, &server.api_key, STEPS));
        assert_eq!(asked.load(Ordering::SeqCst), 2, "{bar:?}");
    }
}

#[test]
fn a_refused_key_ends_it_and_so_does_ctrl_c() {
    if !can_isolate() {
        return;
    }
    let server = Server::demo().unwrap();
    let (url, _) = barring(&server, Bar::Close);
    let began = Instant::now();
    let output = follow(&url, "bk_none", STEPS);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    // Far sooner than it would stop trying.
    assert!(began.elapsed() < Duration::from_secs(60));
    // A signal is heard between two looks.
    let folder = folder("      - run: echo here; sleep 1000");
    let child = command(
        &url,
        &server.api_key,
        folder.path(),
        &["pipeline.yml", "--wait"],
    )
    .stdout(std::process::Stdio::piped())
    .spawn()
    .unwrap();
    let is_running = || {
        jobs(&server)
            .into_iter()
            .any(|job| job["state"] == "running")
    };
    tests::until(is_running, |running| *running).unwrap();
    let interrupt = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(interrupt.unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stdout));
}
