//! `DAP_Transfer` and `DAP_TransferBlock`: many register accesses in one packet.
//!
//! The access port answers a read with the result of the read before it. The probe hides that: it reads
//! once more and gives the host each value in its place, and after a write it checks whether it succeeded.

use super::{Fields, Link, Probe};
use crate::swd::{Answer, Request};

/// Bits of a request byte.
const AP: u8 = 1;
const READ: u8 = 1 << 1;
const VALUE_MATCH: u8 = 1 << 4;
const MATCH_MASK: u8 = 1 << 4;

/// Added to the acknowledgement if a value did not match the requested one.
const MISMATCH: u8 = 1 << 4;

const READ_BUFFER: Request = Request {
    is_ap: false,
    is_read: true,
    address: 0xc,
};

fn request(byte: u8) -> Request {
    Request {
        is_ap: byte & AP != 0,
        is_read: byte & READ != 0,
        address: byte & 0xc,
    }
}

/// Progress of one packet.
#[derive(Debug, Default)]
struct Progress {
    /// The acknowledgement of the last transfer; zero before the first one.
    acknowledge: u8,
    done: u16,
    data: Vec<u8>,
}

impl Progress {
    /// Records an answer; returns its data if it is a good one.
    fn note(&mut self, answer: Answer) -> Option<u32> {
        self.acknowledge = answer.bits();
        match answer {
            Answer::Ok(data) => Some(data),
            _ => None,
        }
    }
}

impl Probe {
    pub(super) fn transfer(
        &mut self,
        link: &mut Link<'_>,
        fields: &mut Fields<'_>,
        response: &mut Vec<u8>,
    ) {
        let _index = fields.byte();
        let count = fields.byte().unwrap_or(0);
        // Command, count, acknowledgement.
        let room = self.packet_bytes - 3;
        let mut progress = Progress::default();
        for _ in 0..count {
            let Some(byte) = fields.byte() else { break };
            if progress.data.len() + 4 > room && byte & READ != 0 {
                break;
            }
            let value = if byte & READ == 0 || byte & VALUE_MATCH != 0 {
                match fields.word() {
                    Some(word) => word,
                    None => break,
                }
            } else {
                0
            };
            if self
                .one_transfer(link, &mut progress, byte, value)
                .is_none()
            {
                break;
            }
            progress.done += 1;
            if progress.acknowledge & MISMATCH != 0 {
                break;
            }
        }
        response.push(u8::try_from(progress.done).unwrap_or(u8::MAX));
        response.push(progress.acknowledge);
        response.extend(progress.data);
    }

    fn one_transfer(
        &mut self,
        link: &mut Link<'_>,
        progress: &mut Progress,
        byte: u8,
        value: u32,
    ) -> Option<()> {
        match (byte & READ != 0, byte & VALUE_MATCH != 0) {
            (true, false) => {
                let data = self.read(link, progress, request(byte))?;
                progress.data.extend(data.to_le_bytes());
            }
            (true, true) => self.wait_for(link, progress, request(byte), value)?,
            (false, _) if byte & MATCH_MASK != 0 => {
                self.match_mask = value;
                progress.acknowledge = Answer::Ok(0).bits();
            }
            (false, _) => {
                progress.note(self.exchange(link, request(byte), value))?;
                if byte & AP != 0 {
                    // The next access tells whether the write succeeded.
                    progress.note(self.exchange(link, READ_BUFFER, 0))?;
                }
            }
        }
        Some(())
    }

    /// One read; fetches the result if the read is posted.
    fn read(&self, link: &mut Link<'_>, progress: &mut Progress, request: Request) -> Option<u32> {
        let data = progress.note(self.exchange(link, request, 0))?;
        if !request.is_ap {
            return Some(data);
        }
        progress.note(self.exchange(link, READ_BUFFER, 0))
    }

    /// Reads until the masked value is the wanted one, with as many retries as the host has set.
    fn wait_for(
        &self,
        link: &mut Link<'_>,
        progress: &mut Progress,
        request: Request,
        wanted: u32,
    ) -> Option<()> {
        for _ in 0..=self.configuration.match_retries {
            let data = self.read(link, progress, request)?;
            if data & self.match_mask == wanted {
                return Some(());
            }
        }
        progress.acknowledge |= MISMATCH;
        Some(())
    }

    pub(super) fn transfer_block(
        &mut self,
        link: &mut Link<'_>,
        fields: &mut Fields<'_>,
        response: &mut Vec<u8>,
    ) {
        let _index = fields.byte();
        let count = fields.half().unwrap_or(0);
        let mut progress = Progress::default();
        if let Some(byte) = fields.byte() {
            if byte & READ != 0 {
                // Command, count, acknowledgement.
                let room = (self.packet_bytes - 4) / 4;
                let count = usize::from(count).min(room);
                self.read_block(link, &mut progress, request(byte), count);
            } else {
                self.write_block(link, &mut progress, request(byte), count, fields);
            }
        }
        response.extend(progress.done.to_le_bytes());
        response.push(progress.acknowledge);
        response.extend(progress.data);
    }

    /// Reads a register repeatedly. Posted reads overlap: each access fetches the result of the one before
    /// it.
    fn read_block(
        &self,
        link: &mut Link<'_>,
        progress: &mut Progress,
        request: Request,
        count: usize,
    ) {
        if count == 0 {
            return;
        }
        if request.is_ap && progress.note(self.exchange(link, request, 0)).is_none() {
            return;
        }
        for place in 1..=count {
            let next = if request.is_ap && place == count {
                READ_BUFFER
            } else {
                request
            };
            let Some(data) = progress.note(self.exchange(link, next, 0)) else {
                return;
            };
            progress.data.extend(data.to_le_bytes());
            progress.done += 1;
        }
    }

    fn write_block(
        &self,
        link: &mut Link<'_>,
        progress: &mut Progress,
        request: Request,
        count: u16,
        fields: &mut Fields<'_>,
    ) {
        for _ in 0..count {
            let Some(word) = fields.word() else { return };
            if progress.note(self.exchange(link, request, word)).is_none() {
                return;
            }
            progress.done += 1;
        }
        if request.is_ap && progress.done > 0 {
            progress.note(self.exchange(link, READ_BUFFER, 0));
        }
    }
}
