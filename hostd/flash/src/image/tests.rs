//! Files that make sense and files that do not.

use super::{Format, Image, ImageError, fuzz};

const DEMO: &[u8] = target_sim::firmware::DEMO_ELF;

fn error(bytes: &[u8], format: Format) -> ImageError {
    Image::parse_as(bytes, format).unwrap_err()
}

fn uf2_block(fields: [u32; 8], data: &[u8]) -> Vec<u8> {
    let mut block: Vec<u8> = fields.iter().flat_map(|word| word.to_le_bytes()).collect();
    block.extend(data);
    block.resize(508, 0);
    block.extend(0x0ab1_6f30u32.to_le_bytes());
    block
}

const UF2_FIELDS: [u32; 8] = [0x0a32_4655, 0x9e5d_5157, 0, 0x0800_0000, 4, 0, 1, 0];

#[test]
fn formats_are_told_by_contents_and_checked_against_names() {
    let uf2 = uf2_block(UF2_FIELDS, &[1, 2, 3, 4]);
    let hex: &[u8] = b":0400000001020304F2\n:00000001FF\n";
    let files: [(&[u8], Format); 3] =
        [(DEMO, Format::Elf), (hex, Format::Hex), (&uf2, Format::Uf2)];
    for (bytes, found) in files {
        for name in ["", "firmware", "v1.2"] {
            assert_eq!(Image::parse(bytes, name, None).unwrap().format(), found);
        }
        // Its header would be where the chip expects its vectors.
        let refused = Image::parse(bytes, "x.BIN", None);
        assert_eq!(refused, Err(ImageError::NotPlain { found }));
        let plain = Image::parse(bytes, "x.BIN", Some(0x0800_4000)).unwrap();
        assert_eq!(
            (plain.format(), plain.data_bytes()),
            (Format::Bin, bytes.len())
        );
    }
    let named = Format::Hex;
    assert_eq!(
        Image::parse(DEMO, "demo.hex", None),
        Err(ImageError::NotAsNamed { named })
    );
    assert_eq!(Image::parse(b"", "demo.hex", None), Err(ImageError::Empty));
    assert_eq!(Image::parse(b"", "", None), Err(ImageError::Empty));
}

#[test]
#[expect(clippy::type_complexity, reason = "a table")]
fn what_nobody_calls_firmware_is_none() {
    const AT: Option<u32> = Some(0x0800_4000);
    let text: &[u8] = b"all: fw.elf\n\tobjcopy \xc3\xa4\r\n";
    let bytes: &[u8] = &[0x00, 0x20, 0x00, 0x20, 0xc1, 0x00, 0x00, 0x08];
    let plain = Ok(Format::Bin);
    let cases: [(&[u8], &str, Option<u32>, Result<Format, ImageError>); 12] = [
        (text, "Makefile", None, Err(ImageError::Text)),
        (text, "fw.map", None, Err(ImageError::Text)),
        (text, "README.md", AT, Err(ImageError::Text)),
        (text, "fw.bin", None, Err(ImageError::Text)),
        (text, "settings.bin", AT, plain.clone()),
        (text, "", None, Err(ImageError::Text)),
        (bytes, "fw.png", None, Err(ImageError::Unknown)),
        (bytes, "firmware", None, Err(ImageError::Unknown)),
        (bytes, "", None, Err(ImageError::Unknown)),
        (bytes, "fw.dat", AT, plain.clone()),
        (bytes, "", AT, plain.clone()),
        (bytes, "fw.Bin", None, plain),
    ];
    for (file, name, load_address, expected) in cases {
        let found = Image::parse(file, name, load_address).map(|image| image.format());
        assert_eq!(found, expected, "{name} at {load_address:?}");
    }
}

#[test]
fn an_elf_file_gives_its_loadable_segments() {
    let image = Image::parse(DEMO, "demo.elf", None).unwrap();
    let segments = image.placed(0, "").unwrap().segments;
    assert_eq!(segments[0].address, 0x0800_0000);
    assert_eq!(segments[0].data[..4], [0x00, 0x20, 0x00, 0x20]);
    assert_eq!(
        image.data_bytes(),
        segments.iter().map(|segment| segment.data.len()).sum()
    );
    let mut other = DEMO.to_vec();
    other[18] = 243;
    assert_eq!(error(&other, Format::Elf), ImageError::NotForArm);
    let format = Format::Elf;
    let what = "the table of sections";
    assert_eq!(
        error(&DEMO[..2000], format),
        ImageError::CutOff { format, what }
    );
    let what = "the header";
    assert_eq!(
        error(&DEMO[..20], format),
        ImageError::CutOff { format, what }
    );
    let mut empty = DEMO.to_vec();
    empty[44..46].fill(0);
    assert_eq!(error(&empty, format), ImageError::NoData { format });
}

#[test]
fn hex_records_join_whatever_their_order() {
    let text = b":020000040800F2\r\n:02001000AABB89\r\n\r\n:04000C0001020304E6\r\n:00000001FF\r\n";
    let segments = Image::parse(text, "x.hex", None)
        .unwrap()
        .placed(0, "")
        .unwrap()
        .segments;
    assert_eq!(segments.len(), 1);
    assert_eq!(segments[0].address, 0x0800_000c);
    assert_eq!(segments[0].data, [1, 2, 3, 4, 0xaa, 0xbb]);
    // In a segment, addresses wrap within 64 KiB.
    let text = b":020000021000EC\n:02FFFF0011229B\n:00000001FF\n".to_vec();
    let mut text = String::from_utf8(text).unwrap();
    text = text.replace("11229B", "1122CD");
    let segments = Image::parse(text.as_bytes(), "", None)
        .unwrap()
        .placed(0, "")
        .unwrap()
        .segments;
    assert_eq!(
        segments
            .iter()
            .map(|segment| (segment.address, segment.data[0]))
            .collect::<Vec<_>>(),
        [(0x0001_0000, 0x22), (0x0001_ffff, 0x11)]
    );
}

#[test]
fn broken_hex_says_where() {
    let cases: [(&[u8], &str); 8] = [
        (b":0400000001020304F3\n", "its checksum is wrong"),
        (b":0500000001020304F1\n", "its length is not what it states"),
        (b":040000000102030\n", "it has half a byte"),
        (
            b":04000000010203zzF2\n",
            "it has something else than hexadecimal digits",
        ),
        (b"0400000001020304F2\n", "it does not begin with a colon"),
        (b":00000006FA\n", "unknown kind of record"),
        (b":0100000400FB\n", "its length does not fit its kind"),
        (b":\n", "its length is not what it states"),
    ];
    for (line, what) in cases {
        let text = [b":00000005FB\n".as_slice(), line].concat();
        let text = text.strip_prefix(b":00000005FB\n").unwrap_or(&text);
        let found = error(&[b"\n", text].concat(), Format::Hex);
        assert_eq!(found, ImageError::HexLine { line: 2, what });
    }
    let format = Format::Hex;
    let what = "the record that ends it";
    let found = error(b":0400000001020304F2\n", format);
    assert_eq!(found, ImageError::CutOff { format, what });
    assert_eq!(error(b":00000001FF", format), ImageError::NoData { format });
    let twice = b":0400000001020304F2\n:0100020009F4\n:00000001FF";
    assert_eq!(error(twice, format), ImageError::Overlap { address: 2 });
    let last = b":02000004FFFFFC\n:02FFFF000102FD\n:00000001FF";
    let wraps = ImageError::Wraps {
        address: 0xffff_ffff,
        bytes: 2,
    };
    assert_eq!(error(last, format), wraps);
}

#[test]
fn uf2_blocks_for_other_places_are_left_out_and_broken_ones_refused() {
    let good = uf2_block(UF2_FIELDS, &[1, 2, 3, 4]);
    let with = |place: usize, value: u32| {
        let mut fields = UF2_FIELDS;
        fields[place] = value;
        uf2_block(fields, &[9; 4])
    };
    for flags in [1, 0x1000] {
        let file = [with(2, flags), good.clone()].concat();
        let segments = Image::parse(&file, "x.uf2", None)
            .unwrap()
            .placed(0, "")
            .unwrap()
            .segments;
        assert_eq!(segments[0].data, [1, 2, 3, 4]);
        let format = Format::Uf2;
        assert_eq!(
            error(&with(2, flags), format),
            ImageError::NoData { format }
        );
    }
    let mut end = good.clone();
    end[511] = 0;
    let magic = "its magic numbers are wrong";
    let cases = [
        (with(0, 7), magic),
        (with(1, 7), magic),
        (end, magic),
        (with(4, 477), "it states more data than fits into a block"),
    ];
    for (block, what) in cases {
        let file = [good.clone(), block].concat();
        assert_eq!(
            error(&file, Format::Uf2),
            ImageError::Uf2Block { block: 1, what }
        );
    }
    let other = with(4, 4);
    assert_eq!(
        error(&[good.clone(), other].concat(), Format::Uf2),
        ImageError::Overlap {
            address: 0x0800_0000
        }
    );
    assert!(matches!(
        error(&good[..511], Format::Uf2),
        ImageError::CutOff { .. }
    ));
}

/// Files that cat made of two: programmed as a whole, not the first alone.
#[test]
fn hex_files_that_were_appended_are_programmed_whole() {
    let first = ":020000040800F2\n:04000000000102 03F6\n:00000001FF\n".replace(' ', "");
    let second = ":020000040801F1\n:0400000004050607E6\n:00000001FF\n\x1a\n";
    let both = format!("{first}{second}");
    let image = Image::parse(both.as_bytes(), "x.hex", None).unwrap();
    let segments = image.placed(0, "").unwrap().segments;
    let found: Vec<_> = segments
        .iter()
        .map(|s| (s.address, s.data.clone()))
        .collect();
    assert_eq!(
        found,
        [
            (0x0800_0000, vec![0, 1, 2, 3]),
            (0x0801_0000, vec![4, 5, 6, 7])
        ]
    );
    // The second begins anew, so without an address of its own it goes to 0.
    let second = ":0400000004050607E6\n:00000001FF\n";
    let image = Image::parse(format!("{first}{second}").as_bytes(), "", None).unwrap();
    assert_eq!(image.start(""), Ok(Some(0)));
    let format = Format::Hex;
    let what = "the record that ends it";
    let cut = format!("{first}:0400000004050607E6\n");
    assert_eq!(
        error(cut.as_bytes(), format),
        ImageError::CutOff { format, what }
    );
    let what = "it does not begin with a colon";
    let behind = format!("{first}left over\n");
    assert_eq!(
        error(behind.as_bytes(), format),
        ImageError::HexLine { line: 4, what }
    );
}

#[test]
fn hex_lines_end_in_any_way() {
    let lines = [":020000040800F2", ":0400000000010203F6", ":00000001FF", ""];
    let expected = Image::parse(lines.join("\n").as_bytes(), "x.hex", None).unwrap();
    for end in ["\r", "\r\n", "\r\r\n"] {
        let image = Image::parse(lines.join(end).as_bytes(), "x.hex", None);
        assert_eq!(image.unwrap(), expected, "{end:?}");
    }
    let what = "its checksum is wrong";
    for end in ["\r", "\r\n", "\n"] {
        let text = lines.join(end).replace("F6", "F7");
        assert_eq!(
            error(text.as_bytes(), Format::Hex),
            ImageError::HexLine { line: 2, what }
        );
    }
}

const F4: u32 = 0x5775_5a57;
const F0: u32 = 0x6478_24b6;

fn uf2_of(family: u32, address: u32, data: &[u8]) -> Vec<u8> {
    let mut fields = UF2_FIELDS;
    (fields[2], fields[3], fields[7]) = (0x2000, address, family);
    fields[4] = u32::try_from(data.len()).unwrap();
    uf2_block(fields, data)
}

#[test]
fn the_blocks_of_the_chips_family_are_programmed_and_others_named() {
    let at = 0x0800_0000;
    let common = uf2_block(
        {
            let mut fields = UF2_FIELDS;
            fields[3] = 0x0801_0000;
            fields
        },
        &[9; 4],
    );
    let file = [uf2_of(F4, at, &[4; 4]), uf2_of(F0, at, &[0; 8]), common].concat();
    let image = Image::parse(&file, "x.uf2", None).unwrap();
    assert_eq!((image.data_bytes(), image.parts().len()), (16, 3));
    for (chip, data, skipped) in [
        ("STM32F030R8Tx", vec![0; 8], "4 bytes for STM32F4"),
        ("target/stm32f0x.cfg", vec![0; 8], "4 bytes for STM32F4"),
        ("STM32F446RE", vec![4; 4], "8 bytes for STM32F0"),
    ] {
        let placed = image.placed(0, chip).unwrap();
        assert_eq!(placed.segments[0].data, data, "{chip}");
        assert_eq!(placed.segments[1].data, [9; 4]);
        let named: Vec<_> = placed.skipped.iter().map(ToString::to_string).collect();
        assert_eq!(named, [skipped]);
    }
    let families = "STM32F4, STM32F0".to_owned();
    let chip = "nRF52832_xxAA".to_owned();
    assert_eq!(
        image.placed(0, &chip),
        Err(ImageError::OtherFamily {
            families: families.clone(),
            chip
        })
    );
    let chip = "LPC1768".to_owned();
    assert_eq!(
        image.start(&chip),
        Err(ImageError::UnknownFamily { families, chip })
    );
    // One family alone is for whatever chip its reader means, if the list has none for it.
    let one = Image::parse(&uf2_of(F4, at, &[4; 4]), "", None).unwrap();
    assert_eq!(one.start("LPC1768"), Ok(Some(at)));
    assert!(one.start("STM32F030R8").is_err());
}

#[test]
fn the_narrowest_family_of_a_chip_wins() {
    let at = 0x2_6000;
    let nrf52 = 0x1b57_745f;
    let nrf52840 = 0xada5_2840;
    let file = [uf2_of(nrf52, at, &[1; 4]), uf2_of(nrf52840, at, &[2; 4])].concat();
    let image = Image::parse(&file, "", None).unwrap();
    for (chip, value) in [("nRF52840_xxAA", 2), ("nRF52832_xxAA", 1)] {
        let placed = image.placed(0, chip).unwrap();
        assert_eq!(placed.segments[0].data, [value; 4], "{chip}");
    }
}

/// As Pico SDK 2 writes files for RP2350: a block for an erratum comes first.
#[test]
fn the_block_for_erratum_e10_is_no_part_of_a_program() {
    let absolute = 0xe48b_ff57;
    let secure = 0xe48b_ff59;
    let erratum = uf2_of(absolute, 0x10ff_ff00, &[0xef; 256]);
    let program = uf2_of(secure, 0x1000_0000, &[7; 256]);
    let image = Image::parse(&[erratum.clone(), program.clone()].concat(), "", None).unwrap();
    for chip in ["RP235x", "RP2350"] {
        let placed = image.placed(0, chip).unwrap();
        assert_eq!(
            (placed.segments.len(), placed.segments[0].address),
            (1, 0x1000_0000)
        );
        assert!(placed.skipped.is_empty());
    }
    let format = Format::Uf2;
    assert_eq!(error(&erratum, format), ImageError::NoData { format });
    // Other data at absolute addresses goes with the program.
    let settings = uf2_of(absolute, 0x1010_0000, &[8; 4]);
    let image = Image::parse(&[settings, program].concat(), "", None).unwrap();
    assert_eq!(image.placed(0, "RP2350").unwrap().segments.len(), 2);
}

/// ELF files by their tables.
mod elf {
    /// Offset, virtual and physical address, bytes in the file.
    type Segment = (u32, u32, u32, u32);
    /// Kind, flags, address, offset, bytes.
    type Section = (u32, u32, u32, u32, u32);

    /// As lld lays files out: the headers are a segment of their own, one page before the program.
    pub(super) const SEGMENTS: [Segment; 2] = [
        (0, 0x0800_3000, 0x0800_3000, 0xd4),
        (0x200, 0x0800_4000, 0x0800_4000, 0x40),
    ];
    pub(super) const SECTIONS: [Section; 2] = [
        (1, 6, 0x0800_4000, 0x200, 0x40),
        (8, 3, 0x2000_0000, 0x240, 0x100),
    ];

    /// A file whose bytes from 0x200 to 0x300 count up from 0.
    pub(super) fn file(sections: &[Section], segments: &[Segment]) -> Vec<u8> {
        let mut file = vec![0; 0x300];
        let mut put = |at: usize, words: &[u32]| {
            for (place, word) in words.iter().enumerate() {
                file[at + 4 * place..][..4].copy_from_slice(&word.to_le_bytes());
            }
        };
        put(0, &[0x464c_457f, 0x0001_0101]);
        put(
            16,
            &[
                0x0028_0002,
                1,
                0,
                52,
                if sections.is_empty() { 0 } else { 0x180 },
                0,
            ],
        );
        put(
            40,
            &[
                52 | 32 << 16,
                u32::try_from(segments.len()).unwrap() | 40 << 16,
            ],
        );
        put(48, &[u32::try_from(sections.len()).unwrap()]);
        for (number, (offset, virt, phys, bytes)) in segments.iter().enumerate() {
            put(
                52 + 32 * number,
                &[1, *offset, *virt, *phys, *bytes, *bytes, 5, 4],
            );
        }
        for (number, (kind, flags, address, offset, bytes)) in sections.iter().enumerate() {
            put(
                0x180 + 40 * number,
                &[0, *kind, *flags, *address, *offset, *bytes],
            );
        }
        for (place, byte) in file[0x200..].iter_mut().enumerate() {
            *byte = place.to_le_bytes()[0];
        }
        file
    }
}

fn placed(file: &[u8]) -> Result<Vec<(u32, usize, u8)>, ImageError> {
    let segments = Image::parse(file, "x.elf", None)?.placed(0, "")?.segments;
    let one = |s: &super::Segment| (s.address, s.data.len(), s.data[0]);
    Ok(segments.iter().map(one).collect())
}

/// The headers of the file were programmed where the boot loader is, and erased its last page.
#[test]
fn headers_in_a_loadable_segment_are_not_programmed() {
    let file = elf::file(&elf::SECTIONS, &elf::SEGMENTS);
    assert_eq!(placed(&file), Ok(vec![(0x0800_4000, 0x40, 0)]));
    // Without sections, segments are all that says what is loaded.
    let file = elf::file(&[], &elf::SEGMENTS[1..]);
    assert_eq!(placed(&file), Ok(vec![(0x0800_4000, 0x40, 0)]));
}

/// Initial values of variables are kept behind the program and copied by the start-up code.
#[test]
fn sections_go_where_their_segment_is_stored() {
    let segments = [(0x200, 0x2000_0000, 0x0800_0100, 0x40)];
    let sections = [(1, 3, 0x2000_0010, 0x210, 0x20)];
    let file = elf::file(&sections, &segments);
    assert_eq!(placed(&file), Ok(vec![(0x0800_0110, 0x20, 0x10)]));
    // One that no segment has goes to the address where it runs, as objcopy has it.
    let sections = [sections[0], (1, 2, 0x0801_0000, 0x280, 8)];
    let file = elf::file(&sections, &segments);
    let expected = vec![(0x0800_0110, 0x20, 0x10), (0x0801_0000, 8, 0x80)];
    assert_eq!(placed(&file), Ok(expected));
}

#[test]
fn segments_may_overlap_if_they_agree() {
    let whole = (0x200, 0x0800_0000, 0x0800_0000, 0x80);
    let within = (0x210, 0x0800_0010, 0x0800_0010, 0x20);
    let text = [(1, 6, 0x0800_0000, 0x200, 0x80)];
    for sections in [&text[..], &[]] {
        let file = elf::file(sections, &[within, whole]);
        assert_eq!(placed(&file), Ok(vec![(0x0800_0000, 0x80, 0)]));
    }
    let other = (0x280, 0x0800_0070, 0x0800_0070, 0x10);
    for sections in [&text[..], &[]] {
        let file = elf::file(sections, &[whole, other]);
        let address = 0x0800_0070;
        assert_eq!(placed(&file), Err(ImageError::Overlap { address }));
    }
}

#[test]
fn tables_that_lie_are_refused() {
    let format = Format::Elf;
    let mut file = elf::file(&elf::SECTIONS, &elf::SEGMENTS);
    file.truncate(0x1a0);
    let what = "the table of sections";
    assert_eq!(error(&file, format), ImageError::CutOff { format, what });
    let sections = [(1, 6, 0x0800_4000, 0x2f0, 0x40)];
    let file = elf::file(&sections, &elf::SEGMENTS[1..]);
    let what = "a section";
    assert_eq!(error(&file, format), ImageError::CutOff { format, what });
    let mut file = elf::file(&elf::SECTIONS, &elf::SEGMENTS[1..]);
    file.resize(0x1_0000, 0);
    let many = 300u16.to_le_bytes();
    file[28..32].copy_from_slice(&0x8000u32.to_le_bytes());
    file[44..46].copy_from_slice(&many);
    for number in 0..300 {
        let at = 0x8000 + 32 * number;
        file[at] = 1;
        file[at + 16] = 1;
    }
    assert_eq!(error(&file, format), ImageError::Segments { limit: 256 });
}

#[test]
fn plain_bytes_end_where_addresses_do() {
    let image = Image::parse(&[1; 16], "x.bin", None).unwrap();
    let placed = image.placed(0xffff_fff0, "").unwrap();
    assert_eq!(placed.segments[0].end(), 1 << 32);
    assert!(image.placed(0xffff_fff1, "").is_err());
}

#[test]
fn no_file_panics() {
    let uf2 = uf2_block(UF2_FIELDS, &[1, 2, 3, 4]).repeat(3);
    let hex =
        b":020000040800F2\n:04000C0001020304E6\n:020000021000EC\n:02FFFF001122CD\n:00000001FF\n";
    let families = [F4, F0, 0].map(|family| uf2_of(family, 0x0800_0000, &[5; 4]));
    let families = families.concat();
    let linked = elf::file(&elf::SECTIONS, &elf::SEGMENTS);
    let seeds: [&[u8]; 6] = [&DEMO[..2048], DEMO, &uf2, hex, &families, &linked];
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap()
    };
    for round in 0..4000 {
        let seed = seeds[round % seeds.len()];
        let mut file = seed.to_vec();
        let reach = [64, 512, file.len()][next() % 3].min(file.len());
        for _ in 0..=next() % 6 {
            file[next() % reach] = next().to_le_bytes()[0];
        }
        if next() % 4 == 0 {
            file.truncate(next() % (file.len() + 1));
        }
        fuzz::files(&file);
    }
}
