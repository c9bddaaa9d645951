//! The functions a channel can have, and what each puts on the line.

/// How a GPIO channel works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Output,
    OpenDrain,
    Input,
}

impl Mode {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Output => "output",
            Self::OpenDrain => "open_drain",
            Self::Input => "input",
        }
    }
}

/// The one function a channel has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    Free,
    Gpio { mode: Mode, level: bool },
    Step,
    StepDir,
}

impl Owner {
    pub(crate) fn function(self) -> &'static str {
        match self {
            Self::Free => "none",
            Self::Gpio { .. } => "gpio",
            Self::Step => "step",
            Self::StepDir => "step_dir",
        }
    }

    /// Whether the function needs its line free of a pull-down.
    pub(super) fn rejects_pull_down(self) -> bool {
        matches!(
            self,
            Self::Gpio {
                mode: Mode::OpenDrain,
                ..
            }
        )
    }

    pub(super) fn hint(self, la: u8) -> String {
        match self {
            Self::Gpio { .. } => {
                format!(r#"release it with {{"cmd":"gpio","la":{la},"mode":"off"}}"#)
            }
            _ => "wait for the step train to end".to_owned(),
        }
    }

    /// What the pod puts on the line.
    pub(super) fn drive(self) -> Option<bool> {
        match self {
            Self::Gpio {
                mode: Mode::Output,
                level,
            } => Some(level),
            Self::Gpio {
                mode: Mode::OpenDrain,
                level,
            } if !level => Some(false),
            _ => None,
        }
    }
}
