//! Boards drawn by tests, as text of a KiCad version of choice, moved, turned, mirrored or in another order.

use std::fmt::Write as _;

use emi::board::Board;
use emi::{Finding, Limits, Report, RulesFile, Settings, kicad};

pub(crate) type Xy = (f64, f64);

/// A board.
#[derive(Clone, Default)]
pub(crate) struct Sheet {
    pub(crate) layers: Vec<&'static str>,
    /// Millimetres of insulation below each layer but the last, of εr 4.5.
    pub(crate) gaps: Vec<f64>,
    pub(crate) size: Option<Xy>,
    pub(crate) items: Vec<Item>,
}

#[derive(Clone)]
pub(crate) enum Item {
    Track {
        net: &'static str,
        layer: &'static str,
        width: f64,
        points: Vec<Xy>,
    },
    Via {
        net: &'static str,
        at: Xy,
        layers: (&'static str, &'static str),
    },
    Fill {
        net: &'static str,
        layer: &'static str,
        ring: Vec<Xy>,
    },
    Part {
        reference: &'static str,
        value: &'static str,
        /// The footprint's name, and its attributes.
        library: &'static str,
        attributes: &'static str,
        at: Xy,
        bottom: bool,
        pads: Vec<Pad>,
    },
}

#[derive(Clone)]
pub(crate) struct Pad {
    pub(crate) number: &'static str,
    /// From the part.
    pub(crate) at: Xy,
    pub(crate) size: Xy,
    pub(crate) net: &'static str,
    pub(crate) plated: bool,
    /// KiCad's type of the pin, if any.
    pub(crate) pin: &'static str,
}

impl Pad {
    pub(crate) fn of_pin(self, pin: &'static str) -> Self {
        Self { pin, ..self }
    }

    pub(crate) fn of_size(self, width: f64, height: f64) -> Self {
        let size = (width, height);
        Self { size, ..self }
    }
}

/// How a board is written.
#[derive(Clone, Copy)]
pub(crate) struct Style {
    pub(crate) version: u32,
    pub(crate) moved: Xy,
    /// Quarter turns.
    pub(crate) turns: u32,
    pub(crate) mirrored: bool,
    /// Shuffles items and numbers of nets.
    pub(crate) seed: Option<u64>,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            version: 20_241_229,
            moved: (100.0, 50.0),
            turns: 0,
            mirrored: false,
            seed: None,
        }
    }
}

impl Style {
    fn place(&self, (x, y): Xy) -> Xy {
        let (mut x, mut y) = if self.mirrored { (-x, y) } else { (x, y) };
        for _ in 0..self.turns {
            (x, y) = (-y, x);
        }
        (x + self.moved.0, y + self.moved.1)
    }
}

/// 60 mm by 40 mm with four layers: 0.2 mm, 1 mm, 0.2 mm.
pub(crate) fn four_layers() -> Sheet {
    Sheet {
        layers: vec!["F.Cu", "In1.Cu", "In2.Cu", "B.Cu"],
        gaps: vec![0.2, 1.0, 0.2],
        size: Some((60.0, 40.0)),
        items: Vec::new(),
    }
}

/// 60 mm by 40 mm with a ground on the back, 0.1 mm below, that has a long slot, one at 45°, and two narrow ones.
pub(crate) fn two_layers_with_slots() -> Sheet {
    // Each with the corner of the plane that it is bridged to.
    let holes = [
        (0, plate((10.0, 10.0), (50.0, 11.3))),
        // 3 mm wide along the x axis.
        (
            0,
            vec![(6.1, 16.1), (9.1, 16.1), (21.1, 28.1), (18.1, 28.1)],
        ),
        // Of 0.6 mm, and a micrometre more.
        (2, plate((43.0, 27.3), (47.0, 27.9))),
        (2, plate((48.0, 27.3), (52.0, 27.901))),
    ];
    let mut ring = Vec::new();
    for (index, corner) in plate((0.5, 0.5), (59.5, 39.5)).into_iter().enumerate() {
        ring.push(corner);
        for (_, hole) in holes.iter().filter(|(of, _)| *of == index) {
            ring.push(hole[0]);
            ring.extend(hole.iter().rev());
            ring.push(corner);
        }
    }
    let sheet = Sheet {
        layers: vec!["F.Cu", "B.Cu"],
        gaps: vec![0.1],
        size: Some((60.0, 40.0)),
        items: Vec::new(),
    };
    sheet.fill("GND", "B.Cu", ring)
}

/// The corners of a rectangle.
pub(crate) fn plate(from: Xy, to: Xy) -> Vec<Xy> {
    vec![from, (to.0, from.1), to, (from.0, to.1)]
}

/// A rectangle with a rectangular hole, bridged as KiCad does.
pub(crate) fn plate_with_hole(from: Xy, to: Xy, hole: (Xy, Xy)) -> Vec<Xy> {
    let mut ring = plate(from, to);
    let (a, b) = hole;
    ring.extend([from, a, (a.0, b.1), b, (b.0, a.1), a]);
    ring
}

pub(crate) fn pad(number: &'static str, at: Xy, net: &'static str) -> Pad {
    Pad {
        number,
        at,
        size: (0.6, 0.8),
        net,
        plated: false,
        pin: "",
    }
}

pub(crate) fn plated(number: &'static str, at: Xy, net: &'static str) -> Pad {
    Pad {
        number,
        at,
        size: (1.6, 1.6),
        net,
        plated: true,
        pin: "",
    }
}

impl Sheet {
    pub(crate) fn track(self, net: &'static str, layer: &'static str, points: &[Xy]) -> Self {
        self.track_of(0.2, net, layer, points)
    }

    /// A track of that width.
    pub(crate) fn track_of(
        mut self,
        width: f64,
        net: &'static str,
        layer: &'static str,
        points: &[Xy],
    ) -> Self {
        self.items.push(Item::Track {
            net,
            layer,
            width,
            points: points.to_vec(),
        });
        self
    }

    pub(crate) fn via(self, net: &'static str, at: Xy) -> Self {
        self.via_between(net, at, ("F.Cu", "B.Cu"))
    }

    pub(crate) fn via_between(
        mut self,
        net: &'static str,
        at: Xy,
        layers: (&'static str, &'static str),
    ) -> Self {
        self.items.push(Item::Via { net, at, layers });
        self
    }

    pub(crate) fn fill(mut self, net: &'static str, layer: &'static str, ring: Vec<Xy>) -> Self {
        self.items.push(Item::Fill { net, layer, ring });
        self
    }

    /// A plane up to 0.5 mm from the outline.
    pub(crate) fn plane(self, net: &'static str, layer: &'static str) -> Self {
        let (width, height) = self.size.unwrap();
        self.fill(net, layer, plate((0.5, 0.5), (width - 0.5, height - 0.5)))
    }

    pub(crate) fn part(
        mut self,
        reference: &'static str,
        value: &'static str,
        at: Xy,
        pads: Vec<Pad>,
    ) -> Self {
        self.items.push(Item::Part {
            reference,
            value,
            library: "test:part",
            attributes: "smd",
            at,
            bottom: false,
            pads,
        });
        self
    }

    /// The last part with another footprint and attributes.
    pub(crate) fn with_footprint(mut self, name: &'static str, attr: &'static str) -> Self {
        if let Some(Item::Part {
            library,
            attributes,
            ..
        }) = self.items.last_mut()
        {
            (*library, *attributes) = (name, attr);
        }
        self
    }

    /// The text of its file.
    pub(crate) fn text(&self, style: &Style) -> String {
        Writer {
            sheet: self,
            style,
            nets: self.nets(style),
            text: String::new(),
        }
        .write()
    }

    fn nets(&self, style: &Style) -> Vec<&'static str> {
        let mut nets: Vec<&'static str> = self
            .items
            .iter()
            .flat_map(|item| match item {
                Item::Track { net, .. } | Item::Via { net, .. } | Item::Fill { net, .. } => {
                    vec![*net]
                }
                Item::Part { pads, .. } => pads.iter().map(|pad| pad.net).collect(),
            })
            .filter(|net| !net.is_empty())
            .collect();
        nets.sort_unstable();
        nets.dedup();
        if let Some(seed) = style.seed {
            fastrand::Rng::with_seed(seed).shuffle(&mut nets);
        }
        nets
    }

    pub(crate) fn board(&self) -> Board {
        kicad::read(self.text(&Style::default()).as_bytes(), &Limits::default()).unwrap()
    }

    /// What a check finds, with the given lines of a rules file.
    pub(crate) fn report(&self, rules: &str) -> Report {
        self.report_as(&Style::default(), rules)
    }

    pub(crate) fn report_as(&self, style: &Style, rules: &str) -> Report {
        let board = kicad::read(self.text(style).as_bytes(), &Limits::default()).unwrap();
        emi::check(board, &rules_of(rules), &()).unwrap()
    }

    /// What a rule finds.
    pub(crate) fn finds(&self, rule: &str) -> Vec<Finding> {
        self.finds_with(rule, "")
    }

    pub(crate) fn finds_with(&self, rule: &str, rules: &str) -> Vec<Finding> {
        self.report(rules)
            .findings
            .into_iter()
            .filter(|finding| finding.rule == rule)
            .collect()
    }
}

pub(crate) fn rules_of(rules: &str) -> Settings {
    let file = RulesFile::read(format!("version: 1\n{rules}\n").as_bytes()).unwrap();
    assert_eq!(file.notes, [""; 0]);
    Settings::default().with(file)
}

struct Writer<'s> {
    sheet: &'s Sheet,
    style: &'s Style,
    nets: Vec<&'static str>,
    text: String,
}

impl Writer<'_> {
    fn write(mut self) -> String {
        self.head();
        let mut items: Vec<&Item> = self.sheet.items.iter().collect();
        if let Some(seed) = self.style.seed {
            fastrand::Rng::with_seed(seed).shuffle(&mut items);
        }
        for item in items {
            self.item(item);
        }
        if let Some((width, height)) = self.sheet.size {
            let corners = plate((0.0, 0.0), (width, height));
            let mut sides = [0, 1, 2, 3];
            if let Some(seed) = self.style.seed {
                fastrand::Rng::with_seed(seed).shuffle(&mut sides);
            }
            for index in sides {
                let (a, b) = (self.at(corners[index]), self.at(corners[(index + 1) % 4]));
                let _ = writeln!(
                    self.text,
                    "(gr_line (start {a}) (end {b}) (layer \"Edge.Cuts\") (width 0.1))"
                );
            }
        }
        self.text.push_str(")\n");
        self.text
    }

    fn head(&mut self) {
        let version = self.style.version;
        let _ = writeln!(
            self.text,
            "(kicad_pcb (version {version}) (generator \"test\")\n(layers"
        );
        let count = self.sheet.layers.len();
        for (index, layer) in self.sheet.layers.iter().enumerate() {
            let is_last = index + 1 == count;
            // KiCad 9 changed the ordinals.
            let ordinal = match (20_241_000 < version, *layer) {
                (false, _) if is_last => 31,
                (false, _) => index,
                (true, "F.Cu") => 0,
                (true, "B.Cu") => 2,
                (true, _) => 2 + 2 * index,
            };
            let _ = writeln!(self.text, "({ordinal} \"{layer}\" signal)");
        }
        self.text
            .push_str("(44 \"Edge.Cuts\" user))\n(setup (stackup\n");
        for (index, layer) in self.sheet.layers.iter().enumerate() {
            let _ = writeln!(
                self.text,
                "(layer \"{layer}\" (type \"copper\") (thickness 0.035))"
            );
            if let Some(gap) = self.sheet.gaps.get(index) {
                let _ = writeln!(
                    self.text,
                    "(layer \"dielectric {index}\" (type \"core\") (thickness {gap}) (epsilon_r 4.5))"
                );
            }
        }
        self.text.push_str("))\n");
        if !self.has_names_only() {
            self.text.push_str("(net 0 \"\")\n");
            for (index, net) in self.nets.iter().enumerate() {
                let _ = writeln!(self.text, "(net {} \"{net}\")", index + 1);
            }
        }
    }

    /// From KiCad 10 on, nets have no numbers.
    fn has_names_only(&self) -> bool {
        20_250_926 <= self.style.version
    }

    fn net(&self, net: &str, with_name: bool) -> String {
        let number = self
            .nets
            .iter()
            .position(|other| *other == net)
            .map_or(0, |index| index + 1);
        match (self.has_names_only(), with_name) {
            (true, _) => format!("(net \"{net}\")"),
            (false, true) => format!("(net {number} \"{net}\")"),
            (false, false) => format!("(net {number})"),
        }
    }

    fn at(&self, point: Xy) -> String {
        let (x, y) = self.style.place(point);
        format!("{x} {y}")
    }

    fn item(&mut self, item: &Item) {
        let line = match item {
            Item::Track {
                net,
                layer,
                width,
                points,
            } => {
                let net = self.net(net, false);
                let piece = |pair: &[Xy]| {
                    let (a, b) = (self.at(pair[0]), self.at(pair[1]));
                    format!(
                        "(segment (start {a}) (end {b}) (width {width}) (layer \"{layer}\") {net})\n"
                    )
                };
                points.windows(2).map(piece).collect()
            }
            Item::Via {
                net,
                at,
                layers: (from, to),
            } => {
                let (at, net) = (self.at(*at), self.net(net, false));
                format!(
                    "(via (at {at}) (size 0.6) (drill 0.3) (layers \"{from}\" \"{to}\") {net})\n"
                )
            }
            Item::Fill { net, layer, ring } => self.zone(net, layer, ring),
            Item::Part {
                reference,
                value,
                library,
                attributes,
                at,
                bottom,
                pads,
            } => {
                let names = [*reference, *value, *library, *attributes];
                self.footprint(names, *at, *bottom, pads)
            }
        };
        self.text.push_str(&line);
    }

    fn zone(&self, net: &str, layer: &str, ring: &[Xy]) -> String {
        let pts: Vec<String> = ring
            .iter()
            .map(|point| format!("(xy {})", self.at(*point)))
            .collect();
        let pts = pts.join(" ");
        let (of_net, name) = (
            self.net(net, false),
            if self.has_names_only() {
                ""
            } else {
                "(net_name \"x\")"
            },
        );
        // Without the pen that fills up to KiCad 5 are drawn with.
        let pen = if self.style.version < 20_210_000 {
            ""
        } else {
            "(filled_areas_thickness no)"
        };
        let least = if self.style.version < 20_210_000 {
            0.0
        } else {
            0.25
        };
        format!(
            "(zone {of_net} {name} (layer \"{layer}\") (min_thickness {least}) {pen} (fill yes)\n\
             (polygon (pts {pts}))\n(filled_polygon (layer \"{layer}\") (pts {pts})))\n"
        )
    }

    fn footprint(
        &self,
        [reference, value, library, attributes]: [&str; 4],
        at: Xy,
        bottom: bool,
        pads: &[Pad],
    ) -> String {
        let is_old = self.style.version < 20_210_000;
        let head = if is_old { "module" } else { "footprint" };
        let side = if bottom { "B.Cu" } else { "F.Cu" };
        let (x, y) = self.style.place(at);
        let texts = if self.style.version < 20_231_000 {
            format!(
                "(fp_text reference \"{reference}\" (at 0 0)) (fp_text value \"{value}\" (at 0 0))"
            )
        } else {
            format!(
                "(property \"Reference\" \"{reference}\" (at 0 0)) (property \"Value\" \"{value}\" (at 0 0))"
            )
        };
        let mut text = format!(
            "({head} \"{library}\" (layer \"{side}\") (at {x} {y}) {texts} (attr {attributes})\n"
        );
        for pad in pads {
            let (px, py) = self.style.place((at.0 + pad.at.0, at.1 + pad.at.1));
            let (width, height) = if self.style.turns % 2 == 1 {
                (pad.size.1, pad.size.0)
            } else {
                pad.size
            };
            let (kind, layers, drill) = if pad.plated {
                (
                    "thru_hole circle",
                    "\"*.Cu\" \"*.Mask\"".to_owned(),
                    "(drill 0.8)",
                )
            } else {
                ("smd rect", format!("\"{side}\" \"F.Mask\""), "")
            };
            let net = if pad.net.is_empty() {
                String::new()
            } else {
                self.net(pad.net, true)
            };
            let (dx, dy) = (px - x, py - y);
            let _ = writeln!(
                text,
                "(pad \"{}\" {kind} (at {dx} {dy}) (size {width} {height}) {drill} (layers {layers}) {net}{})",
                pad.number,
                if pad.pin.is_empty() {
                    String::new()
                } else {
                    format!(" (pintype \"{}\")", pad.pin)
                }
            );
        }
        text + ")\n"
    }
}
