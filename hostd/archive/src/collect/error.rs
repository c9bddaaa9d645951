//! What can go wrong with a whole folder, and why a single file of it is left out.

use std::fmt;
use std::io;

use rustix::io::Errno;

use crate::error::shown;

/// Why a folder yields nothing, or a file of it cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CollectError {
    /// There are more names than may be examined.
    #[error(
        "the folder has over {max} files and folders; remove what is not needed before the job ends"
    )]
    TooManyNames {
        /// How many may be examined.
        max: usize,
    },
    /// Their paths take too much memory.
    #[error("the paths in the folder are over {max} bytes together; use fewer folders")]
    NamesTooLarge {
        /// How many bytes they may take.
        max: usize,
    },
    /// The kernel, or a filter before it, has no `openat2`.
    #[error(
        "there is no openat2 here; Linux 5.6 or newer is needed, and a sandbox that lets the call pass"
    )]
    NoOpenat2,
    /// A file is no longer what it was when it was found.
    #[error(
        "'{name}' changed while it was taken; end all programs that write it before the job ends"
    )]
    Changed {
        /// Its path.
        name: String,
    },
    /// The file system refuses access.
    #[error("'{name}' cannot be read")]
    Read {
        /// Its path.
        name: String,
        /// Why not.
        #[source]
        source: io::Error,
    },
}

impl CollectError {
    /// A word for programs. It does not change when a message is reworded.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooManyNames { .. } => "too_many_names",
            Self::NamesTooLarge { .. } => "names_too_large",
            Self::NoOpenat2 => "no_openat2",
            Self::Changed { .. } => "changed",
            Self::Read { .. } => "read",
        }
    }

    /// A path that was found before cannot be opened. A link or a mount put in its place is a change too.
    pub(super) fn opening(name: &str, error: Errno) -> Self {
        let name = shown(name.as_bytes());
        match error {
            Errno::NOSYS => Self::NoOpenat2,
            Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV | Errno::NXIO => {
                Self::Changed { name }
            }
            other => Self::Read {
                name,
                source: other.into(),
            },
        }
    }

    /// Content of the file `name` cannot be read.
    pub(super) fn reading(name: &str, source: io::Error) -> Self {
        let name = shown(name.as_bytes());
        if source.kind() == io::ErrorKind::InvalidData {
            return Self::Changed { name };
        }
        Self::Read { name, source }
    }
}

/// Something that is left out. Written out, it is one plain line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Its path as it is, with U+FFFD for what is not UTF-8.
    pub name: String,
    /// Why.
    pub reason: SkipReason,
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, reason } = self;
        let name = shown(name.as_bytes());
        write!(f, "'{name}' is left out since {reason}")
    }
}

/// Why something is left out. Written out, it follows "is left out since".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipReason {
    /// A symbolic link.
    Link,
    /// A FIFO, a socket or a device.
    Special,
    /// A file that has hard links outside the folder.
    LinkedElsewhere,
    /// It exceeds the bound for one file.
    TooLarge,
    /// With it, all files together would exceed their bounds.
    TooMuch,
    /// Its name is not UTF-8 or has control characters.
    NameNotPlain,
    /// Its path has too many bytes.
    NameTooLong,
    /// A folder nested too deeply.
    TooDeep,
    /// A folder of another file system.
    OtherFileSystem,
    /// It cannot be read.
    Unreadable,
}

impl SkipReason {
    /// Whether wanted files could lie below.
    pub(super) fn may_hide_files(self) -> bool {
        matches!(
            self,
            Self::TooDeep | Self::OtherFileSystem | Self::Unreadable
        )
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Link => "it is a link; name the file that it leads to",
            Self::Special => "it is no file",
            Self::LinkedElsewhere => "it has hard links outside the folder; copy it instead",
            Self::TooLarge => "it is too large; compress it or split it up",
            Self::TooMuch => "there would be too many files or bytes; leave fewer",
            Self::NameNotPlain => "its name is no plain text; rename it",
            Self::NameTooLong => "its path is too long; use a shorter one",
            Self::TooDeep => "it lies too deep; use a flatter layout",
            Self::OtherFileSystem => "it lies on another file system; copy it",
            Self::Unreadable => "it cannot be read; give it the mode 0644, and folders 0755",
        })
    }
}
