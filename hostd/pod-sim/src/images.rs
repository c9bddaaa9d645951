//! The parts of an update: images, and where they are stored.

mod blobs;
mod image;
mod target;

pub(crate) use blobs::Blobs;
pub use image::{FirmwareImage, IMAGE_HEADER_BYTES};
pub use target::Target;
