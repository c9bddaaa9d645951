//! Impedances against `atlc`, which solves Laplace's equation on a bitmap.

use std::path::Path;

use emi::fields::section::{Above, Section};

use crate::{close, oracle};

/// Pixels for a fifth of a millimetre, and the weights that extrapolate to infinitely small ones. Errors of atlc fall with
/// the first power of a pixel's size; those of the second power are removed, too.
const PIXELS: [(i32, f64); 3] = [(2, 2.0), (3, -9.0), (4, 8.0)];

const METAL: [u8; 3] = [0, 0, 255];
const NEGATIVE: [u8; 3] = [255, 0, 0];
const GROUND: [u8; 3] = [0, 255, 0];
const AIR: [u8; 3] = [255, 255, 255];
/// Blue, green and red of the dielectric that the command line names.
const DIELECTRIC: [u8; 3] = [0x18, 0xff, 0xf1];

/// Writes a bitmap of 24 bits, bottom row first.
fn write(path: &Path, width: i32, height: i32, colour: impl Fn(i32, i32) -> [u8; 3]) {
    let mut pixels = Vec::new();
    for y in 0..height {
        for x in 0..width {
            pixels.extend(colour(x, y));
        }
        while pixels.len() % 4 != 0 {
            pixels.push(0);
        }
    }
    let size = u32::try_from(pixels.len()).unwrap();
    let mut file = b"BM".to_vec();
    for word in [
        size + 54,
        0,
        54,
        40,
        width.cast_unsigned(),
        height.cast_unsigned(),
    ] {
        file.extend(word.to_le_bytes());
    }
    file.extend([1, 0, 24, 0]);
    for word in [0, size, 2835, 2835, 0, 0] {
        file.extend(u32::to_le_bytes(word));
    }
    file.extend(pixels);
    std::fs::write(path, file).unwrap();
}

/// The number after each of `names` in what atlc prints of a bitmap of `size` fifths of a millimetre, extrapolated.
/// `colour` takes the size of a pixel and its place.
fn solve<const N: usize>(
    size: (i32, i32),
    names: [&str; N],
    colour: impl Fn(i32, i32, i32) -> [u8; 3],
) -> Option<[f64; N]> {
    let mut sums = [0.0; N];
    for (unit, weight) in PIXELS {
        let pixels = (size.0 * unit, size.1 * unit + unit + 1);
        let found = solve_one(pixels, names, |x, y| {
            let is_wall = x == 0 || x == pixels.0 - 1 || y == pixels.1 - 1 || y < unit;
            if is_wall {
                GROUND
            } else {
                colour(unit, x, y - unit)
            }
        })?;
        for (sum, value) in sums.iter_mut().zip(found) {
            *sum += weight * value;
        }
    }
    Some(sums)
}

fn solve_one<const N: usize>(
    size: (i32, i32),
    names: [&str; N],
    colour: impl Fn(i32, i32) -> [u8; 3],
) -> Option<[f64; N]> {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("line.bmp"), size.0, size.1, colour);
    let arguments = ["-d", "f1ff18=4.3", "-s", "-S", "line.bmp"];
    let printed = oracle::run("atlc", &arguments, folder.path())?;
    Some(names.map(|name| {
        let (_, after) = printed
            .split_once(name)
            .unwrap_or_else(|| panic!("{printed}"));
        let number = after.split_whitespace().next().unwrap();
        number.parse().unwrap_or_else(|_| panic!("{printed}"))
    }))
}

#[test]
fn microstrip() {
    let found = solve((120, 50), ["Zo="], |unit, x, y| {
        let (w, h, t) = (10 * unit, 5 * unit, unit);
        let left = 55 * unit;
        if y < h {
            DIELECTRIC
        } else if y < h + t && left <= x && x < left + w {
            METAL
        } else {
            AIR
        }
    });
    let Some([impedance]) = found else { return };
    let own = Section::microstrip(2e-3, 1e-3, 0.2e-3, 4.3)
        .solve()
        .unwrap();
    close(own.value.line(0).unwrap().impedance_ohm, impedance, 0.02);
}

#[test]
fn thick_stripline_off_centre() {
    let found = solve((60, 16), ["Zo="], |unit, x, y| {
        let (w, h, t) = (10 * unit, 5 * unit, unit);
        let left = 25 * unit;
        if (h..h + t).contains(&y) && left <= x && x < left + w {
            METAL
        } else {
            DIELECTRIC
        }
    });
    let Some([impedance]) = found else { return };
    let section = Section {
        above: Above::Plane {
            height_m: 2.2e-3,
            permittivity: 4.3,
        },
        ..Section::microstrip(2e-3, 1e-3, 0.2e-3, 4.3)
    };
    let own = section.solve().unwrap().value.line(0).unwrap();
    close(own.impedance_ohm, impedance, 0.02);
}

#[test]
fn coupled_microstrip() {
    let found = solve((120, 50), ["Zodd=", "Zeven="], |unit, x, y| {
        let (w, h, t, gap) = (8 * unit, 5 * unit, unit, 6 * unit);
        let left = 49 * unit;
        let on = |from: i32| y < h + t && from <= x && x < from + w;
        if y < h {
            DIELECTRIC
        } else if on(left) {
            METAL
        } else if on(left + w + gap) {
            NEGATIVE
        } else {
            AIR
        }
    });
    let Some([odd, even]) = found else { return };
    let section = Section::microstrip(1.6e-3, 1e-3, 0.2e-3, 4.3).with_neighbour(1.2e-3);
    let own = section.solve().unwrap().value.pair(0, 1).unwrap();
    close(own.odd.impedance_ohm, odd, 0.02);
    close(own.even.impedance_ohm, even, 0.02);
}

#[test]
fn coplanar_over_a_plane() {
    let found = solve((120, 50), ["Zo="], |unit, x, y| {
        let (w, h, t, gap) = (8 * unit, 5 * unit, unit, 5 * unit);
        let left = 56 * unit;
        if y < h {
            DIELECTRIC
        } else if y >= h + t {
            AIR
        } else if left <= x && x < left + w {
            METAL
        } else if left - gap <= x && x < left + w + gap {
            AIR
        } else {
            GROUND
        }
    });
    let Some([impedance]) = found else { return };
    let section = Section {
        coplanar_gap_m: Some(1e-3),
        ..Section::microstrip(1.6e-3, 1e-3, 0.2e-3, 4.3)
    };
    let own = section.solve().unwrap().value.line(0).unwrap();
    close(own.impedance_ohm, impedance, 0.02);
}
