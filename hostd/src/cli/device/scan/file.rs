//! Appending to a configuration file: what it has stays as it is, byte for byte, and a reader sees the old text or the new
//! one, never a part.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use base::config::{Config, DeviceConfig};

/// Longest configuration file that is appended to.
const BYTES_MAX: u64 = 1 << 20;

/// A configuration file that may not exist yet.
#[derive(Debug)]
pub(super) struct ConfigFile {
    /// Behind all links, so that a link stays one.
    path: PathBuf,
    /// What it has; `None` if it does not exist.
    before: Option<String>,
    config: Config,
}

impl ConfigFile {
    /// # Errors
    /// It cannot be read, or is no configuration.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let path = match path.canonicalize() {
            Ok(path) => path,
            Err(error) if error.kind() == ErrorKind::NotFound => path.to_owned(),
            Err(error) => return Err(error).context("find the file"),
        };
        let before = read(&path)?;
        let config = match before {
            Some(_) => load(&path)?,
            None => Config::default(),
        };
        Ok(Self {
            path,
            before,
            config,
        })
    }

    /// The devices that it has.
    pub(super) fn devices(&self) -> &[DeviceConfig] {
        &self.config.devices
    }

    /// Appends entries.
    ///
    /// # Errors
    /// What comes of it is no configuration, the folder cannot be written to, or somebody else changed the file
    /// meanwhile. It is as it was then.
    pub(super) fn append(&self, entries: &str) -> anyhow::Result<()> {
        let mut text = self.before.clone().unwrap_or_default();
        if !text.is_empty() {
            text += if text.ends_with('\n') { "\n" } else { "\n\n" };
        }
        text += entries.trim_end();
        text.push('\n');
        let part = Part::beside(&self.path)?;
        part.fill(&text, self.before.is_some().then_some(&self.path))?;
        let config = load(&part.path).context("make a configuration of it")?;
        let (had, has) = (self.config.devices.len(), config.devices.len());
        if config.devices.get(..had) != Some(self.devices()) || has <= had {
            bail!("make a configuration of it: other devices would come of it");
        }
        if read(&self.path)? != self.before {
            bail!("write it: somebody else changed it meanwhile; scan again");
        }
        fs::rename(&part.path, &self.path).context("put the new text into its place")?;
        // The text is there; whether its name outlives a power failure is up to the folder.
        part.folder().and_then(|folder| folder.sync_all()).ok();
        Ok(())
    }
}

/// The text of a file; `None` if it does not exist.
fn read(path: &Path) -> anyhow::Result<Option<String>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file.context("read it")?,
    };
    if !file.metadata().context("read it")?.is_file() {
        bail!("read it: it is no file");
    }
    let mut text = String::new();
    let read = file.take(BYTES_MAX + 1).read_to_string(&mut text);
    read.context("read it")?;
    if text.len() as u64 > BYTES_MAX {
        bail!("read it: it has more than {BYTES_MAX} bytes");
    }
    Ok(Some(text))
}

/// A configuration from a file alone, checked as the server checks it.
fn load(path: &Path) -> anyhow::Result<Config> {
    let config = Config::load(Some(path), std::iter::empty(), &[])?;
    config.check_addresses(crate::drivers::check)?;
    Ok(config)
}

/// The new text, beside the file whose place it takes. Removed if it does not get there.
struct Part {
    path: PathBuf,
}

impl Part {
    fn beside(path: &Path) -> anyhow::Result<Self> {
        let name = path.file_name().context("find the file: it has no name")?;
        let name = format!(".{}.{}.part", name.to_string_lossy(), std::process::id());
        let part = path.with_file_name(name);
        let made = OpenOptions::new().write(true).create_new(true).open(&part);
        made.with_context(|| format!("make {}; may this user write there?", part.display()))?;
        Ok(Self { path: part })
    }

    /// Gives it its text, and mode and owner of the file whose place it takes, if there is one.
    fn fill(&self, text: &str, like: Option<&PathBuf>) -> anyhow::Result<()> {
        let write = || format!("write {}", self.path.display());
        let mut file = OpenOptions::new()
            .write(true)
            .open(&self.path)
            .with_context(write)?;
        if let Some(like) = like {
            let like = fs::metadata(like).context("read its mode")?;
            let own = file.metadata().with_context(write)?;
            if (own.uid(), own.gid()) != (like.uid(), like.gid()) {
                fchown(&file, Some(like.uid()), Some(like.gid()))
                    .context("keep its owner: do this as that user, or as root")?;
            }
            let mode = Permissions::from_mode(like.mode() & 0o7777);
            file.set_permissions(mode).context("keep its mode")?;
        }
        file.write_all(text.as_bytes()).with_context(write)?;
        file.sync_all().with_context(write)
    }

    fn folder(&self) -> std::io::Result<File> {
        let folder = self.path.parent().filter(|p| !p.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // It is gone if it took its place.
        let _ = fs::remove_file(&self.path);
    }
}
