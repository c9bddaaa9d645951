//! Warnings about what a pod will do differently from the order.

use pods::CaptureRequest;
use pods::protocol::rates;

use super::Plan;
use crate::captures::order;

/// Relative difference that does not count: a client's rounding, less than the error of clocks.
const SAME: f64 = 1e-5;

/// A sentence for each number of the order that the pod will change.
pub(super) fn of(order: &order::Wanted, plan: &Plan) -> Vec<String> {
    let request = &plan.request;
    let adc = |field, asked_mhz| adc(field, asked_mhz, request);
    let la = |field, asked_mhz, samples| la(field, asked_mhz, samples, request);
    let told = match order {
        order::Wanted::Scope(scope) => vec![adc("sample_rate_mhz", scope.sample_rate_mhz)],
        order::Wanted::Logic(logic) => {
            vec![la("sample_rate_mhz", logic.sample_rate_mhz, logic.samples)]
        }
        order::Wanted::I2c(i2c) => vec![la("sample_rate_mhz", i2c.sample_rate_mhz, i2c.samples)],
        order::Wanted::Dual(dual) => vec![
            adc("adc_rate_mhz", dual.adc_rate_mhz).filter(|_| dual.adc_samples > 0),
            la("la_rate_mhz", dual.la_rate_mhz, dual.la_samples).filter(|_| dual.la_samples > 0),
        ],
        order::Wanted::Measure(measure) => measured(measure, plan),
    };
    told.into_iter().flatten().collect()
}

fn adc(field: &str, asked_mhz: f64, request: &CaptureRequest) -> Option<String> {
    let real_hz = request.adc_rate_hz();
    differ(asked_mhz * 1e6, real_hz).then(|| {
        let (asked, real) = (mhz(asked_mhz * 1e6), mhz(real_hz));
        let most = mhz(rates::adc_rate_hz_max());
        format!(
            "{field}: the ADC samples at {real} MHz, not at {asked}: it has whole parts of 24 MHz, at most {most}"
        )
    })
}

fn la(field: &str, asked_mhz: f64, samples: u64, request: &CaptureRequest) -> Option<String> {
    let real_hz = request.la_rate_hz();
    differ(asked_mhz * 1e6, real_hz).then(|| {
        let (asked, real) = (mhz(asked_mhz * 1e6), mhz(real_hz));
        let of_few = rates::sample_rate_hz(rates::la_divider(Some(asked_mhz * 1e6), 1));
        let why = if differ(of_few, real_hz) {
            format!("its memory takes {samples} samples no faster")
        } else {
            "it has whole parts of 24 MHz, at most 12, and none above what is asked".to_owned()
        };
        format!("{field}: the logic analyzer samples at {real} MHz, not at {asked}: {why}")
    })
}

fn measured(measure: &order::Measure, plan: &Plan) -> Vec<Option<String>> {
    let real_hz = plan.request.adc_rate_hz();
    let order::Stimulus::Generate(generated) = &measure.stimulus else {
        let asked_hz = plan.stimulus.as_ref().and_then(|stimulus| stimulus.rate_hz);
        let played = asked_hz.and_then(|asked_hz| dac("stimulus", asked_hz, false));
        let sampled = adc("sample_rate_mhz", measure.sample_rate_mhz, &plan.request);
        return vec![sampled, played];
    };
    let (asked_hz, samples) = (measure.sample_rate_mhz * 1e6, measure.samples);
    let sampled = differ(asked_hz, real_hz).then(|| {
        let (asked, real) = (mhz(asked_hz), mhz(real_hz));
        format!(
            "sample_rate_mhz: the ADC samples at {real} MHz, not at {asked}: a generated stimulus has {samples} samples a period"
        )
    });
    #[expect(clippy::cast_precision_loss, reason = "a stimulus has few points")]
    let freq = real_hz / samples as f64;
    let played = differ(generated.freq, freq).then(|| {
        let asked = generated.freq;
        format!(
            "stimulus.generate.freq: the stimulus plays at {freq:.3} Hz, not at {asked}: each of its {samples} points is one sample of the ADC"
        )
    });
    vec![sampled, played]
}

/// The warning about a DAC's rate.
#[must_use]
pub fn dac(field: &str, asked_hz: f64, deep: bool) -> Option<String> {
    let real_hz = rates::replay_rate_hz(Some(asked_hz), deep);
    differ(asked_hz, real_hz).then(|| {
        let (asked, real) = (mhz(asked_hz), mhz(real_hz));
        let (low, high) = rates::replay_range_hz(deep);
        let (low, high) = (mhz(low), mhz(high));
        format!(
            "{field}: the DAC plays at {real} MHz, not at {asked}: it has whole parts of 48 MHz, {low} to {high}"
        )
    })
}

fn differ(asked: f64, real: f64) -> bool {
    (asked - real).abs() > SAME * real
}

/// Megahertz, to the hertz.
pub(super) fn mhz(hz: f64) -> String {
    let text = format!("{:.6}", hz / 1e6);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::{dac, mhz};

    #[test]
    fn rates_are_told_to_the_hertz() {
        assert_eq!(mhz(24e6 / 11.0), "2.181818");
        assert_eq!(mhz(1e6), "1");
        assert_eq!(mhz(400_000.0), "0.4");
        assert_eq!(mhz(20e6), "20");
    }

    #[test]
    fn a_dac_has_bounds_of_its_own() {
        assert_eq!(dac("stimulus", 800_000.0, false), None);
        let told = dac("stimulus", 2e6, false).unwrap();
        assert!(told.contains("at 0.888889 MHz, not at 2"), "{told}");
        let told = dac("stimulus", 2e6, true).unwrap();
        assert!(told.contains("at 0.872727 MHz, not at 2"), "{told}");
        let told = dac("stimulus", 1.0, false).unwrap();
        assert!(told.contains("0.000732 to 0.888889"), "{told}");
    }
}
