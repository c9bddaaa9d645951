//! Where the trigger is seen, and what becomes of the samples around it.

use super::*;
use crate::captures::order::Bus;

const RATE_HZ: f64 = 1e6;

/// Samples of a bit.
const BIT: usize = 8;

/// A line of a UART on LA3, with an idle time before and after each byte.
fn uart(bytes: &[u8]) -> Vec<u16> {
    let mut line = Vec::new();
    let mut hold = |level: bool, samples: usize| {
        line.extend(std::iter::repeat_n(u16::from(level) << 2, samples));
    };
    hold(true, 100);
    for byte in bytes {
        hold(false, BIT);
        for bit in 0..8 {
            hold(byte >> bit & 1 == 1, BIT);
        }
        hold(true, 100);
    }
    hold(true, 1000);
    line
}

/// Samples from the beginning of the line to the end of a byte's bits.
fn end_of(byte: u64) -> u64 {
    100 + byte * (9 * BIT as u64 + 100) + 9 * BIT as u64
}

fn awaited(bytes: &[Option<u8>], samples: u64, pre_samples: u64) -> Awaited {
    Awaited {
        bus: Bus::Uart {
            rx: 3,
            bytes: bytes.to_vec(),
            options: vec![("baudrate".to_owned(), "125000".to_owned())],
        },
        timeout_ms: 1000,
        samples,
        pre_samples,
    }
}

/// The changes of a range, and the word of the first sample.
fn edges(line: &[u16], from: usize, to: usize) -> Vec<(u64, u16)> {
    let changed = |at: &usize| *at == 0 || line[*at] != line[*at - 1];
    let edges = (from..to).filter(changed);
    edges.map(|at| (at as u64, line[at])).collect()
}

/// The words of the capture that is made of a line, whose samples come in such pieces, and where it lies.
fn captured(line: &[u16], awaited: Awaited, piece: usize) -> (Vec<u16>, Found) {
    let mut hunt = Hunt::new(awaited, RATE_HZ).unwrap();
    let mut words = Vec::new();
    let mut from = 0;
    while from < line.len() && !hunt.is_over() {
        let to = (from + piece).min(line.len());
        let frame = hunt.take(&edges(line, from, to), to as u64, &[]).unwrap();
        if let Some(Frame::La { edges, upto }) = frame {
            assert_eq!(edges[0].0, words.len() as u64);
            for (at, word) in edges {
                words.resize(
                    usize::try_from(at).unwrap(),
                    words.last().copied().unwrap_or(0),
                );
                words.push(word);
            }
            words.resize(usize::try_from(upto).unwrap(), *words.last().unwrap());
        }
        from = to;
    }
    (words, hunt.found.unwrap())
}

#[test]
fn the_capture_lies_around_the_end_of_the_last_byte() {
    let line = uart(&[0x10, 0x55, 0xAA, 0x55, 0x01, 0x33]);
    for piece in [1, 7, 64, 1000, line.len()] {
        let bytes = [Some(0x55), None, Some(0x55)];
        let (words, found) = captured(&line, awaited(&bytes, 500, 300), piece);
        assert_eq!(found.trigger, end_of(3), "{piece}");
        assert_eq!(found.first, end_of(3) - 300);
        let first = usize::try_from(found.first).unwrap();
        assert_eq!(words, line[first..first + 500], "{piece}");
        assert!(found.after < 200 + piece as u64, "{found:?}");
    }
}

#[test]
fn an_early_trigger_leaves_fewer_samples_before_it() {
    let line = uart(&[0x41]);
    let (words, found) = captured(&line, awaited(&[Some(0x41)], 500, 400), 50);
    assert_eq!((found.first, found.trigger), (0, end_of(0)));
    let samples = 100 + usize::try_from(end_of(0)).unwrap();
    assert_eq!(words, line[..samples]);
}

#[test]
fn what_lies_far_back_is_forgotten() {
    let bytes = vec![0x55; 2000];
    let line = uart(&[&bytes[..], &[0x01]].concat());
    let mut hunt = Hunt::new(awaited(&[Some(1)], 500, 300), RATE_HZ).unwrap();
    let mut most = 0;
    for from in (0..line.len()).step_by(1000) {
        let to = (from + 1000).min(line.len());
        hunt.take(&edges(&line, from, to), to as u64, &[]).unwrap();
        most = most.max(hunt.kept.len());
    }
    assert_eq!(hunt.found.unwrap().first, end_of(2000) - 300);
    // Ten edges a byte.
    let kept = usize::try_from(BACK + 300 + 1000).unwrap() / 172 * 10;
    assert!(most < kept + 100, "{most}");
}

/// Bytes before and behind lost samples are not one sequence, and those in the capture are its gaps.
#[test]
fn lost_samples_are_no_part_of_a_sequence() {
    let line = uart(&[0x55, 0xAA, 0x55, 0xAA]);
    let mut hunt = Hunt::new(awaited(&[Some(0x55), Some(0xAA)], 900, 400), RATE_HZ).unwrap();
    // Between the first two bytes, and between the last two there is nothing to lose.
    let gap = (end_of(0) + 20, end_of(0) + 80);
    let steps = [(0, gap.0), (gap.0, gap.1), (gap.1, line.len() as u64)];
    for (from, to) in steps {
        let gaps: &[(u64, u64)] = if to < gap.1 { &[] } else { &[gap] };
        let at = |sample: u64| usize::try_from(sample).unwrap();
        hunt.take(&edges(&line, at(from), at(to)), to, gaps)
            .unwrap();
    }
    let found = hunt.found.unwrap();
    assert_eq!(found.trigger, end_of(3));
    assert_eq!(hunt.gaps, within(&[gap], found));
    let early = Found {
        first: gap.0 + 10,
        end: gap.1 + 5,
        ..found
    };
    assert_eq!(within(&[(0, 1), gap, (9000, 9001)], early), [(0, 50)]);
}

/// A line that is never idle, so that the decoder behind a gap holds back what it has seen.
#[test]
fn a_trigger_behind_a_gap_of_a_busy_line_is_seen_late_and_its_samples_are_kept() {
    const SLOW: usize = 100;
    let mut line = vec![4; SLOW];
    for byte in [vec![0; 5], vec![0x55], vec![0; 700]].concat() {
        let bits = (0..8).map(|bit| u16::from(byte >> bit & 1 == 1) << 2);
        for level in [0].into_iter().chain(bits).chain([4]) {
            line.extend([level; SLOW]);
        }
    }
    let hunted = |gaps: &[(u64, u64)]| {
        let mut awaited = awaited(&[Some(0x55)], 500, 300);
        awaited.bus = Bus::Uart {
            rx: 3,
            bytes: vec![Some(0x55)],
            options: vec![("baudrate".to_owned(), "10000".to_owned())],
        };
        let mut hunt = Hunt::new(awaited, RATE_HZ).unwrap();
        let mut from = 0;
        while from < line.len() && !hunt.is_over() {
            let ends = gaps.iter().flat_map(|&(from, to)| [from, to]);
            let end = { ends }.find(|end| from < usize::try_from(*end).unwrap());
            let end = end.map_or(line.len(), |end| usize::try_from(end).unwrap());
            let to = (from + 1000).min(end).min(line.len());
            let known = gaps.iter().filter(|(_, end)| *end <= to as u64);
            let known: Vec<(u64, u64)> = known.copied().collect();
            hunt.take(&edges(&line, from, to), to as u64, &known)
                .unwrap();
            from = to;
        }
        hunt.found
    };
    // The end of the last bit of the sixth byte.
    let end = (SLOW + 5 * 10 * SLOW + 9 * SLOW) as u64;
    let found = hunted(&[(40, 90)]).unwrap();
    assert_eq!((found.trigger, found.first), (end, end - 300));
    assert_eq!(found.end, end + 200);
    assert!(BACK + 300 < found.after, "{found:?}");
    // The next gap comes first: what was held back is looked at then.
    let again = hunted(&[(40, 90), (30_000, 31_000)]).unwrap();
    assert_eq!(again.trigger, end);
    assert_eq!(again.after, 31_000 - end);
}

#[test]
fn the_wait_has_an_end() {
    let line = uart(&[0x55]);
    let mut short = awaited(&[Some(0x56)], 10, 0);
    short.timeout_ms = 1;
    let mut hunt = Hunt::new(short, RATE_HZ).unwrap();
    assert!(hunt.take(&edges(&line, 0, 999), 999, &[]).is_ok());
    let error = hunt.take(&edges(&line, 999, 1000), 1000, &[]).unwrap_err();
    let TaskError::NoTrigger(why) = error else {
        panic!("{error}");
    };
    assert_eq!(why, "trigger timeout: no bytes 56 on LA3 within 1 ms");
}

#[test]
fn an_address_is_seen_by_its_direction() {
    // SCL on LA1, SDA on LA2: START, the address 0x50 to write, no answer.
    let mut line: Vec<u16> = vec![0b11; 20];
    line.extend([0b01; 5]);
    let bits = 0x50 << 1;
    for bit in (0..8).rev() {
        let sda = (bits >> bit & 1) << 1;
        line.extend([sda; 5]);
        line.extend([sda | 1; 5]);
    }
    line.extend([0b10; 5]);
    line.extend([0b11; 300]);
    let found = |address, is_read| {
        let bus = Bus::I2c {
            lines: Some((1, 2)),
            address,
            is_read,
        };
        let awaited = Awaited {
            bus,
            timeout_ms: 1000,
            samples: 20,
            pre_samples: 10,
        };
        let mut hunt = Hunt::new(awaited, RATE_HZ).unwrap();
        let all = edges(&line, 0, line.len());
        hunt.take(&all, line.len() as u64, &[]).unwrap();
        hunt.found.map(|found| found.trigger)
    };
    let trigger = found(0x50, None).unwrap();
    assert!((100..=110).contains(&trigger), "{trigger}");
    assert_eq!(found(0x50, Some(false)), Some(trigger));
    assert_eq!(found(0x50, Some(true)), None);
    assert_eq!(found(0x51, None), None);
}
