//! Frames survive any cut, and no bytes break the reader.

use fastrand::Rng;

use super::{DAP_PACKET_BYTES_MAX, DapFrameError, DapFrames, encode};

fn packet(random: &mut Rng) -> Vec<u8> {
    let length = 1 + random.usize(..DAP_PACKET_BYTES_MAX);
    (0..length)
        .map(|_| u8::try_from(random.usize(..256)).unwrap())
        .collect()
}

#[test]
fn packets_come_out_as_they_went_in_whatever_the_cut() {
    let mut random = Rng::with_seed(11);
    for _ in 0..200 {
        let packets: Vec<_> = (0..1 + random.usize(..5))
            .map(|_| packet(&mut random))
            .collect();
        let bytes: Vec<u8> = packets.iter().flat_map(|p| encode(p).unwrap()).collect();
        let mut frames = DapFrames::default();
        let mut found = Vec::new();
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let (cut, later) = rest.split_at((1 + random.usize(..700)).min(rest.len()));
            frames.push(cut);
            rest = later;
            while let Some(packet) = frames.next_packet().unwrap() {
                found.push(packet);
            }
        }
        assert_eq!(found, packets);
        assert!(frames.is_empty());
    }
}

#[test]
fn lengths_out_of_bounds_are_refused_both_ways() {
    for bytes in [0, DAP_PACKET_BYTES_MAX + 1, 70_000] {
        assert_eq!(
            encode(&vec![0; bytes]),
            Err(DapFrameError::Length { bytes })
        );
    }
    for length in [[0, 0], [1, 4], [255, 255]] {
        let mut frames = DapFrames::default();
        frames.push(&length);
        assert!(frames.next_packet().is_err());
    }
    assert_eq!(encode(&[7; DAP_PACKET_BYTES_MAX]).unwrap()[..2], [0, 4]);
}

#[test]
fn random_bytes_end_in_packets_or_an_error() {
    let mut random = Rng::with_seed(5);
    for _ in 0..500 {
        let mut frames = DapFrames::default();
        for _ in 0..random.usize(..20) {
            let length = random.usize(..600);
            let bytes: Vec<u8> = (0..length)
                .map(|_| u8::try_from(random.usize(..256) / (1 + random.usize(..200))).unwrap())
                .collect();
            frames.push(&bytes);
            match frames.next_packet() {
                Ok(Some(packet)) => assert!((1..=DAP_PACKET_BYTES_MAX).contains(&packet.len())),
                Ok(None) => {}
                Err(DapFrameError::Length { bytes }) => {
                    assert!(bytes == 0 || bytes > DAP_PACKET_BYTES_MAX);
                    break;
                }
            }
        }
    }
}
