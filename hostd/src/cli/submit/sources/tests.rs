//! Archives of a checkout with something of each kind, judged by the crate that unpacks them on a server.

use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use super::*;

/// A checkout with something of each kind.
fn checkout() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for (path, text) in [
        (".git/HEAD", "ref: refs/heads/main"),
        (".gitignore", "*.o\n!kept.o\n"),
        (".config", "hidden, and needed"),
        ("hostd-out/log.txt", "old"),
        ("results/junit.xml", "old"),
        ("pipeline.yml", "version: 1"),
        ("src/main.c", "int main(void) { return 0; }"),
        ("src/main.o", "object"),
        ("src/kept.o", "object"),
        ("src/hostd-out", "a file of this name elsewhere"),
        ("sub/.git", "gitdir: ../.git/modules/sub"),
        ("sub/lib.c", "int lib;"),
    ] {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::create_dir(root.join("empty")).unwrap();
    let tool = root.join("src/tool.sh");
    fs::write(&tool, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o700)).unwrap();
    symlink("../sub/lib.c", root.join("src/lib.c")).unwrap();
    folder
}

fn packed(sources: &Sources) -> Vec<u8> {
    let mut bytes = Vec::new();
    sources.pack(&mut bytes).unwrap();
    bytes
}

/// The server's own judgement, and whether it finds the file.
fn inspected(bytes: &[u8], wanted: &str) {
    let read = archive::inspect(io::Cursor::new(bytes), &Limits::default(), Some(wanted));
    assert!(read.unwrap().text.is_some(), "no {wanted}");
}

#[test]
fn what_is_below_goes_along_in_one_order() {
    let folder = checkout();
    let out = folder.path().join("results");
    let sources = Sources::list(folder.path(), Some(&out)).unwrap();
    let names: Vec<&str> = sources
        .entries
        .iter()
        .filter_map(|path| path.to_str())
        .collect();
    let expected = [
        ".config",
        ".gitignore",
        "empty",
        "pipeline.yml",
        "src",
        "src/hostd-out",
        "src/kept.o",
        "src/lib.c",
        "src/main.c",
        "src/tool.sh",
        "sub",
        "sub/lib.c",
    ];
    assert_eq!(names, expected);
    assert!(sources.left_out.is_empty(), "{:?}", sources.left_out);
    // A retry sends the same bytes, whatever happened to times.
    let first = packed(&sources);
    let main = File::options()
        .write(true)
        .open(folder.path().join("src/main.c"));
    main.unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    let again = Sources::list(folder.path(), Some(&out)).unwrap();
    assert!(first == packed(&again));
}

#[test]
fn a_server_takes_the_archive() {
    let folder = checkout();
    let long = format!("{}/{}", "d".repeat(120), "f".repeat(120));
    fs::create_dir(folder.path().join("d".repeat(120))).unwrap();
    fs::write(folder.path().join(&long), "far").unwrap();
    symlink(&long, folder.path().join("near")).unwrap();
    let sources = Sources::list(folder.path(), None).unwrap();
    let bytes = packed(&sources);
    inspected(&bytes, "pipeline.yml");
    inspected(&bytes, &long);
    let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(bytes.as_slice()));
    for entry in tar.entries().unwrap() {
        let entry = entry.unwrap();
        let (path, header) = (entry.path().unwrap(), entry.header());
        assert_eq!((header.mtime().unwrap(), header.uid().unwrap()), (0, 0));
        let is_run = !header.entry_type().is_file() || path.ends_with("tool.sh");
        let mode = if is_run { 0o755 } else { 0o644 };
        assert_eq!(header.mode().unwrap(), mode, "{}", path.display());
    }
}

#[test]
fn what_cannot_go_along_is_told() {
    let folder = checkout();
    let root = folder.path();
    symlink("/etc/passwd", root.join("far")).unwrap();
    symlink("../../x", root.join("src/up")).unwrap();
    let _socket = UnixListener::bind(root.join("socket")).unwrap();
    let sources = Sources::list(root, None).unwrap();
    let leads_out = "a link that leads out of the sources";
    let expected = [
        format!("far: {leads_out}"),
        "socket: neither a file nor a folder nor a link".to_owned(),
        format!("src/up: {leads_out}"),
    ];
    assert_eq!(sources.left_out, expected);
    inspected(&packed(&sources), "pipeline.yml");
}

#[test]
fn a_pipeline_is_found_by_its_path() {
    let folder = checkout();
    let root = folder.path();
    let sources = Sources::list(root, None).unwrap();
    assert_eq!(
        sources.path_of(&root.join("pipeline.yml")).unwrap(),
        "pipeline.yml"
    );
    let round = root.join("sub/../src/main.c");
    assert_eq!(sources.path_of(&round).unwrap(), "src/main.c");
    for outside in [root.join("src/main.o"), PathBuf::from("/etc/passwd")] {
        let error = sources.path_of(&outside).unwrap_err().to_string();
        assert!(error.contains("it must be below"), "{error}");
    }
}

#[test]
fn too_much_is_refused_before_it_is_sent() {
    let folder = checkout();
    let huge = File::create(folder.path().join("huge")).unwrap();
    huge.set_len(Limits::default().unpacked_bytes_max).unwrap();
    let error = Sources::list(folder.path(), None).unwrap_err().to_string();
    assert!(error.contains("has more than 2048 MiB"), "{error}");

    huge.set_len(10).unwrap();
    let mut sources = Sources::list(folder.path(), None).unwrap();
    sources.limits.packed_bytes_max = 100;
    let error = sources.pack(io::sink()).unwrap_err();
    assert!(
        format!("{error:#}").contains("larger than any server takes"),
        "{error:#}"
    );
}

#[test]
fn a_file_that_shrinks_spoils_no_archive() {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(b"abc").unwrap();
    let mut exact = Exact { file, left: 2 };
    // Written at the end, so nothing is left to read.
    assert!(exact.read(&mut [0; 8]).is_err());
    assert_eq!(Exact { left: 0, ..exact }.read(&mut [0; 8]).unwrap(), 0);
}

#[test]
fn what_a_copy_leaves_out_is_what_is_not_sent() {
    let folder = checkout();
    let root = folder.path().canonicalize().unwrap();
    symlink("/etc/passwd", root.join("outside")).unwrap();
    let _socket = UnixListener::bind(root.join("socket")).unwrap();
    let out = root.join("results");
    let left = left_out(&root, Some(&out)).unwrap();
    let names: Vec<&Path> = left
        .iter()
        .map(|path| path.strip_prefix(&root).unwrap())
        .collect();
    let expected = [
        ".git",
        "hostd-out",
        "outside",
        "results",
        "socket",
        "src/main.o",
        "sub/.git",
    ];
    assert_eq!(names, expected.map(Path::new));
}
