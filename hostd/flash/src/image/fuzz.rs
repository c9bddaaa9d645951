//! A fuzz entry: any bytes become a file of each format.

use super::{Format, IMAGE_BYTES_MAX, Image};

/// Reads `data` in every way.
///
/// # Panics
/// If an image breaks what its documentation promises. Nothing else may panic.
pub fn files(data: &[u8]) {
    for format in [Format::Elf, Format::Hex, Format::Bin, Format::Uf2] {
        if let Ok(image) = Image::parse_as(data, format) {
            check(&image);
        }
    }
    for (name, load_address) in [("", None), ("", Some(0)), ("x.bin", None)] {
        if let Ok(image) = Image::parse(data, name, load_address) {
            check(&image);
        }
    }
}

fn check(image: &Image) {
    assert!((1..=IMAGE_BYTES_MAX).contains(&image.data_bytes()));
    for chip in ["", "STM32F030R8", "RP235x"] {
        let Ok(placed) = image.placed(0xffff_0000, chip) else {
            assert!(matches!(image.format(), Format::Bin | Format::Uf2));
            continue;
        };
        let segments = placed.segments;
        assert!(
            segments
                .iter()
                .all(|segment| !segment.data.is_empty() && segment.end() <= 1 << 32)
        );
        assert!(segments.is_sorted_by(|one, next| one.end() < u64::from(next.address)));
        let start = segments.first().map(|segment| segment.address);
        if image.format() != Format::Bin {
            assert_eq!(image.start(chip), Ok(start));
        }
    }
}
