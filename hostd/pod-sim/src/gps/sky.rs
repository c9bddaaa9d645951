//! The satellites that the emulated receiver sees: the same ones for the same seed.

use super::super::noise::mix;

/// Number of satellites.
pub(crate) const SATELLITES: usize = 12;

/// Number of PRNs of GPS satellites.
const PRNS: u64 = 32;

/// A satellite.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Satellite {
    pub(crate) prn: u64,
    pub(crate) elevation_deg: u64,
    pub(crate) azimuth_deg: u64,
    pub(crate) strength_db: u64,
}

/// The satellites overhead.
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
                // Five and thirty-two have no common factor, so no number repeats.
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
