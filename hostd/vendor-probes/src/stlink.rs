//! ST-Link: a probe that takes accesses to registers. It resets the line and identifies the target by itself, and selects
//! access ports and banks with each access.

use std::fmt::Write as _;

use probe_rs::architecture::arm::dp::{DpAddress, DpRegisterAddress};
use probe_rs::architecture::arm::sequences::DefaultArmSequence;
use probe_rs::architecture::arm::{ArmDebugInterface, ArmError, FullyQualifiedApAddress};
use probe_rs::probe::stlink::{StLinkFactory, StlinkError};
use probe_rs::probe::{
    DebugProbeError, DebugProbeSelector, Probe as Driver, ProbeFactory, WireProtocol,
};

use crate::port::{Access, Accessed, Ack, Port, PortError, SELECT};
use crate::probe::told;

/// Ones that reset the line.
const RESET_ONES: usize = 50;

/// Serial numbers with fewer characters are those of old probes, which have bytes there: the driver knows them by the
/// hexadecimal numbers of these.
const SERIAL_CHARS: usize = 24;

/// The reset line, as the driver numbers pins.
const NRESET: u32 = 1 << 7;

/// How the driver has the probe.
enum State {
    Idle(Driver),
    /// In touch with a target.
    Attached(Box<dyn ArmDebugInterface>),
    /// Between the two; where it stays, the driver has dropped the probe.
    Gone,
}

/// An open ST-Link.
pub(crate) struct Link {
    selector: DebugProbeSelector,
    state: State,
    /// The target did not answer as one that the probe is in touch with.
    is_stale: bool,
    select: u32,
    clock_khz: Option<u32>,
}

fn open(selector: &DebugProbeSelector) -> Result<Driver, String> {
    let opened = StLinkFactory.open(selector);
    let mut probe = opened.map_err(|error| told(&error))?;
    let selected = probe.select_protocol(WireProtocol::Swd);
    selected.map_err(|error| told(&error))?;
    Ok(Driver::from_specific_probe(probe))
}

impl Link {
    /// Opens it.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub(crate) fn open(selector: &DebugProbeSelector) -> Result<Self, String> {
        let mut selector = selector.clone();
        selector.serial_number = selector.serial_number.map(serial);
        Ok(Self {
            state: State::Idle(open(&selector)?),
            selector,
            is_stale: false,
            select: 0,
            clock_khz: None,
        })
    }

    /// Gets in touch with the target, if it is not.
    fn attach(&mut self) -> Result<&mut dyn ArmDebugInterface, ArmError> {
        if let State::Idle(_) = self.state
            && let State::Idle(mut driver) = std::mem::replace(&mut self.state, State::Gone)
        {
            if let Err(error) = driver.attach_to_unspecified() {
                self.state = State::Idle(driver);
                return Err(match error {
                    probe_rs::Error::Probe(error) => error.into(),
                    probe_rs::Error::Arm(error) => error,
                    error => DebugProbeError::Other(told(&error)).into(),
                });
            }
            let attached = driver.try_into_arm_debug_interface(DefaultArmSequence::create());
            self.state = match attached {
                Ok(interface) => State::Attached(interface),
                Err((driver, error)) => {
                    self.state = State::Idle(driver);
                    return Err(error);
                }
            };
        }
        match &mut self.state {
            State::Attached(interface) => Ok(&mut **interface),
            _ => Err(DebugProbeError::NotAttached.into()),
        }
    }

    /// Lets go of the target. The driver begins anew: a probe that gets in touch again has closed the access ports that the
    /// driver believes to be open.
    fn detach(&mut self) -> Result<&mut Driver, PortError> {
        self.is_stale = false;
        if !matches!(self.state, State::Idle(_)) {
            // Dropped first, since only one can have it.
            self.state = State::Gone;
            let mut driver = open(&self.selector).map_err(PortError::Lost)?;
            if let Some(khz) = self.clock_khz {
                let set = driver.set_speed(khz);
                set.map_err(|error| PortError::Lost(told(&error)))?;
            }
            self.state = State::Idle(driver);
        }
        match &mut self.state {
            State::Idle(driver) => Ok(driver),
            _ => Err(PortError::Lost("its driver has failed".to_owned())),
        }
    }

    fn one(&mut self, access: Access) -> Result<u32, ArmError> {
        let (select, address) = (self.select, access.address);
        if !access.is_ap && !access.is_read && address == SELECT {
            // The probe selects by itself.
            self.select = access.data;
            return Ok(0);
        }
        let interface = self.attach()?;
        if access.is_ap {
            let [.., number] = select.to_le_bytes();
            let port = FullyQualifiedApAddress::v1_with_default_dp(number);
            let address = u64::from(select & 0xF0) | u64::from(address);
            return match access.is_read {
                true => interface.read_raw_ap_register(&port, address),
                false => interface
                    .write_raw_ap_register(&port, address, access.data)
                    .map(|()| 0),
            };
        }
        let bank = u8::try_from(select & 0xF).unwrap_or(0);
        // Only this register has banks.
        let bank = (address == crate::port::CTRL_STAT).then_some(bank);
        let register = DpRegisterAddress { address, bank };
        match access.is_read {
            true => interface.read_raw_dp_register(DpAddress::Default, register),
            false => interface
                .write_raw_dp_register(DpAddress::Default, register, access.data)
                .map(|()| 0),
        }
    }
}

impl Port for Link {
    /// The target may still be without power: it is looked for with the first access.
    fn connect(&mut self) -> Result<(), PortError> {
        Ok(())
    }

    fn disconnect(&mut self) -> Result<(), PortError> {
        self.detach().map(drop)
    }

    fn set_clock(&mut self, hz: u32) -> Result<(), PortError> {
        let khz = (hz / 1000).max(1);
        if self.clock_khz == Some(khz) {
            return Ok(());
        }
        let driver = self.detach()?;
        match driver.set_speed(khz) {
            Ok(_) => {
                self.clock_khz = Some(khz);
                Ok(())
            }
            Err(error @ DebugProbeError::UnsupportedSpeed(_)) => {
                Err(PortError::Refused(told(&error)))
            }
            Err(error) => Err(PortError::Lost(told(&error))),
        }
    }

    /// The probe has its own.
    fn configure(&mut self, _idle_cycles: u8, _wait_retries: u16) {}

    /// What resets the line has the probe get in touch with the target anew, if it has lost that.
    fn sequence(&mut self, bits: &[bool]) -> Result<(), PortError> {
        let is_reset = bits.split(|bit| !bit).any(|ones| ones.len() >= RESET_ONES);
        if is_reset {
            self.select = 0;
        }
        if is_reset && self.is_stale {
            self.detach()?;
        }
        Ok(())
    }

    fn access(&mut self, accesses: &[Access]) -> Result<Accessed, PortError> {
        let mut accessed = Accessed {
            done: 0,
            ack: Ack::Ok,
            values: Vec::new(),
        };
        for access in accesses {
            match self.one(*access) {
                Ok(value) => {
                    accessed.done += 1;
                    accessed.values.extend(access.is_read.then_some(value));
                }
                Err(error) => {
                    accessed.ack = ack_of(&error)?;
                    self.is_stale |= matches!(accessed.ack, Ack::Silence | Ack::Broken);
                    break;
                }
            }
        }
        Ok(accessed)
    }

    fn set_reset(&mut self, is_held: bool) -> Result<(), PortError> {
        let set = match &mut self.state {
            State::Attached(interface) => {
                let level = if is_held { 0 } else { NRESET };
                interface.swj_pins(level, NRESET, 0).map(drop)
            }
            State::Idle(driver) if is_held => driver.target_reset_assert(),
            State::Idle(driver) => driver.target_reset_deassert(),
            State::Gone => Err(DebugProbeError::NotAttached),
        };
        set.map_err(|error| PortError::Lost(told(&error)))
    }
}

/// A serial number as the driver has it.
fn serial(text: String) -> String {
    if text.chars().count() >= SERIAL_CHARS {
        return text;
    }
    text.bytes().fold(String::new(), |mut digits, byte| {
        // Writing to a string never fails.
        let _ = write!(digits, "{byte:02X}");
        digits
    })
}

/// The acknowledgement behind an error of the driver.
///
/// # Errors
/// It is none of the target.
fn ack_of(error: &ArmError) -> Result<Ack, PortError> {
    let lost = || PortError::Lost(told(error));
    let ArmError::Probe(DebugProbeError::ProbeSpecific(specific)) = error else {
        return Err(lost());
    };
    match specific.downcast_ref() {
        Some(StlinkError::CommandFailed(status)) => Ok(ack_of_status(&format!("{status:?}"))),
        Some(StlinkError::BanksNotAllowedOnDPRegister) => Ok(Ack::Broken),
        _ => Err(lost()),
    }
}

/// The same for the name of a status, which is all that the driver shows of it.
fn ack_of_status(name: &str) -> Ack {
    match name {
        "SwdApWait" | "SwdDpWait" => Ack::Wait,
        "SwdApFault"
        | "SwdDpFault"
        | "SwdApStickyError"
        | "SwdApStickyorunError"
        | "SwdApWdataError"
        | "JtagDbgPowerError" => Ack::Fault,
        "JtagNoDeviceConnected" | "JtagGetIdcodeError" | "JtagUnknownJtagChain" | "SwdDpError" => {
            Ack::Silence
        }
        _ => Ack::Broken,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_serial_numbers_are_bytes() {
        assert_eq!(serial("J\u{7}".to_owned()), "4A07");
        let long = "066DFF514988525067112233";
        assert_eq!(serial(long.to_owned()), long);
    }

    #[test]
    fn what_a_status_says_of_the_target() {
        for (name, ack) in [
            ("SwdApWait", Ack::Wait),
            ("SwdDpFault", Ack::Fault),
            ("JtagGetIdcodeError", Ack::Silence),
            ("Other(99)", Ack::Broken),
        ] {
            assert_eq!(ack_of_status(name), ack);
        }
    }
}
