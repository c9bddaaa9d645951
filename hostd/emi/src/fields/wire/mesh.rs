//! A wire cut into segments, and the potentials of its unknowns.

use super::kernel::{Segment, integrals};
use super::{POINTS_MAX, SEGMENTS_MAX, Solution, Wire, WireError};
use crate::fields::{Complex, Estimate, input};

/// Segments a wavelength, the finest first: the first that stays within [`SEGMENTS_MAX`] is taken.
const PER_WAVELENGTH: [f64; 4] = [80.0, 40.0, 20.0, 10.0];

/// Least segments of a leg, where its radius allows.
const PER_LEG_MIN: f64 = 16.0;

/// Least length of a segment in radii: the reduced kernel does not hold for shorter ones.
const RADII_MIN: f64 = 4.0;

/// Least height over the floor in radii.
const HEIGHT_MIN: f64 = 3.0;

/// Gauss points and weights along a tested segment.
const POINTS: [(f64, f64); 2] = [
    (0.211_324_865_405_187_1, 0.5),
    (0.788_675_134_594_812_9, 0.5),
];

/// The same for sources that are near, where potentials have logarithmic peaks at the ends: five Gauss points in u with
/// the place u²(3−2u), which gives ∫ ln s ds to 0.4 %.
const NEAR_POINTS: [(f64, f64); 5] = [
    (0.006_395_209_541_267_81, 0.031_778_663_128_789_92),
    (0.135_180_203_563_923_32, 0.254_888_003_537_876_7),
    (0.5, 0.426_666_666_666_666_64),
    (0.864_819_796_436_076_5, 0.254_888_003_537_876_7),
    (0.993_604_790_458_732_2, 0.031_778_663_128_789_92),
];

/// How near, between middles, in lengths of the longer segment: neighbours are.
const NEAR_LENGTHS: f64 = 1.6;

/// How near to the floor an end is joined to it.
const JOINED_M: f64 = 1e-6;

pub(super) struct Mesh {
    pub(super) nodes: Vec<[f64; 3]>,
    pub(super) segments: Vec<Segment>,
    /// Nodes at which a current can flow.
    pub(super) unknowns: Vec<usize>,
    /// Index of the node of each point of the wire.
    point_nodes: Vec<usize>,
    /// Unknown of each node.
    unknown_of: Vec<Option<usize>>,
    radius: f64,
    floor: bool,
}

/// What a current of 1 A at each unknown does to a segment.
pub(super) struct Tested {
    /// Mean of ∫ dI/ds · G ds.
    pub(super) potential: Vec<Complex>,
    /// ∫ A·dl with a weight that rises from 0 to 1 along the segment.
    pub(super) rising: Vec<Complex>,
    /// The same with a weight that falls from 1 to 0.
    pub(super) falling: Vec<Complex>,
}

impl Tested {
    fn new(unknowns: usize) -> Self {
        Self {
            potential: vec![Complex::ZERO; unknowns],
            rising: vec![Complex::ZERO; unknowns],
            falling: vec![Complex::ZERO; unknowns],
        }
    }
}

impl Mesh {
    pub(super) fn new(wire: &Wire, wavelength: f64) -> Result<Self, WireError> {
        check(wire)?;
        let legs: Vec<f64> = wire
            .points_m
            .windows(2)
            .map(|leg| distance(leg[0], leg[1]))
            .collect();
        for leg in &legs {
            input::within("length of a leg (m)", *leg, 1e-4, 1000.0)?;
        }
        let counts = PER_WAVELENGTH
            .into_iter()
            .map(|finesse| counts(&legs, finesse / wavelength, wire.radius_m))
            .find(|counts| counts.iter().sum::<f64>() <= SEGMENTS_MAX as f64)
            .ok_or(WireError::TooLong {
                wavelengths: legs.iter().sum::<f64>() / wavelength,
            })?;
        let mut mesh = Self {
            nodes: vec![wire.points_m[0]],
            segments: Vec::new(),
            unknowns: Vec::new(),
            point_nodes: vec![0],
            unknown_of: Vec::new(),
            radius: wire.radius_m,
            floor: wire.floor,
        };
        for ((leg, length), count) in wire.points_m.windows(2).zip(&legs).zip(&counts) {
            mesh.push_leg(leg[0], leg[1], *length, *count);
        }
        mesh.number_unknowns();
        Ok(mesh)
    }

    fn push_leg(&mut self, from: [f64; 3], to: [f64; 3], length: f64, count: f64) {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "1 to SEGMENTS_MAX"
        )]
        let steps = count as u32;
        let direction = [0, 1, 2].map(|axis| (to[axis] - from[axis]) / length);
        for step in 0..steps {
            let s = length * f64::from(step) / count;
            let segment = Segment {
                start: [0, 1, 2].map(|axis| from[axis] + s * direction[axis]),
                direction,
                length: length / count,
            };
            self.segments.push(segment);
            self.nodes.push(segment.point(1.0));
        }
        self.point_nodes.push(self.nodes.len() - 1);
    }

    fn number_unknowns(&mut self) {
        let last = self.nodes.len() - 1;
        for (index, node) in self.nodes.iter().enumerate() {
            let is_end = index == 0 || index == last;
            let carries = !is_end || (self.floor && node[2] <= JOINED_M);
            self.unknown_of.push(carries.then_some(self.unknowns.len()));
            if carries {
                self.unknowns.push(index);
            }
        }
    }

    /// The unknown at a point of the wire.
    pub(super) fn unknown_at(&self, point: usize) -> Result<usize, WireError> {
        let node = self.point_nodes.get(point);
        node.and_then(|node| self.unknown_of[*node])
            .ok_or(WireError::NoCurrent { index: point })
    }

    /// What every unknown does to segment `index`.
    pub(super) fn tested(&self, index: usize, k: f64) -> Tested {
        let tested = self.segments[index];
        let mut sums = Tested::new(self.unknowns.len());
        for (source, segment) in self.segments.iter().enumerate() {
            self.add(source, segment, &tested, k, 1.0, &mut sums);
            if self.floor {
                self.add(source, &segment.image(), &tested, k, -1.0, &mut sums);
            }
        }
        sums
    }

    /// Adds what the unknowns at both ends of a segment, or of its image, do to the tested segment.
    fn add(
        &self,
        source: usize,
        segment: &Segment,
        tested: &Segment,
        k: f64,
        sign: f64,
        sums: &mut Tested,
    ) {
        let reach = NEAR_LENGTHS * segment.length.max(tested.length);
        let points = if distance(segment.point(0.5), tested.point(0.5)) < reach {
            NEAR_POINTS.as_slice()
        } else {
            POINTS.as_slice()
        };
        let cosine: f64 = (0..3)
            .map(|axis| tested.direction[axis] * segment.direction[axis])
            .sum();
        for &(fraction, weight) in points {
            let found = integrals(segment, tested.point(fraction), self.radius, k);
            let along = sign * weight * tested.length * cosine;
            let slope = found.even * (sign * weight / segment.length);
            let ends = [
                (source, found.even - found.rising, -slope),
                (source + 1, found.rising, slope),
            ];
            for (node, vector, scalar) in ends {
                if let Some(unknown) = self.unknown_of[node] {
                    sums.potential[unknown] += scalar;
                    sums.rising[unknown] += vector * (along * fraction);
                    sums.falling[unknown] += vector * (along * (1.0 - fraction));
                }
            }
        }
    }

    /// Notes what is outside the method's range.
    pub(super) fn judge(
        &self,
        wavelength: f64,
        estimate: Estimate<Solution>,
    ) -> Estimate<Solution> {
        let lengths = || self.segments.iter().map(|segment| segment.length);
        let shortest = lengths().fold(f64::MAX, f64::min);
        let longest = lengths().fold(0.0, f64::max);
        let estimate = estimate
            .at_most("radius / wavelength", self.radius / wavelength, 0.01)
            .at_least("segment / radius", shortest / self.radius, RADII_MIN)
            // Rounding must not make a segment of a tenth longer than a tenth.
            .at_most("segment / wavelength", longest / wavelength, 0.1 + 1e-9);
        if !self.floor {
            return estimate;
        }
        let heights = self.nodes.iter().map(|node| node[2]);
        let lowest = heights.filter(|z| *z > JOINED_M).fold(f64::MAX, f64::min);
        estimate.at_least("height / radius", lowest / self.radius, HEIGHT_MIN)
    }
}

fn check(wire: &Wire) -> Result<(), WireError> {
    let count = wire.points_m.len();
    if !(2..=POINTS_MAX).contains(&count) {
        return Err(WireError::PointCount { count });
    }
    input::within("radius (m)", wire.radius_m, 1e-9, 0.1)?;
    for (index, point) in wire.points_m.iter().enumerate() {
        for coordinate in point {
            input::within("coordinate of a point (m)", *coordinate, -1000.0, 1000.0)?;
        }
        let is_end = index == 0 || index == count - 1;
        let least = if is_end { 0.0 } else { JOINED_M };
        if wire.floor && point[2] < least {
            return Err(WireError::Floor { index });
        }
    }
    for load in &wire.loads {
        input::within("resistance of a load (Ω)", load.ohm.re, 0.0, 1e9)?;
        input::within("reactance of a load (Ω)", load.ohm.im, -1e9, 1e9)?;
    }
    Ok(())
}

/// Segments of each leg, `density` of them a metre, but none shorter than the radius allows.
fn counts(legs: &[f64], density: f64, radius: f64) -> Vec<f64> {
    legs.iter()
        .map(|leg| {
            let most = (leg / (RADII_MIN * radius)).floor().max(1.0);
            (leg * density).ceil().max(PER_LEG_MIN).min(most)
        })
        .collect()
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3)
        .map(|axis| (a[axis] - b[axis]).powi(2))
        .sum::<f64>()
        .sqrt()
}
