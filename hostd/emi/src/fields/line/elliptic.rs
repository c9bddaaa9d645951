//! Complete elliptic integrals of the first kind.

/// K(k)/K(k′) with k′ = √(1−k²), by the arithmetic-geometric mean, which converges in a few steps to full precision.
///
/// `k` and `complement` are both given, since one of them is lost to rounding where the other is small. Both within 0 and
/// 1, neither 0.
pub(super) fn ratio(k: f64, complement: f64) -> f64 {
    // K(k) = π / (2 agm(1, k′)).
    mean(1.0, k) / mean(1.0, complement)
}

fn mean(mut a: f64, mut b: f64) -> f64 {
    const STEPS_MAX: usize = 40;
    for _ in 0..STEPS_MAX {
        if (a - b).abs() <= 1e-15 * a {
            break;
        }
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        let half = std::f64::consts::FRAC_1_SQRT_2;
        assert!((ratio(half, half) - 1.0).abs() < 1e-14);
        // K(k) for k = sin 30°, and K(k′), from tables: 1.685750354812596, 2.156515647499643.
        let expected = 1.685_750_354_812_596 / 2.156_515_647_499_643;
        assert!((ratio(0.5, 0.75f64.sqrt()) - expected).abs() < 1e-13);
        // k → 0: K → π/2, K′ → ln(4/k).
        let expected = std::f64::consts::FRAC_PI_2 / 4e200f64.ln();
        assert!((ratio(1e-200, 1.0) - expected).abs() < 1e-13);
    }
}
