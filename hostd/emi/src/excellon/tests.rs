//! Drill files as several programs write them.

use super::*;

fn holes(text: &str) -> Vec<(f64, f64, f64)> {
    let drills = read(text.as_bytes(), &Limits::default(), &()).unwrap();
    let round = |value: f64| (value * 1e6).round() / 1e6;
    let holes = drills.holes.iter();
    holes
        .map(|hole| (round(hole.at.x), round(hole.at.y), round(hole.diameter)))
        .collect()
}

#[test]
fn units_and_zeros_are_those_of_the_header() {
    let body = "T1\nX0150Y-025\nM30\n";
    let decimal = "M48\nMETRIC\nT1C0.3\n%\nT1\nX1.5Y-2.5\nY3.\nM30\nX9Y9\n";
    assert_eq!(holes(decimal), [(1.5, 2.5, 0.3), (1.5, -3.0, 0.3)]);
    assert_eq!(
        holes(&format!("M48\nMETRIC,TZ\nT1C0.3\n%\n{body}")),
        [(0.15, 0.025, 0.3)]
    );
    assert_eq!(
        holes(&format!("M48\nINCH,LZ\nT01F00S00C0.01\n%\nG90\n{body}")),
        [(38.1, 63.5, 0.254)]
    );
    let altium = ";FILE_FORMAT=4:4\nM48\nMETRIC,LZ\nT1C0.3\n%\nT1\nX0012Y0001\n";
    assert_eq!(holes(altium), [(12.0, -1.0, 0.3)]);
}

#[test]
fn slots_ways_and_repeats_are_holes() {
    let head = "M48\nMETRIC\nT1C1.0\n%\n";
    let drills = |body: &str| {
        let text = format!("{head}T1\n{body}");
        read(text.as_bytes(), &Limits::default(), &())
            .unwrap()
            .holes
    };
    let slot = drills("X1.Y2.G85X3.Y2.\n");
    assert_eq!(
        (slot[0].at, slot[0].to),
        (Point::new(1.0, -2.0), Point::new(3.0, -2.0))
    );
    let way = drills("G00X1.Y1.\nM15\nG01X2.Y1.\nG01X2.Y2.\nM16\nG05\nX9.Y9.\n");
    assert_eq!(way.len(), 3);
    assert_eq!(
        (way[1].at, way[1].to),
        (Point::new(2.0, -1.0), Point::new(2.0, -2.0))
    );
    assert_eq!(way[2].at, way[2].to);
    let repeated = drills("X1.Y1.\nR3X1.\n");
    assert_eq!(repeated.len(), 4);
    assert_eq!(repeated[3].at, Point::new(4.0, -1.0));
}

#[test]
fn attributes_of_x2_tell_vias_and_plating() {
    let text = "M48\n; #@! TF.FileFunction,Plated,1,4,PTH\nMETRIC\n; #@! TA.AperFunction,Plated,PTH,ViaDrill\n\
                T1C0.3\n; #@! TA.AperFunction,Plated,PTH,ComponentDrill\nT2C1.0\n; #@! TD\nT3C2.0\n%\n\
                T1\nX0.Y0.\nT2\nX1.Y0.\nT3\nX2.Y0.\nT0\nM30\n";
    let drills = read(text.as_bytes(), &Limits::default(), &()).unwrap();
    assert_eq!((drills.is_plated, drills.span), (Some(true), Some((1, 4))));
    let vias: Vec<_> = drills.holes.iter().map(|hole| hole.is_via).collect();
    assert_eq!(vias, [Some(true), Some(false), None]);
    let altium = "M48\nMETRIC\n;TYPE=NON_PLATED\nT1C0.3\n%\nT1\nX0.Y0.\n";
    let drills = read(altium.as_bytes(), &Limits::default(), &()).unwrap();
    assert_eq!(drills.holes[0].is_plated, Some(false));
}

#[test]
fn refusals_have_line_and_column() {
    let refused = |text: &str| {
        let error = read(text.as_bytes(), &Limits::default(), &()).err();
        error.unwrap().to_string()
    };
    let head = "M48\nMETRIC\nT1C0.3\n%\n";
    assert_eq!(
        refused(&format!("{head}X1.Y1.\n")),
        "line 5, column 1: a hole stands before any tool"
    );
    assert_eq!(
        refused(&format!("{head}T2\n")),
        "line 5, column 1: tool T2 was not defined"
    );
    assert_eq!(
        refused(&format!("{head}T1\n X9999.Y0.\n")),
        "line 6, column 2: a coordinate is beyond 2000 mm"
    );
    assert!(refused(&format!("{head}T1\nX1..2Y0.\n")).ends_with("`1..2` is no coordinate"));
    assert!(refused(&format!("{head}T1\nX1.Y1.\nR999999X100.\n")).contains("repeated beyond"));
    assert!(refused(&format!("{head}G91\n")).contains("export with absolute ones"));
}
