//! The door through which boards come in. What a file is, is told by what it holds, not by its name; from every source
//! comes the same [`Board`].

mod align;
mod assemble;
mod budget;
mod chain;
mod error;
mod fabrication;
mod holes;
mod job;
mod joined;
mod kind;
mod names;
mod nets;
mod painted;
mod pens;
mod pieces;
mod project;
mod zipped;

use crate::board::Board;
use crate::kicad;
use crate::limits::Limits;
use crate::observer::Observer;
use crate::settings::RulesFile;

pub use error::OpenError;
pub(crate) use error::{Steps, shown};
use kind::Kind;

/// The name of rules that lie beside a board.
pub const RULES_FILE: &str = "emi.rules.yaml";

/// A board that came in.
#[derive(Debug)]
pub struct Opened {
    /// The board; its notes say what was odd about the files.
    pub board: Board,
    /// The rules that came with it.
    pub rules: Option<RulesFile>,
    /// What it was made of.
    pub source: Source,
    /// The file in the zip that lines of findings count in; nothing without a zip, and for Gerbers.
    pub file: Option<String>,
    /// Files that came with it and were not read, by name.
    pub unread: Vec<String>,
}

/// What a board came as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A `.kicad_pcb` alone.
    KicadBoard,
    /// A zip of a KiCad project.
    KicadProject,
    /// A zip of Gerber and drill files.
    Gerbers,
}

impl Source {
    /// The kind of source as the API has it: `kicad` or `gerber`.
    pub fn name(self) -> &'static str {
        match self {
            Self::KicadBoard | Self::KicadProject => "kicad",
            Self::Gerbers => "gerber",
        }
    }
}

/// Opens a board: a `.kicad_pcb`, a zip of a KiCad project, or a zip of Gerber and drill files.
///
/// # Errors
/// What is wrong or beyond a bound, with the file, the line and the column, and what to do; or that the observer stopped
/// it.
pub fn open(bytes: &[u8], limits: &Limits, observer: &dyn Observer) -> Result<Opened, OpenError> {
    if bytes.len() > limits.bytes_max {
        let (has, most) = (bytes.len(), limits.bytes_max);
        return Err(OpenError::whole(format!(
            "the file has {has} bytes, more than {most}"
        )));
    }
    observer.stage("read");
    match Kind::of(bytes) {
        Kind::Zip => {
            let zip = zipped::Zip::open(bytes, limits)?;
            let files = zip.kinds(observer)?;
            if files.contains(&Kind::KicadBoard) {
                return project::open(&zip, &files, limits, observer);
            }
            fabrication::open(&zip, &files, limits, observer)
        }
        Kind::KicadBoard => Ok(Opened {
            board: kicad::read_watched(bytes, limits, observer)?,
            rules: None,
            source: Source::KicadBoard,
            file: None,
            unread: Vec::new(),
        }),
        Kind::Gerber | Kind::Excellon | Kind::Netlist | Kind::Job => Err(OpenError::whole(
            "this is one file of a board; pack all its Gerber and drill files into a zip, with the netlist",
        )),
        Kind::Other if bytes.is_empty() => Err(OpenError::whole("the file is empty")),
        Kind::Other => Err(OpenError::whole(
            "this is neither a board of KiCad (.kicad_pcb), nor a zip of a KiCad project, nor a zip of Gerber and drill files",
        )),
    }
}
