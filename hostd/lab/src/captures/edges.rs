//! The next and the previous edge of a logic channel.

pub use decode::segment::Edge;

use super::reader::{ReadError, Reader};

/// Where to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// At the sample and behind it.
    Next,
    /// Before the sample.
    Previous,
}

/// The edge that is nearest to sample `at` in a direction; none if there is no more. Blocks on the disk.
///
/// # Errors
/// The file is damaged, or there is no such logic channel.
pub fn find(
    reader: &Reader,
    channel: usize,
    at: u64,
    direction: Direction,
    edge: Edge,
) -> Result<Option<u64>, ReadError> {
    let number = reader.logic_number(channel)?.ok_or(ReadError::NoChannel)?;
    let segment = reader.logic()?;
    let mut line = segment.line(number)?;
    Ok(match direction {
        Direction::Next => line.next_edge(at, edge)?,
        Direction::Previous => line.previous_edge(at, edge)?,
    })
}
