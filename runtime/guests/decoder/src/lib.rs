//! A plugin that counts what it is shown, or commits the crime that its option names: for tests of what decoders may do.

#![cfg(target_arch = "wasm32")]

mod counter;
mod crimes;
mod i2c;

use counter::{Changes, Samples};

hostd_plugin::decoders!(Changes, Samples, i2c::Changes, i2c::Samples);
