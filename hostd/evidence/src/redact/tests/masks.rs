//! Values that programs ask to be kept from view.

use super::*;

/// What comes of it in pieces of so many bytes, and what was not followed.
fn shown(secrets: &Secrets, said: &str, piece: usize) -> (String, Vec<NotMasked>) {
    let mut commands = secrets.commands();
    let mut out = Vec::new();
    let mut refused = Vec::new();
    for part in said.as_bytes().chunks(piece) {
        commands.push(part, &mut out);
        refused.extend(commands.refused());
    }
    commands.finish(&mut out);
    refused.extend(commands.refused());
    (text(&out), refused)
}

#[test]
fn a_value_is_kept_from_view_from_its_line_on() {
    let said = "before opensesame\n::add-mask::opensesame\nafter opensesame open%73esame\n \
        ::add-mask::no command\nx ::add-mask::nor this\n::add-mas\n::add-mask::two%0Along lines%25\r\ntwo\nlong lines% long%20lines%25\n";
    let expected = "before opensesame\n::add-mask::[secret]\nafter [secret] [secret]\n \
        ::add-mask::no command\nx ::add-mask::nor this\n::add-mas\n::add-mask::[secret]\n[secret] [secret]\n";
    for piece in 1..said.len() {
        let secrets = secrets(&[]);
        assert_eq!(shown(&secrets, said, piece), (expected.to_owned(), vec![]));
        // It counts for all streams.
        assert_eq!(secrets.redacted(b"a opensesame b"), b"a [secret] b");
    }
}

#[test]
fn what_cannot_be_followed_is_not_shown_either() {
    let secrets = secrets(&[]);
    let long = "x".repeat(SECRET_BYTES_MAX + 1);
    let said =
        format!("::add-mask::1234567\n::add-mask::\n::add-mask::{long}\n::add-mask::12345678");
    let (out, refused) = shown(&secrets, &said, 1000);
    assert_eq!(out, "::add-mask::[secret]\n".repeat(4).trim_end());
    let expected = [NotMasked::Short, NotMasked::Short, NotMasked::Long];
    assert_eq!(refused, expected);
    assert_eq!(secrets.redacted(b"12345678"), MARK);
}

#[test]
fn there_are_so_many_and_no_more() {
    let secrets = secrets(&[]);
    for n in 0..MASKS_MAX {
        let value = format!("value {n:04}");
        assert_eq!(secrets.mask(value.as_bytes()), Ok(()));
        assert_eq!(secrets.mask(value.as_bytes()), Ok(()));
    }
    assert_eq!(secrets.mask(b"one more value"), Err(NotMasked::Many));
    assert_eq!(
        secrets.redacted(b"value 0000 value 0063"),
        b"[secret] [secret]"
    );
}

#[test]
fn what_one_run_asks_for_counts_for_the_others_of_its_job() {
    let first = secrets(&[]);
    let masks = first.masks().clone();
    let second = secrets(&[]).and(Words::default(), masks.clone());
    let other = secrets(&[]);
    assert_eq!(
        (masks.bytes(), format!("{masks:?}")),
        (0, "Masks(0)".to_owned())
    );
    shown(&first, "::add-mask::opensesame\n", 5);
    let third = secrets(&[]).and(Words::default(), masks.clone());
    for secrets in [&first, &second, &third] {
        assert_eq!(secrets.redacted(b"a opensesame b"), b"a [secret] b");
    }
    assert_eq!(other.redacted(b"opensesame"), b"opensesame");
    assert_eq!(
        (masks.bytes(), format!("{masks:?}")),
        (10, "Masks(1)".to_owned())
    );
}
