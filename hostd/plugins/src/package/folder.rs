//! Reads a plugin from a folder: its build, or what somebody unpacked.

use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::{COMPONENT, PackageError, Parts, bytes_max, missing, too_large};
use crate::manifest::{self, Manifest};
use crate::signature;

pub(super) fn read(folder: &Path) -> Result<Parts, PackageError> {
    let manifest = file(folder, manifest::FILE, manifest::FILE)?;
    let manifest = manifest.ok_or_else(|| missing(self::manifest::FILE))?;
    let name = Manifest::parse(&manifest)?.component;
    let component = file(folder, &name, COMPONENT)?.ok_or_else(|| missing(&name))?;
    let signature = file(folder, signature::FILE, signature::FILE)?;
    Ok(Parts {
        manifest,
        component,
        signature,
    })
}

/// A plain file, whole and within the bound of what it is; none if there is none.
fn file(folder: &Path, name: &str, what: &'static str) -> Result<Option<Vec<u8>>, PackageError> {
    let failed = |source| PackageError::Read {
        name: name.to_owned(),
        source,
    };
    let not_plain = || PackageError::NotPlain {
        name: name.to_owned(),
    };
    // Whatever is there, opening it does not wait, and leads nowhere else.
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(folder.join(name));
    let opened = match opened {
        Ok(opened) => opened,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
            return Err(not_plain());
        }
        Err(error) => return Err(failed(error)),
    };
    if !opened.metadata().map_err(failed)?.is_file() {
        return Err(not_plain());
    }
    let most = bytes_max(what);
    let mut bytes = Vec::new();
    opened
        .take(most as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() > most {
        return Err(too_large(what));
    }
    Ok(Some(bytes))
}
