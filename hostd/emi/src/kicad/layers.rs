//! Copper layers and the stack-up. Layers are ordered by their canonical names: ordinals changed with KiCad 9.

use std::collections::{HashMap, HashSet};

use super::fields;
use crate::board::{
    ASSUMED_COPPER, ASSUMED_EPSILON_R, ASSUMED_MASK_EPSILON_R, ASSUMED_THICKNESS, Mask,
};
use crate::board::{Board, Gap, Layer, LayerId, LayerSet, Stackup};
use crate::limits::Limits;
use crate::refusal::Refusal;
use crate::sexp::Expr;

/// Copper layers by name.
pub(super) struct Names {
    ids: HashMap<String, LayerId>,
    all: LayerSet,
    outer: LayerSet,
}

impl Names {
    pub(super) fn id(&self, name: &str) -> Option<LayerId> {
        self.ids.get(name).copied()
    }

    /// The first and the last copper layer.
    pub(super) fn outer(&self) -> LayerSet {
        self.outer
    }

    /// The copper layers of a list of names, which may have `*.Cu` and `F&B.Cu` in it.
    pub(super) fn set(&self, list: Expr<'_>) -> LayerSet {
        list.rest()
            .filter_map(Expr::raw)
            .fold(LayerSet::NONE, |set, name| match name {
                "*.Cu" => set.with(self.all),
                "F&B.Cu" => set.with(self.outer),
                name => self.id(name).map_or(set, |id| set.with(LayerSet::only(id))),
            })
    }
}

/// Reads the table of layers.
pub(super) fn read(root: Expr<'_>, limits: &Limits, board: &mut Board) -> Result<Names, Refusal> {
    let Some(table) = root.find("layers") else {
        return Err(root.refuse("the board has no table of layers"));
    };
    let mut layers: Vec<(u32, Layer)> = Vec::new();
    for entry in table.rest().filter(|entry| entry.is_list()) {
        let words: Vec<&str> = entry.children().filter_map(Expr::raw).collect();
        let [ordinal, name, kind, more @ ..] = &words[..] else {
            continue;
        };
        // Up to KiCad 5 the name that stands here is the user's; copper is told by its kind.
        let is_copper = matches!(*kind, "signal" | "power" | "mixed" | "jumper");
        if !is_copper {
            continue;
        }
        let Some((place, canonical)) = canonical(ordinal, name) else {
            return Err(entry.refuse("this is no copper layer of KiCad"));
        };
        let user_name = if canonical == *name {
            more.first().copied()
        } else {
            Some(*name)
        };
        layers.push((
            place,
            Layer {
                name: canonical,
                user_name: user_name.map(str::to_owned),
            },
        ));
    }
    layers.sort_by_key(|(place, _)| *place);
    layers.dedup_by_key(|(place, _)| *place);
    if layers.is_empty() {
        return Err(table.refuse("the board has no copper layer"));
    }
    if layers.len() > limits.layers_max.min(64) {
        return Err(table.refuse(format!(
            "the board has more than {} copper layers",
            limits.layers_max
        )));
    }
    board.layers = layers.into_iter().map(|(_, layer)| layer).collect();
    let mut ids = HashMap::new();
    for (id, layer) in board.layers.iter().enumerate() {
        ids.extend(layer.user_name.clone().map(|name| (name, id)));
    }
    // Canonical names win.
    ids.extend(
        board
            .layers
            .iter()
            .enumerate()
            .map(|(id, layer)| (layer.name.clone(), id)),
    );
    let outer = LayerSet::only(0).with(LayerSet::only(board.layers.len() - 1));
    Ok(Names {
        ids,
        all: board.all_layers(),
        outer,
    })
}

/// Where a copper layer stands among all, and its canonical name.
fn canonical(ordinal: &str, name: &str) -> Option<(u32, String)> {
    const BOTTOM: u32 = 1000;
    let inner = |name: &str| {
        name.strip_prefix("In")?
            .strip_suffix(".Cu")?
            .parse::<u32>()
            .ok()
    };
    match name {
        "F.Cu" => Some((0, name.to_owned())),
        "B.Cu" => Some((BOTTOM, name.to_owned())),
        _ => match inner(name) {
            Some(place) if (1..BOTTOM).contains(&place) => Some((place, name.to_owned())),
            Some(_) => None,
            // A name of the user, as KiCad 5 has it: its ordinals run from 0 to 31.
            None => match ordinal.parse::<u32>().ok()? {
                0 => Some((0, "F.Cu".to_owned())),
                31 => Some((BOTTOM, "B.Cu".to_owned())),
                place @ 1..31 => Some((place, format!("In{place}.Cu"))),
                _ => None,
            },
        },
    }
}

/// Reads the stack-up; what is missing is assumed and listed.
pub(super) fn stackup(root: Expr<'_>, board: &mut Board) -> Result<(), Refusal> {
    let count = board.layers.len();
    let declared = root.find("setup").and_then(|setup| setup.find("stackup"));
    if declared.is_some_and(|list| once(list).count() < list.all("layer").count()) {
        board.notes.push(
            "the stack-up names layers of the board more than once; what follows the first repeated one is left out"
                .to_owned(),
        );
    }
    let read = declared
        .map(|list| sheets(list, count))
        .transpose()?
        .flatten();
    if let Some((stackup, assumed)) = read {
        board.masks = declared.map(masks).transpose()?.unwrap_or_default();
        board.stackup = stackup;
        board.assumed.extend(assumed);
        return Ok(());
    }
    let thickness = root
        .find("general")
        .and_then(|general| general.find("thickness"));
    let (thickness, missing) = match thickness.map(|list| positive(list, 1)).transpose()? {
        Some(thickness) => (thickness, "the stack-up is not in the file".to_owned()),
        None => (
            ASSUMED_THICKNESS,
            format!(
                "neither stack-up nor thickness is in the file, which is taken as {ASSUMED_THICKNESS} mm"
            ),
        ),
    };
    board.stackup = Stackup::usual(count, thickness);
    let assumed = board.stackup.as_assumed();
    board.assumed.push(format!("{missing}: {assumed}"));
    Ok(())
}

/// The layers of a stack-up, up to the first copper layer or mask that was named before: some files have all of it several times.
fn once(list: Expr<'_>) -> impl Iterator<Item = Expr<'_>> {
    let mut seen = HashSet::new();
    let is_new = move |layer: &Expr<'_>| {
        let kind = layer.value("type").unwrap_or_default().to_lowercase();
        let is_of_board = kind == "copper" || kind.contains("solder mask");
        let name = layer.word(1).unwrap_or_default();
        !is_of_board || seen.insert(name.to_owned())
    };
    list.all("layer").take_while(is_new)
}

/// The solder masks of a stack-up: what is called so before the first copper layer, and after the last.
fn masks(list: Expr<'_>) -> Result<[Option<Mask>; 2], Refusal> {
    let mut found = [None; 2];
    let mut side = 0;
    for layer in once(list) {
        let kind = layer.value("type").unwrap_or_default().to_lowercase();
        if kind == "copper" {
            side = 1;
        } else if kind.contains("solder mask") {
            let measure = |head| layer.find(head).map(|list| positive(list, 1)).transpose();
            let epsilon_r = measure("epsilon_r")?.unwrap_or(ASSUMED_MASK_EPSILON_R);
            found[side] = measure("thickness")?
                .filter(|thickness| MASK_MM_MIN < *thickness)
                .map(|thickness| Mask {
                    thickness,
                    epsilon_r: epsilon_r.max(1.0),
                });
        }
    }
    Ok(found)
}

/// Thinner masks are none, in mm.
const MASK_MM_MIN: f64 = 1e-3;

/// What lies between two copper layers, while it is read.
#[derive(Default)]
struct Between {
    thickness: f64,
    per_epsilon: f64,
    assumed: Vec<String>,
}

/// The stack-up and what was assumed in it; `None` if it has not the board's copper layers.
fn sheets(list: Expr<'_>, count: usize) -> Result<Option<(Stackup, Vec<String>)>, Refusal> {
    let mut stackup = Stackup {
        is_declared: true,
        ..Stackup::default()
    };
    let mut assumed = Vec::new();
    let mut between = Between::default();
    for layer in once(list) {
        let name = layer.word(1).unwrap_or_default();
        if layer.value("type").as_deref() == Some("copper") {
            if !stackup.copper.is_empty() {
                stackup
                    .gaps
                    .push(gap(std::mem::take(&mut between), name, &mut assumed));
            }
            between = Between::default();
            let thickness = layer
                .find("thickness")
                .map(|list| positive(list, 1))
                .transpose()?;
            stackup.copper.push(thickness.unwrap_or_else(|| {
                assumed.push(format!("the thickness of {name}: {ASSUMED_COPPER} mm"));
                ASSUMED_COPPER
            }));
        } else if !stackup.copper.is_empty() && layer.find("thickness").is_some() {
            add_sheets(layer, &mut between)?;
        }
    }
    stackup.is_declared = assumed.is_empty();
    Ok((stackup.copper.len() == count).then_some((stackup, assumed)))
}

fn gap(between: Between, below: &str, assumed: &mut Vec<String>) -> Gap {
    if between.thickness > 0.0 {
        // What is below the last copper layer is never asked for.
        assumed.extend(between.assumed);
        return Gap {
            thickness: between.thickness,
            epsilon_r: between.thickness / between.per_epsilon,
        };
    }
    const THICKNESS: f64 = 0.2;
    assumed.push(format!(
        "the insulation above {below}: {THICKNESS} mm of εr {ASSUMED_EPSILON_R}"
    ));
    Gap {
        thickness: THICKNESS,
        epsilon_r: ASSUMED_EPSILON_R,
    }
}

/// The sheets of a layer of insulation, which follow each other in its list.
fn add_sheets(layer: Expr<'_>, between: &mut Between) -> Result<(), Refusal> {
    let mut sheets: Vec<(f64, Option<f64>)> = Vec::new();
    for item in layer.rest().filter(|item| item.is_list()) {
        match item.head() {
            "thickness" => sheets.push((positive(item, 1)?, None)),
            "epsilon_r" => {
                let epsilon_r = positive(item, 1)?;
                if epsilon_r < 1.0 {
                    return Err(item.refuse("a permittivity is at least 1"));
                }
                if let Some(sheet) = sheets.last_mut() {
                    sheet.1 = Some(epsilon_r);
                }
            }
            _ => {}
        }
    }
    for (thickness, epsilon_r) in sheets {
        let epsilon_r = epsilon_r.unwrap_or_else(|| {
            let name = layer.word(1).unwrap_or_default();
            between
                .assumed
                .push(format!("the permittivity of {name}: {ASSUMED_EPSILON_R}"));
            ASSUMED_EPSILON_R
        });
        between.thickness += thickness;
        between.per_epsilon += thickness / epsilon_r;
    }
    Ok(())
}

/// A number above 0 at `index` of a list.
fn positive(list: Expr<'_>, index: usize) -> Result<f64, Refusal> {
    let limits = Limits::default();
    let value = fields::number(list, index, &limits)?;
    if value > 0.0 {
        Ok(value)
    } else if value == 0.0 && list.head() == "thickness" {
        // Masks and sheets that are not there have it.
        Ok(f64::MIN_POSITIVE)
    } else {
        Err(list.refuse(format!("`{}` is above 0", list.head())))
    }
}
