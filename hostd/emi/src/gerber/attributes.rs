//! Attributes: what a file, an aperture and an object are (5).

use std::collections::HashMap;

/// What a file is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileFunction {
    /// A copper layer, counted from 1.
    Copper(usize),
    /// The outline.
    Profile,
    /// Holes, from a copper layer to another.
    Drill {
        /// Whether there is copper in them.
        is_plated: bool,
        /// Counted from 1.
        span: (usize, usize),
    },
    /// Places of the parts on a side.
    Component,
    /// Anything else.
    Other,
}

impl FileFunction {
    /// Reads `Copper,L1,Top`.
    pub(crate) fn read(text: &str) -> Self {
        let mut words = text.split(',').map(str::trim);
        let head = words.next().unwrap_or_default();
        match head {
            "Copper" => {
                let layer = words.next().and_then(|word| word.strip_prefix('L'));
                let layer = layer.and_then(|word| word.parse().ok());
                layer
                    .filter(|layer| *layer > 0)
                    .map_or(Self::Other, Self::Copper)
            }
            "Profile" => Self::Profile,
            "Plated" | "NonPlated" => {
                let mut number = || words.next().and_then(|word| word.parse().ok());
                match (number(), number()) {
                    (Some(from), Some(to)) => Self::Drill {
                        is_plated: head == "Plated",
                        span: (from, to),
                    },
                    _ => Self::Other,
                }
            }
            "Component" => Self::Component,
            _ => Self::Other,
        }
    }
}

/// What an aperture, or a region, is for (5.6.10).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Role {
    /// Nobody says.
    #[default]
    Unknown,
    /// Tracks and pours.
    Conductor,
    /// Pads of vias.
    Via,
    /// Pads of parts.
    Pad,
    /// The outline.
    Profile,
    /// What is no conductor: text, logos, marks.
    Idle,
}

impl Role {
    /// Of `.AperFunction`.
    pub(crate) fn read(text: &str) -> Self {
        match text.split(',').next().unwrap_or_default().trim() {
            "Conductor" | "AntiPad" | "ThermalReliefPad" => Self::Conductor,
            "ViaPad" | "ViaDrill" => Self::Via,
            "ComponentDrill" | "ComponentPad" | "SMDPad" | "BGAPad" | "ConnectorPad"
            | "HeatsinkPad" | "TestPad" | "CastellatedPad" | "WasherPad" | "EtchedComponent"
            | "FiducialPad" => Self::Pad,
            "Profile" => Self::Profile,
            "NonConductor" | "CopperBalancing" | "Border" | "OtherCopper" => Self::Idle,
            _ => Self::Unknown,
        }
    }
}

/// Something that a file may say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Stated {
    /// It does not.
    #[default]
    No,
    /// It does; the empty name says that there is none.
    Named(String),
}

/// What attributes say about an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Label {
    /// Its net.
    pub(crate) net: Stated,
    /// The part that it belongs to.
    pub(crate) part: String,
    /// The number of the pin.
    pub(crate) pin: String,
    /// What the pin does.
    pub(crate) function: String,
    /// The part's value.
    pub(crate) value: String,
    /// The part's footprint in its library.
    pub(crate) library: String,
}

/// The attributes that hold now.
#[derive(Default)]
pub(super) struct Attributes {
    label: Label,
    is_changed: bool,
    labels: Vec<Label>,
    known: HashMap<Label, u32>,
    current: u32,
    /// Of apertures that are defined, and regions that are drawn, from now on.
    pub(super) role: Role,
}

impl Attributes {
    /// The index of what holds now.
    pub(super) fn label(&mut self) -> u32 {
        if self.is_changed || self.labels.is_empty() {
            self.is_changed = false;
            self.current = match self.known.get(&self.label) {
                Some(index) => *index,
                None => {
                    let index = u32::try_from(self.labels.len()).unwrap_or(u32::MAX);
                    self.labels.push(self.label.clone());
                    self.known.insert(self.label.clone(), index);
                    index
                }
            };
        }
        self.current
    }

    pub(super) fn into_labels(self) -> Vec<Label> {
        self.labels
    }

    /// `TO`: of objects.
    pub(super) fn of_object(&mut self, text: &str) {
        let (name, value) = text.split_once(',').unwrap_or((text, ""));
        let field = |index: usize| unescaped(value.split(',').nth(index).unwrap_or_default());
        self.is_changed = true;
        match name.trim_start_matches('.') {
            // Single pads are on no net, by name.
            "N" => {
                self.label.net = Stated::Named(match field(0).as_str() {
                    "N/C" => String::new(),
                    name => name.to_owned(),
                });
            }
            "P" => {
                self.label.part = field(0);
                self.label.pin = field(1);
                self.label.function = field(2);
            }
            "C" => self.label.part = field(0),
            "CVal" => self.label.value = field(0),
            "CFtp" => self.label.library = field(0),
            _ => {}
        }
    }

    /// `TD`: holds no longer; everything, without a name.
    pub(super) fn delete(&mut self, name: &str) {
        self.is_changed = true;
        let label = &mut self.label;
        match name.trim().trim_start_matches('.') {
            "" => {
                *label = Label::default();
                self.role = Role::Unknown;
            }
            "N" => label.net = Stated::No,
            "P" => {
                label.part.clear();
                label.pin.clear();
                label.function.clear();
            }
            "C" => {
                label.part.clear();
                label.value.clear();
                label.library.clear();
            }
            "CVal" => label.value.clear(),
            "CFtp" => label.library.clear(),
            "AperFunction" => self.role = Role::Unknown,
            _ => {}
        }
    }
}

/// A field with `\uXXXX` in it (3.4.3).
fn unescaped(field: &str) -> String {
    if !field.contains('\\') {
        return field.to_owned();
    }
    let mut text = String::with_capacity(field.len());
    let mut rest = field;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let digits = match rest.as_bytes() {
            [b'\\', b'u', ..] => rest.get(2..6),
            [b'\\', b'U', ..] => rest.get(2..10),
            _ => None,
        };
        let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        match (digits, code.and_then(char::from_u32)) {
            (Some(digits), Some(c)) => {
                text.push(c);
                rest = &rest[2 + digits.len()..];
            }
            _ => {
                text.push('\\');
                rest = &rest[1..];
            }
        }
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_files_are_read() {
        let read = FileFunction::read;
        assert_eq!(read("Copper,L3,Inr"), FileFunction::Copper(3));
        assert_eq!(read("Copper,L0,Inr"), FileFunction::Other);
        assert_eq!(read("Profile,NP"), FileFunction::Profile);
        let drill = FileFunction::Drill {
            is_plated: true,
            span: (1, 4),
        };
        assert_eq!(read("Plated,1,4,PTH"), drill);
        assert_eq!(read("Soldermask,Top"), FileFunction::Other);
    }

    #[test]
    fn labels_are_kept_once_and_end_where_they_are_deleted() {
        let mut attributes = Attributes::default();
        attributes.of_object(".N,/A\\u002cB");
        attributes.of_object(".P,U1,3,SCK");
        let first = attributes.label();
        attributes.delete(".P");
        let second = attributes.label();
        attributes.of_object(".P,U1,3,SCK");
        assert_eq!(attributes.label(), first);
        attributes.delete("");
        attributes.of_object(".N,N/C");
        let none = attributes.label();
        let labels = attributes.into_labels();
        let label = &labels[first as usize];
        assert_eq!(label.net, Stated::Named("/A,B".to_owned()));
        assert_eq!((label.part.as_str(), label.pin.as_str()), ("U1", "3"));
        assert_eq!(labels[second as usize].part, "");
        assert_eq!(labels[none as usize].net, Stated::Named(String::new()));
    }
}
