//! A short seeded run of every fuzz target, from mutated valid inputs.

use fastrand::Rng;

use super::{junit, log, redaction};
use crate::log::{Stream, Writer};

fn run(seed: u64, rounds: usize, valid: &[Vec<u8>], target: fn(&[u8])) {
    let mut random = Rng::with_seed(seed);
    for _ in 0..rounds {
        let one = random.choice(valid).expect("there are some");
        target(&mutated(&mut |limit| random.usize(..limit), one));
    }
}

#[test]
fn any_bytes_are_a_log_that_ends_somewhere() {
    let valid = [5_usize, 3000].map(|cap| {
        let (mut bytes, mut index) = (Vec::new(), Vec::new());
        let mut writer = Writer::new(&mut bytes, &mut index, cap as u64);
        for number in 0..40 {
            writer.push(number, Stream::Uart, 1, b"a line of some length\n");
        }
        writer.finish();
        let split = u16::try_from(index.len()).expect("it is short");
        [split.to_le_bytes().to_vec(), index, bytes].concat()
    });
    run(7, 20_000, &valid, log);
}

#[test]
fn any_bytes_are_junit_or_refused() {
    let valid = [
        r#"<testsuites><testsuite name="a"><testcase classname="c" name="n" time="1.5"><failure message="m" type="t">x &lt; <![CDATA[y]]></failure><system-out>&#10;o</system-out></testcase></testsuite></testsuites>"#,
        r#"<?xml version="1.0"?><testsuite><testcase name="a"/><testcase name="a"><skipped/></testcase><!-- c --></testsuite>"#,
        r#"<testsuites errors="1" failures="2"><testsuite name="a" errors="1"><error message="m">x</error><testcase name="b" status="notrun" result="suppressed" time="1.234,5"/><testcase name="c" status="fail"/></testsuite></testsuites>"#,
        r#"<testsuite name="a" failures="1"><testcase name="b"/><testcase name="c"><failure message="m">x"#,
        r#"<?xml version="1.0" encoding="ISO-8859-15"?><testsuite><testcase name="a" time="0,5"/></testsuite>"#,
    ];
    let wide = |xml: &str| xml.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let wide: Vec<Vec<u8>> = valid[..2].iter().map(|xml| wide(xml)).collect();
    let mut valid = valid.map(|xml| xml.as_bytes().to_vec()).to_vec();
    valid.extend(wide);
    run(8, 20_000, &valid, junit);
}

#[test]
fn no_cut_shows_a_secret() {
    let valid = [
        b"\x03x abababab ababababab y s3cr3t+t0ken\nabab z".to_vec(),
        b"\x01?t=s3cr3t%2Bt0ken%0Aabab&u=abababa".to_vec(),
    ];
    run(9, 20_000, &valid, redaction);
}

/// Changes, drops, duplicates and inserts some bytes of a valid input. `below` draws a number below
/// its argument.
fn mutated(below: &mut dyn FnMut(usize) -> usize, valid: &[u8]) -> Vec<u8> {
    let mut bytes = valid.to_vec();
    for _ in 0..below(5) {
        if bytes.is_empty() {
            break;
        }
        let at = below(bytes.len());
        let byte = u8::try_from(below(256)).expect("below 256");
        match below(4) {
            0 => bytes[at] = byte,
            1 => drop(bytes.remove(at)),
            2 => bytes.insert(at, bytes[at]),
            _ => bytes.insert(at, byte),
        }
    }
    bytes
}
