//! The one client of all servers: messages out, bytes back.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::{Bytes, Message};

/// Bytes in flight: a few of the largest messages.
pub(crate) const WINDOW_BYTES: usize = 256 << 10;

/// What turns a pod's connection into a UART.
const START: &str = "{\"cmd\":\"uart_proxy_start\",\"rx\":9,\"tx\":10,\"baud\":115200}\n";

pub(crate) struct Client {
    socket: WebSocketStream<TcpStream>,
}

impl Client {
    pub(crate) async fn open(address: SocketAddr, path: &str) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let url = format!("ws://{address}{path}");
        let opened = tokio_tungstenite::client_async(url, stream).await;
        Self {
            socket: opened.unwrap().0,
        }
    }

    pub(crate) async fn start_uart(&mut self) {
        self.socket.send(Message::binary(START)).await.unwrap();
        let answer = self.receive().await;
        assert!(answer.starts_with(b"{\"status\":\"ok\""), "{answer:?}");
    }

    async fn receive(&mut self) -> Bytes {
        bytes(self.socket.next().await.unwrap().unwrap())
    }

    /// Time for `total` bytes to go and come back in messages of `size`.
    pub(crate) async fn throughput(&mut self, size: usize, total: usize) -> Duration {
        let message = Bytes::from(vec![0x55; size]);
        let window = Semaphore::new(WINDOW_BYTES);
        let (mut out, mut back) = (&mut self.socket).split();
        let began = Instant::now();
        let send = async {
            for _ in 0..total / size {
                let room = window.acquire_many(u32::try_from(size).unwrap()).await;
                room.unwrap().forget();
                out.send(Message::Binary(message.clone())).await.unwrap();
            }
        };
        let receive = async {
            let mut received = 0;
            while received < total {
                let count = bytes(back.next().await.unwrap().unwrap()).len();
                window.add_permits(count);
                received += count;
            }
            assert_eq!(received, total);
        };
        tokio::join!(send, receive);
        began.elapsed()
    }

    /// Median time for one message of `size` to go and come back, of `count`.
    pub(crate) async fn latency(&mut self, size: usize, count: usize) -> Duration {
        let message = Bytes::from(vec![0x55; size]);
        let mut times = Vec::with_capacity(count);
        for _ in 0..count {
            let began = Instant::now();
            let sent = self.socket.send(Message::Binary(message.clone()));
            sent.await.unwrap();
            let mut received = 0;
            while received < size {
                received += self.receive().await.len();
            }
            times.push(began.elapsed());
        }
        times.sort_unstable();
        times[count / 2]
    }
}

/// Pings are answered by the library and carry nothing.
fn bytes(message: Message) -> Bytes {
    match message {
        Message::Binary(bytes) => bytes,
        Message::Ping(_) | Message::Pong(_) => Bytes::new(),
        other => panic!("{other:?} in place of bytes"),
    }
}
