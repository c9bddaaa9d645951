//! Reads and writes the tar of a packed plugin. Reading takes plain files of three names and refuses everything else that
//! a tar can have, so it needs to understand no extension.

use std::io::{Cursor, Read, Write};

use tar::{Archive, Builder, EntryType, Header};

use super::{COMPONENT, PACKED_BYTES_MAX, PackageError, Parts, bytes_max, missing, too_large};
use crate::manifest::section::quoted;
use crate::{manifest, signature};

const NAMES: [&str; 3] = [manifest::FILE, signature::FILE, COMPONENT];

/// Permission bits of a packed file.
const MODE: u32 = 0o644;

/// Room for the headers and the end of a tar.
const FRAME_BYTES: usize = 4 << 10;

pub(super) fn read(packed: impl Read) -> Result<Parts, PackageError> {
    let failed = |_| PackageError::Tar;
    let mut archive = Archive::new(packed.take(PACKED_BYTES_MAX as u64));
    let mut found: [Option<Vec<u8>>; 3] = Default::default();
    for entry in archive.entries().map_err(failed)?.raw(true) {
        let mut entry = entry.map_err(failed)?;
        let path = entry.path_bytes();
        let place = NAMES.iter().position(|name| name.as_bytes() == &*path);
        let other = || PackageError::Member {
            name: quoted(&String::from_utf8_lossy(&path)),
        };
        let place = place.ok_or_else(other)?;
        let name = NAMES[place];
        if entry.header().entry_type() != EntryType::Regular {
            return Err(PackageError::NotPlain {
                name: name.to_owned(),
            });
        }
        if found[place].is_some() {
            return Err(other());
        }
        drop(path);
        let size = usize::try_from(entry.size()).unwrap_or(usize::MAX);
        if size > bytes_max(name) {
            return Err(too_large(name));
        }
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() != size {
            return Err(PackageError::Tar);
        }
        found[place] = Some(bytes);
    }
    end(archive.into_inner())?;
    let [manifest, signature, component] = found;
    Ok(Parts {
        manifest: manifest.ok_or_else(|| missing(self::manifest::FILE))?,
        component: component.ok_or_else(|| missing(COMPONENT))?,
        signature,
    })
}

/// After the last entry there are only zeros, and not too many.
fn end(mut rest: std::io::Take<impl Read>) -> Result<(), PackageError> {
    let mut bytes = [0; 4096];
    loop {
        match rest.read(&mut bytes) {
            Ok(0) if rest.limit() == 0 => return Err(PackageError::Tar),
            Ok(0) => return Ok(()),
            Ok(len) if bytes[..len].iter().all(|b| *b == 0) => {}
            _ => return Err(PackageError::Tar),
        }
    }
}

pub(super) fn write(manifest: &[u8], signature: Option<&[u8]>, component: &[u8]) -> Vec<u8> {
    let size = manifest.len() + signature.map_or(0, <[u8]>::len) + component.len() + FRAME_BYTES;
    let mut builder = Builder::new(Cursor::new(Vec::with_capacity(size)));
    let parts = [Some(manifest), signature, Some(component)];
    for (name, bytes) in NAMES.iter().zip(parts) {
        let Some(bytes) = bytes else { continue };
        let mut header = Header::new_ustar();
        header.set_entry_type(EntryType::Regular);
        header.set_mode(MODE);
        header.set_mtime(0);
        header.set_uid(0);
        header.set_gid(0);
        header.set_size(bytes.len() as u64);
        let appended = builder.append_data(&mut header, name, bytes);
        appended.expect("memory takes all, and the names are short");
    }
    let mut packed = builder.into_inner().expect("memory takes all");
    packed.flush().expect("memory takes all");
    packed.into_inner()
}
