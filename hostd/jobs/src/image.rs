//! Images of containers as file systems of jails: Podman has them, each is unpacked once, and jobs see it read-only.
//!
//! ```text
//! images/<id>/tree         what is the root inside
//! images/<id>/size         its bytes; its time is when it was last used
//! images/<id>.incomplete   while it is made or removed; Podman may have a container for it meanwhile
//! images/<id>.lock         shared by those who use the image, held alone by who makes or removes it
//! ```
//!
//! Everything in an image is foreign: it is unpacked inside a jail, and nothing here follows a link of it.

mod podman;
mod shelf;
#[cfg(test)]
mod tests;
mod unpack;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use base::space;
use jail::Jail;
use sha2::{Digest, Sha256};

use crate::cancel::Cancel;
use crate::disk::Disk;
use crate::outcome::{Breakage, Outcome, chain};
use podman::{Found, Podman};
use shelf::{Shelf, Turn};

/// Time to find an image, to wait for others who unpack it, and to unpack it, before the first step of a run: in
/// milliseconds.
pub const IMAGE_MS_MAX: u64 = 15 * 60 * 1000;

/// Which images jobs may name, and where they come from.
#[derive(Clone, Debug)]
pub struct ImageOptions {
    /// Podman's program: a path, or a name that is found by `PATH`.
    pub podman: PathBuf,
    /// Names that are permitted; one that ends in `*` permits all that begin like it. Empty: all are.
    pub names: Vec<String>,
    /// Bytes of all unpacked images together. Those that running jobs use stay even beyond it.
    pub bytes_max: u64,
}

impl Default for ImageOptions {
    /// Whatever Podman has, 32 GiB of it.
    fn default() -> Self {
        Self {
            podman: "podman".into(),
            names: Vec::new(),
            bytes_max: 32 << 30,
        }
    }
}

impl ImageOptions {
    /// Why jobs cannot have the image, whether or not it is there: a sentence that says what to do.
    #[must_use]
    pub fn refusal(&self, name: &str) -> Option<String> {
        let is_permitted = |permitted: &String| match permitted.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => name == permitted,
        };
        if !self.names.is_empty() && !self.names.iter().any(is_permitted) {
            let names = self.names.join(", ");
            return Some(format!(
                "the image {name} is not permitted on this machine, which has {names} (`jobs.images`): name one of these"
            ));
        }
        if !podman::is_installed(&self.podman) {
            return Some(format!(
                "images are not available on this machine, since it has no Podman: ask its administrator to install it, or leave out {name} to use the programs of this machine"
            ));
        }
        None
    }
}

/// An image that is ready to be a root, and stays until this is dropped.
#[derive(Debug)]
pub(crate) struct Image {
    /// As the pipeline names it.
    pub(crate) name: String,
    /// Of its content: 64 hexadecimal digits.
    pub(crate) id: String,
    /// What it adds to the environment of steps.
    pub(crate) env: Vec<(String, String)>,
    /// Its file system.
    pub(crate) tree: PathBuf,
    _lock: File,
}

impl Image {
    /// What stands for the programs of the image where a cache is looked for.
    pub(crate) fn toolchain(&self) -> [u8; 32] {
        Sha256::digest(format!("image {}", self.id)).into()
    }
}

/// Why an image cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ImageError {
    #[error("{0}")]
    Refused(String),
    #[error(
        "Podman has no image {0} on this machine: run `podman pull` or `podman build` there as the server's user, or correct the name"
    )]
    Missing(String),
    #[error("the image {name} is for {theirs}, and this machine is {ours}: use one for {ours}")]
    Foreign {
        name: String,
        theirs: String,
        ours: String,
    },
    #[error("the environment that the image {0} sets is too large or damaged: build it anew")]
    Environment(String),
    #[error(
        "the image {name} has more than {bytes} bytes or too many files: use a smaller one, or let the administrator raise `jobs.images_gib_max`"
    )]
    Large { name: String, bytes: u64 },
    #[error("the image {name} cannot be unpacked ({why}): build it anew")]
    Damaged { name: String, why: String },
    #[error("Podman failed to {what}: {why}")]
    Podman { what: &'static str, why: String },
    #[error("start {}", .0.display())]
    NoPodman(PathBuf, #[source] io::Error),
    #[error("the image was not ready in time: run it again, or use a smaller one")]
    TimedOut,
    #[error("it was cancelled")]
    Cancelled,
    #[error("the disk is nearly full")]
    DiskFull,
    #[error("unpack an image")]
    Jail(#[from] jail::Error),
    #[error("use {}", path.display())]
    Files {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl ImageError {
    fn files(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| match space::is_full(&source) {
            true => Self::DiskFull,
            false => Self::Files { path, source },
        }
    }

    /// What a run came to that needs the image.
    pub(crate) fn outcome(&self) -> Outcome {
        Outcome::Broken(match self {
            Self::Cancelled => return Outcome::Cancelled,
            Self::DiskFull => Breakage::DiskFull,
            Self::Files { .. } => Breakage::Files(chain(self)),
            Self::Jail(jail::Error::NoIsolation { lack, .. }) => Breakage::NoIsolation(*lack),
            Self::Jail(error) => Breakage::Jail(chain(error)),
            error => Breakage::Image(chain(error)),
        })
    }
}

/// The images of a runner.
#[derive(Clone, Copy)]
pub(crate) struct Images<'i> {
    pub(crate) options: &'i ImageOptions,
    /// The runner's own folder.
    pub(crate) state: &'i Path,
    pub(crate) jail: &'i Jail,
    pub(crate) disk: &'i Disk,
}

/// Who waits for an image.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'w> {
    pub(crate) name: &'w str,
    pub(crate) cancel: &'w Cancel,
    /// When it must be ready, if that is earlier than usual.
    pub(crate) until: Option<Instant>,
    /// Told what takes its time.
    pub(crate) note: &'w dyn Fn(&str),
}

impl Images<'_> {
    /// Finds an image and makes it ready, unless it is. Waits while another job makes the same one ready.
    pub(crate) fn hold(&self, wanted: &Wanted<'_>) -> Result<Image, ImageError> {
        let name = wanted.name;
        if let Some(refusal) = self.options.refusal(name) {
            return Err(ImageError::Refused(refusal));
        }
        let usual = Instant::now() + Duration::from_millis(IMAGE_MS_MAX);
        let until = wanted.until.map_or(usual, |until| until.min(usual));
        let podman = Podman {
            program: &self.options.podman,
            cancel: wanted.cancel,
            until,
        };
        let Found { id, env } = podman.find(name)?;
        (wanted.note)(&format!("image {name}: {id}"));
        let shelf = Shelf::open(self.state)?;
        loop {
            match shelf.turn(&id, wanted.cancel, until)? {
                Turn::Ready(lock) => {
                    if let Err(error) = shelf.make_room(self.options.bytes_max) {
                        let why = chain(&error);
                        (wanted.note)(&format!("other images were not removed: failed to {why}"));
                    }
                    return Ok(Image {
                        name: name.to_owned(),
                        tree: shelf.tree(&id),
                        id,
                        env,
                        _lock: lock,
                    });
                }
                Turn::Make(_lock) => {
                    (wanted.note)(&format!("image {name}: it is new here, and is unpacked"));
                    let begun = Instant::now();
                    let bytes = self.make(&shelf, &podman, name, &id)?;
                    let took = begun.elapsed();
                    (wanted.note)(&format!("image {name}: {bytes} bytes in {took:.1?}"));
                }
            }
        }
    }

    /// Removes what was left of images that were being made or removed when a server died.
    pub(crate) fn sweep(&self) -> Result<(), ImageError> {
        if !shelf::exists(self.state) {
            return Ok(());
        }
        let shelf = Shelf::open(self.state)?;
        for id in shelf.incomplete()? {
            // Whoever has it works on it.
            if let Some(_lock) = shelf.alone(&id)? {
                self.forget(&shelf, &id)?;
            }
        }
        Ok(())
    }

    fn make(
        &self,
        shelf: &Shelf,
        podman: &Podman<'_>,
        name: &str,
        id: &str,
    ) -> Result<u64, ImageError> {
        self.forget(shelf, id)?;
        let folder = shelf.begin(id)?;
        let made = self.unpack(shelf, podman, name, id, &folder);
        if made.is_err() {
            // What cannot be removed now is removed by the next one that looks, and this error tells more.
            let _ = self.forget(shelf, id);
        }
        made
    }

    fn unpack(
        &self,
        shelf: &Shelf,
        podman: &Podman<'_>,
        name: &str,
        id: &str,
        folder: &Path,
    ) -> Result<u64, ImageError> {
        let container = shelf.container(id);
        podman.create(&container, id)?;
        let unpacking = unpack::Unpacking {
            jail: self.jail,
            name,
            folder,
            bytes_max: self.options.bytes_max,
            disk: self.disk,
        };
        podman.export(&container, |tar| {
            unpacking.unpack(tar, podman.cancel, podman.until)
        })?;
        Podman::calm(&self.options.podman, |calm| calm.remove(&container))?;
        let bytes = unpacking.size()?;
        shelf.finish(id, bytes)?;
        Ok(bytes)
    }

    /// Removes what is incomplete of an image. A container of it may be there only if a folder is.
    fn forget(&self, shelf: &Shelf, id: &str) -> Result<(), ImageError> {
        if shelf.is_incomplete(id) {
            let container = shelf.container(id);
            Podman::calm(&self.options.podman, |calm| calm.remove(&container))?;
            shelf.clear(id)?;
        }
        Ok(())
    }
}
