//! The ways to power a target. A new one is a module and a line in each match here.

use std::io;

use base::config::PowerPart;

use super::gpio::{self, Gpio};
use super::hub::{self, Hub};
use super::program::{self, Programs};
use super::relay::{self, Relay};
use super::scpi::{self, Scpi};

/// What powers the target, checked.
#[derive(Debug, Clone)]
pub(crate) enum Plan {
    Scpi(scpi::Plan),
    Hub(hub::Plan),
    Relay(relay::Plan),
    Gpio(gpio::Plan),
    Command(program::Plan),
}

impl Plan {
    /// # Errors
    /// What is wrong with the table.
    pub(crate) fn of(part: &PowerPart) -> Result<Self, String> {
        match part {
            PowerPart::Scpi {
                address,
                voltage_mv,
                limit_ma,
                select,
                dialect,
                channel,
            } => {
                let select = select.clone();
                let plan =
                    scpi::Plan::new(address, *voltage_mv, *limit_ma, select, *dialect, *channel);
                plan.map(Self::Scpi)
            }
            PowerPart::Hub { hub, port } => hub::Plan::new(hub, *port).map(Self::Hub),
            PowerPart::Relay {
                path,
                baud,
                on,
                off,
            } => relay::Plan::new(path, *baud, on, off).map(Self::Relay),
            PowerPart::Gpio {
                chip,
                line,
                active_low,
                open_drain,
            } => gpio::Plan::new(chip, line, *active_low, *open_drain).map(Self::Gpio),
            PowerPart::Command { on, off } => Ok(Self::Command(program::Plan::new(on, off))),
        }
    }
}

/// Why a source does not do what it is told.
#[derive(Debug, thiserror::Error)]
pub(super) enum Trouble {
    /// It cannot be reached, or makes no sense.
    #[error("{0}")]
    Away(String),
    /// It can, but does not want.
    #[error("{0}")]
    Refused(String),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Away(error.to_string())
    }
}

/// What a source gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) mv: i64,
    pub(super) ua: i64,
}

/// A source that is open.
#[derive(Debug)]
pub(super) enum Source {
    Scpi(Scpi),
    Hub(Hub),
    Relay(Relay),
    Gpio(Gpio),
    Command(Programs),
}

impl Source {
    pub(super) async fn open(plan: &Plan) -> Result<Self, Trouble> {
        Ok(match plan {
            Plan::Scpi(plan) => Self::Scpi(Scpi::open(plan).await?),
            Plan::Hub(plan) => Self::Hub(Hub::open(plan).await?),
            Plan::Relay(plan) => Self::Relay(Relay::open(plan).await?),
            Plan::Gpio(plan) => Self::Gpio(Gpio::open(plan).await?),
            Plan::Command(plan) => Self::Command(Programs::open(plan)?),
        })
    }

    /// Whether it is still there; and whether it is on, if it can tell.
    pub(super) async fn look(&mut self) -> Result<Option<bool>, Trouble> {
        match self {
            Self::Scpi(scpi) => scpi.is_on().await.map(Some),
            Self::Hub(hub) => hub.is_on().await.map(Some),
            Self::Relay(relay) => relay.look().await.map(|()| None),
            Self::Gpio(gpio) => gpio.is_on().await.map(Some),
            Self::Command(programs) => programs.look().map(|()| None),
        }
    }

    pub(super) async fn switch(&mut self, on: bool) -> Result<(), Trouble> {
        match self {
            Self::Scpi(scpi) => scpi.switch(on).await,
            Self::Hub(hub) => hub.switch(on).await,
            Self::Relay(relay) => relay.switch(on).await,
            Self::Gpio(gpio) => gpio.switch(on).await,
            Self::Command(programs) => programs.switch(on).await,
        }
    }

    /// What it gives, if it can measure that.
    pub(super) async fn read(&mut self) -> Result<Option<Reading>, Trouble> {
        match self {
            Self::Scpi(scpi) => scpi.read().await,
            Self::Hub(_) | Self::Relay(_) | Self::Gpio(_) | Self::Command(_) => Ok(None),
        }
    }
}
