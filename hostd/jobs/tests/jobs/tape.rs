//! Tars that tests write byte by byte, since no honest program writes some of them; and the files of a small image.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A tar.
#[derive(Default)]
pub(crate) struct Tape(Vec<u8>);

const BLOCK: usize = 512;

impl Tape {
    fn entry(mut self, name: &str, kind: u8, mode: u32, link: &str, content: &[u8]) -> Self {
        let mut header = [0; BLOCK];
        let mut put = |at: usize, text: &str| {
            header[at..at + text.len()].copy_from_slice(text.as_bytes());
        };
        put(0, name);
        put(100, &format!("{mode:07o}"));
        put(108, "0000000");
        put(116, "0000000");
        put(124, &format!("{:011o}", content.len()));
        put(136, "00000000000");
        put(148, "        ");
        put(157, link);
        put(257, "ustar");
        put(263, "00");
        put(329, "0000001");
        put(337, "0000003");
        header[156] = kind;
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        self.0.extend(header);
        self.0.extend(content);
        let padded = self.0.len().next_multiple_of(BLOCK);
        self.0.resize(padded, 0);
        self
    }

    pub(crate) fn file(self, name: &str, mode: u32, content: &[u8]) -> Self {
        self.entry(name, b'0', mode, "", content)
    }

    pub(crate) fn folder(self, name: &str, mode: u32) -> Self {
        self.entry(name, b'5', mode, "", b"")
    }

    pub(crate) fn link(self, name: &str, target: &str) -> Self {
        self.entry(name, b'2', 0o777, target, b"")
    }

    pub(crate) fn device(self, name: &str) -> Self {
        self.entry(name, b'3', 0o666, "", b"")
    }

    /// Programs of the host, with their libraries, where they look for them.
    pub(crate) fn programs(mut self, names: &[&str]) -> Self {
        let mut libraries = BTreeSet::new();
        for name in names {
            let folders = ["/bin", "/usr/bin"].map(|folder| Path::new(folder).join(name));
            let program = folders.iter().find(|path| path.exists()).unwrap();
            self = self.file(&format!("bin/{name}"), 0o755, &fs::read(program).unwrap());
            let needed = Command::new("ldd").arg(program).output().unwrap();
            let needed = String::from_utf8(needed.stdout).unwrap();
            let needed = needed.split_whitespace().map(str::to_owned);
            libraries.extend(needed.filter(|word| word.starts_with('/')));
        }
        libraries.iter().fold(self, |tape, library| {
            tape.file(&library[1..], 0o755, &fs::read(library).unwrap())
        })
    }

    /// Without its end.
    pub(crate) fn cut(mut self, bytes: usize) -> Vec<u8> {
        self.0.truncate(bytes);
        self.0
    }

    pub(crate) fn end(mut self) -> Vec<u8> {
        self.0.resize(self.0.len() + 2 * BLOCK, 0);
        self.0
    }
}

/// An image with a shell and little else.
pub(crate) fn tiny() -> Tape {
    let tape = Tape::default().programs(&["sh", "cat", "ls"]);
    tape.folder("etc", 0o755)
        .file("etc/passwd", 0o644, b"root:x:0:0::/root:/bin/sh\n")
        .file("etc/shadow", 0o600, b"of the image\n")
        .folder("closed", 0o000)
        .file("closed/inner", 0o000, b"inner\n")
        .file("bin/setuid", 0o6755, b"")
        .device("disk")
}
