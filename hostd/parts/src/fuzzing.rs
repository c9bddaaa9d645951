//! Entries that fuzzers and the seeded tests feed with untrusted bytes.

/// Any bytes as answers of a supply, over TCP or USB, or of a hub.
pub fn supply(bytes: &[u8]) {
    crate::power::fuzzing::answers(bytes);
}

/// Any bytes as what a probe sends, behind TCP or in reports.
pub fn probe(bytes: &[u8]) {
    crate::probe::fuzz(bytes);
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;
    use pod_protocol::fuzzing::mutated;

    const ROUNDS: usize = 20_000;

    fn seeded(seed: u64, valid: &[&[u8]], entry: fn(&[u8])) {
        let mut rng = Rng::with_seed(seed);
        for _ in 0..ROUNDS {
            let start = valid[rng.usize(..valid.len())];
            let bytes = mutated(&mut |most| rng.usize(..most), start);
            entry(&bytes);
        }
    }

    #[test]
    fn answers_of_supplies() {
        let usb = [&[2, 9, 0xF6, 0, 4, 0, 0, 0, 1, 0, 0, 0][..], b"3.3\n"].concat();
        let lines: [&[u8]; 4] = [
            b"+3.30000E+00\n1\n-113,\"Undefined header\"\n",
            b"9.91E37\nON",
            &[9, 0x29, 4, 0xE9, 0, 50, 100, 0, 0xFF],
            &usb,
        ];
        seeded(0x5c91, &lines, super::supply);
    }

    #[test]
    fn answers_of_probes() {
        let frames = [
            &b"DAP\0\x03\0\x02\0"[..],
            &[0, 1, 4],
            b"DAP\0\x01\0\x02\0",
            &[3],
        ]
        .concat();
        seeded(0xda9, &[&frames, &[0, 2, 64, 0]], super::probe);
    }
}
