//! Front-end constants compared with the published examples.

use super::Board;

#[test]
fn voltages_become_the_documented_counts() {
    let fit = Board::V2.adc_fits().ext;
    for (volts, count) in [
        (0.0, 6_i32),
        (0.7, 64_845),
        (2.3, 63_251),
        (2.5, 63_052),
        (5.0, 60_561),
        (-1.0, 1_003),
        (12.0, 53_587),
        (-12.0, 11_961),
    ] {
        let found = i32::from(fit.count(volts));
        assert!((found - count).abs() <= 1, "{volts} V gave {found}");
    }
}

#[test]
fn codes_and_volts_of_an_output_agree() {
    for board in [Board::V2, Board::V3] {
        let fits = board.dac_fits();
        for fit in [fits.out_3v3, fits.out_5v, fits.out_12v] {
            for code in (0..=u16::MAX).step_by(97) {
                assert_eq!(fit.code(fit.code_volts(code)), code);
            }
            assert_eq!((fit.code(-100.0), fit.code(100.0)), (0, u16::MAX));
        }
    }
    // 5 V output of rev3: 2.4 mV + 76.32 µV per code.
    let volts = Board::V3.dac_fits().out_5v.code_volts(10_000);
    assert!(
        (volts - (0.0024 + 10_000.0 * 76.32e-6)).abs() < 1e-3,
        "{volts}"
    );
}
