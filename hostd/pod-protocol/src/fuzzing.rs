//! Entries that fuzzers and the seeded tests feed with a pod's answers, which are untrusted bytes.

use crate::Reply;
use crate::capture::{Assembly, Frame};
use crate::chunk::{self, CaptureLine, Payload};
use crate::dap_frame::{DAP_PACKET_BYTES_MAX, DapFrames};
use crate::dial;
use crate::usb;

/// Any bytes as a debug probe's answers: packets within bounds, then perhaps an error.
fn frames(bytes: &[u8]) {
    let mut frames = DapFrames::default();
    for part in bytes.chunks(7) {
        frames.push(part);
        while let Ok(Some(packet)) = frames.next_packet() {
            assert!((1..=DAP_PACKET_BYTES_MAX).contains(&packet.len()));
        }
    }
}

/// Any bytes as the lines a pod answers with: read as replies and as a capture.
///
/// # Panics
/// If the results contradict each other.
pub fn replies(bytes: &[u8]) {
    frames(bytes);
    let mut assembly = Assembly::new((600, 600));
    let mut whole = true;
    let mut covered = 0;
    for line in bytes.split(|byte| *byte == b'\n') {
        let reply = Reply::parse(line);
        let Ok(CaptureLine::Chunk(chunk)) = chunk::parse(line) else {
            continue;
        };
        // A packet has the status of a reply.
        assert!(!matches!(reply, Ok(Reply::Refused(_))));
        if let Payload::Dense(counts) = &chunk.payload {
            let again = chunk::decode_b64(&chunk::encode_b64(counts));
            assert_eq!(again.as_ref(), Ok(counts));
        }
        // Any bytes do for samples.
        let chunk = match chunk.raw_bytes() {
            Some(announced) if announced <= bytes.len() => chunk.take(&bytes[..announced]),
            _ => chunk,
        };
        if whole {
            match assembly.push(chunk) {
                Err(_) => whole = false,
                Ok(frames) => {
                    for frame in frames {
                        if let Frame::La { edges, upto } = frame {
                            assert!(edges.is_sorted_by_key(|(index, _)| *index));
                            let within = |index: u64| (covered..upto).contains(&index);
                            assert!(edges.iter().all(|(index, _)| within(*index)));
                            assert!(upto <= 600);
                            covered = upto;
                        }
                    }
                }
            }
        }
    }
}

/// Any bytes as what comes over the link of a pod on USB, on either side.
pub fn usb_link(bytes: &[u8]) {
    usb::fuzzing::fuzz(bytes);
}

/// Any bytes as frames, a line each, of a pod that dials in and of its server, and as what such a pod proves itself with.
pub fn dial(bytes: &[u8]) {
    for line in bytes.split(|byte| *byte == b'\n') {
        let Ok(text) = std::str::from_utf8(line) else {
            continue;
        };
        dial::fuzz(text);
        if let Some(nonce) = dial::login::nonce(text) {
            assert!(nonce.len() <= dial::login::NONCE_BYTES_MAX);
        }
        if let Some(key) = dial::login::key(text) {
            assert_eq!(dial::login::key(&dial::login::text(&key)), Some(key));
        }
    }
}

/// Changes, drops, doubles and inserts some bytes of a valid input. `below` draws a random number
/// below its argument.
pub fn mutated(below: &mut dyn FnMut(usize) -> usize, valid: &[u8]) -> Vec<u8> {
    let mut bytes = valid.to_vec();
    for _ in 0..below(5) {
        if bytes.is_empty() {
            break;
        }
        let at = below(bytes.len());
        let byte = u8::try_from(below(256)).expect("below 256");
        match below(4) {
            0 => bytes[at] = byte,
            1 => drop(bytes.remove(at)),
            2 => bytes.insert(at, bytes[at]),
            _ => bytes.insert(at, byte),
        }
    }
    bytes
}

#[cfg(test)]
mod tests;
