//! `wasi:cli`: an environment from the embedder, no arguments, no terminals; leaving is a failure.

use wasmtime::component::Resource;

use crate::bindings::wasi::cli::{
    environment, exit, stderr, stdin, stdout, terminal_input, terminal_output, terminal_stderr,
    terminal_stdin, terminal_stdout,
};
use crate::lines::Output;
use crate::streams::Input;
use crate::{View, WasiData};

/// The guest asked to end: the call has failed, whatever the status, since there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the guest called exit with status {status} instead of returning")]
pub struct Exited {
    /// 0 for success.
    pub status: u8,
}

/// Never made: nothing is a terminal.
#[allow(unreachable_pub, reason = "generated code re-exports it")]
#[derive(Debug)]
pub enum TerminalInput {}

/// Never made: nothing is a terminal.
#[allow(unreachable_pub, reason = "generated code re-exports it")]
#[derive(Debug)]
pub enum TerminalOutput {}

impl<W: WasiData> environment::Host for View<'_, W> {
    async fn get_environment(&mut self) -> wasmtime::Result<Vec<(String, String)>> {
        Ok(self.0.wasi().environment.to_vec())
    }

    async fn get_arguments(&mut self) -> wasmtime::Result<Vec<String>> {
        Ok(Vec::new())
    }

    async fn initial_cwd(&mut self) -> wasmtime::Result<Option<String>> {
        Ok(None)
    }
}

impl<W: WasiData> exit::Host for View<'_, W> {
    async fn exit(&mut self, status: Result<(), ()>) -> wasmtime::Result<()> {
        let status = u8::from(status.is_err());
        Err(Exited { status }.into())
    }

    async fn exit_with_code(&mut self, status: u8) -> wasmtime::Result<()> {
        Err(Exited { status }.into())
    }
}

impl<W: WasiData> stdin::Host for View<'_, W> {
    async fn get_stdin(&mut self) -> wasmtime::Result<Resource<Input>> {
        Ok(Resource::new_own(0))
    }
}

impl<W: WasiData> stdout::Host for View<'_, W> {
    async fn get_stdout(&mut self) -> wasmtime::Result<Resource<Output>> {
        Ok(Output::Stdout.resource())
    }
}

impl<W: WasiData> stderr::Host for View<'_, W> {
    async fn get_stderr(&mut self) -> wasmtime::Result<Resource<Output>> {
        Ok(Output::Stderr.resource())
    }
}

impl<W: WasiData> terminal_input::Host for View<'_, W> {}

impl<W: WasiData> terminal_input::HostTerminalInput for View<'_, W> {
    async fn drop(&mut self, _: Resource<TerminalInput>) -> wasmtime::Result<()> {
        Ok(())
    }
}

impl<W: WasiData> terminal_output::Host for View<'_, W> {}

impl<W: WasiData> terminal_output::HostTerminalOutput for View<'_, W> {
    async fn drop(&mut self, _: Resource<TerminalOutput>) -> wasmtime::Result<()> {
        Ok(())
    }
}

impl<W: WasiData> terminal_stdin::Host for View<'_, W> {
    async fn get_terminal_stdin(&mut self) -> wasmtime::Result<Option<Resource<TerminalInput>>> {
        Ok(None)
    }
}

impl<W: WasiData> terminal_stdout::Host for View<'_, W> {
    async fn get_terminal_stdout(&mut self) -> wasmtime::Result<Option<Resource<TerminalOutput>>> {
        Ok(None)
    }
}

impl<W: WasiData> terminal_stderr::Host for View<'_, W> {
    async fn get_terminal_stderr(&mut self) -> wasmtime::Result<Option<Resource<TerminalOutput>>> {
        Ok(None)
    }
}
