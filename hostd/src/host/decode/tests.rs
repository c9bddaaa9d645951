//! Streams to clients that are slow, or gone.

use super::*;

/// Write parts into a queue of two until it fails; the failure.
async fn fill(parts: mpsc::Sender<io::Result<Bytes>>) -> io::ErrorKind {
    let filling = tokio::task::spawn_blocking(move || {
        let mut writer = Parts {
            buffer: Vec::new(),
            parts,
            wait_max: Duration::from_millis(1),
            has_flushed: false,
        };
        (0..3)
            .find_map(|_| writer.write_all(&[0; PART_BYTES]).err())
            .map(|e| e.kind())
    });
    filling.await.unwrap().unwrap()
}

#[tokio::test]
async fn a_client_that_takes_nothing_is_given_up() {
    let (parts, mut receiver) = mpsc::channel(2);
    assert_eq!(fill(parts).await, io::ErrorKind::TimedOut);
    for _ in 0..2 {
        assert_eq!(receiver.recv().await.unwrap().unwrap().len(), PART_BYTES);
    }
    assert!(receiver.recv().await.is_none());
}

#[tokio::test]
async fn a_client_that_left_is_noticed() {
    let (parts, receiver) = mpsc::channel(2);
    drop(receiver);
    assert_eq!(fill(parts).await, io::ErrorKind::BrokenPipe);
}
