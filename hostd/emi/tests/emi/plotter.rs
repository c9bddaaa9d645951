//! Writes a board as Gerbers, drill file and netlist, as programs for boards export them.

use std::fmt::Write as _;

use emi::board::{Board, Hole, LayerSet};
use emi::geometry::{Point, Shape};

/// How nets are told.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nets {
    /// `%TO.N`.
    Attributes,
    /// IPC-D-356, and files that only their names tell.
    Netlist,
    Nowhere,
}

/// How a board is exported.
#[derive(Clone, Copy)]
pub(crate) struct Export {
    pub(crate) nets: Nets,
    /// Where the zero of drill file and netlist is, in mm.
    pub(crate) zero: (f64, f64),
    /// Pours as lines of that width beside each other, in place of regions. Only rectangles can be painted.
    pub(crate) painted: Option<f64>,
}

impl Default for Export {
    fn default() -> Self {
        Self {
            nets: Nets::Attributes,
            zero: (0.0, 0.0),
            painted: None,
        }
    }
}

/// The files of a board, by name.
pub(crate) fn files(board: &Board, export: Export) -> Vec<(String, String)> {
    let plot = Plot { board, export };
    let count = board.layers.len();
    let mut files: Vec<(String, String)> = (0..count)
        .map(|layer| (plot.name(layer), plot.layer(layer)))
        .collect();
    files.push(("board-Edge_Cuts.gbr".to_owned(), plot.outline()));
    files.push(("board-PTH.drl".to_owned(), plot.drills()));
    files.push(("board-job.gbrjob".to_owned(), plot.job()));
    if export.nets == Nets::Netlist {
        files.push(("board.d356".to_owned(), plot.netlist()));
    }
    files
}

/// A zip of the files of a board.
pub(crate) fn zip(board: &Board, export: Export) -> Vec<u8> {
    let files = files(board, export);
    let files: Vec<(&str, &[u8])> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_bytes()))
        .collect();
    emi::fuzz::zipped(&files)
}

struct Plot<'b> {
    board: &'b Board,
    export: Export,
}

impl Plot<'_> {
    fn name(&self, layer: usize) -> String {
        let name = self.board.layers[layer].name.replace('.', "_");
        format!("board-{name}.gbr")
    }

    fn net(&self, net: usize) -> String {
        match self.export.nets {
            Nets::Attributes => format!("%TO.N,{}*%\n", self.board.nets[net].name),
            _ => String::new(),
        }
    }

    fn layer(&self, layer: usize) -> String {
        let mut text = String::new();
        if self.export.nets == Nets::Attributes {
            let _ = writeln!(text, "%TF.FileFunction,Copper,L{},Inr*%", layer + 1);
        }
        text.push_str("%FSLAX46Y46*%\n%MOMM*%\n%LPD*%\nG01*\nG75*\n");
        let mut tool = 10;
        for track in self
            .board
            .tracks
            .iter()
            .filter(|track| track.layer == layer)
        {
            let (a, b) = (xy(track.line.a), xy(track.line.b));
            let _ = writeln!(
                text,
                "%ADD{tool}C,{}*%\n{}D{tool}*\n{a}D02*\n{b}D01*",
                track.width,
                self.net(track.net)
            );
            tool += 1;
        }
        for via in self.board.vias.iter().filter(|via| via.span.has(layer)) {
            let role = match self.export.nets {
                Nets::Attributes => "%TA.AperFunction,ViaPad*%\n",
                _ => "",
            };
            let _ = writeln!(
                text,
                "{role}%ADD{tool}C,{}*%\n%TD*%\n{}D{tool}*\n{}D03*",
                via.size,
                self.net(via.net),
                xy(via.at)
            );
            tool += 1;
        }
        for pad in self.board.pads.iter().filter(|pad| pad.layers.has(layer)) {
            let part = &self.board.footprints[pad.footprint].reference;
            let size = (pad.bounds.width(), pad.bounds.height());
            let attributes = match self.export.nets {
                Nets::Attributes => format!("%TO.P,{part},{}*%\n", pad.number),
                _ => String::new(),
            };
            let _ = writeln!(
                text,
                "%ADD{tool}R,{}X{}*%\n{attributes}{}D{tool}*\n{}D03*\n%TD*%",
                size.0,
                size.1,
                self.net(pad.net),
                xy(pad.at)
            );
            tool += 1;
        }
        for fill in self.board.fills.iter().filter(|fill| fill.layer == layer) {
            text.push_str(&self.net(fill.net));
            text.push_str(&self.pour(&fill.shape, tool));
            tool += 1;
        }
        text + "M02*\n"
    }

    fn pour(&self, shape: &Shape, tool: u32) -> String {
        let bounds = shape.bounds();
        let Some(width) = self.export.painted else {
            return region(&shape.points);
        };
        let mut text = format!("%ADD{tool}C,{width}*%\nD{tool}*\n");
        let half = width / 2.0;
        let mut y = bounds.min.y + half;
        while y < bounds.max.y - half {
            let ends = [bounds.min.x + half, bounds.max.x - half].map(|x| xy(Point::new(x, y)));
            let _ = writeln!(text, "{}D02*\n{}D01*", ends[0], ends[1]);
            y += 0.8 * width;
        }
        text
    }

    fn outline(&self) -> String {
        let mut text = "%FSLAX46Y46*%\n%MOMM*%\n%ADD10C,0.1*%\nD10*\n".to_owned();
        for side in &self.board.outline {
            let _ = writeln!(text, "{}D02*\n{}D01*", xy(side.a), xy(side.b));
        }
        text + "M02*\n"
    }

    fn drills(&self) -> String {
        let vias = self
            .board
            .vias
            .iter()
            .map(|via| (via.at, via.drill, "ViaDrill"));
        let plated = self
            .board
            .pads
            .iter()
            .filter(|pad| pad.hole == Hole::Plated);
        let pins = plated.map(|pad| (pad.at, 0.8, "ComponentDrill"));
        let holes: Vec<(Point, f64, &str)> = vias.chain(pins).collect();
        let has_attributes = self.export.nets == Nets::Attributes;
        let mut text = "M48\n".to_owned();
        if has_attributes {
            let count = self.board.layers.len();
            let _ = writeln!(text, "; #@! TF.FileFunction,Plated,1,{count},PTH");
        }
        text.push_str("METRIC\n");
        for (index, (_, diameter, function)) in holes.iter().enumerate() {
            if has_attributes {
                let _ = writeln!(text, "; #@! TA.AperFunction,Plated,PTH,{function}");
            }
            let _ = writeln!(text, "T{}C{diameter:.3}", index + 1);
        }
        text.push_str("%\n");
        let (x, y) = self.export.zero;
        for (index, (at, ..)) in holes.iter().enumerate() {
            let _ = writeln!(text, "T{}\nX{:.3}Y{:.3}", index + 1, at.x - x, -at.y - y);
        }
        text + "M30\n"
    }

    fn job(&self) -> String {
        let stackup = &self.board.stackup;
        let mut sheets = Vec::new();
        for (index, thickness) in stackup.copper.iter().enumerate() {
            sheets.push(format!(
                "{{\"Type\": \"Copper\", \"Thickness\": {thickness}}}"
            ));
            if let Some(gap) = stackup.gaps.get(index) {
                sheets.push(format!(
                    "{{\"Type\": \"Dielectric\", \"Thickness\": {}, \"DielectricConstant\": {}}}",
                    gap.thickness, gap.epsilon_r
                ));
            }
        }
        format!(
            "{{\"Header\": {{\"GenerationSoftware\": {{}}}}, \"GeneralSpecs\": {{}}, \"MaterialStackup\": [{}]}}",
            sheets.join(", ")
        )
    }

    fn netlist(&self) -> String {
        let mut text = "P  UNITS CUST 1\n".to_owned();
        let (x, y) = self.export.zero;
        let mut point = |at: Point,
                         net: usize,
                         part: &str,
                         pin: &str,
                         layers: LayerSet,
                         drill: f64| {
            let through = layers.count() > 1;
            let kind = if through { "317" } else { "327" };
            let net = &self.board.nets[net].name;
            let net = if net.is_empty() { "N/C" } else { net };
            let hole = if through {
                format!("D{:04.0}P", drill * 1e3)
            } else {
                " ".repeat(6)
            };
            let access = match (through, layers.top()) {
                (true, _) => "00",
                (_, Some(0)) => "01",
                _ => "02",
            };
            let (x, y) = ((at.x - x) * 1e3, (-at.y - y) * 1e3);
            let _ = writeln!(
                text,
                "{kind}{net:<14}   {part:<6}-{pin:<4} {hole}A{access}X{x:+07.0}Y{y:+07.0}X0600Y0600R000S0"
            );
        };
        for via in &self.board.vias {
            point(via.at, via.net, "VIA", "", via.span, via.drill);
        }
        for pad in &self.board.pads {
            let part = &self.board.footprints[pad.footprint].reference;
            point(pad.at, pad.net, part, &pad.number, pad.layers, 0.8);
        }
        text + "999\n"
    }
}

fn region(points: &[Point]) -> String {
    let mut text = format!("G36*\n{}D02*\n", xy(points[0]));
    for point in points.iter().skip(1).chain([&points[0]]) {
        let _ = writeln!(text, "{}D01*", xy(*point));
    }
    text + "G37*\n"
}

/// In millionths of a millimetre, y up.
fn xy(point: Point) -> String {
    format!("X{:.0}Y{:.0}", point.x * 1e6, -point.y * 1e6)
}
