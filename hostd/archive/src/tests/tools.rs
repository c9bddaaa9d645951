//! Archives made by programs that people use, where these are installed.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use super::open;
use crate::{Limits, inspect, unpack};

/// A folder with what a checkout contains: depth, links, an executable, long names.
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
    symlink("ci.yaml", folder.join("link")).unwrap();
    fs::hard_link(folder.join("run"), folder.join("same")).unwrap();
}

#[test]
fn archives_of_the_usual_programs_are_taken() {
    let around = tempfile::tempdir().unwrap();
    let source = around.path().join("source");
    checkout(&source);
    let archive = around.path().join("archive");
    let commands: [&[&str]; 5] = [
        &["tar", "--format=gnu", "-czf", "../archive", "."],
        &["tar", "--format=pax", "-czf", "../archive", "."],
        &["tar", "--sparse", "-czf", "../archive", "."],
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
        assert_eq!(unpacked.entries, 9, "{command:?}");
        let same = Command::new("diff")
            .args(["-r", "--no-dereference"])
            .arg(&source)
            .arg(into.path())
            .status();
        assert!(same.unwrap().success(), "{command:?}");
    }
}
