//! What hostd is compared with: as little code around tokio-tungstenite as possible, in a process
//! of its own.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::{Bytes, Message};

/// Bytes read at once from the server behind the relay, as many as hostd reads.
const READ_BYTES: usize = 64 << 10;

/// The argument that makes a process serve both servers.
const ARGUMENT: &str = "--plain";

/// The process with both servers. Killed when dropped.
pub(crate) struct Process {
    child: Child,
    pub(crate) echo: SocketAddr,
    pub(crate) relay: SocketAddr,
}

impl Process {
    /// With a TCP echo at `behind`.
    pub(crate) fn start(behind: SocketAddr) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([ARGUMENT, &behind.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let printed = BufReader::new(child.stdout.take().unwrap());
        let mut addresses = printed.lines().map(|line| line.unwrap().parse().unwrap());
        Self {
            echo: addresses.next().unwrap(),
            relay: addresses.next().unwrap(),
            child,
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// The address behind the relay, if this process is the one that serves.
pub(crate) fn asked_for() -> Option<SocketAddr> {
    let mut arguments = std::env::args().skip_while(|argument| argument != ARGUMENT);
    arguments.nth(1).map(|behind| behind.parse().unwrap())
}

/// Serve until killed.
#[tokio::main]
pub(crate) async fn run(behind: SocketAddr) {
    println!("{}\n{}", echo().await, relay(behind).await);
    std::future::pending().await
}

/// Send each message of one client back.
async fn echo() -> SocketAddr {
    let (address, listener) = listen().await;
    tokio::spawn(async move {
        let mut socket = accept(&listener).await;
        while let Some(Ok(message)) = socket.next().await {
            if message.is_close() || socket.send(message).await.is_err() {
                break;
            }
        }
    });
    address
}

/// Forward the bytes of one client to `behind`, and back.
async fn relay(behind: SocketAddr) -> SocketAddr {
    let (address, listener) = listen().await;
    tokio::spawn(async move {
        let (mut out, mut back) = accept(&listener).await.split();
        let behind = TcpStream::connect(behind).await.unwrap();
        behind.set_nodelay(true).unwrap();
        let (mut from, mut to) = behind.into_split();
        let there = async {
            while let Some(Ok(Message::Binary(bytes))) = back.next().await {
                to.write_all(&bytes).await?;
            }
            std::io::Result::Ok(())
        };
        let and_back = async {
            let mut part = vec![0; READ_BYTES];
            while let Ok(count @ 1..) = from.read(&mut part).await {
                let bytes = Bytes::copy_from_slice(&part[..count]);
                if out.send(Message::Binary(bytes)).await.is_err() {
                    break;
                }
            }
        };
        tokio::select! {
            _ = there => {}
            () = and_back => {}
        }
    });
    address
}

async fn listen() -> (SocketAddr, TcpListener) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    (listener.local_addr().unwrap(), listener)
}

async fn accept(listener: &TcpListener) -> WebSocketStream<TcpStream> {
    let (stream, _) = listener.accept().await.unwrap();
    stream.set_nodelay(true).unwrap();
    tokio_tungstenite::accept_async(stream).await.unwrap()
}
