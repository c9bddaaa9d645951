//! Secrets in every form, cut at every place, compared with a search that sees everything at once.

mod forms;
mod masks;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fastrand::Rng;

use super::{
    HELD_BYTES_MAX, MARK, MASKS_MAX, Masks, NotMasked, Redactor, SECRET_BYTES_MAX,
    SECRET_BYTES_MIN, SECRETS_BYTES_MAX, Secrets, Unfit, WORD_BYTES_MAX, WORDS_MAX, Words,
    needles_of,
};

const TOKEN: &[u8] = b"s3cr3t/t0ken value";

fn secrets(values: &[&[u8]]) -> Secrets {
    Secrets::new(values.iter().map(|value| ("S", *value))).unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn push(redactor: &mut Redactor, bytes: &[u8]) -> String {
    let mut out = Vec::new();
    redactor.push(bytes, &mut out);
    text(&out)
}

#[test]
fn a_secret_is_blotted_out_in_all_its_forms() {
    let secrets = secrets(&[TOKEN]);
    let redacted = |line: &str| text(&secrets.redacted(line.as_bytes()));
    assert_eq!(redacted("x s3cr3t/t0ken value y"), "x [secret] y");
    assert_eq!(redacted("?k=s3cr3t%2Ft0ken%20value&"), "?k=[secret]&");
    assert_eq!(redacted("?k=s3cr3t%2ft0ken+value&"), "?k=[secret]&");
    for before in ["", "u", "us", "user:"] {
        let encoded = STANDARD.encode([before.as_bytes(), TOKEN, b"!"].concat());
        let redacted = redacted(&encoded);
        assert!(redacted.contains("[secret]"), "{before} {redacted}");
        assert!(
            redacted.len() <= "[secret]".len() + 12,
            "{before} {redacted}"
        );
    }
    let harmless = "nothing of a secret here: s3cr3t/t0ken";
    assert_eq!(redacted(harmless), harmless);
}

#[test]
fn each_line_of_a_long_secret_is_one() {
    let secrets = secrets(&[b"-----BEGIN-----\nabcdefghij\nshort\nklmnopqrst\r\n"]);
    let redacted = text(&secrets.redacted(b"1 abcdefghij 2 short 3 klmnopqrst 4"));
    assert_eq!(redacted, "1 [secret] 2 short 3 [secret] 4");
}

#[test]
fn base_64_that_a_tool_cut_into_lines_is_found() {
    let long: Vec<u8> = (0..150).map(|n| b'!' + n % 90).collect();
    let secrets = secrets(&[&long]);
    let encoded = STANDARD.encode(&long);
    for columns in [64, 76] {
        let lines = encoded.as_bytes().chunks(columns).map(text);
        let cut = lines.collect::<Vec<_>>().join("\n");
        let redacted = text(&secrets.redacted(cut.as_bytes()));
        assert_eq!(redacted, "I[secret]");
    }
}

#[test]
fn only_what_may_become_a_secret_is_held_back() {
    let mut redactor = secrets(&[b"abcdefgh"]).redactor();
    assert_eq!(push(&mut redactor, b"login: "), "login: ");
    assert_eq!(push(&mut redactor, b"x abc"), "x ");
    assert_eq!(push(&mut redactor, b"d"), "");
    assert_eq!(push(&mut redactor, b"ef!"), "abcdef!");
    assert_eq!(push(&mut redactor, b"abcd"), "");
    assert_eq!(push(&mut redactor, b"efgh."), "[secret].");
    assert_eq!(push(&mut redactor, b"abcd"), "");
    let mut out = Vec::new();
    redactor.finish(&mut out);
    assert_eq!(text(&out), "abcd");
}

#[test]
fn what_overlaps_is_blotted_out_whole() {
    let secrets = secrets(&[b"abcdefgh", b"efghijkl", b"abcdefghij-long"]);
    assert_eq!(secrets.redacted(b"<abcdefghijkl>"), b"<[secret]>");
    let mut redactor = secrets.redactor();
    let mut all = push(&mut redactor, b"<abcdefgh");
    all.push_str(&push(&mut redactor, b"ij-lon"));
    all.push_str(&push(&mut redactor, b"g>"));
    assert_eq!(all, "<[secret]>");
}

#[test]
fn short_secrets_are_refused() {
    let short = Secrets::new([("PIN", b"1234567".as_slice())]).unwrap_err();
    assert_eq!(short, Unfit::Short("PIN".to_owned()));
    let many = (0..65).map(|_| ("S", b"12345678".as_slice()));
    assert_eq!(Secrets::new(many).unwrap_err(), Unfit::Many(65));
    assert!(secrets(&[]).redacted(b"abc") == b"abc");
}

#[test]
fn the_longest_secrets_are_taken_and_longer_ones_refused() {
    let value = |seed: u64, len: usize| -> Vec<u8> {
        let mut rng = Rng::with_seed(seed);
        (0..len).map(|_| rng.u8(b'!'..=b'~')).collect()
    };
    let longest = value(1, SECRET_BYTES_MAX);
    let rest = value(2, SECRETS_BYTES_MAX - SECRET_BYTES_MAX);
    let all = secrets(&[&longest, &rest]);
    let said = [b"a ".as_slice(), &longest, b" b ", &rest, b" c"].concat();
    assert_eq!(all.redacted(&said), b"a [secret] b [secret] c");
    let long = value(3, SECRET_BYTES_MAX + 1);
    let refused = Secrets::new([("L", long.as_slice())]).unwrap_err();
    assert_eq!(refused, Unfit::Long("L".to_owned()));
    let more = value(4, SECRETS_BYTES_MAX - SECRET_BYTES_MAX + 1);
    let both = [("A", longest.as_slice()), ("B", more.as_slice())];
    let refused = Secrets::new(both).unwrap_err();
    assert_eq!(refused, Unfit::Bytes(SECRETS_BYTES_MAX + 1));
}

#[test]
fn a_word_that_comes_up_is_blotted_out_from_then_on() {
    let words = Words::default();
    let fixed = [&[][..], &[TOKEN][..]];
    for values in fixed {
        assert!(words.set([]));
        let secrets = secrets(values).and(words.clone(), Masks::default());
        let mut redactor = secrets.redactor();
        assert_eq!(push(&mut redactor, b"a eyJhbGci b"), "a eyJhbGci b");
        assert!(words.set(["eyJhbGci"]));
        assert_eq!(push(&mut redactor, b"c eyJh"), "c ");
        assert!(words.set(["eyJhbGci", "eyJ0eXAi"]));
        assert_eq!(
            push(&mut redactor, b"bGci d eyJ0eXAi"),
            "[secret] d [secret]"
        );
        let encoded = STANDARD.encode("user:eyJ0eXAi!");
        assert_eq!(push(&mut redactor, encoded.as_bytes()), "dXNlcjp[secret]E=");
        let mut told = "?token=eyJ0eXAi".to_owned();
        secrets.redact(&mut told);
        assert_eq!(told, "?token=[secret]");
        // What was known from the beginning stays.
        let known = push(&mut redactor, &[TOKEN, b"."].concat());
        assert_eq!(known == "[secret].", !values.is_empty());
        // What was held back is seen when it is no word any more.
        assert_eq!(push(&mut redactor, b"e eyJ0"), "e ");
        assert!(words.set([]));
        assert_eq!(push(&mut redactor, b"eXAi f"), "eyJ0eXAi f");
    }
    assert!(!format!("{words:?}").contains("eyJ"));
}

#[test]
fn there_are_so_many_words_and_no_more() {
    let words = Words::default();
    let secrets = secrets(&[]).and(words.clone(), Masks::default());
    let word = |n: usize| format!("{n:0WORD_BYTES_MAX$}");
    let all: Vec<String> = (0..WORDS_MAX).map(word).collect();
    assert!(words.set(all.iter().map(String::as_str)));
    let more: Vec<String> = (0..=WORDS_MAX).map(word).collect();
    let long = "x".repeat(WORD_BYTES_MAX + 1);
    assert!(!words.set(more.iter().map(String::as_str)));
    for unfit in ["1234567", &long] {
        assert!(!words.set([unfit]));
    }
    for word in &all {
        assert_eq!(secrets.redacted(word.as_bytes()), MARK);
    }
}

/// Every byte that belongs to a form is gone, and no others; each run of such bytes becomes one
/// mark.
fn naive(forms: &[Vec<u8>], bytes: &[u8]) -> Vec<u8> {
    let mut hits: Vec<(usize, usize)> = Vec::new();
    for start in 0..bytes.len() {
        let longest = forms.iter().filter(|form| bytes[start..].starts_with(form));
        if let Some(len) = longest.map(Vec::len).max() {
            match hits.last_mut() {
                Some((_, end)) if *end > start => *end = (*end).max(start + len),
                _ => hits.push((start, start + len)),
            }
        }
    }
    let (mut out, mut at) = (Vec::new(), 0);
    for (start, end) in hits {
        out.extend_from_slice(&bytes[at..start]);
        out.extend_from_slice(MARK);
        at = end;
    }
    out.extend_from_slice(&bytes[at..]);
    out
}

#[test]
fn however_it_arrives_the_result_is_that_of_a_search_in_the_whole() {
    let mut random = Rng::with_seed(5);
    let mut blotted = 0;
    for _ in 0..3000 {
        // Few letters, so that secrets overlap each other and themselves.
        let letters = |random: &mut Rng, len: usize| -> Vec<u8> {
            (0..len).map(|_| random.choice(*b"ab").unwrap()).collect()
        };
        let values: Vec<Vec<u8>> = (0..random.usize(1..4))
            .map(|_| {
                let len = random.usize(SECRET_BYTES_MIN..12);
                letters(&mut random, len)
            })
            .collect();
        let forms = needles_of(values.iter());
        let values: Vec<&[u8]> = values.iter().map(Vec::as_slice).collect();
        let secrets = secrets(&values);
        let mut bytes = letters(&mut random, 200);
        bytes.extend_from_slice(random.choice(&values).unwrap());
        let expected = naive(&forms, &bytes);
        blotted += usize::from(expected != bytes);
        let mut redactor = secrets.redactor();
        let mut out = Vec::new();
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let (part, behind) = rest.split_at(random.usize(1..=rest.len().min(9)));
            redactor.push(part, &mut out);
            assert!(redactor.held.len() < 64);
            rest = behind;
        }
        redactor.finish(&mut out);
        assert_eq!(text(&out), text(&expected));
    }
    assert!(blotted > 2000);
}
