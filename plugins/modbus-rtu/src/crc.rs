//! The checksum of a frame: CRC-16 with the polynomial 0x8005 reflected (0xA001), beginning with 0xFFFF, low byte first on
//! the wire ("MODBUS over Serial Line" V1.02, 6.2.2).

/// Of all bytes before the checksum.
pub(crate) fn crc(bytes: impl IntoIterator<Item = u8>) -> u16 {
    let one = |crc: u16, byte: u8| {
        (0..8).fold(crc ^ u16::from(byte), |crc, _| match crc & 1 {
            0 => crc >> 1,
            _ => crc >> 1 ^ 0xa001,
        })
    };
    bytes.into_iter().fold(0xffff, one)
}

#[cfg(test)]
mod tests {
    use super::crc;

    #[test]
    fn the_examples_of_the_specification() {
        // 6.2.2: the frame 02 07 has the checksum 41 12 on the wire.
        assert_eq!(crc([0x02, 0x07]), 0x1241);
        // The check value of CRC-16/MODBUS.
        assert_eq!(crc(*b"123456789"), 0x4b37);
    }
}
