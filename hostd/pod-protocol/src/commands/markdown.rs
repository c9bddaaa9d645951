//! The command table as a section of a page for hardware makers.

use std::fmt::Write as _;

use super::{
    Answer, Change, Command, Data, Field, GROUPS, Gate, Kind, Need, Out, Outside, Shape, Tier,
};

/// The line before the generated section of a page.
pub const BEGIN: &str = "<!-- commands: begin, written by `cargo xtask docs` -->";

/// The line after it.
pub const END: &str = "<!-- commands: end -->";

/// `page` with its generated section renewed; `None` if it has no place for one.
pub fn renewed(page: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n\n{}\n{END}{after}", section()))
}

/// Every command: an overview, then one part for each group.
pub fn section() -> String {
    let mut text =
        String::from("### Overview\n\n| Command | Tier | Gates | Answer |\n|---|---|---|---|\n");
    for command in GROUPS.iter().flat_map(|group| group.commands) {
        let gates: Vec<String> = command.gates.iter().map(|gate| gate_name(*gate)).collect();
        line(
            &mut text,
            format_args!(
                "| [`{0}`](#{0}) | {1} | {2} | {3} |",
                command.verb,
                tier(command),
                gates.join(", "),
                answer(command.answer),
            ),
        );
    }
    for group in GROUPS {
        line(&mut text, format_args!("\n### {}", group.title));
        for one in group.commands {
            describe(&mut text, one);
        }
    }
    text
}

fn line(text: &mut String, what: std::fmt::Arguments<'_>) {
    writeln!(text, "{what}").expect("a string takes everything");
}

fn describe(text: &mut String, command: &Command) {
    line(
        text,
        format_args!("\n#### `{}`\n\n{}", command.verb, command.meaning),
    );
    line(text, format_args!("\n{}", traits(command)));
    fields(text, command.fields);
    match command.data {
        Data::Null => {}
        Data::Text(word) => line(
            text,
            format_args!("\nReply: `data` is the string `{word}`."),
        ),
        Data::Ints => line(text, format_args!("\nReply: `data` is a list of integers.")),
        Data::Object(outs) => outs_table(text, "Reply: fields of `data`", outs),
    }
    if let Answer::Raw(then) = command.answer {
        line(text, format_args!("\nThen raw: {then}."));
    }
    if !command.chunk.is_empty() {
        outs_table(text, "Reply: fields of each line", command.chunk);
    }
    if !command.denials.is_empty() {
        line(
            text,
            format_args!("\n| Refused when | Text begins |\n|---|---|"),
        );
        for denied in command.denials {
            let words = if denied.text.is_empty() {
                "(free)".to_owned()
            } else {
                format!("`{}`", denied.text)
            };
            line(text, format_args!("| {} | {words} |", denied.when));
        }
    }
    if !command.examples.is_empty() {
        line(text, format_args!("\n```json"));
        for example in command.examples {
            line(text, format_args!("{}", example.request));
        }
        line(text, format_args!("```"));
    }
}

/// Tier, gates, answer and waits in one sentence each.
fn traits(command: &Command) -> String {
    let mut parts = vec![format!("Tier {}", tier(command))];
    if !command.gates.is_empty() {
        let gates: Vec<String> = command.gates.iter().map(|gate| gate_name(*gate)).collect();
        parts.push(format!("needs {}", gates.join(", ")));
    }
    parts.push(format!("answers in {}", answer(command.answer)));
    if !command.waits.is_empty() {
        let waits: Vec<String> = command
            .waits
            .iter()
            .map(|name| format!("`{name}`"))
            .collect();
        parts.push(format!("late on purpose by {}", waits.join(" + ")));
    }
    if command.light {
        parts.push("works during a lease".to_owned());
    }
    if command.safe_mode {
        parts.push("works in safe mode".to_owned());
    }
    format!("{}.", parts.join("; "))
}

fn tier(command: &Command) -> String {
    let number = command.tier.number();
    if command.changes.is_empty() {
        return format!("T{number}");
    }
    let changes: Vec<String> = command
        .changes
        .iter()
        .map(|change| change_name(*change))
        .collect();
    format!(
        "T{number}, T{} {}",
        Tier::Settings.number(),
        changes.join(" or ")
    )
}

fn change_name(change: Change) -> String {
    match change {
        Change::Given(field) | Change::Set(field) => format!("with `{field}`"),
        Change::Unset(field) => format!("with `{field}` false"),
        Change::Unless(field, words) => format!("unless `{field}` is {}", words.join(" or ")),
    }
}

fn gate_name(gate: Gate) -> String {
    match gate {
        Gate::Analog => "front end".to_owned(),
        Gate::AnalogFor(field) => format!("front end if `{field}` > 0"),
        Gate::Waveforms => "waveforms".to_owned(),
        Gate::BoardV3 => "v3 board".to_owned(),
        Gate::LaVoltage => "LA voltage".to_owned(),
        Gate::CaptureHardware => "capture hardware".to_owned(),
        Gate::CaptureHardwareFor(field) => format!("capture hardware if `{field}` is given"),
        Gate::LoopImage => "image 0".to_owned(),
        Gate::NoDacLimits => "no DAC limits".to_owned(),
    }
}

fn answer(answer: Answer) -> &'static str {
    match answer {
        Answer::Line => "one line",
        Answer::Chunks => "lines with `more`",
        Answer::Raw(_) => "one line, then raw bytes",
    }
}

fn fields(text: &mut String, fields: &[Field]) {
    if fields.is_empty() {
        return;
    }
    line(
        text,
        format_args!("\n| Field | Value | Unit | Absent | Meaning |\n|---|---|---|---|---|"),
    );
    for field in fields {
        line(
            text,
            format_args!(
                "| `{}` | {} | {} | {} | {} |",
                field.name,
                value(field),
                field.unit,
                need(field.need),
                field.meaning,
            ),
        );
    }
}

fn need(need: Need) -> String {
    match need {
        Need::Required => "refused".to_owned(),
        Need::With(other) => format!("refused with `{other}`"),
        Need::When(other, words) => {
            format!("refused when `{other}` is {}", quoted(words))
        }
        Need::Optional(default) => default.to_owned(),
    }
}

fn quoted(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    words.join(", ")
}

fn value(field: &Field) -> String {
    let value = match field.kind {
        Kind::Int(min, max) => format!("integer {min} to {max}"),
        Kind::OneOf(numbers) => {
            let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
            numbers.join(" or ")
        }
        Kind::Number(min, max) => format!("number {min} to {max}"),
        Kind::Positive => "number above 0".to_owned(),
        Kind::Flag => "boolean, or 0 and 1".to_owned(),
        Kind::Word(words) => quoted(words),
        Kind::Text => "string".to_owned(),
        Kind::La => "channel 1 to 14".to_owned(),
        Kind::Las => "channel, list of channels, or `\"all\"`".to_owned(),
        Kind::Bytes(min, max) => format!("{min} to {max} bytes as unpadded base64url"),
        Kind::ByteList => "list of at most 8 byte values".to_owned(),
        Kind::Trigger => {
            "`{\"la\":1..14,\"edge\":\"rising\"\\|\"falling\"\\|\"high\"\\|\"low\"}`; `edge` may be \
             absent: rising; or another [condition](#triggers)"
                .to_owned()
        }
        Kind::HexOrInt(min, max) => format!("string, decimal or `0x…`, {min} to {max}"),
        Kind::Mixed => "see meaning".to_owned(),
    };
    match field.outside {
        Outside::Refused => value,
        Outside::Clamped => format!("{value}, cut to the range"),
        Outside::ClampedAbove => format!("{value}, cut to the largest"),
        Outside::ClampedBelow => format!("{value}, raised to the smallest"),
    }
}

fn outs_table(text: &mut String, title: &str, outs: &[Out]) {
    line(
        text,
        format_args!(
            "\n{title}:\n\n| Field | Type | Unit | Only | Meaning |\n|---|---|---|---|---|"
        ),
    );
    out_rows(text, "", outs);
}

fn out_rows(text: &mut String, path: &str, outs: &[Out]) {
    for out in outs {
        let null = if out.nullable { " or null" } else { "" };
        let (shape, inner): (_, Option<(&[Out], &str)>) = match out.shape {
            Shape::Int => ("integer", None),
            Shape::Bit => ("0 or 1", None),
            Shape::Number => ("number", None),
            Shape::Bool => ("boolean", None),
            Shape::Text => ("string", None),
            Shape::Ints => ("list of integers", None),
            Shape::Texts => ("list of strings", None),
            Shape::Numbers => ("list of numbers", None),
            Shape::Edges => ("list of pairs", None),
            Shape::Named => ("object", None),
            Shape::Object(inner) => ("object", Some((inner, "."))),
            Shape::Objects(inner) => ("list of objects", Some((inner, "[]."))),
        };
        line(
            text,
            format_args!(
                "| `{path}{}` | {shape}{null} | {} | {} | {} |",
                out.name, out.unit, out.when, out.meaning,
            ),
        );
        if let Some((inner, joint)) = inner {
            out_rows(text, &format!("{path}{}{joint}", out.name), inner);
        }
    }
}
