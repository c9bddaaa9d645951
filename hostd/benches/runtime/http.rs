//! A plain hyper server around an answerer: HTTP/1.1, keep-alive, nothing else.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

use crate::answerer::Answerer;

/// Serves until it is dropped.
pub(crate) struct Server {
    address: SocketAddr,
    _runtime: Runtime,
}

impl Server {
    pub(crate) fn start(answerer: Arc<Answerer>, threads: usize) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(threads)
            .enable_all()
            .build()
            .unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        runtime.spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                stream.set_nodelay(true).unwrap();
                tokio::spawn(serve(stream, answerer.clone()));
            }
        });
        Self {
            address,
            _runtime: runtime,
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

async fn serve(stream: TcpStream, answerer: Arc<Answerer>) {
    let service = service_fn(|request: hyper::Request<Incoming>| {
        let answerer = answerer.clone();
        async move {
            let (head, body) = request.into_parts();
            let body: Bytes = body.collect().await.unwrap().to_bytes();
            let request = hyper::Request::from_parts(head, body);
            Ok::<_, Infallible>(answerer.answer(request).await.map(Full::new))
        }
    });
    // The load ends by closing its connections, which is no failure here.
    drop(
        http1::Builder::new()
            .serve_connection(TokioIo::new(stream), service)
            .await,
    );
}
