//! Requests whole and in pieces, what is refused, and a session between a client and a pod.

use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

use super::*;

/// A request as OpenOCD frames it.
fn request(packet: &[u8]) -> Vec<u8> {
    let mut bytes = answer(packet);
    bytes[6] = REQUEST;
    bytes
}

#[test]
fn requests_are_found_however_they_are_cut() {
    let sent = [request(&[0, 0xfe]), request(&[5; 1024]), request(&[3])].concat();
    for size in [1, 3, 7, 8, 9, 1000, sent.len()] {
        let mut requests = Requests::default();
        let mut found = Vec::new();
        for piece in sent.chunks(size) {
            requests.push(piece);
            while let Some(packet) = requests.next_packet().unwrap() {
                found.push(packet.len());
            }
        }
        assert_eq!(found, [2, 1024, 1], "{size}");
    }
}

#[test]
fn what_is_no_request_is_refused_at_once() {
    let refused = |bytes: &[u8]| {
        let mut requests = Requests::default();
        requests.push(bytes);
        requests.next_packet().unwrap_err().to_string()
    };
    assert!(refused(b"G").contains("does not begin with `DAP`"));
    assert!(refused(b"GET / HTTP/1.1\r\n").contains("does not begin with `DAP`"));
    assert!(refused(&answer(&[1])).contains("kind 2"));
    assert_eq!(
        refused(b"DAP\0\0\0\x01\0"),
        "a packet of 0 bytes is outside 1 to 1024"
    );
    assert!(refused(b"DAP\0\x01\x04\x01\0").contains("1025 bytes"));
}

#[tokio::test(start_paused = true)]
async fn packets_go_through_in_order_and_keep_the_session_alive() {
    let (client, near) = duplex(1 << 16);
    let (pod, far) = duplex(1 << 16);
    let serving = tokio::spawn(serve(near, far));
    let (mut client, mut pod) = (client, pod);
    let two = [request(&[1, 1]), request(&[2, 2, 2])].concat();
    client.write_all(&two).await.unwrap();
    let mut frames = [0; 9];
    pod.read_exact(&mut frames).await.unwrap();
    assert_eq!(frames, [2, 0, 1, 1, 3, 0, 2, 2, 2]);
    pod.write_all(&[1, 0, 7, 1, 0, 8]).await.unwrap();
    let mut answers = [0; 18];
    client.read_exact(&mut answers).await.unwrap();
    assert_eq!(answers, *[answer(&[7]), answer(&[8])].concat());
    // Nobody asks anything for a while: the pod is asked, and the client does not hear of it.
    let mut kept = [0; 4];
    pod.read_exact(&mut kept).await.unwrap();
    assert_eq!(kept, [2, 0, 0, 0xfe]);
    pod.write_all(&[3, 0, 0, 1, 4]).await.unwrap();
    client.write_all(&request(&[9])).await.unwrap();
    let mut frame = [0; 3];
    pod.read_exact(&mut frame).await.unwrap();
    pod.write_all(&[1, 0, 6]).await.unwrap();
    let mut last = [0; 9];
    client.read_exact(&mut last).await.unwrap();
    assert_eq!(last, *answer(&[6]));
    drop(client);
    serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_client_that_reads_nothing_does_not_fill_memory() {
    let (mut client, near) = duplex(1 << 20);
    let (mut pod, far) = duplex(1 << 20);
    tokio::spawn(serve(near, far));
    for _ in 0..100 {
        client.write_all(&request(&[1])).await.unwrap();
    }
    let mut frames = vec![0; IN_FLIGHT_MAX * 3];
    pod.read_exact(&mut frames).await.unwrap();
    let more = pod.read_exact(&mut frames);
    let more = tokio::time::timeout(Duration::from_millis(100), more).await;
    assert!(more.is_err(), "more packets than may wait");
}

#[tokio::test]
async fn an_answer_that_nobody_asked_for_ends_the_session() {
    let (_client, near) = duplex(64);
    let (mut pod, far) = duplex(64);
    pod.write_all(&[1, 0, 7]).await.unwrap();
    let error = serve(near, far).await.unwrap_err();
    assert!(matches!(error, DapError::Unasked), "{error}");
}

#[test]
fn any_bytes_are_requests_or_refused() {
    let mut random = fastrand::Rng::with_seed(4441);
    for _ in 0..20_000 {
        let mut bytes = Vec::new();
        for _ in 0..random.usize(1..4) {
            bytes.extend(request(&vec![random.u8(..); random.usize(1..40)]));
        }
        for _ in 0..random.usize(0..3) {
            let at = random.usize(..bytes.len());
            bytes[at] = random.u8(..);
        }
        bytes.truncate(random.usize(..=bytes.len()));
        crate::fuzz::dap(&bytes);
    }
}
