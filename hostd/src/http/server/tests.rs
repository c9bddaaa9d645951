//! What a connection may cost.

use std::sync::Mutex;

use bytes::Bytes;
use http::Response;
use runtime::BodyStream;
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::*;
use crate::http::body::ResponseBody;

/// Far more than all buffers on the way hold.
const PARTS: usize = 1000;

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_holds_the_stream_back() {
    let (parts, receiver) = mpsc::channel(1);
    let body = Mutex::new(Some(BodyStream::new(None, receiver)));
    let service = service_fn(move |_| {
        let body = body.lock().unwrap().take().unwrap();
        async { Ok::<_, Infallible>(Response::new(ResponseBody::Stream(body))) }
    });
    let (mut client, server) = tokio::io::duplex(4096);
    let connection = builder(&HttpConfig::default())
        .serve_connection(TokioIo::new(server), service)
        .into_owned();
    tokio::spawn(async move { connection.await.is_ok() });
    let ask = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n";
    client.write_all(ask).await.unwrap();
    let all = async {
        for _ in 0..PARTS {
            let part = Bytes::from(vec![0; 64 << 10]);
            parts.send(Ok(part)).await.unwrap();
        }
    };
    // The clock stands still until nothing else can happen.
    assert!(timeout(Duration::from_secs(1), all).await.is_err());
}
