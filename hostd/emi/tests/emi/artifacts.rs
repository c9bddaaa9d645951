//! Files that runs leave behind: all there, well formed, bounded, the same from any number of threads, and obeying no name that a
//! board has.

use std::collections::{BTreeMap, BTreeSet};

use emi::board::{Board, Fill, Layer, Net, Track};
use emi::geometry::{Point, Segment, Shape, circle};
use emi::{
    ARTIFACTS, Artifact, DRAWING_POINTS_MAX, Limits, PAGE_BYTES_MAX, PNG_SIDE_DOTS, Report,
    SourceFile, Stored, kicad,
};
use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::Value;

use crate::sheet::{Sheet, Style, four_layers, pad, plate_with_hole, rules_of};

/// Names that would do something if anything obeyed them. Backslashes are those of the board's file.
const EVIL: [&str; 3] = [
    "<script>alert(1)</script>",
    "=cmd|x!A0",
    "\\\" onload=\\\"alert(1)' <!-- ]]> &amp; \u{202e}\n\u{1b}[2J",
];

const RULES: &str = "clocks:\n  - {net: \"=cmd|x!A0\", hz: 50e6, rise_s: 1e-9, volts: 3.3, load_ohm: 50}\n\
                     cables: [{connector: J1, length_m: 1}]";

/// A slot in the plane, and tracks of nets with such names over it.
fn slotted() -> Sheet {
    let slot = ((28.0, 5.0), (33.0, 35.0));
    let ring = plate_with_hole((0.5, 0.5), (59.5, 39.5), slot);
    let mut sheet = four_layers()
        .fill("GND", "In1.Cu", ring)
        .plane("GND", "In2.Cu")
        .part(
            "J1",
            "",
            (52.0, 10.0),
            vec![pad("1", (0.0, 0.0), EVIL[1]), pad("2", (0.0, 2.0), "GND")],
        )
        .part(
            EVIL[0],
            "",
            (40.0, 35.0),
            vec![pad("1", (0.0, 0.0), EVIL[0])],
        );
    for (net, y) in EVIL.into_iter().zip([10.0, 20.0, 30.0]) {
        sheet = sheet.track(net, "F.Cu", &[(10.0, y), (52.0, y)]);
    }
    sheet
}

struct Run {
    text: String,
    board: Board,
    report: Report,
    source: SourceFile,
}

impl Run {
    fn of(sheet: &Sheet, rules: &str) -> Self {
        let text = sheet.text(&Style::default());
        let mut board = kicad::read(text.as_bytes(), &Limits::default()).unwrap();
        let report = emi::check(&mut board, &rules_of(rules), &()).unwrap();
        let source = SourceFile::new("boards/<a> b.kicad_pcb", text.as_bytes(), &report);
        Self {
            text,
            board,
            report,
            source,
        }
    }

    fn all(&self) -> Vec<Artifact> {
        emi::artifacts(&self.board, &self.report, &self.source)
    }

    fn file(&self, name: &str) -> String {
        let artifact = emi::artifact(&self.board, &self.report, &self.source, name).unwrap();
        String::from_utf8(artifact.bytes).unwrap()
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.file(name)).unwrap()
    }
}

fn evil() -> Run {
    Run::of(&slotted(), RULES)
}

/// Reads all of an XML document; names in it, with their counts.
fn elements(xml: &str) -> BTreeMap<String, usize> {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().check_end_names = true;
    let (mut counts, mut depth) = (BTreeMap::new(), 0);
    loop {
        let event = reader.read_event().unwrap();
        let (tag, step) = match &event {
            Event::Eof => break,
            Event::Start(tag) => (tag, 1),
            Event::Empty(tag) => (tag, 0),
            Event::End(_) => {
                depth -= 1;
                continue;
            }
            _ => continue,
        };
        for attribute in tag.attributes() {
            let key = attribute.unwrap().key;
            assert!(
                !key.as_ref().starts_with(b"on") && key.as_ref() != b"style",
                "{key:?}"
            );
        }
        let name = String::from_utf8(tag.name().as_ref().to_vec()).unwrap();
        *counts.entry(name).or_default() += 1;
        depth += step;
    }
    assert_eq!(depth, 0);
    counts
}

/// A page as XML: what HTML leaves open is closed, attributes without values get one, script and style are left out.
fn as_xml(page: &str) -> String {
    let mut xml = page.replacen("<!doctype html>", "", 1);
    for tag in ["style", "script"] {
        while let Some(from) = xml.find(&format!("<{tag}>")) {
            let end = format!("</{tag}>");
            let to = from + xml[from..].find(&end).unwrap() + end.len();
            xml.replace_range(from..to, "");
        }
    }
    for word in [" hidden>", " open>", " checked>"] {
        let name = word.trim().trim_end_matches('>');
        xml = xml.replace(word, &format!(" {name}=\"\">"));
    }
    let mut closed = String::new();
    let mut rest = xml.as_str();
    while let Some(from) = rest.find('<') {
        let to = from + rest[from..].find('>').unwrap();
        let tag = &rest[from + 1..to];
        let is_void = ["meta", "input"].iter().any(|name| tag.starts_with(name));
        closed.push_str(&rest[..to]);
        closed.push_str(if is_void { "/>" } else { ">" });
        rest = &rest[to + 1..];
    }
    closed + rest
}

#[test]
fn all_are_there_and_the_same_from_any_number_of_threads() {
    let run = evil();
    let all = run.all();
    let names: Vec<&str> = all.iter().map(|artifact| artifact.name).collect();
    assert_eq!(names, ARTIFACTS.map(|kind| kind.name));
    assert!(all.iter().all(|artifact| 20 < artifact.bytes.len()));
    for threads in [1, 5] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        assert!(pool.install(|| evil().all()) == all, "{threads} threads");
    }
    assert!(emi::artifact(&run.board, &run.report, &run.source, "../rules.json").is_none());
}

#[test]
fn pictures_are_well_formed_and_have_every_finding() {
    let run = evil();
    let counts = elements(&run.file("overlay.svg"));
    assert!(!counts.contains_key("script") && !counts.contains_key("img"));
    assert!(counts["path"] > 5 && counts["text"] >= 1);
    let marks = run.file("overlay.svg").matches("<g class=\"mark ").count();
    assert_eq!(marks, run.report.findings.len());
}

#[test]
fn the_page_is_well_formed_and_needs_nothing_from_elsewhere() {
    let run = evil();
    let page = run.file("report.html");
    let counts = elements(&as_xml(&page));
    assert!(counts["li"] > run.report.findings.len());
    assert_eq!(page.matches("<script").count(), 1);
    assert_eq!(page.matches("<style").count(), 1);
    for word in [
        "http:",
        "https:",
        "src=",
        "url(",
        "@import",
        "<link",
        "<iframe",
        "onload=\"",
        "\u{1b}",
        "\u{202e}",
    ] {
        assert!(!page.contains(word), "{word}");
    }
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert!(page.contains("nothing here says that a board passes a test"));
}

#[test]
fn the_page_allows_its_own_script_and_style_alone() {
    use base64::Engine as _;
    use sha2::Digest as _;
    let page = evil().file("report.html");
    let policy = page
        .split("Content-Security-Policy\" content=\"")
        .nth(1)
        .unwrap();
    let policy = policy.split("\">").next().unwrap();
    assert!(
        policy.starts_with("default-src 'none'; ") && !policy.contains("unsafe"),
        "{policy}"
    );
    for tag in ["script", "style"] {
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        let text = page
            .split(&open)
            .nth(1)
            .unwrap()
            .split(&close)
            .next()
            .unwrap();
        let digest = base64::engine::general_purpose::STANDARD.encode(sha2::Sha256::digest(text));
        assert!(
            policy.contains(&format!("{tag}-src 'sha256-{digest}'")),
            "{tag}: {policy}"
        );
    }
}

#[test]
fn every_finding_has_an_address_and_a_mark() {
    let run = evil();
    let page = run.file("report.html");
    for finding in &run.report.findings {
        for part in [
            format!("<li id=\"{}\"", finding.id),
            format!("<a class=\"pick\" href=\"#{}\">", finding.id),
            format!("data-f=\"{}\"", finding.id),
            format!("data-p=\"{}\"", finding.fingerprint),
            format!("id=\"rule-{}\"", finding.rule),
        ] {
            assert_eq!(page.matches(&part).count().min(1), 1, "{part}");
        }
    }
    // A finding of a net leads to that net's copper.
    let net = run.board.net_named("<script>alert(1)</script>").unwrap();
    assert!(
        page.contains(&format!("data-i=\"{net}\"")) && page.contains(&format!("class=\"n{net}\""))
    );
}

#[test]
fn spectrum_and_cables_are_on_the_page() {
    let page = evil().file("report.html");
    assert!(
        page.contains("Smallest margin, quasi-peak") && page.contains("class=\"stem"),
        "spectrum"
    );
    assert!(page.contains("Permitted current of each cable") && page.contains("<bdi>J1</bdi>"));
    let bare = Run::of(&four_layers().plane("GND", "In1.Cu"), "").file("report.html");
    assert!(
        bare.contains("nothing is said about margins") && bare.contains("No cable is declared")
    );
    assert!(!bare.contains("Smallest margin"));
    let csv = evil().file("spectrum.csv");
    assert!(
        csv.lines()
            .skip(1)
            .all(|line| line.split(',').nth(1).unwrap().starts_with("\"'=cmd")),
        "{csv}"
    );
}

#[test]
fn sarif_points_at_the_copper() {
    let run = evil();
    let sarif = run.json("findings.sarif");
    assert_eq!(sarif["version"], "2.1.0");
    let of_run = &sarif["runs"][0];
    let lines: Vec<&str> = run.text.split('\n').collect();
    let results = of_run["results"].as_array().unwrap();
    assert_eq!(results.len(), run.report.findings.len());
    let (mut pointed, mut prints) = (0, BTreeSet::new());
    for (result, finding) in results.iter().zip(&run.report.findings) {
        let rule = &of_run["tool"]["driver"]["rules"]
            [usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
        assert_eq!(
            (&rule["id"], &result["ruleId"]),
            (&result["ruleId"], &Value::from(finding.rule))
        );
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(
            place["artifactLocation"]["uri"],
            "boards/%3Ca%3E%20b.kicad_pcb"
        );
        let print = result["partialFingerprints"]
            .as_object()
            .unwrap()
            .values()
            .next()
            .unwrap();
        assert!(
            prints.insert(print.as_str().unwrap().to_owned()),
            "{print} twice"
        );
        let line = place["region"]["startLine"].as_u64().unwrap();
        assert_eq!(finding.at.line.map_or(1, u64::from), line);
        if finding.at.line.is_none() {
            continue;
        }
        pointed += 1;
        let text = lines[usize::try_from(line).unwrap() - 1];
        let column = usize::try_from(place["region"]["startColumn"].as_u64().unwrap()).unwrap();
        let item = &text[column - 1..];
        assert!(
            ["(segment", "(via", "(pad", "(filled_polygon"]
                .iter()
                .any(|head| item.starts_with(head)),
            "{finding:?}: {item}"
        );
    }
    assert!(3 <= pointed, "{pointed}");
}

#[test]
fn a_gap_is_on_the_line_of_its_track_and_a_via_on_its_own() {
    let slot = ((28.0, 5.0), (33.0, 35.0));
    let ring = plate_with_hole((0.5, 0.5), (59.5, 39.5), slot);
    let sheet = four_layers()
        .fill("GND", "In1.Cu", ring)
        .fill(
            "+3V3",
            "In2.Cu",
            crate::sheet::plate((0.5, 0.5), (59.5, 39.5)),
        )
        .track("OTHER", "F.Cu", &[(10.0, 8.0), (20.0, 8.0)])
        .track("SCK", "F.Cu", &[(10.0, 20.0), (20.0, 20.0), (45.0, 20.0)])
        .via("SCK", (45.0, 20.0))
        .track("SCK", "B.Cu", &[(45.0, 20.0), (50.0, 20.0)]);
    let run = Run::of(&sheet, "");
    let item = |rule: &str| {
        let mut of_rule = run
            .report
            .findings
            .iter()
            .filter(|finding| finding.rule == rule);
        let line = of_rule.next().unwrap().at.line.unwrap();
        run.text
            .lines()
            .nth(usize::try_from(line).unwrap() - 1)
            .unwrap()
    };
    assert!(
        item("plane-gap").starts_with("(segment (start 120 70) (end 145 70)"),
        "{}",
        item("plane-gap")
    );
    assert!(
        item("return-via").starts_with("(via (at 145 70)"),
        "{}",
        item("return-via")
    );
    let text = run.report.text_in(&run.source);
    let line = run
        .text
        .lines()
        .position(|l| l.starts_with("(segment (start 120 70)"))
        .unwrap()
        + 1;
    let begin = format!("boards/<a> b.kicad_pcb:{line}:1: warning plane-gap [SCK] F.Cu");
    assert!(text.lines().any(|l| l.starts_with(&begin)), "{text}");
}

#[test]
fn geometry_is_in_board_space() {
    let run = evil();
    let view = run.json("board.json");
    assert_eq!(view["outline_mm"], serde_json::json!([60.0, 40.0]));
    assert_eq!(view["layer_count"], 4);
    let net = run.board.net_named("=cmd|x!A0").unwrap();
    let copper = view["copper"].as_array().unwrap();
    let track = copper
        .iter()
        .find(|piece| piece["kind"] == "track" && piece["net"] == net)
        .unwrap();
    // 20 mm from the top of 40 mm.
    assert_eq!(track["points"], serde_json::json!([10.0, 20.0, 52.0, 20.0]));
    assert_eq!(
        (&track["width"], &track["layer"]),
        (&Value::from(0.2), &Value::from(0))
    );
    let file = |point: &[f64]| {
        [
            view["origin"][0].as_f64().unwrap() + point[0],
            view["origin"][1].as_f64().unwrap() - point[1],
        ]
    };
    assert_eq!(file(&[10.0, 20.0]), [110.0, 70.0]);
}

/// A board with more copper than a picture shows.
fn huge() -> Board {
    let mut board = Board {
        layers: ["F.Cu", "B.Cu"]
            .map(|name| Layer {
                name: name.into(),
                user_name: None,
            })
            .to_vec(),
        nets: vec![Net {
            name: "N".repeat(100_000),
            ..Net::default()
        }],
        ..Board::default()
    };
    let mut random = fastrand::Rng::with_seed(9);
    let mut place = || {
        Point::new(
            random.f64() * 4000.0 - 2000.0,
            random.f64() * 4000.0 - 2000.0,
        )
    };
    for _ in 0..2000 {
        let shape = Shape::polygon(circle(place(), 300.0), 0.0);
        let (bounds, area) = (shape.bounds(), shape.area());
        board.fills.push(Fill {
            shape,
            bounds,
            area,
            layer: 0,
            net: 0,
            source_line: 0,
        });
    }
    for index in 0..400_000 {
        let line = Segment::new(place(), place());
        board.tracks.push(Track {
            line,
            width: 0.15,
            layer: index % 2,
            net: 0,
            source_line: 0,
        });
    }
    board
}

#[test]
fn pages_and_pictures_of_huge_boards_are_bounded() {
    let report = evil().report;
    let board = huge();
    let source = SourceFile::named("x".repeat(100_000));
    let of = |name: &str| emi::artifact(&board, &report, &source, name).unwrap().bytes;
    let page = String::from_utf8(of("report.html")).unwrap();
    assert!(page.len() < PAGE_BYTES_MAX, "{} bytes", page.len());
    assert!(page.contains("smallest pieces of copper"));
    assert!(of("overlay.svg").len() < PAGE_BYTES_MAX);
    let view: Value = serde_json::from_slice(&of("board.json")).unwrap();
    assert!(view["copper"].as_array().unwrap().len() < DRAWING_POINTS_MAX);
    assert!(view["left_out"].as_u64().unwrap() > 0);
}

#[test]
fn pictures_in_dots_are_bounded_whatever_the_shape_of_the_board() {
    let sides = |bytes: &[u8]| {
        assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
        let side = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
        (side(16), side(20))
    };
    for (size, expected) in [
        ((60.0, 40.0), (PNG_SIDE_DOTS, 0)),
        ((1500.0, 0.01), (PNG_SIDE_DOTS, 0)),
        ((0.01, 1500.0), (0, PNG_SIDE_DOTS)),
    ] {
        let sheet = Sheet {
            size: Some(size),
            ..four_layers()
        };
        let run = Run::of(
            &sheet.track("A", "F.Cu", &[(0.0, 0.0), (size.0, size.1)]),
            "",
        );
        let png = emi::artifact(&run.board, &run.report, &run.source, "overlay.png").unwrap();
        let (width, height) = sides(&png.bytes);
        assert!((1..=PNG_SIDE_DOTS).contains(&width) && (1..=PNG_SIDE_DOTS).contains(&height));
        assert!(expected.0 == 0 || expected.0 == width, "{size:?}: {width}");
        assert!(
            expected.1 == 0 || expected.1 == height,
            "{size:?}: {height}"
        );
    }
    let empty = Board::default();
    let none = Run::of(&four_layers(), "");
    assert!(emi::artifact(&empty, &none.report, &none.source, "overlay.png").is_some());
}

#[test]
fn a_page_tells_what_changed() {
    let before = Stored::from(&evil().report);
    let run = Run::of(
        &slotted().track("NEW", "F.Cu", &[(10.0, 15.0), (52.0, 15.0)]),
        RULES,
    );
    let all = emi::artifacts_since(&run.board, &run.report, &run.source, Some(&before));
    let page = all
        .iter()
        .find(|artifact| artifact.name == "report.html")
        .unwrap();
    let page = std::str::from_utf8(&page.bytes).unwrap();
    elements(&as_xml(page));
    assert!(page.contains("<h2 id=\"changes\">") && page.contains("still there"));
    assert!(!run.file("report.html").contains("<h2 id=\"changes\">"));
}
