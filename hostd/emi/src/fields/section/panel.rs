//! A straight panel of uniform charge: its potential and field in closed form, alone and between planes.

use crate::fields::Complex;

/// Conducting planes that all potentials refer to. They are taken into account by images, without unknowns of their own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Planes {
    /// No plane: a conductor of the section has to be the reference.
    #[cfg(test)]
    None,
    /// A plane at `y = 0`.
    Below,
    /// Planes at `y = 0` and at `y` of this many metres.
    Both(f64),
}

/// What a panel's charge does at a point, times 2π ε0 for a charge of one ε0 per metre.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Influence {
    pub(crate) potential: f64,
    /// `Ex + j·Ey`.
    pub(crate) field: Complex,
}

impl Influence {
    fn minus(self, image: Self) -> Self {
        Self {
            potential: self.potential - image.potential,
            field: self.field - image.field,
        }
    }
}

/// Influence of a panel from `a` to `b`, with its images, on the point `at`. On the panel itself, the field is the mean
/// of both sides.
pub(crate) fn influence(at: Complex, a: Complex, b: Complex, planes: Planes) -> Influence {
    let own = alone(at, a, b);
    match planes {
        #[cfg(test)]
        Planes::None => own,
        Planes::Below => own.minus(alone(at, a.conj(), b.conj())),
        Planes::Both(height) => {
            let twice = Complex::new(0.0, 2.0 * height);
            own.minus(alone(at, a.conj(), b.conj()))
                .minus(alone(at, a.conj() + twice, b.conj() + twice))
                .minus(farther_images(at, a, b, height))
        }
    }
}

/// ∫ −ln r ds along the panel, and its negative gradient.
fn alone(at: Complex, a: Complex, b: Complex) -> Influence {
    let along = b - a;
    let length = along.abs();
    let direction = along * (1.0 / length);
    let local = (at - a) * direction.conj();
    let (near, far, aside) = (local.re, local.re - length, local.im);
    let log_near = (near * near + aside * aside).max(f64::MIN_POSITIVE).ln();
    let log_far = (far * far + aside * aside).max(f64::MIN_POSITIVE).ln();
    let on_panel = aside.abs() < 1e-12 * length;
    let angle = if on_panel {
        0.0
    } else {
        (aside * length).atan2(near * far + aside * aside)
    };
    Influence {
        potential: length - 0.5 * (near * log_near - far * log_far) - aside * angle,
        field: direction * Complex::new(0.5 * (log_near - log_far), angle),
    }
}

/// Between two planes the potential of a line charge at z' is ln |sinh α(z − z̄') / sinh α(z − z')| with α = π/2b.
/// [`influence`] takes the charge and its two nearest images in closed form; this is the rest of the images, negative,
/// smooth on the scale of b, so that three Gauss points suffice.
fn farther_images(at: Complex, a: Complex, b: Complex, height: f64) -> Influence {
    const POINTS: [(f64, f64); 3] = [
        (0.112_701_665_379_258_3, 5.0 / 18.0),
        (0.5, 8.0 / 18.0),
        (0.887_298_334_620_741_7, 5.0 / 18.0),
    ];
    let along = b - a;
    let length = along.abs();
    let alpha = std::f64::consts::FRAC_PI_2 / height;
    let twice = Complex::new(0.0, 2.0 * height);
    let mut potential = 0.0;
    let mut slope = Complex::ZERO;
    for (place, weight) in POINTS {
        let source = a + along * place;
        let direct = at - source;
        let image = at - source.conj();
        // The numerator has the same length at the image below and at the one above: use the nearer one.
        let (near, far) = if image.im > height {
            (image - twice, image)
        } else {
            (image, image - twice)
        };
        let (log_direct, slope_direct) = log_ratio(direct, alpha);
        let (log_image, slope_image) = log_ratio(near, alpha);
        let weight = weight * length;
        potential += weight * (log_direct - log_image + 0.5 * far.norm().ln());
        let inverse = Complex::from(1.0) / far;
        slope += (slope_direct - slope_image + inverse) * weight;
    }
    Influence {
        potential,
        field: -slope.conj(),
    }
}

/// ln |sinh(α z)/z| and the derivative of its complex form.
fn log_ratio(z: Complex, alpha: f64) -> (f64, Complex) {
    let w = z * alpha;
    if w.norm() < 1e-6 {
        let square = w * w;
        return (alpha.ln() + square.re / 6.0, w * (alpha / 3.0));
    }
    let (x, y) = (w.re.abs(), w.im);
    let inverse = Complex::from(1.0) / z;
    // |sinh w|² = sinh² x + sin² y, scaled by e^(2x) so that it cannot overflow.
    let decay = (-2.0 * x).exp();
    let sinh = 0.5 * (1.0 - decay);
    let cosh = 0.5 * (1.0 + decay);
    let (sin_y, cos_y) = y.sin_cos();
    let scaled_square = sinh * sinh + sin_y * sin_y * decay;
    let log = x + 0.5 * scaled_square.ln() - 0.5 * z.norm().ln();
    // coth w = (sinh x cosh x − j sin y cos y) / |sinh w|².
    let sign = w.re.signum();
    let coth = Complex::new(sign * sinh * cosh, -sin_y * cos_y * decay) * (1.0 / scaled_square);
    (log, coth * alpha - inverse)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sum over very many pairs of images, which converges slowly but needs no thought.
    fn by_images(at: Complex, source: Complex, height: f64) -> f64 {
        (-20_000..=20_000)
            .map(|k| {
                let shift = Complex::new(0.0, 2.0 * height * f64::from(k));
                (at - source.conj() - shift).abs().ln() - (at - source - shift).abs().ln()
            })
            .sum()
    }

    #[test]
    fn a_charge_between_planes_equals_its_images() {
        let height = 1.3;
        let source = Complex::new(0.2, 0.4);
        let step = Complex::new(1e-4, 0.0);
        for at in [
            Complex::new(0.5, 0.9),
            Complex::new(0.25, 1.25),
            Complex::new(3.0, 0.1),
            Complex::new(-0.6, 0.05),
        ] {
            let found = influence(at, source, source + step, Planes::Both(height)).potential / 1e-4;
            let expected = by_images(at, source + step * 0.5, height);
            assert!((found - expected).abs() < 2e-4, "{found} {expected}");
        }
    }

    #[test]
    fn fields_are_slopes_of_potentials() {
        let (a, b) = (Complex::new(-0.3, 0.5), Complex::new(0.4, 0.7));
        for planes in [Planes::None, Planes::Below, Planes::Both(1.0)] {
            for at in [
                Complex::new(0.1, 0.2),
                Complex::new(0.9, 0.95),
                Complex::new(-4.0, 0.5),
            ] {
                let h = 1e-5;
                let at_offset = |x, y| influence(at + Complex::new(x, y), a, b, planes).potential;
                let x = (at_offset(-h, 0.0) - at_offset(h, 0.0)) / (2.0 * h);
                let y = (at_offset(0.0, -h) - at_offset(0.0, h)) / (2.0 * h);
                let field = influence(at, a, b, planes).field;
                assert!(
                    (field - Complex::new(x, y)).abs() < 1e-6,
                    "{planes:?} {at:?}"
                );
            }
        }
    }

    #[test]
    fn planes_are_at_potential_zero() {
        let (a, b) = (Complex::new(-0.3, 0.5), Complex::new(0.1, 0.9));
        for x in [-2.0, 0.0, 0.7] {
            for y in [0.0, 1.0] {
                let at = influence(Complex::new(x, y), a, b, Planes::Both(1.0));
                assert!(at.potential.abs() < 1e-7, "{}", at.potential);
            }
        }
    }
}
