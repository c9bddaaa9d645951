//! The satellites the emulated receiver sees: the same ones for the same seed.

use super::super::noise::mix;

/// Satellites there are.
pub(crate) const SATELLITES: usize = 12;

/// Numbers GPS satellites have.
const PRNS: u64 = 32;

/// A satellite.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Satellite {
    pub(crate) prn: u64,
    pub(crate) elevation_deg: u64,
    pub(crate) azimuth_deg: u64,
    pub(crate) strength_db: u64,
}

/// What is overhead.
#[derive(Debug, Clone)]
pub(crate) struct Sky {
    satellites: [Satellite; SATELLITES],
}

impl Sky {
    pub(crate) fn new(seed: u64) -> Self {
        let first = mix(seed) % PRNS;
        let satellites = std::array::from_fn(|place| {
            let place = place as u64;
            let random = mix(seed ^ mix(place + 1));
            Satellite {
                // Five and thirty-two have no common factor, so no number comes twice.
                prn: (first + 5 * place) % PRNS + 1,
                elevation_deg: 10 + random % 75,
                azimuth_deg: (random >> 16) % 360,
                strength_db: 30 + (random >> 32) % 18,
            }
        });
        Self { satellites }
    }

    pub(crate) fn satellite(&self, place: usize) -> Satellite {
        self.satellites[place]
    }
}
