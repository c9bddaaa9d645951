//! A simulated microcontroller that a bench can power, flash, debug and listen to.
//!
//! ```text
//!   CMSIS-DAP packets           power, reset, timed pin levels
//!          |                                  |
//!      dap::Probe --- SWD transfers --- Target ---> Board (timed pin changes)
//!                                        |   \
//!                              debug unit, AP  armv6m::Core  <->  stm32f0::Stm32f0 (a Bus)
//!                                              armv7m::Core  <->  stm32f4::Stm32f4
//! ```
//!
//! A core executes real ARMv6-M or ARMv7-M code and knows only a [`bus::Bus`]; the part behind it is an
//! STM32F030 or an STM32F446.
//! Time is counted in core cycles and reported as nanoseconds since the target was made. Nothing here reads
//! a clock or starts a thread: the owner of a [`target::Target`] runs it up to a given time, and asks when
//! it will next have something to do. Simulated code can do anything; nothing it does causes a panic.
#![forbid(unsafe_code)]

mod adi;
mod alu;
pub mod armv6m;
pub mod armv7m;
pub mod bus;
pub mod chip;
pub mod cpu;
pub mod dap;
mod debug;
pub mod firmware;
mod machine;
pub mod stm32f0;
pub mod stm32f4;
pub mod swd;
mod systick;
pub mod target;
#[cfg(test)]
mod testing;
mod watchpoints;
mod word;
