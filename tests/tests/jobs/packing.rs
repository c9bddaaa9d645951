//! Archives of sources, good and bad, and sending them.

use std::io::{Cursor, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};
use tests::{Client, Reply};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// One entry of an archive.
#[derive(Clone, Copy)]
pub(crate) enum Entry<'e> {
    File(&'e str, &'e [u8]),
    /// A symbolic link, and where it leads.
    Link(&'e str, &'e str),
    /// A character device.
    Device(&'e str),
}

/// A tar file, packed by gzip. Names are taken as they are, also those that no tool would write.
pub(crate) fn tar_gz(entries: &[Entry<'_>]) -> Vec<u8> {
    let gzip = GzEncoder::new(Vec::new(), Compression::default());
    let mut tar = Builder::new(gzip);
    for entry in entries {
        let (name, kind, bytes) = match *entry {
            Entry::File(name, bytes) => (name, EntryType::Regular, bytes),
            Entry::Link(name, _) => (name, EntryType::Symlink, &[][..]),
            Entry::Device(name) => (name, EntryType::Char, &[][..]),
        };
        let mut header = Header::new_ustar();
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        if let Entry::Link(_, to) = entry {
            header.set_link_name_literal(to).unwrap();
        }
        header.set_entry_type(kind);
        header.set_mode(0o755);
        header.set_size(bytes.len() as u64);
        header.set_cksum();
        tar.append(&header, bytes).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap()
}

/// A zip file.
pub(crate) fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Submits an archive with these texts beside it.
pub(crate) fn send(client: &Client, archive: &[u8], texts: &[(&str, &str)]) -> Reply {
    let file = ("archive", "sources", archive);
    client.post_form("/api/jobs/submit", texts, file).unwrap()
}

/// Submits an archive whose pipeline is `ci.yml`.
pub(crate) fn send_plain(client: &Client, archive: &[u8]) -> Reply {
    send(client, archive, &[("ci_yaml", "ci.yml")])
}
