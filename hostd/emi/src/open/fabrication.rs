//! A zip of Gerber and drill files: which file is what, in which order the layers lie.

use rayon::prelude::*;

use super::error::{OpenError, shown};
use super::job::Job;
use super::kind::Kind;
use super::names::{self, Guess};
use super::zipped::{File, Zip};
use super::{Opened, Source, assemble, project};
use crate::excellon::{self, DrillHole, Drills};
use crate::geometry::Segment;
use crate::gerber::{self, FileFunction, Form, Image, Role};
use crate::ipc356::{self, Netlist};
use crate::limits::Limits;
use crate::observer::Observer;

/// All files of a board, read.
#[derive(Default)]
pub(super) struct Set {
    /// From the top, with their names.
    pub(super) copper: Vec<(String, Image)>,
    pub(super) outline: Vec<Segment>,
    pub(super) drills: Vec<(String, Drills)>,
    pub(super) netlist: Option<Netlist>,
    pub(super) job: Job,
    /// Places of parts.
    pub(super) components: Vec<Image>,
    pub(super) notes: Vec<String>,
}

/// What a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// The place among the copper layers, from the top.
    Copper {
        place: usize,
        is_plane: bool,
    },
    Profile,
    Drill,
    Component,
    Netlist,
    Nothing,
}

/// A file that was read.
enum Read {
    Image(Image),
    Drills(Drills),
    Netlist(Netlist),
}

/// The place of the bottom layer, if only its name says that it is.
const BOTTOM: usize = 1000;

/// Opens a board of Gerbers.
pub(super) fn open(
    zip: &Zip<'_>,
    kinds: &[Kind],
    limits: &Limits,
    observer: &dyn Observer,
) -> Result<Opened, OpenError> {
    let job = job(zip, kinds)?;
    let chosen: Vec<(&File, Kind)> = zip.files.iter().zip(kinds.iter().copied()).collect();
    let read = |(file, kind): &(&File, Kind)| {
        if *kind == Kind::Other || *kind == Kind::Job {
            return Ok((Use::Nothing, None));
        }
        let bytes = zip.unpack(file)?;
        let purpose = purpose(file, *kind, &bytes, &job);
        let read = match (purpose, kind) {
            (Use::Nothing, _) => return Ok((purpose, None)),
            (_, Kind::Excellon) => excellon::read(&bytes, limits, observer).map(Read::Drills),
            (_, Kind::Netlist) => ipc356::read(&bytes, limits, observer).map(Read::Netlist),
            _ => gerber::read(&bytes, limits, observer).map(Read::Image),
        };
        Ok((
            purpose,
            Some(read.map_err(|error| error.within(&file.name))?),
        ))
    };
    // Which refusal is told does not depend on which thread was first.
    let results: Vec<Result<(Use, Option<Read>), OpenError>> =
        chosen.par_iter().map(read).collect();
    let results: Result<Vec<(Use, Option<Read>)>, OpenError> = results.into_iter().collect();
    let mut used: Vec<&str> = Vec::new();
    let mut parts = Vec::new();
    for ((file, kind), (purpose, read)) in chosen.iter().zip(results?) {
        if read.is_some() || *kind == Kind::Job {
            used.push(&file.name);
        }
        parts.extend(read.map(|read| (purpose, file.name.as_str(), read)));
    }
    let folder = parts
        .iter()
        .find(|(purpose, ..)| matches!(purpose, Use::Copper { .. }));
    let folder = folder.and_then(|(_, name, _)| name.rfind('/').map(|at| &name[..=at]));
    let rules = project::rules(zip, folder.unwrap_or_default())?;
    let set = sorted(parts, job, limits)?;
    let board = assemble::board(set, limits, observer)?;
    Ok(Opened {
        board,
        unread: project::unread(zip, &used, rules.as_ref().map(|(name, _)| *name)),
        rules: rules.map(|(_, rules)| rules),
        source: Source::Gerbers,
        file: None,
    })
}

fn job(zip: &Zip<'_>, kinds: &[Kind]) -> Result<Job, OpenError> {
    let mut jobs = zip
        .files
        .iter()
        .zip(kinds)
        .filter(|(_, kind)| **kind == Kind::Job);
    let Some((file, _)) = jobs.next() else {
        return Ok(Job::default());
    };
    if jobs.next().is_some() {
        return Err(OpenError::whole(
            "the zip has several Gerber job files; pack those of one board",
        ));
    }
    Job::read(&zip.unpack(file)?).map_err(|error| error.within(&file.name))
}

/// What a file is for: as it says, as the job file says, as its name says.
fn purpose(file: &File, kind: Kind, bytes: &[u8], job: &Job) -> Use {
    match kind {
        Kind::Excellon => return Use::Drill,
        Kind::Netlist => return Use::Netlist,
        _ => {}
    }
    let function = said(bytes).or_else(|| job.function(file.base()).map(FileFunction::read));
    let copper = |place, is_plane| Use::Copper { place, is_plane };
    match function {
        Some(FileFunction::Copper(place)) => copper(place, false),
        Some(FileFunction::Profile) => Use::Profile,
        Some(FileFunction::Drill { .. }) => Use::Drill,
        Some(FileFunction::Component) => Use::Component,
        Some(FileFunction::Other) => Use::Nothing,
        None => match names::guess(file.base()) {
            Some(Guess::Top) => copper(1, false),
            Some(Guess::Inner(number)) => copper(1 + number, false),
            Some(Guess::Plane(number)) => copper(1 + number, true),
            Some(Guess::Bottom) => copper(BOTTOM, false),
            Some(Guess::Profile) => Use::Profile,
            None => Use::Nothing,
        },
    }
}

/// The function that a file says it has.
fn said(bytes: &[u8]) -> Option<FileFunction> {
    const KEY: &[u8] = b"TF.FileFunction,";
    let at = memchr::memmem::find(bytes, KEY)? + KEY.len();
    let length = memchr::memchr(b'*', &bytes[at..])?;
    Some(FileFunction::read(&String::from_utf8_lossy(
        &bytes[at..at + length],
    )))
}

/// Puts what was read in its place.
fn sorted(parts: Vec<(Use, &str, Read)>, job: Job, limits: &Limits) -> Result<Set, OpenError> {
    let mut set = Set {
        job,
        ..Set::default()
    };
    let mut copper: Vec<(usize, bool, &str, Image)> = Vec::new();
    let mut profiles: Vec<(&str, Image)> = Vec::new();
    for (purpose, name, read) in parts {
        match (purpose, read) {
            (Use::Copper { place, is_plane }, Read::Image(mut image)) => {
                image.is_negative |= is_plane;
                let notes = image
                    .notes
                    .iter()
                    .map(|note| format!("{}: {note}", shown(name)));
                set.notes.extend(notes);
                copper.push((place, is_plane, name, image));
            }
            (Use::Profile, Read::Image(image)) => profiles.push((name, image)),
            (Use::Component, Read::Image(image)) => set.components.push(image),
            (Use::Drill, Read::Image(image)) => set.drills.push((name.to_owned(), holes(image))),
            (_, Read::Drills(drills)) => set.drills.push((name.to_owned(), drills)),
            (_, Read::Netlist(netlist)) if set.netlist.is_none() => set.netlist = Some(netlist),
            (_, Read::Netlist(_)) => {
                let message = "the zip has several netlists (IPC-D-356); pack those of one board";
                return Err(OpenError::whole(message));
            }
            (_, Read::Image(_)) => {}
        }
    }
    set.outline = outline(profiles);
    set.copper = layers(copper, limits, &mut set.notes)?;
    Ok(set)
}

/// Copper layers in their order.
fn layers(
    mut copper: Vec<(usize, bool, &str, Image)>,
    limits: &Limits,
    notes: &mut Vec<String>,
) -> Result<Vec<(String, Image)>, OpenError> {
    copper.sort_by(|x, y| (x.0, x.1, x.2).cmp(&(y.0, y.1, y.2)));
    for pair in copper.windows(2) {
        let ((place, is_plane, name, _), (next, next_is_plane, other, _)) = (&pair[0], &pair[1]);
        if place != next {
            continue;
        }
        if is_plane == next_is_plane {
            let (name, other) = (shown(name), shown(other));
            let message = format!(
                "{name} and {other} are the same copper layer; pack the files of one board, once"
            );
            return Err(OpenError::whole(message));
        }
        notes.push(
            "the order of signal layers and planes inside is assumed: a Gerber job file would say it".to_owned(),
        );
    }
    let most = limits.layers_max.min(64);
    if copper.len() > most {
        return Err(OpenError::whole(format!(
            "the board has more than {most} copper layers"
        )));
    }
    if copper.is_empty() {
        return Err(OpenError::whole(
            "no copper layer was found in the zip: export Gerbers with X2 attributes, or name them as KiCad, Altium, Eagle or Protel do",
        ));
    }
    Ok(copper
        .into_iter()
        .map(|(_, _, name, image)| (name.to_owned(), image))
        .collect())
}

/// The lines of the outline: of the file that says so, or of the one whose name says it best.
fn outline(mut profiles: Vec<(&str, Image)>) -> Vec<Segment> {
    let by_name = |(name, image): &(&str, Image)| {
        let is_said = image.function == Some(FileFunction::Profile);
        // Mechanical layers hold anything.
        let is_mechanical = name.to_ascii_lowercase().ends_with(".gm1");
        (!is_said, is_mechanical, image.objects.is_empty())
    };
    profiles.sort_by_key(by_name);
    let Some((_, image)) = profiles.into_iter().next() else {
        return Vec::new();
    };
    let mut lines = Vec::new();
    for object in image.objects {
        match object.form {
            Form::Stroke { line, .. } if line.a != line.b => lines.push(line),
            Form::Region { ring } => {
                let sides = crate::geometry::Shape::polygon(ring, 0.0);
                lines.extend(sides.sides());
            }
            Form::Stroke { .. } | Form::Flash { .. } => {}
        }
    }
    lines
}

/// A drill file that is a Gerber.
fn holes(image: Image) -> Drills {
    let (is_plated, span) = match image.function {
        Some(FileFunction::Drill { is_plated, span }) => (Some(is_plated), Some(span)),
        _ => (None, None),
    };
    let hole = |object: gerber::Object| {
        let is_via = match object.role {
            Role::Via => Some(true),
            Role::Pad => Some(false),
            _ => None,
        };
        let (at, to, diameter) = match object.form {
            Form::Flash { at, shapes } => (at, at, shapes.first()?.radius * 2.0),
            Form::Stroke { line, width } => (line.a, line.b, width),
            Form::Region { .. } => return None,
        };
        Some(DrillHole {
            at,
            to,
            diameter,
            is_plated: None,
            is_via,
        })
    };
    Drills {
        is_plated,
        span,
        holes: image.objects.into_iter().filter_map(hole).collect(),
        notes: Vec::new(),
    }
}
