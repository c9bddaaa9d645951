//! Round trips over random values: what is written reads back as it was, however it is cut.

use fastrand::Rng;
use serde_json::json;

use super::chunk::{self, CaptureLine, Payload};
use super::dap_frame::{self, DAP_PACKET_BYTES_MAX, DapFrames};
use super::{LA_MASK, Refusal, RefusalKind, Reply};

const ROUNDS: u64 = 500;

fn payload(line: &serde_json::Value) -> Payload {
    match chunk::parse(line.to_string().as_bytes()).unwrap() {
        CaptureLine::Chunk(chunk) => {
            assert_eq!(chunk.more, line["more"] == true);
            chunk.payload
        }
        CaptureLine::Refused(refusal) => panic!("{refusal}"),
    }
}

fn word(random: &mut Rng) -> u16 {
    u16::try_from(random.usize(..1 << 16)).unwrap()
}

#[test]
fn counts_come_back_from_base64_and_from_numbers() {
    let mut random = Rng::with_seed(0xC0DEC);
    for _ in 0..ROUNDS {
        let counts: Vec<u16> = (0..random.usize(..300))
            .map(|_| word(&mut random))
            .collect();
        let more = random.usize(..2) == 0;
        let packed = json!({"status": "chunk", "b64": chunk::encode_b64(&counts), "more": more});
        assert_eq!(payload(&packed), Payload::Dense(counts.clone()));
        let plain = json!({"status": "ok", "bits": 16, "data": counts, "more": more});
        assert_eq!(payload(&plain), Payload::Dense(counts));
    }
}

#[test]
fn edges_come_back() {
    let mut random = Rng::with_seed(0xED6E5);
    for _ in 0..ROUNDS {
        let mut at = 0;
        let edges: Vec<(u64, u16)> = (0..random.usize(..100))
            .map(|_| {
                at += 1 + random.usize(..1 << 20) as u64;
                (at, word(&mut random) & LA_MASK)
            })
            .collect();
        let upto = at + 1;
        let line = json!({"status": "ok", "la": true, "la_edges": edges, "la_upto": upto});
        assert_eq!(payload(&line), Payload::Edges { edges, upto });
    }
}

#[test]
fn packets_come_back_from_frames_in_any_cut() {
    let mut random = Rng::with_seed(0xDA9);
    for _ in 0..ROUNDS {
        let packets: Vec<Vec<u8>> = (0..1 + random.usize(..6))
            .map(|_| {
                let bytes = 1 + random.usize(..DAP_PACKET_BYTES_MAX);
                (0..bytes)
                    .map(|_| word(&mut random).to_le_bytes()[0])
                    .collect()
            })
            .collect();
        let frames = packets
            .iter()
            .map(|packet| dap_frame::encode(packet).unwrap());
        let stream: Vec<u8> = frames.flatten().collect();
        let (mut frames, mut found, mut rest) = (DapFrames::default(), Vec::new(), &stream[..]);
        while !rest.is_empty() {
            let cut = 1 + random.usize(..rest.len());
            frames.push(&rest[..cut]);
            rest = &rest[cut..];
            while let Some(packet) = frames.next_packet().unwrap() {
                found.push(packet);
            }
        }
        assert_eq!(found, packets);
        assert!(frames.is_empty());
    }
}

#[test]
fn replies_and_refusals_come_back() {
    let mut random = Rng::with_seed(0x4E9);
    for _ in 0..ROUNDS {
        let data =
            json!({"mv": random.usize(..9000), "name": format!("\u{1}\"{}", word(&mut random))});
        let line = json!({"status": "ok", "data": data}).to_string();
        assert_eq!(Reply::parse(line.as_bytes()).unwrap(), Reply::Done(data));
        let la = u8::try_from(1 + random.usize(..14)).unwrap();
        let left_s = u32::try_from(random.usize(..600)).unwrap();
        let holder = format!("CI: a/b ({left_s} s left), {la}");
        for (text, kind) in [
            (
                format!("pin conflict: LA{la} is in use by swd_clk; end the SWD session first"),
                RefusalKind::PinConflict {
                    la,
                    function: "swd_clk".to_owned(),
                },
            ),
            (
                format!("pull conflict: LA{la} has its pull-down engaged"),
                RefusalKind::PullConflict { la },
            ),
            (
                format!("trigger timeout: no falling edge on LA{la} within {left_s} ms"),
                RefusalKind::TriggerTimeout {
                    edge: "falling".to_owned(),
                    la,
                },
            ),
            (
                format!("busy: a cloud job holds this pod ({holder}, {left_s} s left)"),
                RefusalKind::Leased { holder, left_s },
            ),
        ] {
            let line = json!({"status": "error", "message": text}).to_string();
            let expected = Refusal { text, kind };
            assert_eq!(
                Reply::parse(line.as_bytes()).unwrap(),
                Reply::Refused(expected)
            );
        }
    }
}
