//! The first frames of a jail: questions that slirp4netns answers as soon as it runs, each for a version of IP that it
//! sees a way for. From them it learns who has the jail's addresses.

use std::net::Ipv6Addr;

use super::interface::{ADDRESS_V4, ADDRESS_V6, GATEWAY_V4, GATEWAY_V6, JAIL_HARDWARE};
use super::uplink::Families;

/// Where a frame says what it holds, and kinds of that.
const KIND: std::ops::Range<usize> = 12..14;
const ARP: [u8; 2] = [0x08, 0x06];
const IPV6: [u8; 2] = [0x86, 0xdd];

/// A request of ARP (RFC 826) for Ethernet and IPv4.
const ARP_REQUEST: [u8; 8] = [0, 1, 8, 0, 6, 4, 0, 1];

/// ICMPv6, and its kinds of message and option (RFC 4861).
const ICMP: u8 = 58;
const SOLICITATION: u8 = 135;
const SOURCE_HARDWARE: [u8; 2] = [1, 1];

/// The bytes of a solicitation with one option.
const SOLICITATION_BYTES: u8 = 32;

/// Who has the gateway's addresses?
pub(super) fn questions(families: Families) -> Vec<Vec<u8>> {
    let v4 = families.v4.then(arp);
    let v6 = families.v6.then(solicitation);
    v4.into_iter().chain(v6).collect()
}

/// Notes what a frame is an answer to.
pub(super) fn note(frame: &[u8], answered: &mut Families) {
    let kind = frame.get(KIND);
    answered.v4 |= kind == Some(&ARP);
    answered.v6 |= kind == Some(&IPV6);
}

fn arp() -> Vec<u8> {
    let mut frame = vec![0xff; 6];
    frame.extend(JAIL_HARDWARE);
    frame.extend(ARP);
    frame.extend(ARP_REQUEST);
    frame.extend(JAIL_HARDWARE);
    frame.extend(ADDRESS_V4.octets());
    frame.extend([0; 6]);
    frame.extend(GATEWAY_V4.octets());
    frame
}

fn solicitation() -> Vec<u8> {
    let target = GATEWAY_V6.octets();
    let [.., a, b, c] = target;
    // The group of those whose address ends like this one.
    let group = Ipv6Addr::new(
        0xff02,
        0,
        0,
        0,
        0,
        1,
        0xff00 | u16::from(a),
        u16::from_be_bytes([b, c]),
    );
    let mut message = vec![SOLICITATION, 0, 0, 0, 0, 0, 0, 0];
    message.extend(target);
    message.extend(SOURCE_HARDWARE);
    message.extend(JAIL_HARDWARE);
    let mut summed = ADDRESS_V6.octets().to_vec();
    summed.extend(group.octets());
    summed.extend([0, 0, 0, SOLICITATION_BYTES, 0, 0, 0, ICMP]);
    summed.extend(&message);
    message[2..4].copy_from_slice(&checksum(&summed).to_be_bytes());
    let mut frame = vec![0x33, 0x33, 0xff, a, b, c];
    frame.extend(JAIL_HARDWARE);
    frame.extend(IPV6);
    frame.extend([0x60, 0, 0, 0, 0, SOLICITATION_BYTES, ICMP, 255]);
    frame.extend(ADDRESS_V6.octets());
    frame.extend(group.octets());
    frame.extend(message);
    frame
}

/// The checksum of the Internet protocols (RFC 1071) of an even number of bytes.
fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks_exact(2);
    let sum = words.fold(0_u32, |sum, word| {
        sum + u32::from(u16::from_be_bytes([word[0], word[1]]))
    });
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    !u16::try_from(folded).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_solicitation_sums_to_zero() {
        let frame = solicitation();
        assert_eq!(frame.len(), 14 + 40 + usize::from(SOLICITATION_BYTES));
        let mut summed = frame[14 + 8..14 + 40].to_vec();
        summed.extend([0, 0, 0, SOLICITATION_BYTES, 0, 0, 0, ICMP]);
        summed.extend(&frame[14 + 40..]);
        assert_eq!(checksum(&summed), 0);
    }

    #[test]
    fn each_version_has_a_question_and_an_answer() {
        for (v4, v6) in [(true, true), (true, false), (false, true)] {
            let mut answered = Families::default();
            // An answer is of the kind of its question.
            for question in questions(Families { v4, v6 }) {
                note(&question, &mut answered);
            }
            assert_eq!(answered, Families { v4, v6 });
        }
        let mut answered = Families::default();
        note(&[8; 13], &mut answered);
        assert_eq!(answered, Families::default());
    }
}
