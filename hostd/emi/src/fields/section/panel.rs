//! A straight panel of uniform charge: its potential and field in closed form, and its images in planes.

use super::boundary::Panel;
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

/// A place as charges and their images see it: instead of the charges, the place is mirrored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View {
    pub(crate) at: Complex,
    /// A direction at that place.
    pub(crate) normal: Complex,
    /// 1, or −1 for images of the opposite charge.
    pub(crate) sign: f64,
}

impl View {
    /// The same on the other side of x = 0.
    pub(crate) fn mirrored(self, sign: f64) -> Self {
        let image = |z: Complex| Complex::new(-z.re, z.im);
        Self {
            at: image(self.at),
            normal: image(self.normal),
            sign: sign * self.sign,
        }
    }

    /// The images in planes: all with one plane, and with two the nearest ones. [`channel`](super::channel) has the others.
    pub(crate) fn images(self, planes: Planes) -> impl Iterator<Item = Self> {
        let shifts = match planes {
            #[cfg(test)]
            Planes::None => [None, None],
            Planes::Below => [Some(0.0), None],
            Planes::Both(height) => [Some(0.0), Some(2.0 * height)],
        };
        shifts.into_iter().flatten().map(move |shift| Self {
            at: self.at.conj() + Complex::new(0.0, shift),
            normal: self.normal.conj(),
            sign: -self.sign,
        })
    }
}

/// A place seen along and across a panel from `a` on.
struct Local {
    direction: Complex,
    length: f64,
    /// Along the panel from each of its ends.
    near: f64,
    far: f64,
    aside: f64,
    /// ln of the squared distance of each end.
    log_near: f64,
    log_far: f64,
    /// That the panel is seen under; 0 on the panel itself, as the mean of both sides.
    angle: f64,
}

impl Local {
    fn new(at: Complex, panel: &Panel) -> Self {
        let along = panel.b - panel.a;
        let length = panel.length();
        let direction = along * (1.0 / length);
        let local = (at - panel.a) * direction.conj();
        let (near, far, aside) = (local.re, local.re - length, local.im);
        let is_on_panel = aside.abs() < 1e-12 * length;
        Self {
            direction,
            length,
            near,
            far,
            aside,
            log_near: (near * near + aside * aside).max(f64::MIN_POSITIVE).ln(),
            log_far: (far * far + aside * aside).max(f64::MIN_POSITIVE).ln(),
            angle: if is_on_panel {
                0.0
            } else {
                (aside * length).atan2(near * far + aside * aside)
            },
        }
    }
}

/// ∫ −ln r ds along the panel: its potential, times 2π ε0 for a charge of one ε0 per metre.
pub(crate) fn potential(at: Complex, panel: &Panel) -> f64 {
    let local = Local::new(at, panel);
    let ends = local.near * local.log_near - local.far * local.log_far;
    local.length - 0.5 * ends - local.aside * local.angle
}

/// The negative gradient of [`potential`], `Ex + j·Ey`. On the panel itself, the mean of both sides.
pub(crate) fn field(at: Complex, panel: &Panel) -> Complex {
    let local = Local::new(at, panel);
    local.direction * Complex::new(0.5 * (local.log_near - local.log_far), local.angle)
}

#[cfg(test)]
mod tests {
    use super::super::boundary::Border;
    use super::super::channel;
    use super::*;

    /// Potential and field with all images.
    fn influence(at: Complex, a: Complex, b: Complex, planes: Planes) -> (f64, Complex) {
        let border = Border::Dielectrics {
            left: 1.0,
            right: 2.0,
        };
        let panel = Panel { a, b, border };
        let of = |normal| View {
            at,
            normal,
            sign: 1.0,
        };
        let sum = |normal: Complex, value: &dyn Fn(View) -> f64| {
            let view = of(normal);
            value(view) + view.images(planes).map(value).sum::<f64>()
        };
        let along = |view: View| {
            let field = field(view.at, &panel);
            view.sign * (field.re * view.normal.re + field.im * view.normal.im)
        };
        let (x, y) = (Complex::from(1.0), Complex::J);
        let found = sum(x, &|view| view.sign * potential(view.at, &panel));
        let field = Complex::new(sum(x, &along), sum(y, &along));
        match planes {
            Planes::Both(height) => {
                let more = channel::potential(at, &panel, height);
                (found + more, field + channel::field(at, &panel, height))
            }
            _ => (found, field),
        }
    }

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
            let found = influence(at, source, source + step, Planes::Both(height)).0 / 1e-4;
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
                let at_offset = |x, y| influence(at + Complex::new(x, y), a, b, planes).0;
                let x = (at_offset(-h, 0.0) - at_offset(h, 0.0)) / (2.0 * h);
                let y = (at_offset(0.0, -h) - at_offset(0.0, h)) / (2.0 * h);
                let field = influence(at, a, b, planes).1;
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
                assert!(at.0.abs() < 1e-7, "{}", at.0);
            }
        }
    }
}
