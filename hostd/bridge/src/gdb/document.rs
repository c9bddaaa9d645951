//! The documents that GDB reads in parts, and the one of the memory.

use std::fmt::Write;
use std::ops::Range;

use super::Flash;

/// The part of a document that GDB asks for; returns its length.
pub(super) fn part(document: &str, offset: u64, length: usize, into: &mut [u8]) -> usize {
    let rest = usize::try_from(offset).ok();
    let rest = rest.and_then(|offset| document.as_bytes().get(offset..));
    let rest = rest.unwrap_or_default();
    let count = rest.len().min(length).min(into.len());
    into[..count].copy_from_slice(&rest[..count]);
    count
}

/// The whole address space: flash, which GDB has programmed, and everything else, which it may write.
pub(super) fn memory_map(flash: &[Flash]) -> String {
    const END: u64 = 1 << 32;
    let mut xml = String::from("<?xml version=\"1.0\"?><memory-map>");
    let ram = |range: Range<u64>| {
        if range.is_empty() {
            return String::new();
        }
        let length = range.end - range.start;
        format!(
            "<memory type=\"ram\" start=\"{:#x}\" length=\"{length:#x}\"/>",
            range.start
        )
    };
    let mut at = 0;
    for Flash {
        range,
        sector_bytes,
    } in flash
    {
        xml.push_str(&ram(at..range.start));
        let length = range.end - range.start;
        // A string takes everything.
        let _ = write!(
            xml,
            "<memory type=\"flash\" start=\"{:#x}\" length=\"{length:#x}\">\
             <property name=\"blocksize\">{sector_bytes:#x}</property></memory>",
            range.start
        );
        at = range.end;
    }
    xml.push_str(&ram(at..END));
    xml.push_str("</memory-map>");
    xml
}
