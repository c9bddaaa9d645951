//! The board on the page: its picture, switches of what is shown, and buttons. The switches are style alone, so that they work
//! where no script runs.

use std::fmt::Write as _;

use crate::board::Board;
use crate::check::Report;
use crate::drawing::Drawing;
use crate::plain::{Name, Sentence};
use crate::svg;

/// What can be hidden beside layers: id, class in the picture, name.
const PARTS: [(&str, &str, &str); 4] = [
    ("show-pours", "pours", "Pours"),
    ("show-through", "through", "Vias and through holes"),
    ("show-labels", "labels", "References"),
    ("show-marks", "marks", "Findings"),
];

/// The style by which the switches work.
pub(super) fn toggles(board: &Board) -> String {
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
    for (id, class, _) in PARTS {
        hide(id, class);
    }
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
    let mut switch = |id: &str, colour: Option<&str>, name: &str| {
        let swatch = colour.map_or_else(String::new, |colour| {
            format!("<svg viewBox=\"0 0 1 1\" aria-hidden=\"true\"><rect width=\"1\" height=\"1\" fill=\"{colour}\"/></svg>")
        });
        let _ = write!(
            page,
            "<label><input type=\"checkbox\" id=\"{id}\" checked>{swatch}{}</label>",
            Name(name)
        );
    };
    for (index, layer) in board.layers.iter().enumerate() {
        let colour = svg::layer_colour(index, board.layers.len());
        let name = match &layer.user_name {
            Some(user_name) => format!("{} ({user_name})", layer.name),
            None => layer.name.clone(),
        };
        switch(&format!("show-l{index}"), Some(colour), &name);
    }
    for (id, _, name) in PARTS {
        let colour = (id == "show-through").then_some(svg::THROUGH);
        switch(id, colour, name);
    }
    page.push_str("</fieldset>\n");
}
