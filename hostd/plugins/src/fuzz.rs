//! Arbitrary bytes as what strangers send: what fuzzers and the seeded tests call.

use base::seeded::Random;

use crate::manifest::{Manifest, PROBLEMS_MAX};
use crate::package::Package;
use crate::signature::{Keys, Signature};
use crate::{allow, target};

/// Reads `bytes` as a manifest: it is read, or refused with at least one problem.
///
/// # Panics
/// If that does not hold.
pub fn manifest(bytes: &[u8]) {
    match Manifest::parse(bytes) {
        Ok(manifest) => {
            assert!(manifest.limits.compute_ms <= manifest.limits.deadline_ms);
            for timer in &manifest.wants.timers {
                assert!(timer.cron.next_after(0).is_some());
            }
        }
        Err(error) => assert!((1..=PROBLEMS_MAX).contains(&error.problems.len())),
    }
}

/// Reads `bytes` as a packed plugin: what is read is packed into the same bytes again, or at least into a package that is
/// the same.
///
/// # Panics
/// If that does not hold.
pub fn package(bytes: &[u8]) {
    if let Ok(package) = Package::unpack(bytes) {
        let packed = package.pack();
        let again = Package::unpack(&packed[..]).expect("what was packed can be unpacked");
        assert_eq!(again.digest(), package.digest());
        assert_eq!(again.pack(), packed);
    }
}

/// Reads `bytes` as a signature: none verifies without a key.
///
/// # Panics
/// If that does not hold.
pub fn signature(bytes: &[u8]) {
    if let Ok(signature) = Signature::parse(bytes) {
        assert!(Keys::default().verify(b"manifest", &signature).is_err());
    }
}

/// Reads `bytes` as a URL and as a pattern: what is read has one form, and what a pattern of one place matches lies there.
///
/// # Panics
/// If that does not hold.
pub fn url(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(url) = text.parse::<target::Target>() {
        let form = url.to_string();
        assert_eq!(form.parse().as_ref(), Ok(&url), "{form}");
        assert!(!form.contains('@') || form.find('@') > form.find('/'));
        let bench: allow::Pattern = "https://a.example/bench/*".parse().expect("it is one");
        if bench.matches(&url) {
            assert!(form.starts_with("https://a.example/bench/"), "{form}");
            let path = form.split('?').next().unwrap_or_default();
            assert!(path.split('/').all(|part| part != ".."), "{form}");
        }
    }
    if let Ok(pattern) = text.parse::<allow::Pattern>() {
        let form = pattern.to_string();
        assert_eq!(form.parse(), Ok(pattern), "{form}");
    }
}

/// Calls `entry` with `count` mutations of something valid.
pub fn seeded(valid: &[u8], count: usize, seed: u64, mut entry: impl FnMut(&[u8])) {
    let mut random = Random(seed);
    for _ in 0..count {
        let mut bytes = valid.to_vec();
        for _ in 0..=random.below(6) {
            if bytes.is_empty() {
                break;
            }
            let at = random.index(bytes.len());
            match random.below(5) {
                0 => bytes[at] = random.next().to_le_bytes()[0],
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, b"\"[]{}=.,/%*@:\n0"[random.index(15)]),
                3 => bytes.truncate(at),
                _ => {
                    let end = (at + random.index(40)).min(bytes.len());
                    let part = bytes[at..end].to_vec();
                    let to = random.index(bytes.len());
                    bytes.splice(to..to, part);
                }
            }
        }
        entry(&bytes);
    }
}
