//! CMSIS-DAP version 1 commands as bytes, and the meaning of their answers (CMSIS-DAP documentation,
//! "Commands").

#[cfg(test)]
mod tests;

/// Assumed until the probe has been asked: the smallest possible packet.
pub(crate) const PACKET_BYTES_MIN: usize = 64;
/// Largest packet and most packets in flight to use, whatever a probe claims.
pub(crate) const PACKET_BYTES_MAX: usize = 4096;
pub(crate) const PACKET_COUNT_MAX: usize = 64;

const INFO: u8 = 0x00;
const HOST_STATUS: u8 = 0x01;
const CONNECT: u8 = 0x02;
const DISCONNECT: u8 = 0x03;
const TRANSFER_CONFIGURE: u8 = 0x04;
const TRANSFER: u8 = 0x05;
const TRANSFER_BLOCK: u8 = 0x06;
const WRITE_ABORT: u8 = 0x08;
const RESET_TARGET: u8 = 0x0a;
const SWJ_PINS: u8 = 0x10;
const SWJ_CLOCK: u8 = 0x11;
const SWJ_SEQUENCE: u8 = 0x12;
const SWD_CONFIGURE: u8 = 0x13;

/// What `DAP_Info` is asked for.
pub(crate) const INFO_PACKET_COUNT: u8 = 0xfe;
pub(crate) const INFO_PACKET_SIZE: u8 = 0xff;

const PORT_SWD: u8 = 1;
const READ: u8 = 1 << 1;
/// The reset pin in `DAP_SWJ_Pins`.
pub(crate) const NRESET: u8 = 1 << 7;

/// How often the probe repeats a transfer that the target answers with WAIT.
const WAIT_RETRIES: u16 = u16::MAX;

/// Bytes of `DAP_TransferBlock` and of its answer besides the words.
const BLOCK_REQUEST_BYTES: usize = 5;
const BLOCK_ANSWER_BYTES: usize = 4;
/// Bytes of `DAP_Transfer` besides the transfers, and of a transfer that writes.
const TRANSFER_REQUEST_BYTES: usize = 3;
const TRANSFER_WRITE_BYTES: usize = 5;
/// `DAP_Transfer` counts in a byte.
const TRANSFERS_MAX: usize = 255;

/// An answer that makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AnswerError {
    /// It answers another command.
    #[error("failed to read a probe's answer: it is to command {found:#04x}, not {expected:#04x}")]
    OtherCommand { expected: u8, found: u8 },
    /// It ends too early.
    #[error(
        "failed to read a probe's answer to command {command:#04x}: {length} bytes are too few"
    )]
    Short { command: u8, length: usize },
    /// The probe says that it cannot.
    #[error("the probe refused command {command:#04x}")]
    Refused { command: u8 },
}

/// How a target answered a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ack {
    Ok,
    Wait,
    Fault,
    /// Nothing drove the wire.
    Silence,
    /// Anything else, or wrong parity.
    Garbage,
}

impl Ack {
    fn of(byte: u8) -> Self {
        match byte {
            1 => Self::Ok,
            2 => Self::Wait,
            4 => Self::Fault,
            7 => Self::Silence,
            _ => Self::Garbage,
        }
    }
}

/// One transfer: the register as the wire has it, and what to write if it writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfer {
    /// Bit 0 access port, bits 2 and 3 the address.
    pub(crate) register: u8,
    pub(crate) write: Option<u32>,
}

/// The result of transfers.
#[derive(Debug)]
pub(crate) struct Transferred {
    /// How many were carried out.
    pub(crate) count: usize,
    pub(crate) ack: Ack,
    /// What was read.
    pub(crate) words: Vec<u32>,
}

/// How many writes fit into a `DAP_Transfer`.
pub(crate) fn writes_max(packet_bytes: usize) -> usize {
    let fitting = (packet_bytes - TRANSFER_REQUEST_BYTES) / TRANSFER_WRITE_BYTES;
    fitting.min(TRANSFERS_MAX)
}

/// How many words a `DAP_TransferBlock` can write.
pub(crate) fn block_write_words_max(packet_bytes: usize) -> usize {
    (packet_bytes - BLOCK_REQUEST_BYTES) / 4
}

/// How many words a `DAP_TransferBlock` can read.
pub(crate) fn block_read_words_max(packet_bytes: usize) -> usize {
    (packet_bytes - BLOCK_ANSWER_BYTES) / 4
}

pub(crate) fn info(id: u8) -> Vec<u8> {
    vec![INFO, id]
}

pub(crate) fn host_status(kind: u8, on: bool) -> Vec<u8> {
    vec![HOST_STATUS, kind, u8::from(on)]
}

pub(crate) fn connect() -> Vec<u8> {
    vec![CONNECT, PORT_SWD]
}

pub(crate) fn disconnect() -> Vec<u8> {
    vec![DISCONNECT]
}

/// No idle cycles, many retries of WAIT, no value match.
pub(crate) fn transfer_configure() -> Vec<u8> {
    let [low, high] = WAIT_RETRIES.to_le_bytes();
    vec![TRANSFER_CONFIGURE, 0, low, high, 0, 0]
}

/// One clock of turnaround, a data phase only after OK.
pub(crate) fn swd_configure() -> Vec<u8> {
    vec![SWD_CONFIGURE, 0]
}

pub(crate) fn clock(hz: u32) -> Vec<u8> {
    let mut packet = vec![SWJ_CLOCK];
    packet.extend(hz.to_le_bytes());
    packet
}

/// Sets the selected pins and waits up to `wait_us` microseconds until they read back that way.
pub(crate) fn pins(output: u8, select: u8, wait_us: u32) -> Vec<u8> {
    let mut packet = vec![SWJ_PINS, output, select];
    packet.extend(wait_us.to_le_bytes());
    packet
}

/// Clocks out up to 64 bits, least significant first.
pub(crate) fn sequence(bit_count: u8, bits: u64) -> Vec<u8> {
    let bytes = usize::from(bit_count).div_ceil(8).min(8);
    let mut packet = vec![SWJ_SEQUENCE, bit_count];
    packet.extend(&bits.to_le_bytes()[..bytes]);
    packet
}

pub(crate) fn write_abort(flags: u32) -> Vec<u8> {
    let mut packet = vec![WRITE_ABORT, 0];
    packet.extend(flags.to_le_bytes());
    packet
}

pub(crate) fn reset_target() -> Vec<u8> {
    vec![RESET_TARGET]
}

/// Transfers one after the other; at most [`writes_max`].
pub(crate) fn transfer(transfers: &[Transfer]) -> Vec<u8> {
    let count = u8::try_from(transfers.len()).expect("no more than fit into a packet");
    let mut packet = vec![TRANSFER, 0, count];
    for transfer in transfers {
        match transfer.write {
            Some(value) => {
                packet.push(transfer.register);
                packet.extend(value.to_le_bytes());
            }
            None => packet.push(transfer.register | READ),
        }
    }
    packet
}

/// Writes words to one register; at most [`block_write_words_max`].
pub(crate) fn block_write(register: u8, words: &[u32]) -> Vec<u8> {
    let mut packet = block_head(register, words.len());
    packet.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    packet
}

/// Reads words from one register; at most [`block_read_words_max`].
pub(crate) fn block_read(register: u8, count: usize) -> Vec<u8> {
    block_head(register | READ, count)
}

fn block_head(request: u8, count: usize) -> Vec<u8> {
    let count = u16::try_from(count).expect("no more than fit into a packet");
    let [low, high] = count.to_le_bytes();
    vec![TRANSFER_BLOCK, 0, low, high, request]
}

/// Checks which command an answer belongs to, and returns the rest.
pub(crate) fn body<'a>(packet: &[u8], answer: &'a [u8]) -> Result<&'a [u8], AnswerError> {
    let expected = packet.first().copied().unwrap_or_default();
    match answer.split_first() {
        Some((found, body)) if *found == expected => Ok(body),
        Some((found, _)) => Err(AnswerError::OtherCommand {
            expected,
            found: *found,
        }),
        None => Err(short(expected, answer)),
    }
}

/// Checks an answer that only reports success or failure.
pub(crate) fn status(packet: &[u8], answer: &[u8]) -> Result<(), AnswerError> {
    let command = packet.first().copied().unwrap_or_default();
    let fine = match command {
        CONNECT => |status: u8| status == PORT_SWD,
        // It answers with the levels of the pins.
        SWJ_PINS => |_| true,
        _ => |status: u8| status == 0,
    };
    match body(packet, answer)?.first() {
        Some(status) if fine(*status) => Ok(()),
        Some(_) => Err(AnswerError::Refused { command }),
        None => Err(short(command, answer)),
    }
}

/// The number that `DAP_Info` gives, in one byte or two; `None` when the probe does not know.
pub(crate) fn info_number(packet: &[u8], answer: &[u8]) -> Result<Option<u16>, AnswerError> {
    Ok(match body(packet, answer)? {
        [1, byte, ..] => Some(u16::from(*byte)),
        [2, low, high, ..] => Some(u16::from_le_bytes([*low, *high])),
        _ => None,
    })
}

/// Reads the answer to `DAP_Transfer` or to `DAP_TransferBlock`.
pub(crate) fn transferred(packet: &[u8], answer: &[u8]) -> Result<Transferred, AnswerError> {
    let body = body(packet, answer)?;
    let (count, ack, data) = match (packet[0], body) {
        (TRANSFER, [count, ack, data @ ..]) => (usize::from(*count), *ack, data),
        (_, [low, high, ack, data @ ..]) => {
            (usize::from(u16::from_le_bytes([*low, *high])), *ack, data)
        }
        _ => return Err(short(packet[0], answer)),
    };
    let words = data
        .as_chunks()
        .0
        .iter()
        .map(|word| u32::from_le_bytes(*word));
    Ok(Transferred {
        count,
        ack: Ack::of(ack),
        words: words.collect(),
    })
}

pub(crate) fn short(command: u8, answer: &[u8]) -> AnswerError {
    AnswerError::Short {
        command,
        length: answer.len(),
    }
}
