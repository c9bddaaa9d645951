//! Lines for the plugin's log.

#[cfg(target_arch = "wasm32")]
use crate::bindings::handler::hostd::plugin::log as wit;
#[cfg(not(target_arch = "wasm32"))]
use crate::testing::with;

macro_rules! levels {
    ($($(#[$about:meta])* $level:ident $variant:ident)*) => {$(
        $(#[$about])*
        pub fn $level(message: &str) {
            on!(
                wit::write(wit::Level::$variant, message),
                with(|double| double.log.push((stringify!($level), message.to_owned())))
            );
        }
    )*};
}

levels! {
    /// For who looks for a fault.
    debug Debug
    /// For who wants to know what happens.
    info Info
    /// Something is not as it should be.
    warn Warn
    /// Something failed.
    error Error
}
