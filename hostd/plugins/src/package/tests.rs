//! Packed plugins, right and wrong.

use std::fs;
use std::path::Path;

use super::*;
use crate::fuzz;
use crate::testing::{COMPONENT as WASM, Signer, package};

const MANIFEST: &str = "[plugin]\nid = \"a.b\"\nversion = \"0.1.0\"\napi = \"1.0\"\n";

fn member(kind: tar::EntryType, name: &str, bytes: &[u8]) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(kind);
    header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_mode(0o777);
    header.set_mtime(1_700_000_000);
    header.set_size(bytes.len() as u64);
    header.set_cksum();
    header
}

fn tape(members: &[(tar::EntryType, &str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (kind, name, bytes) in members {
        builder.append(&member(*kind, name, bytes), *bytes).unwrap();
    }
    builder.into_inner().unwrap()
}

fn refused(packed: &[u8]) -> String {
    Package::unpack(packed).unwrap_err().to_string()
}

use tar::EntryType as Kind;

const BOTH: [(Kind, &str, &[u8]); 2] = [
    (Kind::Regular, "plugin.toml", MANIFEST.as_bytes()),
    (Kind::Regular, COMPONENT, WASM),
];

#[test]
fn packing_gives_the_same_bytes_and_the_plugin_back() {
    let text = format!(
        "{MANIFEST}sha256 = \"{}\"\n",
        hex::encode(Sha256::digest(WASM))
    );
    let signature = Signer::new(1).sign(text.as_bytes()).into_bytes();
    let own = Package::new(text.into_bytes(), WASM.to_vec(), Some(signature)).unwrap();
    let packed = own.pack();
    assert_eq!(packed, own.pack());
    assert_eq!(packed.len() % 512, 0);
    let again = Package::unpack(&packed[..]).unwrap();
    assert_eq!(again.digest(), own.digest());
    assert_eq!(
        (again.manifest_bytes(), again.component()),
        (own.manifest_bytes(), own.component())
    );
    assert_eq!(
        again.signature().unwrap().key(),
        own.signature().unwrap().key()
    );
    let other = package("a.b", "0.1.0", "");
    assert_ne!(other.digest(), own.digest());
    assert!(
        Package::unpack(&other.pack()[..])
            .unwrap()
            .signature()
            .is_none()
    );
}

#[test]
fn any_tar_program_can_make_one_in_any_order() {
    let packed = tape(&[BOTH[1], BOTH[0]]);
    assert_eq!(
        Package::unpack(&packed[..]).unwrap().manifest().id.as_str(),
        "a.b"
    );
    let padded = [&packed[..], &[0; 10_240]].concat();
    assert!(Package::unpack(&padded[..]).is_ok());
}

#[test]
fn nothing_but_the_three_files_is_taken() {
    let with = |kind, name, bytes| refused(&tape(&[BOTH[0], BOTH[1], (kind, name, bytes)]));
    for name in [
        "x",
        "./plugin.toml",
        "/plugin.toml",
        "../plugin.toml",
        "plugin.cwasm",
        "a/plugin.wasm",
    ] {
        assert!(
            with(Kind::Regular, name, b"x").contains("may have only"),
            "{name}"
        );
    }
    for name in ["plugin.toml", "plugin.wasm"] {
        assert!(
            with(Kind::Regular, name, b"x").contains("each once"),
            "{name}"
        );
    }
    for kind in [
        Kind::Symlink,
        Kind::Link,
        Kind::Directory,
        Kind::Fifo,
        Kind::Char,
        Kind::GNUSparse,
        Kind::Continuous,
    ] {
        let found = refused(&tape(&[BOTH[0], (kind, "plugin.wasm", b"")]));
        assert!(
            found.contains("plugin.wasm is not a plain file"),
            "{kind:?}: {found}"
        );
    }
    for kind in [
        Kind::XHeader,
        Kind::XGlobalHeader,
        Kind::GNULongName,
        Kind::GNULongLink,
    ] {
        assert!(
            with(kind, "pax", b"12 path=x\n\n\n").contains("may have only"),
            "{kind:?}"
        );
    }
    assert_eq!(refused(&tape(&[BOTH[0]])), "there is no plugin.wasm");
    assert_eq!(refused(&tape(&[BOTH[1]])), "there is no plugin.toml");
}

#[test]
fn what_is_cut_off_or_followed_by_more_is_no_tar() {
    let packed = tape(&BOTH);
    for cut in [1, 511, 512, 600, 1024, 1536, packed.len() - 1100] {
        let found = refused(&packed[..cut]);
        assert!(
            found.contains("no tar") || found.contains("there is no"),
            "{cut}: {found}"
        );
    }
    assert!(refused(&[&packed[..], b"x"].concat()).contains("no tar"));
    assert!(refused(b"PK\x03\x04").contains("no tar"));
    assert!(refused(&vec![0xff; 4096]).contains("no tar"));
    assert_eq!(refused(&[]), "there is no plugin.toml");
}

#[test]
fn each_part_has_its_bound() {
    let long = vec![b'#'; manifest::BYTES_MAX + 1];
    assert!(
        refused(&tape(&[(Kind::Regular, "plugin.toml", &long)]))
            .contains("plugin.toml has more than 65536")
    );
    // A size that is only claimed is refused before anything is read.
    let mut header = member(Kind::Regular, "plugin.wasm", b"");
    header.set_size(COMPONENT_BYTES_MAX as u64 + 1);
    header.set_cksum();
    assert!(refused(header.as_bytes()).contains("plugin.wasm has more than 33554432"));
    header.set_size(u64::MAX >> 1);
    header.set_cksum();
    assert!(!refused(header.as_bytes()).is_empty());
    let endless = [tape(&BOTH), vec![0; PACKED_BYTES_MAX]].concat();
    assert!(refused(&endless).contains("no tar"));
}

#[test]
fn the_component_must_be_one_and_the_right_one() {
    for wrong in [&b""[..], b"\0asm\x01\0\0\0", b"#!/bin/sh\n"] {
        let error = Package::new(MANIFEST.into(), wrong.to_vec(), None).unwrap_err();
        assert!(matches!(error, PackageError::NoComponent));
    }
    let text = format!("{MANIFEST}sha256 = \"{}\"", "0".repeat(64));
    let error = Package::new(text.into(), WASM.to_vec(), None).unwrap_err();
    assert!(matches!(error, PackageError::Digest { .. }), "{error}");
}

#[test]
fn a_folder_is_read_without_following_links() {
    let dir = tempfile::tempdir().unwrap();
    let read = |dir: &Path| Package::from_folder(dir).map_err(|error| error.to_string());
    assert_eq!(read(dir.path()).unwrap_err(), "there is no plugin.toml");
    let named = format!("{MANIFEST}component = \"mine.wasm\"\n");
    fs::write(dir.path().join("plugin.toml"), &named).unwrap();
    assert_eq!(read(dir.path()).unwrap_err(), "there is no mine.wasm");
    fs::write(dir.path().join("elsewhere"), WASM).unwrap();
    std::os::unix::fs::symlink("elsewhere", dir.path().join("mine.wasm")).unwrap();
    assert_eq!(
        read(dir.path()).unwrap_err(),
        "mine.wasm is not a plain file"
    );
    fs::remove_file(dir.path().join("mine.wasm")).unwrap();
    fs::create_dir(dir.path().join("mine.wasm")).unwrap();
    assert_eq!(
        read(dir.path()).unwrap_err(),
        "mine.wasm is not a plain file"
    );
    fs::remove_dir(dir.path().join("mine.wasm")).unwrap();
    fs::write(dir.path().join("mine.wasm"), WASM).unwrap();
    let found = read(dir.path()).unwrap();
    assert_eq!(
        Package::unpack(&found.pack()[..]).unwrap().digest(),
        found.digest()
    );
    fs::write(dir.path().join("plugin.toml.minisig"), "x").unwrap();
    assert!(read(dir.path()).unwrap_err().contains("no signature"));
}

#[test]
fn mutated_packages_are_read_or_refused() {
    fuzz::seeded(
        &package("a.b", "0.1.0", "").pack(),
        5_000,
        0x7a_5e,
        fuzz::package,
    );
    fuzz::seeded(&tape(&BOTH), 5_000, 0x7a_5f, fuzz::package);
}
