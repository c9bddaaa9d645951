//! What a file is, by how it begins.

use crate::excellon::is_tool_comment;
use crate::kicad;

/// How much of a file is looked at.
pub(super) const HEAD_BYTES: usize = 8 << 10;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    KicadBoard,
    Zip,
    Gerber,
    Excellon,
    /// IPC-D-356.
    Netlist,
    /// A Gerber job file.
    Job,
    Other,
}

impl Kind {
    /// What a file is that begins so.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let head = &bytes[..bytes.len().min(HEAD_BYTES)];
        if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
            return Self::Zip;
        }
        let head = head
            .strip_prefix(b"\xef\xbb\xbf")
            .unwrap_or(head)
            .trim_ascii_start();
        if head.starts_with(kicad::MAGIC) {
            return Self::KicadBoard;
        }
        let has = |text: &[u8]| memchr::memmem::find(head, text).is_some();
        if head.starts_with(b"{") {
            let is_job = has(b"\"GenerationSoftware\"") && has(b"\"GeneralSpecs\"");
            return if is_job { Self::Job } else { Self::Other };
        }
        if head.contains(&0) {
            return Self::Other;
        }
        let has_line = |test: &dyn Fn(&[u8]) -> bool| {
            head.split(|byte| matches!(byte, b'\n' | b'\r')).any(test)
        };
        if has_line(&|line| {
            line.starts_with(b"%FS") || line.starts_with(b"%MO") || line.starts_with(b"%AD")
        }) || (head.starts_with(b"%") && has(b"%TF."))
        {
            return Self::Gerber;
        }
        let is_drill = |line: &[u8]| {
            let line = line.trim_ascii();
            line == b"M48" || is_tool(line) || is_tool_comment(line)
        };
        if has_line(&is_drill) {
            return Self::Excellon;
        }
        if has_line(&is_test_point) || has_line(&|line| line.starts_with(b"P  UNITS")) {
            return Self::Netlist;
        }
        Self::Other
    }
}

/// `T01C0.0236`
fn is_tool(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"T") else {
        return false;
    };
    let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let size = rest[count..].iter().position(|byte| *byte == b'C');
    count > 0
        && size.is_some_and(|at| {
            rest[count + at + 1..]
                .first()
                .is_some_and(|b| b.is_ascii_digit() || *b == b'.')
        })
}

/// A line of IPC-D-356 with a point.
fn is_test_point(line: &[u8]) -> bool {
    matches!(line, [b'3', b'1' | b'2', b'7', ..]) && line.len() > 50 && line[26] == b'-'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_by_what_they_hold() {
        let cases: [(&[u8], Kind); 12] = [
            (b"PK\x03\x04", Kind::Zip),
            (b"\xef\xbb\xbf (kicad_pcb (version 1)", Kind::KicadBoard),
            (b"G04 made by hand*\n%FSLAX46Y46*%\n", Kind::Gerber),
            (b"%TF.FileFunction,Copper,L1,Top*%", Kind::Gerber),
            (b"; #@! TF\nM48\n", Kind::Excellon),
            (b"%\nT01C0.0236\nT01\nX1Y1\n", Kind::Excellon),
            (
                b";HEADER:\n;Holesize 1. = 28.0 PLATED MILS\n%\nT01\nX1Y1\n",
                Kind::Excellon,
            ),
            (b"C  x\nP  UNITS CUST 0\n", Kind::Netlist),
            (
                b"{ \"Header\": {\"GenerationSoftware\": {}}, \"GeneralSpecs\": {} }",
                Kind::Job,
            ),
            (b"{ \"board\": {} }", Kind::Other),
            (b"Title\nTools\n", Kind::Other),
            (b"", Kind::Other),
        ];
        for (bytes, kind) in cases {
            assert_eq!(Kind::of(bytes), kind, "{}", String::from_utf8_lossy(bytes));
        }
    }
}
