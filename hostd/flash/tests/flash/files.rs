//! Files of every format end up in the flash.

use flash::{Image, Request, Stop, run};
use target_sim::chip::{FLASH_BASE, STM32F030R8};
use target_sim::firmware::DEMO_ELF;

use super::bench::{Bench, demo, noise};

fn program(image: Image, load_address: Option<u32>) -> Bench {
    let bench = Bench::powered(STM32F030R8);
    let mut request = Request::new("target/stm32f0x.cfg", image);
    request.load_address = load_address;
    run(bench.link(), &request, &Stop::new(), &mut |_| {}).unwrap();
    bench
}

/// An Intel HEX file in lines of 16 bytes, with a new linear base for each.
fn hex(address: u32, data: &[u8]) -> String {
    let record = |kind: u8, offset: u16, data: &[u8]| {
        let mut bytes = vec![u8::try_from(data.len()).unwrap()];
        bytes.extend(offset.to_be_bytes());
        bytes.push(kind);
        bytes.extend(data);
        let sum = bytes.iter().fold(0u8, |sum, byte| sum.wrapping_sub(*byte));
        bytes.push(sum);
        let digits: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
        format!(":{digits}\r\n")
    };
    let mut text = String::new();
    for (chunk, at) in data.chunks(16).zip((address..).step_by(16)) {
        let [high, higher, low, lower] = at.to_be_bytes();
        text += &record(4, 0, &[high, higher]);
        text += &record(0, u16::from_be_bytes([low, lower]), chunk);
    }
    text + &record(1, 0, &[])
}

/// A UF2 file in blocks of 256 bytes.
fn uf2(address: u32, data: &[u8]) -> Vec<u8> {
    let count = u32::try_from(data.chunks(256).len()).unwrap();
    let mut file = Vec::new();
    for (number, chunk) in (0u32..).zip(data.chunks(256)) {
        let length = u32::try_from(chunk.len()).unwrap();
        let head = [
            0x0a32_4655,
            0x9e5d_5157,
            0x2000,
            address + 256 * number,
            length,
            number,
            count,
            0x6478_24b6,
        ];
        let mut block: Vec<u8> = head
            .iter()
            .flat_map(|word: &u32| word.to_le_bytes())
            .collect();
        block.extend(chunk);
        block.resize(508, 0);
        block.extend(0x0ab1_6f30u32.to_le_bytes());
        file.extend(block);
    }
    file
}

#[test]
fn the_demo_runs_from_a_file_of_any_format() {
    let segments = demo().placed(0, "").unwrap().segments;
    let whole: Vec<u8> = {
        let end = segments.last().unwrap().end() - u64::from(FLASH_BASE);
        let mut whole = vec![0xff; usize::try_from(end).unwrap()];
        for segment in &segments {
            let place = (segment.address - FLASH_BASE) as usize;
            whole[place..place + segment.data.len()].copy_from_slice(&segment.data);
        }
        whole
    };
    let files = [
        (DEMO_ELF.to_vec(), "demo.elf", None),
        (hex(FLASH_BASE, &whole).into_bytes(), "demo.hex", None),
        (uf2(FLASH_BASE, &whole), "demo.uf2", None),
        (whole.clone(), "demo.bin", None),
        (whole.clone(), "demo.bin", Some(FLASH_BASE)),
    ];
    for (file, name, load_address) in files {
        let bench = program(
            Image::parse(&file, name, load_address).unwrap(),
            load_address,
        );
        bench.with(|target, _| assert_eq!(target.chip().flash()[..whole.len()], whole, "{name}"));
        assert!(bench.text_after_ms(200).contains("I2C1 "), "{name}");
    }
}

#[test]
fn plain_bytes_go_where_the_request_says() {
    let data = noise(3000);
    let bench = program(
        Image::parse(&data, "part.dat", Some(FLASH_BASE + 0x2000)).unwrap(),
        Some(FLASH_BASE + 0x2000),
    );
    bench.with(|target, _| {
        let flash = target.chip().flash();
        assert_eq!(flash[0x2000..0x2000 + data.len()], data);
        assert!(flash[..0x2000].iter().all(|byte| *byte == 0xff));
    });
}
