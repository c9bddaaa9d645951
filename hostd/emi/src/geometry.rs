//! Plane geometry in millimetres, in the coordinates of the source file: x to the right, y down.

mod arc;
mod bounds;
mod point;
mod segment;
mod shape;

pub use arc::{arc_by_angle, arc_through, bezier, circle};
pub use bounds::Bounds;
pub use point::Point;
pub use segment::Segment;
pub use shape::Shape;
