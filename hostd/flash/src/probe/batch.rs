//! Transfers in as few packets as possible: writes wait until a read or the end of a packet, blocks fill
//! packets, and as many packets are in flight as the probe accepts.

use probe_rs::architecture::arm::{ArmError, DapError, RegisterAddress};
use probe_rs::probe::WireProtocol;

use super::{DapProbeDriver, ProbeFailure};
use crate::packets::{self, Ack, AnswerError, Transfer, Transferred};

/// Bits of the ABORT register: ends a transfer that the target keeps answering with WAIT.
const DAP_ABORT: u32 = 1;
/// Clears everything that makes the debug port answer FAULT.
const CLEAR_STICKY: u32 = 0x1e;

/// A register as encoded in a transfer.
fn register(address: RegisterAddress) -> u8 {
    u8::from(address.is_ap()) | address.a2_and_3()
}

impl DapProbeDriver {
    pub(super) fn read(&mut self, address: RegisterAddress) -> Result<u32, ArmError> {
        self.batch.push(Transfer {
            register: register(address),
            write: None,
        });
        let (packet, transferred) = self.send_batch()?;
        // Writes have no words in the answer, and reports of a probe have zeros behind it.
        let word = transferred.words.first().copied();
        Ok(word.ok_or_else(|| ProbeFailure::from(packets::short(packet, &[])))?)
    }

    pub(super) fn write(&mut self, address: RegisterAddress, value: u32) -> Result<(), ArmError> {
        self.batch.push(Transfer {
            register: register(address),
            write: Some(value),
        });
        if self.batch.len() >= packets::writes_max(self.packet_bytes) {
            self.flush_batch()?;
        }
        Ok(())
    }

    pub(super) fn flush_batch(&mut self) -> Result<(), ArmError> {
        if self.batch.is_empty() {
            return Ok(());
        }
        self.send_batch().map(drop)
    }

    /// Sends the waiting writes; returns the command and its answer.
    fn send_batch(&mut self) -> Result<(u8, Transferred), ArmError> {
        let batch = std::mem::take(&mut self.batch);
        let packet = packets::transfer(&batch);
        let answer = self.answer(&packet)?;
        let transferred = packets::transferred(&packet, &answer).map_err(ProbeFailure::from)?;
        self.check(packet[0], &transferred, batch.len())?;
        Ok((packet[0], transferred))
    }

    pub(super) fn write_block(
        &mut self,
        address: RegisterAddress,
        values: &[u32],
    ) -> Result<(), ArmError> {
        self.flush_batch()?;
        let words_max = packets::block_write_words_max(self.packet_bytes);
        for group in values.chunks(words_max * self.packet_count) {
            let packets = group
                .chunks(words_max)
                .map(|chunk| (packets::block_write(register(address), chunk), chunk.len()));
            self.send_blocks(packets.collect(), |_| {})?;
        }
        Ok(())
    }

    pub(super) fn read_block(
        &mut self,
        address: RegisterAddress,
        values: &mut [u32],
    ) -> Result<(), ArmError> {
        self.flush_batch()?;
        let words_max = packets::block_read_words_max(self.packet_bytes);
        for group in values.chunks_mut(words_max * self.packet_count) {
            let packets = group.chunks(words_max).map(|chunk| {
                (
                    packets::block_read(register(address), chunk.len()),
                    chunk.len(),
                )
            });
            let packets = packets.collect();
            let mut rest = group;
            self.send_blocks(packets, |words| {
                let (filled, left) = std::mem::take(&mut rest).split_at_mut(words.len());
                filled.copy_from_slice(words);
                rest = left;
            })?;
        }
        Ok(())
    }

    /// Sends block packets, with their numbers of words, all at once, and passes on what each read. An
    /// answer with too few words is an error and is not passed on.
    fn send_blocks(
        &mut self,
        blocks: Vec<(Vec<u8>, usize)>,
        mut take: impl FnMut(&[u32]),
    ) -> Result<(), ArmError> {
        let (packets, counts): (Vec<_>, Vec<_>) = blocks.into_iter().unzip();
        let answers = self.line.exchange(&packets).map_err(ProbeFailure::from)?;
        for (place, (packet, count)) in packets.iter().zip(counts).enumerate() {
            let answer = answers.get(place).map_or(&[][..], Vec::as_slice);
            let transferred = packets::transferred(packet, answer).map_err(ProbeFailure::from)?;
            self.check(packet[0], &transferred, count)?;
            let is_read = packet[4] & 2 != 0;
            if is_read && transferred.words.len() < count {
                return Err(ProbeFailure::from(packets::short(packet[0], answer)).into());
            }
            if is_read {
                take(&transferred.words[..count]);
            }
        }
        Ok(())
    }

    /// Turns an acknowledgement other than OK into an error and clears it from the debug port.
    fn check(
        &mut self,
        command: u8,
        transferred: &Transferred,
        expected: usize,
    ) -> Result<(), ArmError> {
        let is_answer = matches!(transferred.ack, Ack::Ok | Ack::Wait | Ack::Fault);
        self.line.memory().note_answer(is_answer);
        self.silent_count = if is_answer { 0 } else { self.silent_count + 1 };
        match transferred.ack {
            Ack::Ok if transferred.count == expected => Ok(()),
            Ack::Ok => Err(ProbeFailure::from(AnswerError::Refused { command }).into()),
            Ack::Wait => {
                self.command(&packets::write_abort(DAP_ABORT))?;
                Err(DapError::WaitResponse.into())
            }
            Ack::Fault => {
                self.command(&packets::write_abort(CLEAR_STICKY))?;
                Err(DapError::FaultResponse.into())
            }
            Ack::Silence => Err(DapError::NoAcknowledge.into()),
            Ack::Garbage => Err(DapError::Protocol(WireProtocol::Swd).into()),
        }
    }
}
