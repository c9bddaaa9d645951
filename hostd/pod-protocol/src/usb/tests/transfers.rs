//! Which transfers carry what is written to a connection.

use std::any::Any;
use std::sync::{Arc, Mutex};

use super::*;
use crate::usb::Room;

/// Room of the wires' own.
#[derive(Debug, Default)]
struct Kept(Vec<u8>);

impl Room for Kept {
    fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }

    fn put(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn clear(&mut self) -> bool {
        self.0.clear();
        true
    }
}

/// Bytes of a transfer, and whether they were written where they were sent from.
type Sent = (usize, bool);

/// Notes what is sent.
struct Noting<S> {
    pipe: Pipe<S>,
    sent: Arc<Mutex<Vec<Sent>>>,
}

impl<S: AsyncWrite + Unpin + Send> Outgoing for Noting<S> {
    fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.pipe.poll_room(context)
    }

    fn free(&mut self) -> Option<Transfer> {
        Some(Box::new(Kept::default()))
    }

    fn send(&mut self, transfer: Transfer) {
        let transfer: Box<dyn Any> = transfer;
        let (bytes, is_kept) = match transfer.downcast::<Kept>() {
            Ok(kept) => (kept.0, true),
            Err(memory) => (*memory.downcast::<Vec<u8>>().unwrap(), false),
        };
        self.sent.lock().unwrap().push((bytes.len(), is_kept));
        self.pipe.send(Box::new(bytes));
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.pipe.poll_flush(context)
    }
}

/// Bytes of each write.
const WRITE_BYTES: usize = 64 * 1024;

/// Bytes of all writes, within the window of the pod.
const BYTES: usize = 24 * WRITE_BYTES;

/// What is sent of large writes to a pod that takes frames of so many bytes, over wires that take so many at once.
async fn sent_to_a_pod_with(frame_bytes: u32, wire_bytes: usize) -> Vec<Sent> {
    let (near, far) = duplex(wire_bytes);
    let ((near_reader, near_writer), (mut far_reader, mut far_writer)) = (split(near), split(far));
    let sent = Arc::new(Mutex::new(Vec::new()));
    let pod = tokio::spawn(async move {
        let mut greeting = [0; 32];
        far_reader.read_exact(&mut greeting).await.unwrap();
        greeting[16..20].copy_from_slice(&frame_bytes.to_le_bytes());
        far_writer.write_all(&greeting).await.unwrap();
        let accept = frame(1, Kind::Accept, &[]);
        let mut open = [0; HEADER_BYTES];
        far_reader.read_exact(&mut open).await.unwrap();
        far_writer.write_all(&accept).await.unwrap();
        let mut data = 0;
        while data < BYTES {
            let mut header = [0; HEADER_BYTES];
            far_reader.read_exact(&mut header).await.unwrap();
            let header = Header::of(header, frame_bytes).unwrap();
            let mut bytes = vec![0; header.length as usize];
            far_reader.read_exact(&mut bytes).await.unwrap();
            assert_eq!(header.kind, Kind::Data);
            assert!(bytes.iter().all(|byte| *byte == 7));
            data += bytes.len();
        }
    });
    let noting = Noting {
        pipe: Pipe::new(near_writer),
        sent: sent.clone(),
    };
    let (host, drives) = Link::host(Pipe::new(near_reader), noting, NONCE)
        .await
        .unwrap();
    let driven = tokio::spawn(drives);
    let mut stream = host.open().await.unwrap();
    sent.lock().unwrap().clear();
    // In its turn with what drives the link, which the test itself is not.
    let writing = tokio::spawn(async move {
        let bytes = vec![7; WRITE_BYTES];
        for _ in 0..BYTES / WRITE_BYTES {
            stream.write_all(&bytes).await.unwrap();
        }
        stream
    });
    let (_stream, pod) = tokio::join!(writing, pod);
    pod.unwrap();
    driven.abort();
    std::mem::take(&mut *sent.lock().unwrap())
}

#[tokio::test]
async fn large_writes_are_copied_once() {
    // Whether what is written waits for the wires, or they for it.
    for wire_bytes in [4096, 1 << 20] {
        let sent = sent_to_a_pod_with(64 * 1024, wire_bytes).await;
        let copied = sent.iter().filter(|(_, is_kept)| !is_kept);
        let copied: usize = copied.map(|(bytes, _)| bytes).sum();
        // There is no room before somebody has wanted it.
        assert!(copied <= 2 * TRANSFER_BYTES, "{copied}: {sent:?}");
        assert!(sent.len() <= BYTES / TRANSFER_BYTES + 3, "{sent:?}");
    }
}

#[tokio::test]
async fn frames_that_wait_share_a_transfer() {
    // Three with their headers fit.
    let sent = sent_to_a_pod_with(16 * 1024, 4096).await;
    assert!(sent.len() <= BYTES / (40 * 1024), "{sent:?}");
}
