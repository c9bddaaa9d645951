//! Charged panels, and what all of them do at one point.

use super::boundary::Panel;
use super::panel::{field, potential};
use crate::fields::Complex;

/// Where the series is used: where half a panel, squared, is at most this part of its distance, squared. Of a
/// whole panel's charge, the series leaves out 2e-7 in the potential there and 2e-6 in the field, which falls with the tenth
/// power of the distance: capacitances change by less than 2e-7.
const FAR: f64 = 1.0 / 9.0;

/// Panels of uniform charge, as columns for loops without branches.
///
/// Far from a panel with middle m and half vector h, at w = z − m, ∫ ln(z − z′) ds = l (ln w − Σ (h/w)²ᵏ / 2k(2k + 1)), k
/// from 1 on, and its derivative is l/w Σ (h/w)²ᵏ / (2k + 1), k from 0 on: the closed form's power series, which needs no
/// angle. Near a panel the closed form is used.
pub(super) struct Sources<'a> {
    panels: &'a [Panel],
    /// Middles.
    x: Vec<f64>,
    y: Vec<f64>,
    /// Half vectors from `a` to `b`.
    half_x: Vec<f64>,
    half_y: Vec<f64>,
    length: Vec<f64>,
    /// Squared distance from which a panel is far.
    reach: Vec<f64>,
}

/// Potentials of all sources at one place, in parts: `rest + ½ length · ln(images / own)`. The logarithms of images are
/// added up by their arguments, since one logarithm takes longer than all else.
pub(super) struct Potentials {
    rest: Vec<f64>,
    /// Products of squared distances: those that count as positive charges, and those that count as negative ones.
    own: Vec<f64>,
    images: Vec<f64>,
}

impl<'a> Sources<'a> {
    pub(super) fn new(panels: &'a [Panel]) -> Self {
        let column = |of: fn(&Panel) -> f64| panels.iter().map(of).collect();
        Self {
            panels,
            x: column(|panel| panel.middle().re),
            y: column(|panel| panel.middle().im),
            half_x: column(|panel| 0.5 * (panel.b - panel.a).re),
            half_y: column(|panel| 0.5 * (panel.b - panel.a).im),
            length: column(Panel::length),
            reach: column(|panel| 0.25 / FAR * (panel.b - panel.a).norm()),
        }
    }

    pub(super) fn potentials(&self) -> Potentials {
        Potentials {
            rest: vec![0.0; self.panels.len()],
            own: vec![1.0; self.panels.len()],
            images: vec![1.0; self.panels.len()],
        }
    }

    /// Adds `sign` times the potentials at `at`.
    pub(super) fn add_potentials(&self, at: Complex, sign: f64, sums: &mut Potentials) {
        let squares = if 0.0 < sign {
            &mut sums.own
        } else {
            &mut sums.images
        };
        self.multiply_squares(at, squares);
        self.add_series(at, sign, &mut sums.rest);
        self.near(at, |k, panel| sums.rest[k] += sign * potential(at, panel));
    }

    /// Multiplies the squared distances of what is far from `at`. A loop of its own with few columns, so that the compiler
    /// makes vectors of it.
    fn multiply_squares(&self, at: Complex, squares: &mut [f64]) {
        let count = self.panels.len();
        let (x, y, reach) = (&self.x[..count], &self.y[..count], &self.reach[..count]);
        let squares = &mut squares[..count];
        for k in 0..count {
            let (dx, dy) = (at.re - x[k], at.im - y[k]);
            let square = dx * dx + dy * dy;
            squares[k] *= if reach[k] <= square { square } else { 1.0 };
        }
    }

    /// Adds what the potentials of what is far from `at` have beside the logarithm.
    fn add_series(&self, at: Complex, sign: f64, sums: &mut [f64]) {
        let count = self.panels.len();
        let (x, y, length) = (&self.x[..count], &self.y[..count], &self.length[..count]);
        let (half_x, half_y) = (&self.half_x[..count], &self.half_y[..count]);
        let (reach, sums) = (&self.reach[..count], &mut sums[..count]);
        for k in 0..count {
            let (dx, dy) = (at.re - x[k], at.im - y[k]);
            let square = dx * dx + dy * dy;
            let inverse = 1.0 / square;
            let re = (half_x[k] * dx + half_y[k] * dy) * inverse;
            let im = (half_y[k] * dx - half_x[k] * dy) * inverse;
            let q = Complex::new(re * re - im * im, 2.0 * re * im);
            let mut sum = q * (1.0 / 72.0) + Complex::from(1.0 / 42.0);
            sum = sum * q + Complex::from(1.0 / 20.0);
            sum = sum * q + Complex::from(1.0 / 6.0);
            let term = sign * length[k] * (sum.re * q.re - sum.im * q.im);
            sums[k] += if reach[k] <= square { term } else { 0.0 };
        }
    }

    /// Adds the fields at `at`, times and along `normal`.
    pub(super) fn add_fields(&self, at: Complex, normal: Complex, sums: &mut [f64]) {
        let count = self.panels.len();
        let (x, y, length) = (&self.x[..count], &self.y[..count], &self.length[..count]);
        let (half_x, half_y) = (&self.half_x[..count], &self.half_y[..count]);
        let (reach, sums) = (&self.reach[..count], &mut sums[..count]);
        for k in 0..count {
            let (dx, dy) = (at.re - x[k], at.im - y[k]);
            let square = dx * dx + dy * dy;
            let inverse = 1.0 / square;
            let re = (half_x[k] * dx + half_y[k] * dy) * inverse;
            let im = (half_y[k] * dx - half_x[k] * dy) * inverse;
            let q = Complex::new(re * re - im * im, 2.0 * re * im);
            let mut sum = q * (1.0 / 9.0) + Complex::from(1.0 / 7.0);
            sum = sum * q + Complex::from(1.0 / 5.0);
            sum = sum * q + Complex::from(1.0 / 3.0);
            sum = sum * q + Complex::from(1.0);
            // The field is the conjugate of l/w · sum, and its part along the normal the real part of both's product.
            let along = (normal.re * dx + normal.im * dy) * sum.re
                - (normal.im * dx - normal.re * dy) * sum.im;
            let term = length[k] * inverse * along;
            sums[k] += if reach[k] <= square { term } else { 0.0 };
        }
        self.near(at, |k, panel| {
            let field = field(at, panel);
            sums[k] += normal.re * field.re + normal.im * field.im;
        });
    }

    /// Calls `add` with each panel that is near `at`.
    fn near(&self, at: Complex, mut add: impl FnMut(usize, &Panel)) {
        let middles = self.x.iter().zip(&self.y).zip(&self.reach);
        for (k, ((x, y), reach)) in middles.enumerate() {
            let (dx, dy) = (at.re - x, at.im - y);
            if dx * dx + dy * dy < *reach {
                add(k, &self.panels[k]);
            }
        }
    }

    /// Takes the logarithms: the potentials per charge.
    pub(super) fn sum(&self, potentials: &Potentials) -> Vec<f64> {
        let squares = potentials.images.iter().zip(&potentials.own);
        let rests = potentials.rest.iter().zip(&self.length);
        squares
            .zip(rests)
            .map(|((images, own), (rest, length))| rest + 0.5 * length * (images / own).ln())
            .collect()
    }

    pub(super) fn panels(&self) -> &[Panel] {
        self.panels
    }
}

#[cfg(test)]
mod tests {
    use super::super::boundary::Border;
    use super::*;

    const BORDER: Border = Border::Dielectrics {
        left: 1.0,
        right: 2.0,
    };

    /// Places around a panel, from its middle to a hundred times its length away, on both sides of where the series begins.
    fn places(panel: &Panel) -> Vec<Complex> {
        let half = 0.5 * panel.length();
        let distances = [0.0, 0.5, 1.5, 2.9, 2.999, 3.001, 3.1, 4.0, 7.0, 200.0];
        let around = |distance: f64| {
            (0..16).map(move |k| {
                panel.middle() + Complex::unit(f64::from(k) * 0.4) * (distance * half)
            })
        };
        distances.into_iter().flat_map(around).collect()
    }

    #[test]
    fn series_equal_the_closed_form() {
        let panel = Panel {
            a: Complex::new(1e-4, 2e-4),
            b: Complex::new(1.7e-4, 1.6e-4),
            border: BORDER,
        };
        let panels = [panel];
        let sources = Sources::new(&panels);
        for at in places(&panel) {
            for sign in [1.0, -1.0] {
                let mut sums = sources.potentials();
                sources.add_potentials(at, sign, &mut sums);
                let found = sources.sum(&sums)[0];
                let error = (found - sign * potential(at, &panel)).abs();
                assert!(error < 2e-7 * panel.length(), "{at:?} {error}");
            }
            for normal in [Complex::from(1.0), Complex::J] {
                let mut sums = [0.0];
                sources.add_fields(at, normal, &mut sums);
                let exact = field(at, &panel);
                let error = (sums[0] - exact.re * normal.re - exact.im * normal.im).abs();
                assert!(error < 2e-6, "{at:?} {error}");
            }
        }
    }

    #[test]
    fn logarithms_of_images_add_up() {
        let panels = [(0.0, 1.0), (1.0, 3.0), (3.0, 3.1)].map(|(from, to)| Panel {
            a: Complex::new(from, 0.5),
            b: Complex::new(to, 0.5),
            border: BORDER,
        });
        let sources = Sources::new(&panels);
        let at = Complex::new(0.2, 1.1);
        let mut sums = sources.potentials();
        sources.add_potentials(at, 1.0, &mut sums);
        sources.add_potentials(at.conj(), -1.0, &mut sums);
        for (sum, panel) in sources.sum(&sums).iter().zip(&panels) {
            let expected = potential(at, panel) - potential(at.conj(), panel);
            assert!((sum - expected).abs() < 1e-6, "{sum} {expected}");
        }
    }
}
