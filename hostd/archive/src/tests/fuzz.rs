//! A short seeded run of the fuzz targets, from mutated valid inputs: whatever the bytes, nothing is created
//! outside the folder.

use fastrand::Rng;
use tar::EntryType;

use super::tar_builder::gzip;
use super::{Tar, Zip, Zipped};
use crate::fuzz::archive;

/// How many inputs of each kind are tried.
const TRIES: usize = 250;

fn tars() -> Vec<Vec<u8>> {
    let mut tars = plain_tars();
    tars.extend(super::sparse::all());
    tars
}

fn plain_tars() -> Vec<Vec<u8>> {
    vec![
        Tar::default()
            .file("a/b", b"hello")
            .link("l", "a/b")
            .hard("h", "a/b")
            .plain(),
        Tar::default()
            .long_name(b"some/long/name\0")
            .file("x", &[7; 600])
            .folder("d/")
            .plain(),
        Tar::default()
            .pax(&[("path", "p/q"), ("size", "3")])
            .file("x", b"123")
            .plain(),
        Tar::default()
            .link("d/up", "..")
            .link("in", "d/up/d")
            .file("d/f", b"")
            .mode(0o4755)
            .plain(),
        Tar::default()
            .entry(EntryType::XGlobalHeader, "g", "", b"13 comment=x\n")
            .file("x", b"")
            .plain(),
    ]
}

fn zips() -> Vec<Vec<u8>> {
    vec![
        Zip::of(&[
            Zipped::stored("a/b", b"hello"),
            Zipped::stored("l", b"a/b").mode(0o120_777),
        ])
        .bytes(),
        Zip::of(&[
            Zipped::deflated("x", &[7; 900]),
            Zipped::stored("d/", b"").mode(0o040_755),
        ])
        .bytes(),
    ]
}

/// Changes, duplicates or drops some bytes, or replaces some by words that matter to readers.
fn mutated(random: &mut Rng, valid: &[u8]) -> Vec<u8> {
    let words: [&[u8]; 8] = [
        b"../",
        b"/",
        b"\0",
        b"PK\x03\x04",
        b"PK\x05\x06",
        b"path=",
        b"\xff\xff\xff\xff",
        b"2",
    ];
    let mut bytes = valid.to_vec();
    for _ in 0..random.usize(1..5) {
        if bytes.is_empty() {
            break;
        }
        let at = random.usize(..bytes.len());
        match random.u8(..5) {
            0 => bytes[at] = random.u8(..),
            1 => bytes[at] ^= 1 << random.u8(..8),
            2 => {
                let word = *random.choice(&words).unwrap();
                let end = (at + word.len()).min(bytes.len());
                bytes[at..end].copy_from_slice(&word[..end - at]);
            }
            3 => bytes.truncate(at),
            _ => {
                let piece = bytes[at..(at + random.usize(..600)).min(bytes.len())].to_vec();
                bytes.splice(at..at, piece);
            }
        }
    }
    bytes
}

/// Gives every header that is where headers belong its correct checksum, so that the code after the checksum
/// is reached.
fn with_checksums(mut tar: Vec<u8>) -> Vec<u8> {
    for block in tar.chunks_exact_mut(512) {
        if block.iter().any(|byte| *byte != 0) && block.get(257..262) == Some(b"ustar") {
            let mut header = tar::Header::new_gnu();
            header.as_mut_bytes().copy_from_slice(block);
            header.set_cksum();
            block.copy_from_slice(header.as_bytes());
        }
    }
    tar
}

#[test]
fn mutated_archives_stay_in_their_folder() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Rng::with_seed(7 << 40);
    let (tars, zips) = (tars(), zips());
    for bytes in &tars {
        archive(&gzip(bytes), folder.path());
    }
    for _ in 0..TRIES {
        let valid = &tars[random.usize(..tars.len())];
        let tar = mutated(&mut random, valid);
        archive(&gzip(&with_checksums(tar)), folder.path());
        let valid = &zips[random.usize(..zips.len())];
        let zip = mutated(&mut random, valid);
        archive(&zip, folder.path());
    }
    for _ in 0..TRIES / 5 {
        let packed = gzip(random.choice(&tars).unwrap());
        archive(&mutated(&mut random, &packed), folder.path());
        let mut noise: Vec<u8> = (0..random.usize(..2000)).map(|_| random.u8(..)).collect();
        archive(&noise, folder.path());
        noise.splice(0..0, *b"\x1f\x8b\x08\0\0\0\0\0\0\x03");
        archive(&noise, folder.path());
    }
}

#[test]
fn an_archive_that_holds_itself_is_one_file() {
    // A quine unpacks to itself for a reader that goes on with its content. Nobody does that here: an
    // archive inside an archive is a file.
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = Tar::default().file("x", b"").gz();
    for _ in 0..30 {
        bytes = Tar::default().file("again.tar.gz", &bytes).gz();
        archive(&bytes, folder.path());
    }
    // The same in one stream: a tar that contains a tar.
    let inner = Tar::default().file("x", b"1").plain();
    archive(
        &gzip(&Tar::default().file("inner.tar", &inner).plain()),
        folder.path(),
    );
}
