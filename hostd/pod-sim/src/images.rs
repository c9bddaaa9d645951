//! What an update brings: images, and the places they go to.

mod blobs;
mod image;
mod target;

pub(crate) use blobs::Blobs;
pub use image::{FirmwareImage, IMAGE_HEADER_BYTES};
pub use target::Target;
