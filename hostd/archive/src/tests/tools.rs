//! Archives made by programs that people use, where these are installed.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::process::Command;

use super::open;
use crate::{Limits, inspect, unpack};

/// A folder with what a checkout contains: depth, links, an executable, long names, a file with holes.
fn checkout(folder: &Path) {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let deep = folder.join("name".repeat(40)).join("of".repeat(60));
    fs::create_dir_all(&deep).unwrap();
    fs::create_dir(folder.join("empty")).unwrap();
    fs::write(deep.join("main.c"), "int main;\n").unwrap();
    fs::write(folder.join("ci.yaml"), "version: 1\n").unwrap();
    fs::write(folder.join("größe.txt"), "1\n".repeat(50_000)).unwrap();
    fs::write(folder.join("run"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(folder.join("run"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut image = File::create(folder.join("image")).unwrap();
    image.write_all(b"head").unwrap();
    for at in [1 << 18, 1 << 19] {
        image.seek(SeekFrom::Start(at)).unwrap();
        image.write_all(b"piece").unwrap();
    }
    image.set_len(1 << 20).unwrap();
    symlink("ci.yaml", folder.join("link")).unwrap();
    fs::hard_link(folder.join("run"), folder.join("same")).unwrap();
}

#[test]
fn archives_of_the_usual_programs_are_taken() {
    let around = tempfile::tempdir().unwrap();
    let source = around.path().join("source");
    checkout(&source);
    let archive = around.path().join("archive");
    let commands: [&[&str]; 8] = [
        &["tar", "--format=gnu", "-czf", "../archive", "."],
        &["tar", "--format=pax", "-czf", "../archive", "."],
        &["tar", "--format=gnu", "--sparse", "-czf", "../archive", "."],
        &["tar", "--format=pax", "--sparse", "-czf", "../archive", "."],
        &[
            "tar",
            "--format=pax",
            "--sparse-version=0.1",
            "-czf",
            "../archive",
            ".",
        ],
        &[
            "tar",
            "--format=pax",
            "--sparse-version=0.0",
            "-czf",
            "../archive",
            ".",
        ],
        &["zip", "-qry", "../archive.zip", "."],
        &["zip", "-qry", "-fz", "../archive.zip", "."],
    ];
    for command in commands {
        let _ = fs::remove_file(&archive);
        let ran = Command::new(command[0])
            .args(&command[1..])
            .current_dir(&source)
            .status();
        if !ran.is_ok_and(|status| status.success()) {
            eprintln!("left out, since it is not installed or too old: {command:?}");
            continue;
        }
        let zip = around.path().join("archive.zip");
        if zip.exists() {
            fs::rename(zip, &archive).unwrap();
        }
        let read = || File::open(&archive).unwrap();
        let inspected = inspect(read(), &Limits::default(), Some("ci.yaml")).unwrap();
        assert_eq!(inspected.text.as_deref(), Some("version: 1\n"));
        let into = tempfile::tempdir_in(around.path()).unwrap();
        let unpacked = unpack(read(), &Limits::default(), open(into.path())).unwrap();
        assert_eq!(unpacked.entries, 10, "{command:?}");
        let same = Command::new("diff")
            .args(["-r", "--no-dereference"])
            .arg(&source)
            .arg(into.path())
            .status();
        assert!(same.unwrap().success(), "{command:?}");
    }
}
