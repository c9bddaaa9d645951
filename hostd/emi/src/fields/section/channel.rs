//! What charges between two planes do by all their images but the three nearest, which are taken on their own.
//!
//! Between planes at y = 0 and y = b the potential of a line charge at z′ is ln |sinh α(z − z̄′) / sinh α(z − z′)| with
//! α = π/2b: the infinite product of sinh has a factor for each image. Without the charge and its two nearest images, this
//! is smooth on the scale of b, so that three Gauss points suffice, and fewer for panels that are shorter.

use super::boundary::Panel;
use crate::fields::Complex;

/// Places on a panel, from 0 to 1, and their weights.
type Points = [(f64, f64)];

const ONE: [(f64, f64); 1] = [(0.5, 1.0)];

const TWO: [(f64, f64); 2] = [
    (0.211_324_865_405_187_1, 0.5),
    (0.788_675_134_594_812_9, 0.5),
];

const THREE: [(f64, f64); 3] = [
    (0.112_701_665_379_258_3, 5.0 / 18.0),
    (0.5, 8.0 / 18.0),
    (0.887_298_334_620_741_7, 5.0 / 18.0),
];

/// Potential of the farther images at `at`, times 2π ε0 for a charge of one ε0 per metre; the planes are `height` apart.
pub(super) fn potential(at: Complex, panel: &Panel, height: f64) -> f64 {
    let along = panel.b - panel.a;
    let of = |(place, weight): &(f64, f64)| {
        let seen = Seen::new(at, panel.a + along * *place, height);
        let ratio = seen.of_image().square() / (seen.of_charge().square() * seen.far.norm());
        weight * ratio.ln()
    };
    0.5 * panel.length() * points(panel, height).iter().map(of).sum::<f64>()
}

/// Their field, `Ex + j·Ey`.
pub(super) fn field(at: Complex, panel: &Panel, height: f64) -> Complex {
    let along = panel.b - panel.a;
    let mut slope = Complex::ZERO;
    for (place, weight) in points(panel, height) {
        let seen = Seen::new(at, panel.a + along * *place, height);
        let far = seen.far.conj() * (1.0 / seen.far.norm());
        slope += (seen.of_charge().slope() - seen.of_image().slope() + far) * *weight;
    }
    slope.conj() * panel.length()
}

fn points(panel: &Panel, height: f64) -> &'static Points {
    let ratio = panel.length() / height;
    if ratio < 1e-3 {
        &ONE
    } else if ratio < 0.1 {
        &TWO
    } else {
        &THREE
    }
}

/// A place as seen from a charge and from its two nearest images.
struct Seen {
    alpha: f64,
    charge: Complex,
    near: Complex,
    far: Complex,
    /// e^(−2α |x|), where x is the same for all.
    decay: f64,
}

impl Seen {
    fn new(at: Complex, source: Complex, height: f64) -> Self {
        let alpha = std::f64::consts::FRAC_PI_2 / height;
        let charge = at - source;
        let below = at - source.conj();
        let above = below - Complex::new(0.0, 2.0 * height);
        // |sinh| is the same for both images: use the nearer one.
        let (near, far) = if below.im > height {
            (above, below)
        } else {
            (below, above)
        };
        Self {
            alpha,
            charge,
            near,
            far,
            decay: (-2.0 * alpha * charge.re.abs()).exp(),
        }
    }

    fn of_charge(&self) -> Ratio {
        Ratio::new(self.charge, self.alpha, self.decay)
    }

    fn of_image(&self) -> Ratio {
        Ratio::new(self.near, self.alpha, self.decay)
    }
}

/// sinh(α z) / z.
struct Ratio {
    z: Complex,
    alpha: f64,
    decay: f64,
    /// |sinh α z|² = sinh² + sin² of the parts of α z, times the decay so that it cannot overflow.
    square: f64,
    sin: f64,
    cos: f64,
}

impl Ratio {
    fn new(z: Complex, alpha: f64, decay: f64) -> Self {
        let (sin, cos) = (z.im * alpha).sin_cos();
        let sinh = 0.5 * (1.0 - decay);
        Self {
            z,
            alpha,
            decay,
            square: sinh * sinh + sin * sin * decay,
            sin,
            cos,
        }
    }

    /// Whether α z is so small that the quotient loses digits.
    fn is_small(&self) -> bool {
        self.z.norm() * self.alpha * self.alpha < 1e-6
    }

    /// Length, squared, times the decay.
    fn square(&self) -> f64 {
        if self.is_small() {
            let w = self.z * self.alpha;
            let series = 1.0 + (w * w).re / 3.0;
            return self.alpha * self.alpha * series * self.decay;
        }
        self.square / self.z.norm()
    }

    /// Derivative of the logarithm: α coth α z − 1/z.
    fn slope(&self) -> Complex {
        if self.is_small() {
            return self.z * (self.alpha * self.alpha / 3.0);
        }
        let sinh_cosh = 0.25 * (1.0 - self.decay * self.decay) * self.z.re.signum();
        let coth = Complex::new(sinh_cosh, -self.sin * self.cos * self.decay);
        coth * (self.alpha / self.square) - self.z.conj() * (1.0 / self.z.norm())
    }
}

#[cfg(test)]
mod tests {
    use super::super::boundary::Border;
    use super::*;

    /// Sums over parts of a panel that are so short that points hardly matter.
    fn by_parts(at: Complex, panel: &Panel, height: f64) -> (f64, Complex) {
        let along = (panel.b - panel.a) * (1.0 / 4096.0);
        let mut sum = (0.0, Complex::ZERO);
        for k in 0..4096 {
            let a = panel.a + along * f64::from(k);
            let part = Panel {
                a,
                b: a + along,
                ..*panel
            };
            sum.0 += potential(at, &part, height);
            sum.1 += field(at, &part, height);
        }
        sum
    }

    #[test]
    fn few_points_are_enough_for_short_panels() {
        let middle = Complex::new(0.1, 0.4);
        for length in [9e-4, 1.1e-3, 0.09, 0.11] {
            let half = Complex::unit(0.5) * (0.5 * length);
            let panel = Panel {
                a: middle - half,
                b: middle + half,
                border: Border::Dielectrics {
                    left: 1.0,
                    right: 2.0,
                },
            };
            for at in [middle, Complex::new(0.3, 0.9), Complex::new(-2.0, 0.05)] {
                let (exact, of_exact) = by_parts(at, &panel, 1.0);
                let error = (potential(at, &panel, 1.0) - exact).abs();
                let of_field = (field(at, &panel, 1.0) - of_exact).abs();
                let most = 1e-6 * length;
                assert!(
                    error < most && of_field < most,
                    "{length}: {error} {of_field}"
                );
            }
        }
    }
}
