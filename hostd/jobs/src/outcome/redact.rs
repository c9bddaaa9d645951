//! Outcomes without secrets: what a program, the name of a file or the target says may be part of one.

use evidence::redact::Secrets;

use super::{Breakage, Failure, Outcome};

impl Outcome {
    /// Without secrets.
    pub(crate) fn redacted(mut self, secrets: &Secrets) -> Self {
        match &mut self {
            Self::Failed(failure) => failure.redact(secrets),
            Self::Broken(breakage) => breakage.redact(secrets),
            Self::Passed | Self::Cancelled | Self::Skipped(_) => {}
        }
        self
    }
}

impl Failure {
    fn redact(&mut self, secrets: &Secrets) {
        match self {
            Self::MissingArtifact(one, other)
            | Self::UnfitArtifact(one, other)
            | Self::Assertion(one, other)
            | Self::Expect(one, other, _)
            | Self::Cases(_, one, other)
            | Self::BadJunit(one, other) => {
                secrets.redact(one);
                secrets.redact(other);
            }
            Self::Refused(why)
            | Self::UnfitFirmware(why)
            | Self::Limits(_, why)
            | Self::BadMeasurements(why) => secrets.redact(why),
            Self::Exit(_)
            | Self::Signal(_)
            | Self::Timeout(..)
            | Self::Memory(_)
            | Self::Disk(_)
            | Self::Processes(..)
            | Self::NoTrigger
            | Self::NoPytest
            | Self::NoSdk
            | Self::Tests(_) => {}
        }
    }
}

impl Breakage {
    fn redact(&mut self, secrets: &Secrets) {
        match self {
            Self::Jail(text)
            | Self::NoProgram(text)
            | Self::Image(text)
            | Self::Files(text)
            | Self::Unsupported(text)
            | Self::DeviceLost(text)
            | Self::Probe(text)
            | Self::WrongTarget(text)
            | Self::LeaseLost(text) => secrets.redact(text),
            Self::NoIsolation(_) | Self::DiskFull => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_of_an_outcome_has_a_secret() {
        let secrets = Secrets::new([("KEY", b"opensesame".as_slice())]).unwrap();
        let (text, other) = (
            || "a opensesame b".to_owned(),
            || "b3BlbnNlc2FtZQ".to_owned(),
        );
        let failures = [
            Failure::MissingArtifact(text(), other()),
            Failure::UnfitArtifact(text(), other()),
            Failure::Assertion(text(), other()),
            Failure::Expect(text(), other(), String::new()),
            Failure::BadJunit(text(), other()),
            Failure::Cases(2, text(), other()),
            Failure::Refused(text()),
            Failure::UnfitFirmware(text()),
            Failure::Limits(2, text()),
            Failure::BadMeasurements(text()),
        ];
        let breakages = [
            Breakage::Jail(text()),
            Breakage::NoProgram(text()),
            Breakage::Image(text()),
            Breakage::Files(text()),
            Breakage::Unsupported(text()),
            Breakage::DeviceLost(text()),
            Breakage::Probe(text()),
            Breakage::WrongTarget(text()),
            Breakage::LeaseLost(text()),
        ];
        let all = failures.into_iter().map(Outcome::Failed);
        let all = all.chain(breakages.into_iter().map(Outcome::Broken));
        for outcome in all {
            let told = format!("{:?}", outcome.redacted(&secrets));
            assert!(
                !told.contains("sesame") && !told.contains("b3Blbn"),
                "{told}"
            );
            assert!(told.contains("a [secret] b"), "{told}");
        }
    }
}
