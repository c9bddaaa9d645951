//! Goes through the commands of a file and draws. The state is what the specification calls the graphics state (2.4).

use std::collections::{BTreeSet, HashMap};

use super::aperture::Aperture;
use super::attributes::Attributes;
use super::flash::Placing;
use super::format::Format;
use super::macros;
use super::region::Region;
use super::repeat::{Block, Repeat};
use super::scan::Scan;
use super::stroke::Mode;
use super::{Image, Object};
use crate::geometry::Point;
use crate::limits::Limits;
use crate::observer::Observer;
use crate::open::{OpenError, Steps};

/// What a file is drawn with.
pub(super) struct Plotter<'a> {
    pub(super) scan: Scan<'a>,
    bytes: &'a [u8],
    pub(super) limits: &'a Limits,
    pub(super) watch: Steps<'a>,
    commands: usize,
    pub(super) image: Image,
    pub(super) attributes: Attributes,
    pub(super) format: Option<Format>,
    /// Millimetres of a unit.
    pub(super) unit: Option<f64>,
    pub(super) macros: HashMap<&'a [u8], macros::Lines<'a>>,
    pub(super) apertures: HashMap<u32, Aperture>,
    pub(super) tool: Option<u32>,
    pub(super) mode: Mode,
    pub(super) is_quarter: bool,
    pub(super) is_clear: bool,
    pub(super) placing: Placing,
    /// Where it is, y up.
    pub(super) at: Point,
    /// The last operation, which coordinates alone repeat.
    pub(super) operation: Option<u32>,
    pub(super) region: Option<Region>,
    pub(super) blocks: Vec<Block>,
    pub(super) repeat: Option<Repeat>,
    /// Points of all objects.
    pub(super) edges: usize,
    pub(super) objects: usize,
    pub(super) odd_strokes: usize,
    /// Commands that were left out.
    pub(super) ignored: BTreeSet<String>,
}

impl<'a> Plotter<'a> {
    pub(super) fn new(bytes: &'a [u8], limits: &'a Limits, observer: &'a dyn Observer) -> Self {
        Self {
            scan: Scan::new(bytes),
            bytes,
            limits,
            watch: Steps::new(observer),
            commands: 0,
            image: Image::default(),
            attributes: Attributes::default(),
            format: None,
            unit: None,
            macros: HashMap::new(),
            apertures: HashMap::new(),
            tool: None,
            mode: Mode::Linear,
            is_quarter: false,
            is_clear: false,
            placing: Placing::default(),
            at: Point::default(),
            operation: None,
            region: None,
            blocks: Vec::new(),
            repeat: None,
            edges: 0,
            objects: 0,
            odd_strokes: 0,
            ignored: BTreeSet::new(),
        }
    }

    pub(super) fn run(mut self) -> Result<Image, OpenError> {
        while let Some(command) = self.scan.next()? {
            self.watch.step()?;
            self.commands += 1;
            if self.commands > self.limits.nodes_max {
                let most = self.limits.nodes_max;
                return Err(self.refuse(
                    command.offset,
                    format!("the file has more than {most} commands"),
                ));
            }
            if command.is_extended {
                self.extended(command)?;
            } else if !self.word(command)? {
                break;
            }
        }
        self.end_repeat(self.bytes.len())?;
        if self.odd_strokes > 0 {
            self.image.notes.push(format!(
                "{} lines are drawn with apertures that are neither round nor rectangular; their width is the narrowest",
                self.odd_strokes
            ));
        }
        if !self.ignored.is_empty() {
            let codes: Vec<String> = self
                .ignored
                .iter()
                .map(|code| format!("%{code}…*%"))
                .collect();
            self.image.notes.push(format!(
                "commands that Gerber has given up or never had are left out: {}",
                codes.join(", ")
            ));
        }
        self.image.labels = self.attributes.into_labels();
        Ok(self.image)
    }

    pub(super) fn refuse(&self, offset: usize, message: impl Into<String>) -> OpenError {
        OpenError::at(self.bytes, offset, message)
    }

    pub(super) fn unit(&self, place: usize) -> Result<f64, OpenError> {
        let message = "the unit is not said (`%MOMM*%` or `%MOIN*%`) before it is needed";
        self.unit.ok_or_else(|| self.refuse(place, message))
    }

    /// Keeps an object, within bounds.
    pub(super) fn push(&mut self, object: Object, place: usize) -> Result<(), OpenError> {
        self.watch.step()?;
        self.objects += 1;
        self.edges += object.form.size();
        let objects = self.limits.objects_max;
        if self.objects > objects {
            return Err(self.refuse(place, format!("the layer has more than {objects} objects")));
        }
        self.check_edges(place)?;
        match self.blocks.last_mut() {
            Some(block) => block.objects.push(object),
            None => self.image.objects.push(object),
        }
        Ok(())
    }

    pub(super) fn check_edges(&self, place: usize) -> Result<(), OpenError> {
        let most = self.limits.edges_max;
        if self.edges > most {
            return Err(self.refuse(
                place,
                format!("the layer's polygons have more than {most} sides"),
            ));
        }
        Ok(())
    }
}
