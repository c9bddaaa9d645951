//! The host's functions. On another machine than the host, those of a [`Double`](crate::testing::Double).

macro_rules! on {
    ($wasm:expr, $double:expr) => {{
        #[cfg(target_arch = "wasm32")]
        {
            $wasm
        }
        #[cfg(not(target_arch = "wasm32"))]
        {
            $double
        }
    }};
}

pub mod captures;
pub mod clock;
pub mod config;
pub mod devices;
pub mod http_out;
pub mod jobs;
pub mod log;
pub mod notify;
pub mod power;
pub mod random;
pub mod secrets;
pub mod store;
