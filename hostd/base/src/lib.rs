//! What every layer of the server needs and none owns: the clock, ids, the configuration, the log, the
//! data folder and its disk, live streams, and forms.
//!
//! It knows no device, no user, no table and no HTTP library.

pub mod clock;
pub mod config;
pub mod folder;
pub mod id;
pub mod likeness;
pub mod live;
pub mod logging;
pub mod multipart;
pub mod news;
pub mod pace;
pub mod pins;
pub mod private;
pub mod reach;
pub mod ring;
#[doc(hidden)]
pub mod seeded;
pub mod space;
