//! The firmware of an analyzer, which is not part of this program: it is found where Debian's package puts it, or where
//! the configuration says.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::model::Model;
use crate::error::AcquireError;

/// Where packages put firmware, in the order in which it is looked for.
const FOLDERS: [&str; 2] = [
    "/usr/share/sigrok-firmware",
    "/usr/local/share/sigrok-firmware",
];

/// Bytes of the chip's memory for programs; the files have 8120.
pub(crate) const FIRMWARE_BYTES_MAX: usize = 16 * 1024;

/// A firmware.
#[derive(Debug)]
pub(crate) struct Firmware {
    /// Where it was found.
    pub(crate) path: PathBuf,
    /// What goes into the chip's memory from address 0 on.
    pub(crate) image: Vec<u8>,
}

/// Where a firmware is: a file, or the first folder that has the model's.
pub(crate) fn find(model: &Model, configured: Option<&Path>) -> Result<PathBuf, AcquireError> {
    if let Some(path) = configured.filter(|path| !path.is_dir()) {
        return match path.exists() {
            true => Ok(path.to_owned()),
            false => Err(missing(path.display().to_string(), "its folder")),
        };
    }
    let folders: Vec<&Path> = match configured {
        Some(folder) => vec![folder],
        None => FOLDERS.iter().map(Path::new).collect(),
    };
    let paths = folders.iter().map(|folder| folder.join(model.firmware));
    let found = paths.into_iter().find(|path| path.exists());
    found.ok_or_else(|| {
        let names: Vec<_> = folders
            .iter()
            .map(|folder| folder.display().to_string())
            .collect();
        missing(model.firmware.to_owned(), &names.join(" or "))
    })
}

fn missing(file: String, folders: &str) -> AcquireError {
    AcquireError::FirmwareMissing {
        file,
        folders: folders.to_owned(),
    }
}

/// Reads a firmware. Blocks.
pub(crate) fn read(path: PathBuf) -> Result<Firmware, AcquireError> {
    let failed = |source: io::Error| AcquireError::Io {
        what: format!("read the firmware {}", path.display()),
        source,
    };
    let file = File::open(&path).map_err(failed)?;
    let mut image = Vec::new();
    let most = FIRMWARE_BYTES_MAX as u64 + 1;
    file.take(most).read_to_end(&mut image).map_err(failed)?;
    let why = match image.len() {
        0 => "it is empty".to_owned(),
        length if FIRMWARE_BYTES_MAX < length => {
            format!("it is longer than {FIRMWARE_BYTES_MAX} bytes")
        }
        // Intel HEX, which other tools take.
        _ if image.starts_with(b":") => "it is text, and not the bytes themselves".to_owned(),
        _ => return Ok(Firmware { path, image }),
    };
    Err(AcquireError::FirmwareUnfit { path, why })
}

#[cfg(test)]
mod tests {
    use super::super::model::MODELS;
    use super::*;

    #[test]
    fn it_is_a_file_or_in_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let model = &MODELS[0];
        let error = find(model, Some(folder.path())).unwrap_err().to_string();
        assert!(error.contains("package sigrok-firmware-fx2lafw"), "{error}");
        let path = folder.path().join(model.firmware);
        std::fs::write(&path, [2; 8120]).unwrap();
        assert_eq!(find(model, Some(folder.path())).unwrap(), path);
        assert_eq!(find(model, Some(&path)).unwrap(), path);
        assert_eq!(read(path).unwrap().image, [2; 8120]);
        let absent = folder.path().join("absent.fw");
        let error = find(model, Some(&absent)).unwrap_err().to_string();
        assert!(error.contains("absent.fw was not found"), "{error}");
    }

    #[test]
    fn what_is_no_firmware_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.fw");
        for (content, part) in [
            (Vec::new(), "it is empty"),
            (vec![0; FIRMWARE_BYTES_MAX + 1], "longer than 16384 bytes"),
            (b":10000000".to_vec(), "it is text"),
        ] {
            std::fs::write(&path, content).unwrap();
            let error = read(path.clone()).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        assert!(matches!(
            read(folder.path().into()),
            Err(AcquireError::Io { .. })
        ));
        // A folder of that name does not end the search with a panic, either.
        assert!(read("/nowhere".into()).is_err());
    }
}
