//! Rules on boards that are drawn here, boards in the syntax of several versions, and mutations of them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod artifacts;
mod bounds;
mod cancel;
mod cases;
mod catalogue;
mod copper;
mod diff;
mod emission;
mod formats;
mod impedance;
mod lines;
mod made;
mod metamorphic;
mod mutations;
mod opening;
mod pairs;
mod parts;
mod plotter;
mod reading;
mod real;
mod resonances;
mod returns;
mod runs;
mod settings;
mod sheet;
mod solving;
mod supplies;
mod time;
