//! Letters as lines, for references of parts: no font is at hand where pictures are made.

use tiny_skia::{Path, PathBuilder};

/// Most letters of a text that are drawn.
const LETTERS_MAX: usize = 12;

/// Width of a letter with the gap behind it, as a part of its height.
const ADVANCE: f32 = 0.75;

/// Letters with their lines on a grid of 4 by 6, y down: each pair of digits is a point, each blank lifts the pen.
const LETTERS: &[(char, &str)] = &[
    ('0', "103041453616050110"),
    ('1', "022026 0646"),
    ('2', "011030414206 0646"),
    ('3', "011030414233 13334445361605"),
    ('4', "36300444"),
    ('5', "400003334445361605"),
    ('6', "4010010516364544331304"),
    ('7', "004016"),
    ('8', "103041423313020110 133344453616050413"),
    ('9', "463641301001021343"),
    ('A', "06052045 4645 0444"),
    ('B', "00063645443303 3342413000"),
    ('C', "4130100105163645"),
    ('D', "00062644422000"),
    ('E', "40000646 0333"),
    ('F', "400006 0333"),
    ('G', "413010010516364543 4323"),
    ('H', "0006 4046 0343"),
    ('I', "2026 1030 1636"),
    ('J', "4045361605"),
    ('K', "0006 4003 0346"),
    ('L', "000646"),
    ('M', "0600234046"),
    ('N', "06004640"),
    ('O', "103041453616050110"),
    ('P', "06003041423303"),
    ('Q', "103041453616050110 2446"),
    ('R', "06003041423303 2346"),
    ('S', "413010010213334445361605"),
    ('T', "0040 2026"),
    ('U', "000516364540"),
    ('V', "002640"),
    ('W', "0016233640"),
    ('X', "0046 4006"),
    ('Y', "002340 2326"),
    ('Z', "00400646"),
    ('_', "0646"),
    ('-', "0343"),
    ('+', "0343 2125"),
    ('.', "2526"),
];

/// A text around a place, its letters so high. Small letters are drawn as capitals, others that are not known as blanks.
pub(super) fn path(text: &str, at: (f32, f32), height: f32) -> Option<Path> {
    let letters: Vec<char> = text.chars().take(LETTERS_MAX).collect();
    let count = u16::try_from(letters.len()).map_or(0.0, f32::from);
    let mut left = at.0 - height * ADVANCE * count / 2.0;
    let top = at.1 - height / 2.0;
    let unit = height / 6.0;
    let mut builder = PathBuilder::new();
    for letter in letters {
        let letter = letter.to_ascii_uppercase();
        let known = LETTERS.iter().find(|(known, _)| *known == letter);
        for line in known.iter().flat_map(|(_, lines)| lines.split(' ')) {
            let mut points = line.as_bytes().chunks_exact(2);
            let place = |point: &[u8]| {
                let part = |digit: u8| unit * f32::from(digit - b'0');
                (left + part(point[0]), top + part(point[1]))
            };
            if let Some((x, y)) = points.next().map(place) {
                builder.move_to(x, y);
            }
            for (x, y) in points.map(place) {
                builder.line_to(x, y);
            }
        }
        left += height * ADVANCE;
    }
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_lines_on_the_grid() {
        for (letter, lines) in LETTERS {
            for line in lines.split(' ') {
                assert!(line.len().is_multiple_of(2), "{letter}: {line}");
                for point in line.as_bytes().chunks_exact(2) {
                    let is_on =
                        (b'0'..=b'4').contains(&point[0]) && (b'0'..=b'6').contains(&point[1]);
                    assert!(is_on, "{letter}: {line}");
                }
            }
        }
        assert!(path("C12", (0.0, 0.0), 6.0).is_some());
        assert!(path("  ", (0.0, 0.0), 6.0).is_none());
    }
}
