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
    let segments = image.placed(0).unwrap();
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
    let what = "a segment";
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
    let text = b":020000040800F2\r\n:02001000AABB89\r\n\r\n:04000C0001020304E6\r\n:00000001FF\r\nleft over";
    let segments = Image::parse(text, "x.hex", None)
        .unwrap()
        .placed(0)
        .unwrap();
    assert_eq!(segments.len(), 1);
    assert_eq!(segments[0].address, 0x0800_000c);
    assert_eq!(segments[0].data, [1, 2, 3, 4, 0xaa, 0xbb]);
    // In a segment, addresses wrap within 64 KiB.
    let text = b":020000021000EC\n:02FFFF0011229B\n:00000001FF\n".to_vec();
    let mut text = String::from_utf8(text).unwrap();
    text = text.replace("11229B", "1122CD");
    let segments = Image::parse(text.as_bytes(), "", None)
        .unwrap()
        .placed(0)
        .unwrap();
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
            .placed(0)
            .unwrap();
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
    let mut fields = UF2_FIELDS;
    (fields[2], fields[7]) = (0x2000, 1);
    let one = uf2_block(fields, &[]);
    fields[7] = 2;
    let found = error(&[one, uf2_block(fields, &[])].concat(), Format::Uf2);
    let what = "it is for another family of chips than those before it";
    assert_eq!(found, ImageError::Uf2Block { block: 1, what });
    assert_eq!(
        error(&[good.clone(), good.clone()].concat(), Format::Uf2),
        ImageError::Overlap {
            address: 0x0800_0000
        }
    );
    assert!(matches!(
        error(&good[..511], Format::Uf2),
        ImageError::CutOff { .. }
    ));
}

#[test]
fn plain_bytes_end_where_addresses_do() {
    let image = Image::parse(&[1; 16], "x.bin", None).unwrap();
    assert_eq!(image.placed(0xffff_fff0).unwrap()[0].end(), 1 << 32);
    assert!(image.placed(0xffff_fff1).is_err());
}

#[test]
fn no_file_panics() {
    let uf2 = uf2_block(UF2_FIELDS, &[1, 2, 3, 4]).repeat(3);
    let hex =
        b":020000040800F2\n:04000C0001020304E6\n:020000021000EC\n:02FFFF001122CD\n:00000001FF\n";
    let seeds: [&[u8]; 4] = [&DEMO[..2048], DEMO, &uf2, hex];
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
