//! The far end: a TCP echo, and a pod that turns into one. A simulated UART would run at the speed
//! of a UART, which is not what is measured.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

const PART_BYTES: usize = 64 << 10;

/// The command that starts the echo.
const VERB: &[u8] = b"\"uart_proxy_start\"";

const GRANTED: &[u8] = b"{\"status\":\"ok\",\"data\":{}}\n";

/// A TCP echo for every connection.
pub(crate) async fn echo() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            stream.set_nodelay(true).unwrap();
            tokio::spawn(send_back(stream));
        }
    });
    address
}

/// A pod like the one at `behind`, whose UART sends everything back at once.
pub(crate) async fn listen(behind: String) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            stream.set_nodelay(true).unwrap();
            let behind = behind.clone();
            tokio::spawn(async move { serve(stream, &behind).await });
        }
    });
    address
}

/// The first line of a connection says what it is for.
async fn serve(mut stream: TcpStream, behind: &str) {
    let mut line = Vec::new();
    while !line.contains(&b'\n') {
        if stream.read_buf(&mut line).await.unwrap_or(0) == 0 {
            return;
        }
    }
    if line.windows(VERB.len()).any(|part| part == VERB) {
        stream.write_all(GRANTED).await.unwrap();
        return send_back(stream).await;
    }
    let mut pod = TcpStream::connect(behind).await.unwrap();
    pod.set_nodelay(true).unwrap();
    pod.write_all(&line).await.unwrap();
    // Either side may leave first.
    let _ = copy_bidirectional(&mut stream, &mut pod).await;
}

async fn send_back(mut stream: TcpStream) {
    let mut part = vec![0; PART_BYTES];
    while let Ok(count @ 1..) = stream.read(&mut part).await {
        if stream.write_all(&part[..count]).await.is_err() {
            return;
        }
    }
}
