//! Gerber job files: which file is which layer, and the stack-up ("The Gerber Job Format Specification", 2020.08).

use std::collections::HashSet;

use serde::Deserialize;

use super::error::OpenError;
use crate::board::{ASSUMED_COPPER, ASSUMED_EPSILON_R, ASSUMED_THICKNESS, Gap, Stackup};
use crate::refusal::{Position, Refusal};

/// Most bytes of a job file.
const BYTES_MAX: usize = 4 << 20;

/// Thickest sheet in mm.
const THICKNESS_MM_MAX: f64 = 100.0;

/// A job.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Job {
    #[serde(default)]
    general_specs: Specs,
    #[serde(default)]
    files_attributes: Vec<File>,
    #[serde(default)]
    material_stackup: Vec<Sheet>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Specs {
    board_thickness: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct File {
    path: String,
    file_function: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Sheet {
    #[serde(rename = "Type")]
    kind: String,
    thickness: Option<f64>,
    name: Option<String>,
    dielectric_constant: Option<f64>,
}

impl Job {
    /// Reads a job file.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, OpenError> {
        if bytes.len() > BYTES_MAX {
            return Err(OpenError::whole(format!(
                "the job file has more than {BYTES_MAX} bytes"
            )));
        }
        let job: Self = serde_json::from_slice(bytes).map_err(|error| Refusal {
            at: Some(Position {
                line: error.line(),
                column: error.column(),
            }),
            message: "this is no Gerber job file".to_owned(),
        })?;
        let of_sheets = job.material_stackup.iter().map(|sheet| sheet.thickness);
        let mut thicknesses = of_sheets
            .chain([job.general_specs.board_thickness])
            .flatten();
        let constants = job
            .material_stackup
            .iter()
            .filter_map(|sheet| sheet.dielectric_constant);
        if !thicknesses.all(|value| (0.0..=THICKNESS_MM_MAX).contains(&value)) {
            return Err(OpenError::whole(
                "the job file has a thickness that is below 0 or above 100 mm",
            ));
        }
        if !constants
            .into_iter()
            .all(|value| (1.0..=1000.0).contains(&value))
        {
            return Err(OpenError::whole(
                "the job file has a dielectric constant below 1 or above 1000",
            ));
        }
        Ok(job)
    }

    /// The function of a file, by its name without folders.
    pub(super) fn function(&self, name: &str) -> Option<&str> {
        let base = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or_default() == name;
        let mut files = self.files_attributes.iter();
        files
            .find(|file| base(&file.path))
            .map(|file| file.file_function.as_str())
    }

    /// The stack-up of a board with so many copper layers, and what was assumed of it.
    pub(super) fn stackup(&self, count: usize) -> (Stackup, Vec<String>) {
        if let Some(read) = self.sheets(count) {
            return read;
        }
        let thickness = self
            .general_specs
            .board_thickness
            .filter(|value| *value > 0.0);
        let (thickness, missing) = match thickness {
            Some(thickness) => (
                thickness,
                "the stack-up is not in a Gerber job file".to_owned(),
            ),
            None => (
                ASSUMED_THICKNESS,
                format!(
                    "neither stack-up nor thickness is in a Gerber job file, which is taken as {ASSUMED_THICKNESS} mm"
                ),
            ),
        };
        let stackup = Stackup::usual(count, thickness);
        let assumed = format!("{missing}: {}", stackup.as_assumed());
        (stackup, vec![assumed])
    }

    fn sheets(&self, count: usize) -> Option<(Stackup, Vec<String>)> {
        let mut stackup = Stackup::default();
        let mut assumed = Vec::new();
        // Of what lies between two copper layers: thickness, thickness by permittivity.
        let mut between = (0.0, 0.0);
        let mut seen = HashSet::new();
        for sheet in &self.material_stackup {
            let of_copper = sheet.name.as_deref().filter(|_| sheet.kind == "Copper");
            if of_copper.is_some_and(|name| !seen.insert(name)) && stackup.copper.len() == count {
                // Some files have all of it several times.
                break;
            }
            let name = sheet.name.as_deref().unwrap_or("a sheet");
            match sheet.kind.as_str() {
                "Copper" => {
                    if !stackup.copper.is_empty() {
                        let (thickness, per_epsilon) = between;
                        if thickness <= 0.0 {
                            return None;
                        }
                        stackup.gaps.push(Gap {
                            thickness,
                            epsilon_r: thickness / per_epsilon,
                        });
                    }
                    between = (0.0, 0.0);
                    stackup
                        .copper
                        .push(sheet.thickness.filter(|t| *t > 0.0).unwrap_or_else(|| {
                            assumed.push(format!("the thickness of {name}: {ASSUMED_COPPER} mm"));
                            ASSUMED_COPPER
                        }));
                }
                "Dielectric" if !stackup.copper.is_empty() && stackup.copper.len() < count => {
                    let thickness = sheet.thickness.filter(|thickness| *thickness > 0.0)?;
                    let epsilon_r = sheet.dielectric_constant.unwrap_or_else(|| {
                        assumed.push(format!("the permittivity of {name}: {ASSUMED_EPSILON_R}"));
                        ASSUMED_EPSILON_R
                    });
                    between = (between.0 + thickness, between.1 + thickness / epsilon_r);
                }
                _ => {}
            }
        }
        stackup.is_declared = assumed.is_empty();
        (stackup.copper.len() == count).then_some((stackup, assumed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stackup_is_that_of_the_file_or_assumed() {
        let text = r#"{"Header": {"GenerationSoftware": {}}, "GeneralSpecs": {"BoardThickness": 1.2},
            "FilesAttributes": [{"Path": "gerbers/a-F_Cu.gbr", "FileFunction": "Copper,L1,Top"}],
            "MaterialStackup": [{"Type": "SolderMask"}, {"Type": "Copper", "Thickness": 0.035, "Name": "F.Cu"},
                {"Type": "Dielectric", "Thickness": 0.2, "DielectricConstant": 4.0},
                {"Type": "Dielectric", "Thickness": 0.2, "Name": "core"}, {"Type": "Copper", "Name": "B.Cu"}]}"#;
        let job = Job::read(text.as_bytes()).unwrap();
        assert_eq!(job.function("a-F_Cu.gbr"), Some("Copper,L1,Top"));
        let (stackup, assumed) = job.stackup(2);
        assert_eq!((stackup.copper[0], stackup.gaps[0].thickness), (0.035, 0.4));
        let expected = 0.4 / (0.2 / 4.0 + 0.2 / ASSUMED_EPSILON_R);
        assert!((stackup.gaps[0].epsilon_r - expected).abs() < 1e-9);
        assert_eq!(assumed.len(), 2);
        let (usual, assumed) = job.stackup(4);
        assert!(
            (usual.thickness() - 1.2).abs() < 1e-9
                && assumed[0].contains("0.2 / 0.66 / 0.2 mm apart")
        );
        let bad = Job::read(b"{\"GeneralSpecs\": {\"BoardThickness\": -1}}");
        assert!(bad.unwrap_err().to_string().contains("below 0"));
        assert!(
            Job::read(b"{")
                .unwrap_err()
                .to_string()
                .starts_with("line 1, column 1: ")
        );
    }
}
