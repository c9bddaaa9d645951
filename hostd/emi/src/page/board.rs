//! The board on the page: its picture, switches of what is shown, and buttons. The switches are style alone, so that they work
//! where no script runs.

use std::fmt::Write as _;

use crate::board::{Board, Side};
use crate::check::Report;
use crate::drawing::Drawing;
use crate::plain::{Name, Sentence};
use crate::svg;

/// Something that can be hidden beside layers.
struct Part {
    id: &'static str,
    /// In the picture.
    class: &'static str,
    name: &'static str,
    is_shown: bool,
}

const PARTS: [Part; 5] = [
    part("show-pours", "pours", "Pours", true),
    part("show-through", "through", "Vias and through holes", true),
    part("show-top", "labels.top", "References, top", true),
    // Above those of the top they cannot be read.
    part("show-bottom", "labels.bottom", "References, bottom", false),
    part("show-marks", "marks", "Findings", true),
];

const fn part(id: &'static str, class: &'static str, name: &'static str, is_shown: bool) -> Part {
    Part {
        id,
        class,
        name,
        is_shown,
    }
}

/// The style by which the switches work, and the shape of the pane.
pub(super) fn style(drawing: &Drawing, board: &Board) -> String {
    let mut style = String::new();
    let mut hide = |id: &str, class: &str| {
        let _ = write!(
            style,
            ".board:has(#{id}:not(:checked)) .{class}{{display:none}}"
        );
    };
    for layer in 0..board.layers.len() {
        hide(&format!("show-l{layer}"), &format!("l{layer}"));
    }
    for part in PARTS {
        hide(part.id, part.class);
    }
    let [_, _, width, height] = svg::view(drawing);
    let _ = write!(style, ".pane{{aspect-ratio:{width}/{height}}}");
    style
}

/// The picture with what controls it.
pub(super) fn section(page: &mut String, drawing: &Drawing, board: &Board, report: &Report) {
    let [left, top, width, height] = svg::view(drawing);
    let radius = svg::mark_radius(drawing);
    let _ = write!(
        page,
        "<section class=\"board\" aria-label=\"Board\">\n<div class=\"pane\" tabindex=\"0\">\
         <svg id=\"board\" viewBox=\"{left} {top} {width} {height}\" data-mark=\"{radius}\" role=\"img\" \
         aria-label=\"The board from above with its findings\">\n"
    );
    svg::copper(page, drawing, board);
    svg::labels(page, drawing, Side::Top);
    svg::labels(page, drawing, Side::Bottom);
    page.push_str("<g class=\"marks\">\n");
    for finding in report.findings.iter().rev() {
        let _ = write!(page, "<a class=\"pick\" href=\"#{}\">", finding.id);
        let data = format!(" data-f=\"{}\"", finding.id);
        svg::mark(page, finding, drawing, radius, &data);
        page.push_str("</a>");
    }
    page.push_str(
        "</g><rect id=\"box\" visibility=\"hidden\"/></svg>\n<div class=\"zoom needs-js\" hidden>\
         <button id=\"closer\" type=\"button\" title=\"Closer (+)\">+</button>\
         <button id=\"further\" type=\"button\" title=\"Further away (-)\">−</button>\
         <button id=\"whole\" type=\"button\" title=\"The whole board (0)\">⤢</button></div></div>\n",
    );
    switches(page, board);
    if let Some(note) = drawing.note() {
        let _ = writeln!(page, "<p class=\"soft\">{}</p>", Sentence(&note));
    }
    page.push_str("</section>\n");
}

fn switches(page: &mut String, board: &Board) {
    page.push_str("<fieldset class=\"layers\" aria-label=\"What is shown\">");
    let mut switch = |id: &str, colour: Option<&str>, name: &str, is_shown: bool| {
        let checked = if is_shown { " checked" } else { "" };
        let swatch = colour.map_or_else(String::new, |colour| {
            format!("<svg viewBox=\"0 0 1 1\" aria-hidden=\"true\"><rect width=\"1\" height=\"1\" fill=\"{colour}\"/></svg>")
        });
        let _ = write!(
            page,
            "<label><input type=\"checkbox\" id=\"{id}\"{checked}>{swatch}{}</label>",
            Name(name)
        );
    };
    for (index, layer) in board.layers.iter().enumerate() {
        let colour = svg::layer_colour(index, board.layers.len());
        let name = match &layer.user_name {
            Some(user_name) => format!("{} ({user_name})", layer.name),
            None => layer.name.clone(),
        };
        switch(&format!("show-l{index}"), Some(colour), &name, true);
    }
    for part in PARTS {
        let colour = (part.id == "show-through").then_some(svg::THROUGH);
        switch(part.id, colour, part.name, part.is_shown);
    }
    page.push_str("</fieldset>\n");
}
