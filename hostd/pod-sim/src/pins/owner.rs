//! The functions that a channel can have, and what each drives on the line.

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

/// The function of a channel; it has only one at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    Free,
    Gpio { mode: Mode, level: bool },
    Step,
    StepDir,
    UartRx,
    UartTx,
    I2cSda,
    I2cScl,
    SpiSck,
    SpiMosi,
    SpiMiso,
    SpiCs,
    GpsTx,
    SwdClk,
    SwdDio,
}

impl Owner {
    pub(crate) fn function(self) -> &'static str {
        match self {
            Self::Free => "none",
            Self::Gpio { .. } => "gpio",
            Self::Step => "step",
            Self::StepDir => "step_dir",
            Self::UartRx => "uart_rx",
            Self::UartTx => "uart_tx",
            Self::I2cSda => "i2c_sda",
            Self::I2cScl => "i2c_scl",
            Self::SpiSck => "spi_sck",
            Self::SpiMosi => "spi_mosi",
            Self::SpiMiso => "spi_miso",
            Self::SpiCs => "spi_cs",
            Self::GpsTx => "gps_tx",
            Self::SwdClk => "swd_clk",
            Self::SwdDio => "swd_dio",
        }
    }

    /// Whether the function does not tolerate a pull-down on its line.
    pub(super) fn rejects_pull_down(self) -> bool {
        matches!(
            self,
            Self::Gpio {
                mode: Mode::OpenDrain,
                ..
            } | Self::UartRx
                | Self::UartTx
                | Self::I2cSda
                | Self::I2cScl
                | Self::SwdDio
        )
    }

    pub(super) fn hint(self, la: u8) -> String {
        match self {
            Self::Gpio { .. } => {
                format!(r#"release it with {{"cmd":"gpio","la":{la},"mode":"off"}}"#)
            }
            Self::UartRx | Self::UartTx => "stop the uart proxy first".to_owned(),
            Self::I2cSda | Self::I2cScl => {
                r#"stop the sensor emulation first ({"cmd":"sensor_stop"})"#.to_owned()
            }
            Self::SpiSck | Self::SpiMosi | Self::SpiMiso | Self::SpiCs => {
                r#"stop the SPI session first ({"cmd":"spi_stop"})"#.to_owned()
            }
            Self::SwdClk | Self::SwdDio => "end the SWD session first".to_owned(),
            Self::GpsTx => r#"stop the GPS receiver first ({"cmd":"gps_stop"})"#.to_owned(),
            Self::Free | Self::Step | Self::StepDir => "wait for the step train to end".to_owned(),
        }
    }

    /// What the pod drives on the line.
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
            // A transmitter idles high, as does a deselected chip.
            Self::UartTx | Self::GpsTx | Self::SpiCs => Some(true),
            Self::SpiSck | Self::SpiMosi | Self::SwdClk => Some(false),
            _ => None,
        }
    }
}
