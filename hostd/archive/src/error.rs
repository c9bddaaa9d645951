//! Why an archive is refused: a stable code word, and a sentence that tells its sender what to do.

use std::io;

/// The longest piece of a name in a message, in characters.
const SHOWN_CHARS_MAX: usize = 120;

/// Why an archive is refused. Names in it are escaped and truncated, so that a message is one plain
/// line.
#[derive(Debug, thiserror::Error)]
#[expect(
    missing_docs,
    reason = "the messages say what the variants and their fields are"
)]
pub enum ArchiveError {
    #[error(
        "it begins like neither a gzip nor a zip file; pack the folder with `tar czf` or `zip -r`"
    )]
    UnknownFormat,
    #[error("it is over {max} bytes; leave out what can be built or fetched")]
    PackedTooLarge { max: u64 },
    #[error("it is over {max} bytes unpacked; leave out what can be built or fetched")]
    UnpackedTooLarge { max: u64 },
    #[error(
        "it unpacks to over {max} times its size, as archives do that are made to fill disks; leave out large files of equal bytes"
    )]
    TooDense { max: u64 },
    #[error("it has over {max} files and folders; leave out what can be built or fetched")]
    TooManyEntries { max: usize },
    #[error("its names are over {max} bytes together; use shorter paths or fewer files")]
    NamesTooLarge { max: usize },
    #[error(
        "the name of entry '{entry}' or a part of it is too long (over {max} bytes); use a shorter one"
    )]
    NameTooLong { entry: String, max: usize },
    #[error("entry '{entry}' lies over {max} folders deep; use a flatter layout")]
    TooDeep { entry: String, max: usize },
    #[error(
        "entry '{entry}' has an absolute path; pack from within the folder, with `tar czf … -C folder .`"
    )]
    AbsolutePath { entry: String },
    #[error(
        "entry '{entry}' leads out of the archive; pack from within the folder, without `..` in paths"
    )]
    PathEscapes { entry: String },
    #[error("entry '{entry}' has no name; pack it anew")]
    NoName { entry: String },
    #[error(
        "the name of entry '{entry}' is not plain text (UTF-8 without backslashes and control characters); rename it"
    )]
    NameNotPlain { entry: String },
    #[error("entry '{entry}' is there twice; pack the folder anew instead of adding to an archive")]
    Duplicate { entry: String },
    #[error(
        "entry '{entry}' lies below '{above}', which is no folder in this archive; pack the folder anew"
    )]
    NotInFolder { entry: String, above: String },
    #[error(
        "link '{entry}' leads out of the archive, to '{target}'; link to a relative path inside, or pack with `tar -h`, which follows links"
    )]
    LinkEscapes { entry: String, target: String },
    #[error("link '{entry}' leads through too many links or in a circle; remove it")]
    LinkCircle { entry: String },
    #[error("its links take too long to follow; use fewer links to links")]
    LinksTangled,
    #[error(
        "hard link '{entry}' says '{target}', which is no file before it in the archive; pack with `tar --hard-dereference`"
    )]
    HardLink { entry: String, target: String },
    #[error(
        "entry '{entry}' is {kind}; only files, folders and links can be in an archive, so leave it out"
    )]
    Kind { entry: String, kind: &'static str },
    #[error(
        "entry '{entry}' is a sparse file in a format that is not read here; pack without `--sparse`, or with `--format=pax`"
    )]
    Sparse { entry: String },
    #[error("entry '{entry}' has data although it is no file; pack it anew")]
    DataOfNoFile { entry: String },
    #[error(
        "the header extension `{key}` contradicts or replaces what may not be replaced; pack with plain `tar czf`"
    )]
    Override { key: String },
    #[error("a header extension is over {max} bytes; pack without extended attributes")]
    ExtensionTooLong { max: u64 },
    #[error("entry '{entry}' is encrypted; pack without a password")]
    Encrypted { entry: String },
    #[error("entry '{entry}' is packed with another method than deflate; pack with plain `zip -r`")]
    Method { entry: String },
    #[error("entry '{entry}' is not as large as the archive says; pack it anew")]
    SizeDiffers { entry: String },
    #[error("its directory does not fit its entries ({reason}); pack it anew")]
    Contradiction { reason: String },
    #[error("there is something behind its end; pack one folder into one archive")]
    TrailingData,
    #[error("it ends too early; send it again")]
    Truncated,
    #[error("it is damaged ({reason}); pack it anew")]
    Damaged { reason: String },
    #[error("file '{entry}' is over {max} bytes; make it shorter")]
    TextTooLarge { entry: String, max: usize },
    #[error("file '{entry}' is not UTF-8 text; save it as UTF-8")]
    TextNotUtf8 { entry: String },
    #[error("there is no memory for its names now; send it again later, or with fewer files")]
    NoRoom,
    #[error(
        "the archive cannot be read here; send it again, and tell the operator if that does not help"
    )]
    Read(#[source] io::Error),
}

impl ArchiveError {
    /// Whether it is refused for how much it is, not for what it holds.
    pub fn is_too_large(&self) -> bool {
        matches!(
            self,
            Self::PackedTooLarge { .. }
                | Self::UnpackedTooLarge { .. }
                | Self::TooDense { .. }
                | Self::TooManyEntries { .. }
                | Self::NamesTooLarge { .. }
        )
    }

    /// A word for programs. It does not change when a message is reworded.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownFormat => "unknown_format",
            Self::PackedTooLarge { .. } => "packed_too_large",
            Self::UnpackedTooLarge { .. } => "unpacked_too_large",
            Self::TooDense { .. } => "too_dense",
            Self::TooManyEntries { .. } => "too_many_entries",
            Self::NamesTooLarge { .. } => "names_too_large",
            Self::NameTooLong { .. } => "name_too_long",
            Self::TooDeep { .. } => "too_deep",
            Self::AbsolutePath { .. } => "absolute_path",
            Self::PathEscapes { .. } => "path_escapes",
            Self::NoName { .. } => "no_name",
            Self::NameNotPlain { .. } => "name_not_plain",
            Self::Duplicate { .. } => "duplicate",
            Self::NotInFolder { .. } => "not_in_folder",
            Self::LinkEscapes { .. } => "link_escapes",
            Self::LinkCircle { .. } => "link_circle",
            Self::LinksTangled => "links_tangled",
            Self::HardLink { .. } => "hard_link",
            Self::Kind { .. } => "kind",
            Self::Sparse { .. } => "sparse",
            Self::DataOfNoFile { .. } => "data_of_no_file",
            Self::Override { .. } => "override",
            Self::ExtensionTooLong { .. } => "extension_too_long",
            Self::Encrypted { .. } => "encrypted",
            Self::Method { .. } => "method",
            Self::SizeDiffers { .. } => "size_differs",
            Self::Contradiction { .. } => "contradiction",
            Self::TrailingData => "trailing_data",
            Self::Truncated => "truncated",
            Self::Damaged { .. } => "damaged",
            Self::TextTooLarge { .. } => "text_too_large",
            Self::TextNotUtf8 { .. } => "text_not_utf8",
            Self::NoRoom => "no_room",
            Self::Read(_) => "read",
        }
    }

    /// The error of reading the archive's bytes: one of ours that passed through a library, or the library's
    /// own about damaged bytes.
    pub(crate) fn of_reading(error: io::Error) -> Self {
        match error.downcast::<Self>() {
            Ok(ours) => ours,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Self::Truncated,
            Err(error) => Self::Damaged {
                reason: shown(error.to_string().as_bytes()),
            },
        }
    }
}

/// A foreign name as part of a message: one plain line of bounded length.
pub(crate) fn shown(name: &[u8]) -> String {
    // A character has at most four bytes, so this much is enough to cut from.
    let head = &name[..name.len().min(SHOWN_CHARS_MAX * 4)];
    let text = String::from_utf8_lossy(head);
    let mut escaped = text.chars().flat_map(char::escape_debug);
    let mut shown: String = escaped.by_ref().take(SHOWN_CHARS_MAX).collect();
    if escaped.next().is_some() || head.len() < name.len() {
        shown.push('…');
    }
    shown
}
