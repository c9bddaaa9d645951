//! The load: keep-alive connections on one thread, one request at a time on each, no pipelining.

use std::fmt::Write;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::report::Sample;
use crate::work;

/// Longest response the bench expects.
const RESPONSE_BYTES_MAX: usize = 4 << 10;

pub(crate) fn measure(address: SocketAddr, connections: usize, each: Duration) -> Sample {
    let load = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(run(address, connections, each))
    });
    load.join().unwrap()
}

async fn run(address: SocketAddr, connections: usize, each: Duration) -> Sample {
    let request = request();
    let started = Instant::now();
    let until = started + each;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..connections {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        tasks.spawn(ask(stream, request.clone(), until));
    }
    let latencies_ns = tasks.join_all().await.concat();
    Sample::new(started.elapsed(), latencies_ns)
}

async fn ask(mut stream: TcpStream, request: Vec<u8>, until: Instant) -> Vec<u32> {
    let mut latencies_ns = Vec::with_capacity(1 << 16);
    let mut buffer = vec![0; RESPONSE_BYTES_MAX];
    let mut from = Instant::now();
    while from < until {
        stream.write_all(&request).await.unwrap();
        let mut filled = 0;
        while !complete(&buffer[..filled]) {
            let read = stream.read(&mut buffer[filled..]).await.unwrap();
            assert!(read > 0, "the server closed the connection");
            filled += read;
        }
        let to = Instant::now();
        latencies_ns.push(u32::try_from((to - from).as_nanos()).unwrap_or(u32::MAX));
        from = to;
    }
    latencies_ns
}

fn request() -> Vec<u8> {
    let mut head = format!("POST {} HTTP/1.1\r\n", work::PATH);
    for (name, value) in work::HEADERS {
        write!(head, "{name}: {value}\r\n").unwrap();
    }
    write!(
        head,
        "content-length: {}\r\n\r\n{}",
        work::BODY.len(),
        work::BODY
    )
    .unwrap();
    head.into_bytes()
}

/// Whether `bytes` is one whole 200 response, by its content length or its last chunk.
fn complete(bytes: &[u8]) -> bool {
    let Some(head_end) = bytes.windows(4).position(|w| w == b"\r\n\r\n") else {
        return false;
    };
    let head = std::str::from_utf8(&bytes[..head_end]).unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.parse::<usize>().unwrap())
    });
    match length {
        Some(length) => bytes.len() >= head_end + 4 + length,
        None => bytes.ends_with(b"\r\n0\r\n\r\n"),
    }
}
