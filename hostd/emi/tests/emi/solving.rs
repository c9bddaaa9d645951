//! Models for openEMS and what comes back: by hand, and by openEMS itself where it is installed.

use std::path::Path;
use std::process::Command;

use emi::Settings;
use emi::solve::{CELLS_MAX, ModelError, Outcome, PROBES, Question, model};

use crate::sheet::{Sheet, four_layers, pad};

/// 20 mm of some width over a plane, from pad to pad.
fn line(width: f64) -> Sheet {
    line_of(width, 20.0)
}

fn line_of(width: f64, length: f64) -> Sheet {
    let end = 10.0 + length;
    let one = || vec![pad("1", (0.0, 0.0), "A<&>\"")];
    four_layers()
        .plane("GND", "In1.Cu")
        .track_of(width, "A<&>\"", "F.Cu", &[(10.0, 20.0), (end, 20.0)])
        .part("U1", "", (10.0, 20.0), one())
        .part("U2", "", (end, 20.0), one())
}

fn question() -> Question {
    Question {
        net: "A<&>\"".to_owned(),
        highest_hz: 5e9,
        pads: None,
        port_ohm: 50.0,
    }
}

/// A board whose net has a name that needs escapes; the sheet writes names as they are.
fn board(sheet: &Sheet) -> emi::board::Board {
    let text = sheet.text(&crate::sheet::Style::default());
    let text = text.replace("A<&>\"\"", "A<&>\\\"\"");
    emi::kicad::read(text.as_bytes(), &emi::Limits::default()).unwrap()
}

fn of(sheet: &Sheet, question: &Question) -> Result<emi::solve::Model, ModelError> {
    model(board(sheet), &Settings::default(), question)
}

#[test]
fn a_model_has_the_net_its_plane_and_ports() {
    let model = of(&line(0.4), &question()).unwrap();
    assert_eq!(model.ports, ["U1.1", "U2.1"]);
    assert!(model.cells < CELLS_MAX && model.steps >= 5_000);
    let xml = &model.xml;
    assert!(
        xml.contains("<Metal Name=\"net A&lt;&amp;&gt;&quot;\">"),
        "{xml}"
    );
    assert!(xml.contains("<Metal Name=\"plane GND\">"));
    assert!(!xml.contains("A<&>"));
    for probe in PROBES {
        assert_eq!(xml.matches(&format!("Name=\"{probe}\"")).count(), 1);
    }
    assert_eq!(xml.matches("<LumpedElement").count(), 2);
    assert_eq!(xml.matches("<Excitation Name").count(), 1);
    // Three slabs of insulation, and as many opened as closed.
    assert_eq!(xml.matches("<Material").count(), 3);
    for tag in ["Metal", "Primitives", "Polygon", "ProbeBox", "Properties"] {
        let (opened, closed) = (format!("<{tag}"), format!("</{tag}>"));
        assert_eq!(
            xml.matches(&opened).count(),
            xml.matches(&closed).count(),
            "{tag}"
        );
    }
    // The same board gives the same text.
    assert_eq!(of(&line(0.4), &question()).unwrap(), model);
}

#[test]
fn ports_can_be_chosen_and_must_be_there() {
    let named = |a: &str, b: &str| Question {
        pads: Some([a.to_owned(), b.to_owned()]),
        ..question()
    };
    let model = of(&line(0.4), &named("U2.1", "U1.1")).unwrap();
    assert_eq!(model.ports, ["U2.1", "U1.1"]);
    assert_eq!(
        of(&line(0.4), &named("U2.1", "U9.1")),
        Err(ModelError::UnknownPad("U9.1".to_owned()))
    );
    let other = Question {
        net: "B".to_owned(),
        ..question()
    };
    assert_eq!(
        of(&line(0.4), &other),
        Err(ModelError::UnknownNet("B".to_owned()))
    );
    let bare = Sheet {
        items: line(0.4).items.into_iter().skip(1).collect(),
        ..four_layers()
    };
    assert_eq!(of(&bare, &question()), Err(ModelError::Pads(0)));
    let cases = [
        (0.0, 50.0),
        (f64::NAN, 50.0),
        (1e12, 50.0),
        (1e9, 0.0),
        (1e9, f64::INFINITY),
    ];
    for (highest_hz, port_ohm) in cases {
        let asked = Question {
            highest_hz,
            port_ohm,
            ..question()
        };
        assert!(matches!(
            of(&line(0.4), &asked),
            Err(ModelError::Value { .. })
        ));
    }
}

#[test]
fn what_is_too_large_is_refused() {
    let mut sheet = line(0.02);
    sheet.size = Some((1900.0, 1900.0));
    sheet.items.clear();
    let one = |net| vec![pad("1", (0.0, 0.0), net)];
    let sheet = sheet
        .plane("GND", "In1.Cu")
        .track_of(0.02, "A", "F.Cu", &[(10.0, 10.0), (1800.0, 1800.0)])
        .part("U1", "", (10.0, 10.0), one("A"))
        .part("U2", "", (1800.0, 1800.0), one("A"));
    let question = Question {
        net: "A".to_owned(),
        highest_hz: 4e10,
        ..question()
    };
    let found = model(sheet.board(), &Settings::default(), &question);
    assert!(matches!(found, Err(ModelError::TooLarge(_))), "{found:?}");
}

/// Files of probes around a line of 100 Ω and half a wave at 5 GHz between ports of 50 Ω, as a pulse would make them.
fn files() -> [String; 4] {
    // Both ends see a divider and echoes: with reflection g = (50 − 100)/(50 + 100) at each end.
    let (z, port, delay) = (100.0, 50.0, 100e-12);
    let g: f64 = (port - z) / (port + z);
    let pulse = |t: f64| (-((t - 300e-12) / 60e-12).powi(2)).exp();
    let echo = |order: i32| g.powi(order);
    let mut files = [const { String::new() }; 4];
    for index in 0..8_000 {
        let t = f64::from(index) * 0.5e-12;
        let start = z / (z + port);
        // Waves to the right and to the left, at both ends.
        let right = |t: f64| {
            (0..12)
                .map(|n| echo(2 * n) * start * pulse(t - 2.0 * delay * f64::from(n)))
                .sum::<f64>()
        };
        let left = |t: f64| {
            (0..12)
                .map(|n| echo(2 * n + 1) * start * pulse(t - 2.0 * delay * f64::from(n)))
                .sum::<f64>()
        };
        let (a, b) = (right(t), left(t - 2.0 * delay));
        let (c, d) = (right(t - delay), left(t - delay));
        let values = [a + b, (a - b) / z, c + d, -(c - d) / z];
        for (file, value) in files.iter_mut().zip(values) {
            file.push_str(&format!("{t:e} {value:e}\n"));
        }
    }
    files
}

#[test]
fn scattering_parameters_are_those_of_the_line() {
    let model = of(&line(0.4), &question()).unwrap();
    let files = files();
    let found = Outcome::read(&model, files.each_ref().map(|file| file.as_bytes())).unwrap();
    let at = |hz: f64| {
        let nearest = found
            .points
            .iter()
            .min_by(|x, y| (x.hz - hz).abs().total_cmp(&(y.hz - hz).abs()));
        *nearest.unwrap()
    };
    // A quarter of a wave at 2.5 GHz turns 50 Ω into 200 Ω; half a wave at 5 GHz leaves it.
    let quarter = at(2.5e9);
    assert!(
        (quarter.ohm.0 - 200.0).abs() < 2.0 && quarter.ohm.1.abs() < 2.0,
        "{quarter:?}"
    );
    assert!((quarter.s11.0 - 0.6).abs() < 0.01, "{quarter:?}");
    let half = at(5e9);
    assert!((half.ohm.0 - 50.0).abs() < 2.0, "{half:?}");
    for point in &found.points {
        let power = point.s11.0.hypot(point.s11.1).powi(2) + point.s21.0.hypot(point.s21.1).powi(2);
        assert!((power - 1.0).abs() < 0.01, "{point:?}");
    }
    let (worst, hz) = found.worst_s11_db.unwrap();
    assert!((worst + 4.44).abs() < 0.1 && (hz - 2.5e9).abs() < 1e8);
    assert!(found.json().contains("\"points\"") && found.csv().lines().count() > 100);
}

#[test]
fn broken_files_are_refused() {
    let model = of(&line(0.4), &question()).unwrap();
    let files = files();
    let mut bytes = files.each_ref().map(|file| file.as_bytes());
    bytes[1] = b"0 0\n1 nan\n";
    let error = Outcome::read(&model, bytes).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("the solver's file port_1_current: line 2")
    );
    let still: String = (0..100).map(|i| format!("{i} 0\n")).collect();
    let error = Outcome::read(&model, [still.as_bytes(); 4]).unwrap_err();
    assert!(error.to_string().contains("did not drive"));
}

/// Runs openEMS in a folder; `None` with a line on standard error where it is not installed.
fn run(folder: &Path) -> Option<()> {
    let output = Command::new("openEMS")
        .arg("model.xml")
        .current_dir(folder)
        .output();
    match output {
        Ok(output) => {
            assert!(output.status.success(), "{output:?}");
            Some(())
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            #[expect(clippy::print_stderr, reason = "says why nothing was tested")]
            {
                eprintln!("skipped: openEMS is not installed (Debian package openems)");
            }
            None
        }
        Err(error) => panic!("openEMS: {error}"),
    }
}

#[test]
fn openems_accepts_the_model_and_finds_the_impedance() {
    let question = Question {
        highest_hz: 10e9,
        ..question()
    };
    let model = of(&line_of(0.37, 8.0), &question).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("model.xml"), &model.xml).unwrap();
    let Some(()) = run(folder.path()) else { return };
    let files = PROBES.map(|probe| std::fs::read(folder.path().join(probe)).unwrap());
    let found = Outcome::read(&model, files.each_ref().map(Vec::as_slice)).unwrap();
    for point in found.points.iter().filter(|point| point.hz < 6e9) {
        let reflected = point.s11.0.hypot(point.s11.1);
        let arrived = point.s21.0.hypot(point.s21.1);
        // 0.37 mm over 0.2 mm of εr 4.5 has 50 Ω: nearly everything arrives, and nothing is made of nothing.
        assert!(reflected < 0.3, "{point:?}");
        assert!(
            0.85 < arrived && reflected.powi(2) + arrived.powi(2) < 1.1,
            "{point:?}"
        );
    }
    // 8 mm at εeff 3.4 are 49 ps, and the pads delay a little more: a quarter turn of S21 below 5.1 GHz.
    let mut points = found.points.iter();
    let quarter = points.find(|point| point.s21.0 <= 0.0).unwrap();
    assert!((4.0e9..5.4e9).contains(&quarter.hz), "{quarter:?}");
}
