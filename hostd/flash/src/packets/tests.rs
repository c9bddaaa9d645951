//! Packets and answers as bytes.

use super::{
    Ack, AnswerError, Transfer, block_read, block_write, info_number, status, transfer, transferred,
};
use super::{block_read_words_max, block_write_words_max, writes_max};

#[test]
fn packets_that_are_as_full_as_can_be_still_fit() {
    for bytes in [64, 65, 512, 1024, 1200, 4096] {
        let write = Transfer {
            register: 0x0d,
            write: Some(7),
        };
        let full = transfer(&vec![write; writes_max(bytes)]);
        assert!(full.len() <= bytes);
        let words = vec![0; block_write_words_max(bytes)];
        let full = block_write(0x0d, &words).len();
        assert!(full <= bytes && full + 4 > bytes);
        let answer = 4 + 4 * block_read_words_max(bytes);
        assert!(answer <= bytes && answer + 4 > bytes);
    }
    assert_eq!(block_read(0x0d, 0x102), [6, 0, 2, 1, 0x0f]);
}

#[test]
fn answers_say_what_became_of_transfers() {
    let read = Transfer {
        register: 0x0c,
        write: None,
    };
    let packet = transfer(&[read]);
    assert_eq!(packet, [5, 0, 1, 0x0e]);
    let answer = transferred(&packet, &[5, 1, 1, 4, 3, 2, 1]).unwrap();
    assert_eq!(
        (answer.count, answer.ack, answer.words),
        (1, Ack::Ok, vec![0x0102_0304])
    );
    let acks = [
        (2, Ack::Wait),
        (4, Ack::Fault),
        (7, Ack::Silence),
        (8, Ack::Garbage),
        (0, Ack::Garbage),
    ];
    for (byte, ack) in acks {
        assert_eq!(transferred(&packet, &[5, 0, byte]).unwrap().ack, ack);
    }
    let packet = block_read(0x0d, 2);
    let answer = transferred(&packet, &[6, 2, 0, 1, 1, 0, 0, 0, 2, 0, 0, 0]).unwrap();
    assert_eq!((answer.count, answer.words), (2, vec![1, 2]));
    assert!(transferred(&packet, &[6, 2, 0]).is_err());
}

#[test]
fn answers_to_something_else_are_refused() {
    let found = status(&[0x11, 0, 0, 0, 0], &[0x12, 0]);
    let wrong = AnswerError::OtherCommand {
        expected: 0x11,
        found: 0x12,
    };
    assert_eq!(found, Err(wrong));
    assert_eq!(
        status(&[0x11], &[0x11, 0xff]),
        Err(AnswerError::Refused { command: 0x11 })
    );
    assert_eq!(
        status(&[0x11], &[0x11]),
        Err(AnswerError::Short {
            command: 0x11,
            length: 1
        })
    );
    assert_eq!(status(&[2, 1], &[2, 1]), Ok(()));
    assert_eq!(
        status(&[2, 1], &[2, 0]),
        Err(AnswerError::Refused { command: 2 })
    );
    assert_eq!(info_number(&[0, 0xff], &[0, 2, 0, 4]), Ok(Some(1024)));
    assert_eq!(info_number(&[0, 0xfe], &[0, 1, 4]), Ok(Some(4)));
    assert_eq!(info_number(&[0, 0xfe], &[0, 0]), Ok(None));
}
