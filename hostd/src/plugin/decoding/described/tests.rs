//! What a plugin may declare, rule by rule.

use super::*;

fn channel(id: &str) -> wit::Channel {
    wit::Channel {
        id: id.to_owned(),
        name: "Line".to_owned(),
        required: true,
    }
}

fn class(id: &str) -> wit::Class {
    wit::Class {
        id: id.to_owned(),
        text: "A frame".to_owned(),
        hex_digits: 2,
    }
}

fn row(id: &str, classes: &[&str]) -> wit::Row {
    wit::Row {
        id: id.to_owned(),
        text: "Frames".to_owned(),
        classes: classes.iter().map(|&id| id.to_owned()).collect(),
    }
}

fn option(id: &str, default: &str, values: &[&str]) -> wit::OptionInfo {
    wit::OptionInfo {
        id: id.to_owned(),
        text: "Rate".to_owned(),
        default: default.to_owned(),
        values: values.iter().map(|&value| value.to_owned()).collect(),
    }
}

fn good() -> wit::DecoderInfo {
    wit::DecoderInfo {
        id: "pulses".to_owned(),
        name: "Pulses".to_owned(),
        channels: vec![channel("line")],
        options: vec![option("baud", "9600", &[])],
        classes: vec![class("frame"), class("gap")],
        rows: vec![row("frames", &["frame"])],
        input: wit::Input::Changes,
        extra: Vec::new(),
    }
}

#[test]
fn a_decoder_has_the_plugins_id_in_front() {
    let known = checked("acme.x", vec![good()]).unwrap();
    assert_eq!(
        (known[0].id.as_str(), known[0].input),
        ("pulses", Input::Changes)
    );
    let decoder = &known[0].decoder;
    assert_eq!(decoder.id, "acme.x/pulses");
    assert_eq!(decoder.options[0].accepts, Accepts::Any);
    assert_eq!(decoder.class("gap"), Some(1));
}

/// What is said of a good decoder after this change.
fn refused(change: impl Fn(&mut wit::DecoderInfo)) -> String {
    let mut declared = good();
    change(&mut declared);
    checked("acme.x", vec![declared]).unwrap_err().to_string()
}

#[test]
fn a_listed_value_has_no_space_around_it() {
    let listed =
        |values: [&str; 2]| refused(|d| d.options.push(option("parity", values[0], &values)));
    let told = listed(["odd", " even"]);
    assert!(
        told.contains("lists \" even\", which begins or ends with a space"),
        "{told}"
    );
    let told = listed(["odd ", "even"]);
    assert!(told.contains("lists \"odd \", which begins"), "{told}");
}

#[test]
fn each_rule_is_told_with_the_decoder() {
    type Change = fn(&mut wit::DecoderInfo);
    let cases: &[(Change, &str)] = &[
        (|d| d.id = "Pulses".to_owned(), "its id \"Pulses\" must be"),
        (|d| d.id = "a/b".to_owned(), "must be 1 to 32"),
        (|d| d.name = "a\nb".to_owned(), "its name must be one line"),
        (|d| d.channels.clear(), "0 channels; there must be 1 to 8"),
        (
            |d| d.channels = (0..9).map(|n| channel(&format!("c{n}"))).collect(),
            "9 channels",
        ),
        (|d| d.classes.clear(), "0 classes; there must be 1 to 64"),
        (
            |d| d.classes = (0..65).map(|n| class(&format!("c{n}"))).collect(),
            "65 classes",
        ),
        (
            |d| d.channels.push(channel("baud")),
            "\"baud\" means two things",
        ),
        (
            |d| d.channels.push(channel("format")),
            "\"format\" means two things",
        ),
        (
            |d| d.classes.push(class("frame")),
            "two classes have the id",
        ),
        (
            |d| d.rows.push(row("frames", &["gap"])),
            "two rows have the id",
        ),
        (
            |d| d.rows.push(row("more", &["x"])),
            "names the class \"x\"",
        ),
        (
            |d| d.rows.push(row("more", &[])),
            "must name each class once",
        ),
        (|d| d.classes[0].hex_digits = 17, "17 hexadecimal digits"),
        (
            |d| d.options.push(option("parity", "no", &["odd", "even"])),
            "does not accept its own default \"no\"",
        ),
        (
            |d| d.options[0].values = (0..65).map(|n| n.to_string()).collect(),
            "lists 65 values",
        ),
    ];
    for (change, expected) in cases {
        let told = refused(change);
        assert!(told.contains(expected), "{expected}: {told}");
        assert!(told.starts_with("use its decoder \""), "{told}");
    }
    assert_eq!(
        checked("acme.x", Vec::new()).unwrap_err(),
        DecodersError::Count(0)
    );
    let many = vec![good(); DECODERS_MAX + 1];
    assert_eq!(
        checked("acme.x", many).unwrap_err(),
        DecodersError::Count(17)
    );
    let same = checked("acme.x", vec![good(), good()])
        .unwrap_err()
        .to_string();
    assert_eq!(same, "use its decoder \"pulses\": another has the same id");
}

#[test]
fn sentences_of_a_plugin_are_one_short_line() {
    assert_eq!(line("a\nb"), "a b");
    assert_eq!(line(&"ü".repeat(1_000)).len(), 4 * TEXT_BYTES_MAX);
}
