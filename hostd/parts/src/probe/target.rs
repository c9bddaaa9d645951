//! Whether a target answers on the debug wires: its identification is read over and over.

use std::io;

use tokio::time::{Duration, Instant, sleep};

use super::link::Link;

/// How often in a row a target must answer to count as there, and the pause between two questions.
const ANSWERS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(50);

/// `DAP_Connect` for SWD, `DAP_SWJ_Clock` for 1 MHz, `DAP_SWD_Configure` for the default turnaround.
const SETUP: [&[u8]; 3] = [&[0x02, 1], &[0x11, 0x40, 0x42, 0x0F, 0x00], &[0x13, 0]];

/// `DAP_SWJ_Sequence`: from JTAG to SWD (line reset, the code of the switch, line reset, idle), 136 bits.
const SWITCH: &[u8] = &[
    0x12, 136, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x9E, 0xE7, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
    0xFF, 0xFF, 0x00,
];

/// `DAP_Transfer`: one read of DPIDR.
const READ_ID: &[u8] = &[0x05, 0, 1, 0x02];

/// A transfer that was done and acknowledged.
const DONE: [u8; 3] = [0x05, 1, 1];

/// Waits until a target answers reliably, at most `wait`.
pub(super) async fn answers(link: &mut Link, wait: Duration) -> io::Result<()> {
    let until = Instant::now() + wait;
    for packet in SETUP {
        link.exchange(packet).await?;
    }
    let mut in_a_row = 0;
    while in_a_row < ANSWERS {
        link.exchange(SWITCH).await?;
        let answer = link.exchange(READ_ID).await?;
        in_a_row = if answer.starts_with(&DONE) {
            in_a_row + 1
        } else {
            0
        };
        if Instant::now() + PAUSE >= until {
            break;
        }
        sleep(PAUSE).await;
    }
    Ok(())
}
