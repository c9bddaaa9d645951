//! Constants of free space (CODATA 2018).

/// Speed of light in m/s.
pub const LIGHT_SPEED: f64 = 299_792_458.0;

/// Magnetic constant µ0 in H/m.
pub const MAGNETIC: f64 = 1.256_637_062_12e-6;

/// Electric constant ε0 in F/m.
pub const ELECTRIC: f64 = 8.854_187_812_8e-12;

/// Impedance of free space η0 in Ω.
pub const IMPEDANCE: f64 = 376.730_313_668;

/// Wavelength in m at `frequency_hz` in a medium of relative permittivity `permittivity`.
pub fn wavelength(frequency_hz: f64, permittivity: f64) -> f64 {
    LIGHT_SPEED / (frequency_hz * permittivity.sqrt())
}

/// An electric field of `volts_per_m` in dB above 1 µV/m.
pub fn dbuv_per_m(volts_per_m: f64) -> f64 {
    20.0 * (volts_per_m * 1e6).log10()
}

/// The electric field in V/m of a `level` in dB above 1 µV/m.
pub fn volts_per_m(level: f64) -> f64 {
    1e-6 * 10f64.powf(level / 20.0)
}
