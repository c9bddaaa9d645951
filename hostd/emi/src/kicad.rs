//! Boards of KiCad, from version 5 (file format 20171130) to 10 (20260206).

mod classes;
mod drawn;
mod fields;
mod footprint;
mod layers;
mod lines;
mod nets;
mod outline;
mod pad;
mod project;
mod tracks;
mod zone;

use crate::board::{Board, LayerId, LayerSet, NetId};
use crate::geometry::Point;
use crate::limits::Limits;
use crate::observer::Observer;
use crate::open::{OpenError, Steps};
use crate::refusal::Refusal;
use crate::sexp::{Expr, Tree};

pub use project::Project;

/// The oldest format that is read: KiCad 5.
pub const VERSION_MIN: u32 = 20_171_130;

/// The newest format that was tried: KiCad 10. Newer ones are read with a note.
pub const VERSION_MAX: u32 = 20_260_206;

/// The first words of every board.
pub const MAGIC: &[u8] = b"(kicad_pcb";

/// The format from which fills have no pen where the file does not say: as KiCad 10 reads files, whose predecessors said it in
/// every zone from version 7 on.
const FILLS_WITHOUT_PEN: u32 = 20_250_210;

/// Reads a board.
///
/// # Errors
/// What is wrong with the file or beyond a bound, with line and column.
pub fn read(bytes: &[u8], limits: &Limits) -> Result<Board, OpenError> {
    read_watched(bytes, limits, &())
}

/// As [`read`], and asks the observer now and then whether to go on.
///
/// # Errors
/// As [`read`], or that the observer stopped it.
pub fn read_watched(
    bytes: &[u8],
    limits: &Limits,
    observer: &dyn Observer,
) -> Result<Board, OpenError> {
    let text = std::str::from_utf8(bytes).map_err(|error| Refusal {
        at: Some(crate::refusal::Position::of(bytes, error.valid_up_to())),
        message: "the board is not UTF-8".to_owned(),
    })?;
    let tree = Tree::read(text, limits, observer)?;
    let root = tree.root();
    if root.head() != "kicad_pcb" {
        return Err(root
            .refuse("this is no KiCad board: `(kicad_pcb` is expected")
            .into());
    }
    let mut reader = Reader::new(root, limits, observer)?;
    for item in root.rest() {
        reader.item(item)?;
    }
    Ok(reader.finish())
}

/// A board that is being read.
struct Reader<'a> {
    board: Board,
    limits: &'a Limits,
    watch: Steps<'a>,
    nets: nets::Nets,
    classes: classes::Classes,
    /// Layers by all the names that they have.
    layers: layers::Names,
    lines: lines::Lines,
    objects: usize,
    edges: usize,
    unfilled: usize,
    /// Drawings on copper that are on no net.
    netless: usize,
    /// Drawings on copper that are hatched.
    hatched: usize,
}

impl<'a> Reader<'a> {
    fn new(
        root: Expr<'_>,
        limits: &'a Limits,
        observer: &'a dyn Observer,
    ) -> Result<Self, Refusal> {
        let version = version(root)?;
        let mut board = Board {
            version,
            ..Board::default()
        };
        if version > VERSION_MAX {
            board.notes.push(format!(
                "the board is of format {version}, newer than {VERSION_MAX}, the newest that was tried"
            ));
        }
        let layers = layers::read(root, limits, &mut board)?;
        layers::stackup(root, &mut board)?;
        Ok(Self {
            board,
            limits,
            watch: Steps::new(observer),
            nets: nets::Nets::read(root)?,
            classes: classes::Classes::of_board(root),
            layers,
            lines: lines::Lines::default(),
            objects: 0,
            edges: 0,
            unfilled: 0,
            netless: 0,
            hatched: 0,
        })
    }

    fn item(&mut self, item: Expr<'_>) -> Result<(), OpenError> {
        self.watch.step()?;
        match item.head() {
            "segment" | "arc" => self.track(item),
            "via" => self.via(item),
            "module" | "footprint" => self.footprint(item),
            "zone" => self.zone(item),
            "gr_line" | "gr_rect" | "gr_arc" | "gr_circle" | "gr_poly" | "gr_curve" => {
                self.drawing(item, &|point| point)
            }
            _ => Ok(()),
        }
    }

    fn finish(mut self) -> Board {
        if self.unfilled > 0 {
            self.board.notes.push(format!(
                "{} zones are not filled, so planes may be missing: fill all zones (B in the board editor) and save",
                self.unfilled
            ));
        }
        if self.netless > 0 {
            self.board.notes.push(format!(
                "{} drawings on copper layers are on no net; they are left out",
                self.netless
            ));
        }
        if self.hatched > 0 {
            self.board.notes.push(format!(
                "{} drawings on copper layers are hatched; they are taken as whole areas",
                self.hatched
            ));
        }
        if self.board.outline.is_empty() {
            self.board.notes.push(
                "the board has no outline on Edge.Cuts: rules about its edge do not run".to_owned(),
            );
        }
        self.board.nets = self.nets.into_nets();
        self.classes.apply(&mut self.board.nets);
        self.board.put_in_order();
        self.board
    }

    /// Counts an object with some sides.
    fn count(&mut self, item: Expr<'_>, edges: usize) -> Result<(), OpenError> {
        self.watch.step()?;
        self.objects += 1;
        self.edges += edges;
        if self.objects > self.limits.objects_max {
            return Err(item
                .refuse(format!(
                    "the board has more than {} objects",
                    self.limits.objects_max
                ))
                .into());
        }
        if self.edges > self.limits.edges_max {
            return Err(item
                .refuse(format!(
                    "the board's polygons have more than {} sides",
                    self.limits.edges_max
                ))
                .into());
        }
        Ok(())
    }

    fn net(&mut self, item: Expr<'_>) -> Result<NetId, Refusal> {
        self.nets.of(item)
    }

    /// The copper layer of an item; `None` if it is on none.
    fn layer(&self, item: Expr<'_>) -> Option<LayerId> {
        match item.value("layer") {
            Some(name) => self.layers.id(&name),
            // From KiCad 9 on, what is on copper and on the solder mask above it.
            None => self.layers_of(item).top(),
        }
    }

    /// The copper layers of an item's list of layers.
    fn layers_of(&self, item: Expr<'_>) -> LayerSet {
        let list = item.find("layers").or_else(|| item.find("layer"));
        list.map_or(LayerSet::NONE, |list| self.layers.set(list))
    }

    fn number(&self, of: Expr<'_>, index: usize) -> Result<f64, Refusal> {
        fields::number(of, index, self.limits)
    }

    /// The number that the list within, whose first word is `head`, has first.
    fn measure(&self, item: Expr<'_>, head: &str) -> Result<Option<f64>, Refusal> {
        item.find(head).map(|list| self.number(list, 1)).transpose()
    }

    /// The two numbers that the list within, whose first word is `head`, has first.
    fn pair(&self, item: Expr<'_>, head: &str) -> Result<Option<Point>, Refusal> {
        let list = item.find(head);
        list.map(|list| fields::xy(list, self.limits)).transpose()
    }

    fn point(&self, item: Expr<'_>, head: &str) -> Result<Point, Refusal> {
        fields::point(item, head, self.limits)
    }
}

fn version(root: Expr<'_>) -> Result<u32, Refusal> {
    let Some(version) = root.find("version") else {
        return Err(root.refuse("the board has no version; save it with KiCad 5 or newer"));
    };
    let number = version.word(1).and_then(|word| word.parse::<u32>().ok());
    match number {
        Some(number) if VERSION_MIN <= number => Ok(number),
        Some(number) => Err(version.refuse(format!(
            "the board is of format {number}, older than {VERSION_MIN}; save it with KiCad 5 or newer"
        ))),
        None => Err(version.refuse("the board's version is no number; save it with KiCad 5 or newer")),
    }
}
