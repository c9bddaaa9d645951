//! An I2C master outside the pod: it puts real bits on two channels, each at its time, open drain,
//! and reads back the actual levels of the lines.

use pod_protocol::LA_CHANNELS;
use tokio::time::Duration;

use super::SimPod;
use super::digital::Digital;
use super::pins::bit;
use super::shared::Shared;

/// Clock rates that a master can have, in hertz.
const HZ: std::ops::RangeInclusive<u32> = 100..=1_000_000;

const BYTE_BITS: u8 = 8;

/// A master on two channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct I2cMaster {
    /// Channel of the clock, 1 to 14.
    pub scl: u8,
    /// Channel of the data, 1 to 14.
    pub sda: u8,
    /// Clock rate in hertz, 100 to 1,000,000.
    pub hz: u32,
}

/// A part of a transfer, from one START to the next or to the STOP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum I2cPart {
    /// Bytes to a device.
    Write {
        /// Address, seven bits.
        address: u8,
        /// The bytes written.
        bytes: Vec<u8>,
    },
    /// Bytes from a device; all but the last are acknowledged.
    Read {
        /// Address, seven bits.
        address: u8,
        /// Number of bytes.
        count: usize,
    },
}

/// Why a transfer failed. The bus is idle again afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum I2cError {
    /// The channels do not exist or are the same, or the clock rate is out of range.
    #[error("no such I2C bus: two channels of 1 to {LA_CHANNELS}, at 100 Hz to 1 MHz")]
    Bus,
    /// A line is low that should be high: a device holds it, or nothing pulls it up.
    #[error("the I2C bus is not free: a line is low")]
    Busy,
    /// No device acknowledged.
    #[error("address {address:#04x} did not acknowledge byte {byte}")]
    Nack {
        /// Address, seven bits.
        address: u8,
        /// 0 for the address, then one for each byte that follows it.
        byte: usize,
    },
}

impl SimPod {
    /// Performs a transfer as a master on the target's side, beginning `delay` from now; returns
    /// the bytes read. It is computed at once; its bits appear on the lines at their times.
    ///
    /// # Errors
    /// [`I2cError`] if the bus is not free or a device does not acknowledge.
    pub fn i2c_transfer(
        &self,
        master: I2cMaster,
        delay: Duration,
        parts: &[I2cPart],
    ) -> Result<Vec<u8>, I2cError> {
        self.shared.i2c_transfer(master, delay, parts)
    }
}

impl Shared {
    fn i2c_transfer(
        &self,
        master: I2cMaster,
        delay: Duration,
        parts: &[I2cPart],
    ) -> Result<Vec<u8>, I2cError> {
        let channels = 1..=LA_CHANNELS;
        let wired = channels.contains(&master.scl) && channels.contains(&master.sda);
        if !wired || master.scl == master.sda || !HZ.contains(&master.hz) {
            return Err(I2cError::Bus);
        }
        let delay_ns = u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX / 2);
        let read = self.with(|world, now_ns| {
            let mut bus = Bus::new(&mut world.digital, master, now_ns + delay_ns);
            bus.transfer(parts)
        });
        self.wires_changed();
        read
    }
}

/// A master in a transfer: every step advances its time.
pub(crate) struct Bus<'a> {
    digital: &'a mut Digital,
    master: I2cMaster,
    quarter_ns: u64,
    at_ns: u64,
}

impl<'a> Bus<'a> {
    /// A master whose next step is at this instant.
    pub(crate) fn new(digital: &'a mut Digital, master: I2cMaster, at_ns: u64) -> Self {
        Self {
            digital,
            master,
            quarter_ns: 250_000_000 / u64::from(master.hz),
            at_ns,
        }
    }

    /// Performs the parts one after the other with repeated STARTs, then a STOP.
    fn transfer(&mut self, parts: &[I2cPart]) -> Result<Vec<u8>, I2cError> {
        let mut read = Vec::new();
        self.start()?;
        for (index, part) in parts.iter().enumerate() {
            if index > 0 {
                self.restart()?;
            }
            if let Err(error) = self.part(part, &mut read) {
                self.stop();
                return Err(error);
            }
        }
        self.stop();
        Ok(read)
    }

    fn part(&mut self, part: &I2cPart, read: &mut Vec<u8>) -> Result<(), I2cError> {
        match part {
            I2cPart::Write { address, bytes } => {
                let head = [address << 1];
                for (index, byte) in head.iter().chain(bytes).enumerate() {
                    self.write_to(*address, index, *byte)?;
                }
            }
            I2cPart::Read { address, count } => {
                self.write_to(*address, 0, address << 1 | 1)?;
                for index in 1..=*count {
                    read.push(self.read(index < *count)?);
                }
            }
        }
        Ok(())
    }

    fn write_to(&mut self, address: u8, index: usize, byte: u8) -> Result<(), I2cError> {
        if self.write(byte)? {
            return Ok(());
        }
        let byte = index;
        Err(I2cError::Nack { address, byte })
    }

    /// START, if both lines are high.
    pub(crate) fn start(&mut self) -> Result<(), I2cError> {
        if self.levels() != (true, true) {
            return Err(I2cError::Busy);
        }
        self.sda(true);
        self.wait(2);
        self.scl(true);
        Ok(())
    }

    /// START within a transfer.
    pub(crate) fn restart(&mut self) -> Result<(), I2cError> {
        self.wait(1);
        self.sda(false);
        self.wait(1);
        self.release_clock()?;
        self.wait(2);
        self.sda(true);
        self.wait(2);
        self.scl(true);
        Ok(())
    }

    /// STOP; the bus is free afterwards.
    pub(crate) fn stop(&mut self) {
        self.wait(1);
        self.sda(true);
        self.wait(1);
        self.scl(false);
        self.wait(2);
        self.sda(false);
        self.wait(2);
    }

    /// Sends a byte to the addressed device; returns whether it was acknowledged.
    pub(crate) fn write(&mut self, byte: u8) -> Result<bool, I2cError> {
        for position in (0..BYTE_BITS).rev() {
            self.bit(byte >> position & 1 == 1)?;
        }
        Ok(!self.bit(true)?)
    }

    /// Reads a byte from the addressed device.
    pub(crate) fn read(&mut self, acknowledge: bool) -> Result<u8, I2cError> {
        let mut byte = 0;
        for _ in 0..BYTE_BITS {
            byte = byte << 1 | u8::from(self.bit(true)?);
        }
        self.bit(!acknowledge)?;
        Ok(byte)
    }

    /// One clock pulse; returns the level of SDA in its middle.
    pub(crate) fn bit(&mut self, high: bool) -> Result<bool, I2cError> {
        self.wait(1);
        self.sda(!high);
        self.wait(1);
        self.release_clock()?;
        self.wait(1);
        let (_, sda) = self.levels();
        self.wait(1);
        self.scl(true);
        Ok(sda)
    }

    fn release_clock(&mut self) -> Result<(), I2cError> {
        self.scl(false);
        let (scl, _) = self.levels();
        if scl {
            return Ok(());
        }
        self.sda(false);
        Err(I2cError::Busy)
    }

    fn wait(&mut self, quarters: u64) {
        self.at_ns += quarters * self.quarter_ns;
    }

    fn scl(&mut self, low: bool) {
        self.pull(self.master.scl, low);
    }

    pub(crate) fn sda(&mut self, low: bool) {
        self.pull(self.master.sda, low);
    }

    fn pull(&mut self, la: u8, low: bool) {
        let level = low.then_some(false);
        self.digital.outside.drive(la, level, self.at_ns);
        self.digital.listen(self.at_ns);
    }

    fn levels(&mut self) -> (bool, bool) {
        self.digital.listen(self.at_ns);
        let word = self.digital.word(self.at_ns);
        let is_high = |la| word & bit(la) != 0;
        (is_high(self.master.scl), is_high(self.master.sda))
    }
}
