//! A zip of a KiCad project: one board, its project, its rules.

use super::error::{OpenError, shown};
use super::kind::Kind;
use super::zipped::{File, Zip};
use super::{Opened, RULES_FILE, Source};
use crate::kicad;
use crate::limits::Limits;
use crate::observer::Observer;
use crate::settings::RulesFile;

/// The extension of KiCad's projects.
const PROJECT: &str = "kicad_pro";

/// Opens the one board of a zip.
pub(super) fn open(
    zip: &Zip<'_>,
    kinds: &[Kind],
    limits: &Limits,
    observer: &dyn Observer,
) -> Result<Opened, OpenError> {
    let of_kind = zip.files.iter().zip(kinds);
    let mut boards = of_kind
        .filter(|(_, kind)| **kind == Kind::KicadBoard)
        .map(|(file, _)| file);
    let (Some(file), second) = (boards.next(), boards.next()) else {
        return Err(OpenError::whole("the zip has no board"));
    };
    if let Some(second) = second {
        let (first, second) = (shown(&file.name), shown(&second.name));
        let message = format!("the zip has several boards, {first} and {second}; pack one of them");
        return Err(OpenError::whole(message));
    }
    let read = kicad::read_watched(&zip.unpack(file)?, limits, observer);
    let mut board = read.map_err(|error| error.within(&file.name))?;
    let mut used = vec![file.name.as_str()];
    if let Some(project) = project_of(zip, file) {
        used.push(&project.name);
        let read = kicad::Project::read(&zip.unpack(project)?).map_err(OpenError::from);
        read.map_err(|error| error.within(&project.name))?
            .apply(&mut board);
    }
    let rules = rules(zip, file.folder())?;
    Ok(Opened {
        board,
        unread: unread(zip, &used, rules.as_ref().map(|(name, _)| *name)),
        rules: rules.map(|(_, rules)| rules),
        source: Source::KicadProject,
        file: Some(file.name.clone()),
    })
}

/// The project beside a board, of the same name, or the only one.
fn project_of<'z>(zip: &'z Zip<'_>, board: &File) -> Option<&'z File> {
    let stem = board
        .name
        .rsplit_once('.')
        .map_or(board.name.as_str(), |(stem, _)| stem);
    let is_project = |file: &&File| {
        file.name
            .rsplit_once('.')
            .is_some_and(|(_, end)| end == PROJECT)
    };
    let mut beside = zip
        .files
        .iter()
        .filter(is_project)
        .filter(|file| file.folder() == board.folder());
    let same = zip.files.iter().filter(is_project).find(|file| {
        file.name
            .rsplit_once('.')
            .is_some_and(|(other, _)| other == stem)
    });
    same.or_else(|| beside.next().filter(|_| beside.next().is_none()))
}

/// The rules in that folder, or at the root.
pub(super) fn rules<'z>(
    zip: &'z Zip<'_>,
    folder: &str,
) -> Result<Option<(&'z str, RulesFile)>, OpenError> {
    let in_folder = |folder: &str| {
        let mut files = zip.files.iter();
        files.find(|file| file.base() == RULES_FILE && file.folder() == folder)
    };
    let Some(file) = in_folder(folder).or_else(|| in_folder("")) else {
        return Ok(None);
    };
    let read = RulesFile::read(&zip.unpack(file)?).map_err(OpenError::from);
    let rules = read.map_err(|error| error.within(&file.name))?;
    Ok(Some((&file.name, rules)))
}

/// The names of all other files.
pub(super) fn unread(zip: &Zip<'_>, used: &[&str], rules: Option<&str>) -> Vec<String> {
    let names = zip.files.iter().map(|file| file.name.as_str());
    let others = names.filter(|name| !used.contains(name) && Some(*name) != rules);
    others.map(str::to_owned).collect()
}
