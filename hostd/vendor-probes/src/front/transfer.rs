//! `DAP_Transfer` and `DAP_TransferBlock`: many accesses in one packet.

use std::time::Instant;

use super::{Front, PACKET_BYTES, PACKET_TIME_MAX, TRANSFER, TRANSFER_BLOCK};
use crate::fields::Fields;
use crate::port::{Access, Accessed, Ack, Port, PortError};

/// Bits of the byte that says what an access is.
const AP: u8 = 1;
const READ: u8 = 1 << 1;
const VALUE_MATCH: u8 = 1 << 4;
const MATCH_MASK: u8 = 1 << 4;

/// Added to the acknowledgement if a register never had the value that was waited for.
const MISMATCH: u8 = 1 << 4;

/// Bytes of an answer besides the values that were read.
const TRANSFER_HEAD: usize = 3;
const BLOCK_HEAD: usize = 4;

fn access(byte: u8, data: u32) -> Access {
    Access {
        is_ap: byte & AP != 0,
        is_read: byte & READ != 0,
        address: byte & 0xC,
        data,
    }
}

/// One step of a packet.
enum Item {
    Access(Access),
    /// Reads until what is read is this, under the mask.
    Match(Access, u32),
    Mask(u32),
}

fn item(fields: &mut Fields<'_>) -> Option<Item> {
    let byte = fields.byte()?;
    Some(match (byte & READ != 0, byte & VALUE_MATCH != 0) {
        (true, false) => Item::Access(access(byte, 0)),
        (true, true) => Item::Match(access(byte, 0), fields.word()?),
        (false, _) if byte & MATCH_MASK != 0 => Item::Mask(fields.word()?),
        (false, _) => Item::Access(access(byte, fields.word()?)),
    })
}

/// How far a packet has come.
#[derive(Default)]
struct Progress {
    done: usize,
    /// Zero before anything was tried.
    ack: u8,
    values: Vec<u8>,
}

impl Progress {
    /// Whether all was done so far.
    fn note(&mut self, accessed: &Accessed) -> bool {
        self.done += accessed.done;
        self.ack = accessed.ack as u8;
        let values = accessed.values.iter();
        self.values
            .extend(values.flat_map(|value| value.to_le_bytes()));
        accessed.ack == Ack::Ok
    }
}

impl<P: Port> Front<P> {
    /// A packet that is cut off is carried out as far as it goes.
    pub(super) fn transfer(&mut self, fields: &mut Fields<'_>) -> Result<Vec<u8>, String> {
        let _index = fields.byte();
        let count = fields.byte().unwrap_or(0);
        let mut items = Vec::new();
        let mut room = (PACKET_BYTES - TRANSFER_HEAD) / 4;
        for _ in 0..count {
            let Some(item) = item(fields) else { break };
            if let Item::Access(Access { is_read: true, .. }) = item {
                // What has no room in the answer is not read.
                let Some(less) = room.checked_sub(1) else {
                    break;
                };
                room = less;
            }
            items.push(item);
        }
        let mut progress = Progress::default();
        self.carry_out(&items, &mut progress)?;
        let done = u8::try_from(progress.done).unwrap_or(u8::MAX);
        Ok([vec![TRANSFER, done, progress.ack], progress.values].concat())
    }

    fn carry_out(&mut self, items: &[Item], progress: &mut Progress) -> Result<(), String> {
        let since = Instant::now();
        let mut waiting = Vec::new();
        for item in items {
            if let Item::Access(access) = item {
                waiting.push(*access);
                continue;
            }
            if !self.flush(&mut waiting, progress)? {
                return Ok(());
            }
            match item {
                Item::Mask(mask) => {
                    self.match_mask = *mask;
                    progress.ack = Ack::Ok as u8;
                }
                Item::Match(access, wanted) => {
                    if !self.wait_for(*access, *wanted, since, progress)? {
                        return Ok(());
                    }
                }
                Item::Access(_) => {}
            }
            progress.done += 1;
            if progress.ack & MISMATCH != 0 {
                return Ok(());
            }
        }
        self.flush(&mut waiting, progress).map(drop)
    }

    /// Makes the accesses that wait to be made together. Whether all was done.
    fn flush(
        &mut self,
        waiting: &mut Vec<Access>,
        progress: &mut Progress,
    ) -> Result<bool, String> {
        if waiting.is_empty() {
            return Ok(true);
        }
        let accessed = self.accessed(waiting)?;
        waiting.clear();
        Ok(progress.note(&accessed))
    }

    fn accessed(&mut self, accesses: &[Access]) -> Result<Accessed, String> {
        let nothing = |ack| Accessed {
            done: 0,
            ack,
            values: Vec::new(),
        };
        if !self.is_connected {
            return Ok(nothing(Ack::Silence));
        }
        match self.port.access(accesses) {
            Ok(accessed) => Ok(accessed),
            Err(PortError::Refused(reason)) => {
                tracing::debug!(reason, "a probe refuses an access");
                Ok(nothing(Ack::Broken))
            }
            Err(PortError::Lost(reason)) => Err(reason),
        }
    }

    /// Reads until the value is the wanted one, as often as the debugger has set. Whether the reads were done.
    fn wait_for(
        &mut self,
        access: Access,
        wanted: u32,
        since: Instant,
        progress: &mut Progress,
    ) -> Result<bool, String> {
        for _ in 0..=self.match_retries {
            let accessed = self.accessed(&[access])?;
            progress.ack = accessed.ack as u8;
            let [value] = accessed.values[..] else {
                return Ok(false);
            };
            if value & self.match_mask == wanted {
                return Ok(true);
            }
            if since.elapsed() > PACKET_TIME_MAX {
                break;
            }
        }
        progress.ack |= MISMATCH;
        Ok(true)
    }

    pub(super) fn transfer_block(&mut self, fields: &mut Fields<'_>) -> Result<Vec<u8>, String> {
        let _index = fields.byte();
        let count = usize::from(fields.half().unwrap_or(0));
        let mut progress = Progress::default();
        if let Some(byte) = fields.byte() {
            let mut accesses: Vec<Access> = if byte & READ != 0 {
                let room = (PACKET_BYTES - BLOCK_HEAD) / 4;
                vec![access(byte, 0); count.min(room)]
            } else {
                let words = (0..count).map_while(|_| fields.word());
                words.map(|word| access(byte, word)).collect()
            };
            self.flush(&mut accesses, &mut progress)?;
        }
        let done = u16::try_from(progress.done).unwrap_or(u16::MAX);
        let mut answer = vec![TRANSFER_BLOCK];
        answer.extend(done.to_le_bytes());
        answer.push(progress.ack);
        answer.extend(progress.values);
        Ok(answer)
    }
}
