//! Protocol decoders: a description, and a machine that is shown levels.
//!
//! ```
//! use hostd_plugin::decoder::{Channel, Class, Decoder, Description, Found, Setup, decode, setup};
//!
//! /// Measures how long a line is high.
//! struct Pulses {
//!     rose: Option<u64>,
//! }
//!
//! impl Decoder for Pulses {
//!     const DESCRIPTION: Description = Description {
//!         channels: &[Channel::required("line", "The line")],
//!         classes: &[Class::new("pulse", "Pulse").decimal()],
//!         ..Description::of("pulses", "Pulses")
//!     };
//!
//!     fn new(_: &Setup) -> Result<Self, String> {
//!         Ok(Self { rose: None })
//!     }
//!
//!     fn change(&mut self, at: u64, levels: u8, found: &mut Found) {
//!         match (self.rose.take(), levels & 1) {
//!             (_, 1) => self.rose = Some(at),
//!             (Some(rose), _) => found.number(rose, at, 0, at - rose),
//!             (None, _) => {}
//!         }
//!     }
//!
//!     fn finish(&mut self, _end: u64, _found: &mut Found) {}
//! }
//!
//! hostd_plugin::decoders!(Pulses);
//!
//! // Sample numbers, and levels from there on; the capture ends before sample 100.
//! let setup = setup::<Pulses>(1e6, &["line"], &[]);
//! let found = decode::<Pulses>(&setup, &[(0, 0), (10, 1), (25, 0)], 100).unwrap();
//! assert_eq!((found[0].start, found[0].end), (10, 25));
//! ```

use crate::bindings::decoder::exports::hostd::plugin::decoding as wit;

mod description;
mod found;
mod running;

pub use description::{Channel, Class, Description, Input, Options, Row};
pub use found::Found;
#[doc(hidden)]
pub use running::{Running, Started, start};
pub use running::{decode, setup};
pub use wit::{Annotation, Setup, Value};

/// A decoder. Levels come as bits: the description's channel `i` in bit `i`; a channel that is not connected is low.
pub trait Decoder: Sized + 'static {
    /// What it is called, takes and says.
    const DESCRIPTION: Description;

    /// Begin with a capture.
    ///
    /// # Errors
    /// A sentence, when the options or the sample rate cannot be.
    fn new(setup: &Setup) -> Result<Self, String>;

    /// From sample `at` on, the levels are these; the first call is for sample 0. Not called if the description asks for
    /// samples.
    fn change(&mut self, at: u64, levels: u8, found: &mut Found);

    /// Samples from number `start` on, if the description asks for them. Otherwise not called.
    fn samples(&mut self, start: u64, levels: &[u8], found: &mut Found) {
        let _ = (start, levels, found);
    }

    /// The capture ends before sample `end`.
    fn finish(&mut self, end: u64, found: &mut Found);
}

/// What an option has been set to.
///
/// # Panics
/// The description has no such option.
#[must_use]
pub fn option<'a>(setup: &'a Setup, id: &str) -> &'a str {
    let found = setup.options.iter().find(|(known, _)| known == id);
    &found.expect("an option of the description").1
}

/// What is described to the host.
#[doc(hidden)]
#[must_use]
pub fn described<D: Decoder>() -> wit::DecoderInfo {
    D::DESCRIPTION.declared()
}

/// Export decoders, each a type that implements [`Decoder`]: `decoders!(Modbus, Pulses)`.
#[macro_export]
macro_rules! decoders {
    ($($decoder:ty),+ $(,)?) => {
        const _: () = {
            use $crate::decoder_bindings::exports::hostd::plugin::decoding as wit;

            struct Plugin;

            struct Decoding(::std::cell::RefCell<$crate::decoder::Started>);

            impl wit::Guest for Plugin {
                type Decoding = Decoding;

                fn decoders() -> Vec<wit::DecoderInfo> {
                    vec![$($crate::decoder::described::<$decoder>()),+]
                }
            }

            impl wit::GuestDecoding for Decoding {
                fn create(setup: wit::Setup) -> Result<wit::Decoding, String> {
                    $(if let Some(started) = $crate::decoder::start::<$decoder>(&setup) {
                        return Ok(wit::Decoding::new(Decoding(started?.into())));
                    })+
                    Err(format!("there is no decoder {}", setup.decoder))
                }

                fn changes(&self, data: Vec<u32>) -> Vec<wit::Annotation> {
                    self.0.borrow_mut().changes(&data)
                }

                fn samples(&self, start: u64, data: Vec<u8>) -> Vec<wit::Annotation> {
                    self.0.borrow_mut().samples(start, &data)
                }

                fn finish(&self, end: u64) -> Vec<wit::Annotation> {
                    self.0.borrow_mut().finish(end)
                }
            }

            #[cfg(target_arch = "wasm32")]
            $crate::decoder_bindings::export_decoder!(Plugin with_types_in $crate::decoder_bindings);
        };
    };
}
