//! A short seeded run of every fuzz target, with mutated valid inputs.

use fastrand::Rng;
use pod_protocol::commands::all;
use pod_protocol::fuzzing::mutated;

use super::{RAW_MODES, raw, requests};

#[tokio::test(start_paused = true)]
async fn any_request_bytes_leave_the_pod_usable() {
    let valid: Vec<&str> = all()
        .flat_map(|command| command.examples)
        .flat_map(|example| example.before.iter().copied().chain([example.request]))
        // Closing does not undo a restart of the pod or a change of its gateware.
        .filter(|request| !request.contains("psram_recover") && !request.contains("ota_commit"))
        .collect();
    let mut random = Rng::with_seed(1 << 40);
    for _ in 0..300 {
        let mut bytes = Vec::new();
        for _ in 0..random.usize(..6) {
            let line = format!("{}\n", random.choice(&valid).unwrap());
            bytes.extend(mutated(&mut |limit| random.usize(..limit), line.as_bytes()));
        }
        requests(&bytes).await;
    }
}

#[tokio::test(start_paused = true)]
async fn any_raw_bytes_leave_the_pod_usable() {
    let valid = b"hello\r\n+++{\"cmd\":\"ping\"}\n\x00\xff+++";
    let mut random = Rng::with_seed(2 << 40);
    for round in 0..300 {
        let mut bytes = vec![u8::try_from(round % RAW_MODES.len()).unwrap()];
        for _ in 0..random.usize(..12) {
            bytes.extend(mutated(&mut |limit| random.usize(..limit), valid));
        }
        raw(&bytes).await;
    }
}

#[test]
fn any_answer_of_a_server_is_whole_or_not() {
    let valid = [
        "HTTP/1.1 200 OK\r\ncontent-length: 15\r\nx: y\r\n\r\n{\"nonce\":\"YWI\"}",
        "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\ncontent-length: 2\r\n\r\n{}",
    ];
    let mut random = fastrand::Rng::with_seed(80);
    for _ in 0..5_000 {
        let whole = random.choice(valid).unwrap();
        super::answer(&mutated(
            &mut |limit| random.usize(..limit),
            whole.as_bytes(),
        ));
    }
}
