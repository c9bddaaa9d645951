//! A line of a GPIO chip that switches the power, by the kernel's character device (version 2 of its interface, Linux
//! 5.10).
//!
//! Nothing changes when the line is opened: one that is driven stays as it is, and tells how it is. Only a switch drives
//! it. The kernel's calls wait for the chip, so that they run on threads for such work.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use base::config::GpioLine;
use gpiocdev_uapi::NAME_LEN_MAX;
use gpiocdev_uapi::v2::{self, LineConfig, LineFlags, LineRequest, LineValues};
use tokio::task::spawn_blocking;

use super::source::Trouble;
use crate::chip::{self, Chip, Meant, explained, system};

/// What this program calls itself to others that want the line.
const USER: &str = "hostd";

/// How long the level of a line that nothing drives may take, which rises through a resistor.
const FOLLOWS_WITHIN: Duration = Duration::from_millis(50);

/// What drivers answer if a line cannot be driven as they are told: `EINVAL`, and one that has a number only inside the
/// kernel, `ENOTSUPP`.
const CANNOT: [i32; 2] = [22, 524];

/// How often it is looked at meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Which line, and how it is driven.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    chip: Meant,
    line: GpioLine,
    active_low: bool,
    open_drain: bool,
}

impl Plan {
    pub(super) fn new(
        chip: &str,
        line: &GpioLine,
        active_low: bool,
        open_drain: bool,
    ) -> Result<Self, String> {
        let meant = Meant::parse(chip);
        let meant = meant
            .ok_or_else(|| format!("power.chip `{chip}` is not of the form {}", chip::FORM))?;
        let bytes = 1..NAME_LEN_MAX;
        if matches!(line, GpioLine::Name(name) if !bytes.contains(&name.len())) {
            let most = NAME_LEN_MAX - 1;
            return Err(format!(
                "power.line must be a number, or a name of 1 to {most} bytes"
            ));
        }
        Ok(Self {
            chip: meant,
            line: line.clone(),
            active_low,
            open_drain,
        })
    }

    /// The line as it is, or driven to be on or off.
    fn config(&self, on: Option<bool>) -> LineConfig {
        let mut config = LineConfig::default();
        config.flags.set(LineFlags::ACTIVE_LOW, self.active_low);
        if let Some(on) = on {
            config.flags.insert(LineFlags::OUTPUT);
            config.flags.set(LineFlags::OPEN_DRAIN, self.open_drain);
            config.add_values(&LineValues::from_slice(&[on]));
        }
        config
    }

    fn open(&self) -> io::Result<Line> {
        let chip = self.chip.open()?;
        let line = match &self.line {
            GpioLine::Number(number) => chip.line(*number)?,
            GpioLine::Name(name) => chip.named(name)?,
        };
        let what = format!("line {} of {chip}", line.number);
        let mut request = LineRequest {
            consumer: USER.into(),
            config: self.config(None),
            num_lines: 1,
            ..LineRequest::default()
        };
        request.offsets.set(0, line.number);
        let file = v2::get_line(chip.file(), request).map_err(|error| {
            let error = system(error);
            match error.kind() {
                io::ErrorKind::ResourceBusy => used(&what, &chip, line.number),
                io::ErrorKind::InvalidInput => io::Error::other(format!(
                    "{what} is not for use as GPIO: its chip has another function there"
                )),
                _ => explained(&what, error),
            }
        })?;
        Ok(Line {
            plan: self.clone(),
            file,
            what,
        })
    }
}

/// Why a line cannot be had that somebody else has.
fn used(what: &str, chip: &Chip, number: u32) -> io::Error {
    let user = chip.line(number).map(|line| line.user).unwrap_or_default();
    let user: String = user.chars().filter(|c| !c.is_control()).collect();
    let by = match user.is_empty() {
        true => "another program or a driver".to_owned(),
        false => format!("`{user}`"),
    };
    io::Error::other(format!(
        "{what} is used by {by}; stop that one, or take another line"
    ))
}

/// A line that this program has.
#[derive(Debug)]
struct Line {
    plan: Plan,
    file: File,
    /// For messages.
    what: String,
}

impl Line {
    fn is_on(&self) -> Result<bool, Trouble> {
        let mut values = LineValues { bits: 0, mask: 1 };
        let read = v2::get_line_values(&self.file, &mut values);
        read.map_err(|error| self.away(error))?;
        Ok(values.bits & 1 != 0)
    }

    /// Drives it. Drivers do not tell when that failed, and what else is at the line may be stronger, so it is read back.
    fn switch(&self, on: bool) -> Result<(), Trouble> {
        let set = v2::set_line_config(&self.file, self.plan.config(Some(on)));
        set.map_err(|error| match error {
            v2::Error::Os(number) if CANNOT.contains(&number.0) => self.cannot(),
            error => self.away(error),
        })?;
        let until = Instant::now() + FOLLOWS_WITHIN;
        while self.is_on()? != on {
            if until < Instant::now() {
                let (what, wanted) = (&self.what, if on { "on" } else { "off" });
                return Err(Trouble::Refused(format!(
                    "{what} was switched {wanted}, and does not read so: something else holds it, or its chip cannot read \
                     what it drives"
                )));
            }
            sleep(LOOK_EVERY);
        }
        Ok(())
    }

    fn cannot(&self) -> Trouble {
        let (what, how) = match self.plan.open_drain {
            true => (&self.what, " with open_drain = true"),
            false => (&self.what, ""),
        };
        Trouble::Refused(format!(
            "{what} cannot be driven{how}: its chip does not do that"
        ))
    }

    fn away(&self, error: v2::Error) -> Trouble {
        explained(&self.what, system(error)).into()
    }
}

/// An open line, for the async runtime.
#[derive(Debug)]
pub(super) struct Gpio(Arc<Line>);

impl Gpio {
    pub(super) async fn open(plan: &Plan) -> Result<Self, Trouble> {
        let plan = plan.clone();
        let opened = spawn_blocking(move || plan.open()).await;
        let line = opened.map_err(io::Error::other)??;
        Ok(Self(Arc::new(line)))
    }

    pub(super) async fn is_on(&mut self) -> Result<bool, Trouble> {
        self.with(Line::is_on).await
    }

    pub(super) async fn switch(&mut self, on: bool) -> Result<(), Trouble> {
        self.with(move |line| line.switch(on)).await
    }

    /// Does what may wait. Whoever no longer waits for it does not end it.
    async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Line) -> Result<T, Trouble> + Send + 'static,
    ) -> Result<T, Trouble> {
        let line = self.0.clone();
        let done = spawn_blocking(move || work(&line)).await;
        done.map_err(io::Error::other)?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(active_low: bool, open_drain: bool) -> Plan {
        Plan::new("gpiochip0", &GpioLine::Number(3), active_low, open_drain).unwrap()
    }

    #[test]
    fn what_means_no_line_is_told() {
        let number = GpioLine::Number(0);
        let told = Plan::new("usb:10c4", &number, false, false).unwrap_err();
        assert!(told.contains("power.chip `usb:10c4`"), "{told}");
        for wrong in ["", &"x".repeat(32)] {
            let name = GpioLine::Name(wrong.to_owned());
            let told = Plan::new("gpiochip0", &name, false, false).unwrap_err();
            assert!(told.contains("power.line"), "{told}");
        }
    }

    #[test]
    fn only_a_switch_drives_the_line() {
        for (plan, flags) in [
            (plan(false, false), LineFlags::empty()),
            (plan(true, false), LineFlags::ACTIVE_LOW),
        ] {
            let config = plan.config(None);
            assert_eq!((config.flags, config.num_attrs), (flags, 0));
            for on in [false, true] {
                let config = plan.config(Some(on));
                assert_eq!(config.flags, flags | LineFlags::OUTPUT);
                let value = config.attr(0).attr.to_value();
                assert_eq!(value, Some(v2::LineAttributeValue::Values(u64::from(on))));
                assert_eq!((config.num_attrs, config.attr(0).mask), (1, 1));
            }
        }
        // The kernel takes how a line is driven only together with its direction.
        assert_eq!(plan(false, true).config(None).flags, LineFlags::empty());
        let driven = plan(false, true).config(Some(true)).flags;
        assert_eq!(driven, LineFlags::OUTPUT | LineFlags::OPEN_DRAIN);
    }
}
