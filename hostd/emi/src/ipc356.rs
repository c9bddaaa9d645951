//! IPC-D-356 netlists: which net, part and pin is at which point. Columns are fixed where names are; measures are found by
//! their letters, since programs do not agree on how long they are.

use std::collections::HashMap;

use crate::geometry::Point;
use crate::gerber::INCH;
use crate::limits::Limits;
use crate::observer::Observer;
use crate::open::{OpenError, Steps};

/// Most bytes of a line; the standard has 80.
const LINE_BYTES_MAX: usize = 4096;

/// A netlist.
#[derive(Clone, Debug, Default)]
pub(crate) struct Netlist {
    pub(crate) points: Vec<TestPoint>,
}

/// A point that is on a net.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TestPoint {
    /// In millimetres, y down.
    pub(crate) at: Point,
    /// Empty for what is on no net.
    pub(crate) net: String,
    /// Empty for a via.
    pub(crate) part: String,
    pub(crate) pin: String,
    pub(crate) is_via: bool,
    /// From which side it can be touched, or from both.
    pub(crate) side: Side,
    /// Of its hole; none is 0.
    pub(crate) drill: f64,
}

/// From where a point can be touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Both,
    /// Of the first layer.
    Top,
    /// Of another, the last mostly.
    Other,
}

/// Reads a netlist.
///
/// # Errors
/// What is wrong with it or beyond a bound, with line and column; or that the observer stopped it.
pub(crate) fn read(
    bytes: &[u8],
    limits: &Limits,
    observer: &dyn Observer,
) -> Result<Netlist, OpenError> {
    let mut reader = Reader {
        bytes,
        limits,
        unit: INCH / 1e4,
        aliases: HashMap::new(),
        netlist: Netlist::default(),
    };
    let mut watch = Steps::new(observer);
    let mut offset = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        watch.step()?;
        let text = line.trim_ascii_end();
        if text.len() > LINE_BYTES_MAX {
            return Err(reader.refuse(offset, "a line of the netlist is longer than 4096 bytes"));
        }
        if text.starts_with(b"999") {
            break;
        }
        reader.line(text, offset)?;
        offset += line.len();
    }
    Ok(reader.netlist)
}

struct Reader<'a> {
    bytes: &'a [u8],
    limits: &'a Limits,
    /// Millimetres of a unit.
    unit: f64,
    /// Short names of nets, and the long ones that they stand for.
    aliases: HashMap<String, String>,
    netlist: Netlist,
}

impl Reader<'_> {
    fn refuse(&self, offset: usize, message: impl Into<String>) -> OpenError {
        OpenError::at(self.bytes, offset, message)
    }

    fn line(&mut self, text: &[u8], offset: usize) -> Result<(), OpenError> {
        match text {
            [b'P', rest @ ..] => self.parameter(&String::from_utf8_lossy(rest), offset),
            // Holes and pads of parts, holes without; tracks and edges (378, 389) say what Gerbers say better.
            [b'3', b'0' | b'1' | b'2' | b'4' | b'6', b'7', ..] => self.point(text, offset),
            _ => Ok(()),
        }
    }

    fn parameter(&mut self, text: &str, offset: usize) -> Result<(), OpenError> {
        let mut words = text.split_ascii_whitespace();
        let name = words.next().unwrap_or_default();
        if name == "UNITS" {
            let unit: Vec<&str> = words.collect();
            self.unit = match unit.as_slice() {
                [] | ["CUST"] | ["CUST", "0" | "2"] => INCH / 1e4,
                ["SI"] | ["CUST", "1"] => 1e-3,
                _ => {
                    return Err(
                        self.refuse(offset, "the unit is none of CUST 0, CUST 1, CUST 2 and SI")
                    );
                }
            };
        } else if name.starts_with("NNAME") {
            // `P  NNAME1  LONG_NAME_OF_NET`
            let most = self.limits.objects_max;
            if self.aliases.len() == most {
                return Err(self.refuse(
                    offset,
                    format!("the netlist has more than {most} long names"),
                ));
            }
            if let Some(long) = words.next() {
                self.aliases.insert(name.to_owned(), long.to_owned());
            }
        }
        Ok(())
    }

    fn point(&mut self, text: &[u8], offset: usize) -> Result<(), OpenError> {
        let most = self.limits.objects_max;
        if self.netlist.points.len() == most {
            return Err(self.refuse(offset, format!("the netlist has more than {most} points")));
        }
        let field = |from: usize, to: usize| {
            let field = text.get(from..to.min(text.len())).unwrap_or_default();
            String::from_utf8_lossy(field).trim().to_owned()
        };
        let net = field(3, 17);
        let (part, pin) = (field(20, 26), field(27, 31));
        let is_via = part == "VIA" || part.is_empty();
        let measures = text.get(32..).unwrap_or_default();
        let x = self.measure(measures, b'X', offset)?;
        let y = self.measure(measures, b'Y', offset)?;
        let (Some(x), Some(y)) = (x, y) else {
            return Err(self.refuse(offset, "a point of the netlist has no X and Y"));
        };
        let drill = match measures.first() {
            Some(b'D') => self.measure(measures, b'D', offset)?.unwrap_or_default(),
            _ => 0.0,
        };
        let access = measures.iter().position(|byte| *byte == b'A');
        let side = match access.and_then(|at| measures.get(at + 1..at + 3)) {
            Some(b"01") => Side::Top,
            Some(b"00") | None => Side::Both,
            Some(_) => Side::Other,
        };
        let net = match self.aliases.get(&net) {
            Some(long) => long.clone(),
            None if net == "N/C" => String::new(),
            None => net,
        };
        self.netlist.points.push(TestPoint {
            at: Point::new(x, 0.0 - y),
            net,
            part: if is_via { String::new() } else { part },
            pin: if is_via { String::new() } else { pin },
            is_via,
            side,
            drill,
        });
        Ok(())
    }

    /// The measure that follows the letter for the first time, in millimetres.
    fn measure(&self, text: &[u8], letter: u8, offset: usize) -> Result<Option<f64>, OpenError> {
        let Some(at) = text.iter().position(|byte| *byte == letter) else {
            return Ok(None);
        };
        let rest = &text[at + 1..];
        let is_part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+');
        let length = rest.iter().position(|byte| !is_part(byte));
        let word = std::str::from_utf8(&rest[..length.unwrap_or(rest.len())]).unwrap_or_default();
        let value = word
            .parse::<i64>()
            .ok()
            .map(|value| value as f64 * self.unit);
        let most = self.limits.coordinate_mm_max;
        match value {
            Some(value) if value.abs() <= most => Ok(Some(value)),
            Some(_) => Err(self.refuse(
                offset,
                format!("a coordinate of the netlist is beyond {most} mm"),
            )),
            None => {
                let letter = char::from(letter);
                Err(self.refuse(
                    offset,
                    format!("`{letter}` of a point of the netlist has no number"),
                ))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "C  a comment\nP  JOB   x\nP  UNITS CUST 0\nP  NNAME1 /A_LONG_NAME_OF_A_NET\n\
        317NNAME1           VIA   -     D0118PA00X+010000Y-020000X0236Y0000R000S3\n\
        327GND              C1    -2         A01X+000100Y+000200X0315Y0374R000S2\n\
        317N/C              U10   -A12  D0320UA00X+1Y+2X0600\n999\nX\n";

    #[test]
    fn points_have_net_part_and_pin() {
        let netlist = read(TEXT.as_bytes(), &Limits::default(), &()).unwrap();
        let [via, pad, none] = &netlist.points[..] else {
            panic!("{netlist:?}");
        };
        assert_eq!(via.net, "/A_LONG_NAME_OF_A_NET");
        assert!(via.is_via && (via.drill - 0.29972).abs() < 1e-9);
        assert!(via.at.distance(Point::new(25.4, 50.8)) < 1e-9);
        assert_eq!((pad.part.as_str(), pad.pin.as_str()), ("C1", "2"));
        assert_eq!((pad.side, pad.drill), (Side::Top, 0.0));
        assert_eq!((none.net.as_str(), none.pin.as_str()), ("", "A12"));
        let metric = TEXT.replace("CUST 0", "CUST 1");
        let netlist = read(metric.as_bytes(), &Limits::default(), &()).unwrap();
        assert_eq!(netlist.points[0].at, Point::new(10.0, 20.0));
    }

    #[test]
    fn refusals_have_line_and_column() {
        let refused = |text: &str| {
            let error = read(text.as_bytes(), &Limits::default(), &()).err();
            error.unwrap().to_string()
        };
        assert_eq!(
            refused("P  UNITS FEET\n"),
            "line 1, column 1: the unit is none of CUST 0, CUST 1, CUST 2 and SI"
        );
        let line = "327GND              C1    -2         A01X+000100R000S2\n";
        assert_eq!(
            refused(&format!("C\n{line}")),
            "line 2, column 1: a point of the netlist has no X and Y"
        );
        assert!(refused(&TEXT.replace("+010000", "+999999999")).contains("beyond 2000 mm"));
    }
}
