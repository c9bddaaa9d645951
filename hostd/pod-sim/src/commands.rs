//! Every command that the simulated pod knows, in one chain: its verb, and the function that
//! answers it.

use pod_protocol::commands::{self, Gate};
use serde_json::{Value, json};

use super::access::Peer;
use super::analog::Input;
use super::args::Args;
use super::capture::Read;
use super::load_bin::LoadBin;
use super::measure::Measure;
use super::next::Next;
use super::pattern::Pattern;
use super::plan::Plan;
use super::readback::{BusCapture, Regs};
use super::refuse::Refuse;
use super::serial_break;
use super::swd::Dap;
use super::uart::Uart;
use super::world::World;
use super::{
    admin, calibrate, current, gateware, generate, gpio, gps, outputs, profile, regulate, replay,
    reset, sensor, spi, status, upload,
};

/// Runs a command, or returns how it continues.
pub(crate) fn dispatch(
    world: &mut World,
    args: &Args<'_>,
    peer: Peer,
    now_ns: u64,
) -> Result<Next, Refuse> {
    let verb = args.text("cmd")?.ok_or(Refuse::MissingCommand)?;
    world.settle(now_ns);
    world.gate(verb, args, peer, now_ns)?;
    gate(world, verb)?;
    let data = match verb {
        "ping" => json!("pong"),
        "status" => status::status(world, now_ns),
        "target_power" => world.digital.rails.target_power(args, now_ns)?,
        "target_status" => world.digital.rails.target_status(now_ns),
        "power_status" => world.digital.rails.power_status(now_ns),
        "nrst" => match reset::nrst(&mut world.digital.reset, world.config.board, args, now_ns)? {
            reset::Asked::State(asserted) => reset::report(asserted),
            reset::Asked::Pulse { end_ns } => return Ok(Next::ResetPulse { end_ns }),
        },
        "usb_cc" => reset::usb_cc(world.config.board)?,
        "la_voltage" => {
            gpio::la_voltage(&mut world.digital.pins, world.config.board, args, now_ns)?
        }
        "la_pins" => gpio::la_pins(&world.digital, now_ns),
        "la" => gpio::la(&mut world.digital.pins, args, now_ns)?,
        "gpio" => gpio::gpio(&mut world.digital, args, now_ns)?,
        "analog_path" => analog_path(world, args, now_ns)?,
        "dac_mux" => dac_mux(world, args, now_ns)?,
        "cal_switch" => cal_switch(world, args, now_ns)?,
        "dac_set" => outputs::dac_set(&mut world.converters, args, now_ns)?,
        "dac_out" => outputs::dac_out(&mut world.converters, args, now_ns)?,
        "dac_stop" => dac_stop(world, now_ns),
        "generate" => generate::generate(&mut world.converters, args, now_ns)?,
        "adc_read" => return adc_read(world, args, now_ns),
        "capture" | "stream" => return Plan::single(args).map(Next::Capture),
        "la_capture" => return Plan::la(&world.digital.pins, args).map(Next::Capture),
        "capture_dual" => return Plan::dual(args).map(Next::Capture),
        "uart_proxy_start" => return Uart::start(world, args, now_ns).map(Next::Uart),
        "uart_break" => return serial_break::send_break(world, args, now_ns),
        "load_bin" => return LoadBin::from_args(args).map(Next::LoadBin),
        "replay" => return replay::replay(world, args, now_ns).map(Next::Replayed),
        "load" => {
            let is_held = world.capture_is_held();
            upload::load(&mut world.upload, is_held, args)?
        }
        "fpga_image" => gateware::fpga_image(world, args, now_ns)?,
        "current_out" => current::current_out(&mut world.converters, args, now_ns)?,
        "dac_control_loop" => regulate::arm(&mut world.converters, world.image, args, now_ns)?,
        "dac_loop_input" => regulate::input(&mut world.converters, world.image, args, now_ns)?,
        "dac_loop_probe" => regulate::probe(&world.converters, world.image, now_ns)?,
        "calibrate" => return calibrate(world, args),
        "dac_limits" => outputs::dac_limits(&mut world.converters, args, now_ns)?,
        "capture_read" => return Read::from_args(args).map(Next::CaptureRead),
        "test" => return Pattern::from_args(args).map(Next::Pattern),
        "psram_ping" => gateware::ping(world, args)?,
        "psram_recover" => return Ok(Next::Reboot(gateware::recover())),
        "power_profile" => return profile(world, args, now_ns),
        "can_config" => world.can.config(args)?,
        "can_write" => world.can.write(args, now_ns)?,
        "can_read" => world.can.read(args)?,
        "can_status" => world.can.status(),
        "can_term" => world.can.term(args)?,
        "can_respond" => world.can.respond(args)?,
        "can_disable" => world.can.disable(),
        "dap_start" => return Dap::start(world, args, now_ns).map(Next::Dap),
        "measure" => return Measure::from_args(args).map(Next::Measure),
        _ => return on_channels(world, verb, args, peer, now_ns),
    };
    Ok(Next::Reply(data))
}

/// Runs a command of a function that uses logic-analyzer channels.
fn on_channels(
    world: &mut World,
    verb: &str,
    args: &Args<'_>,
    peer: Peer,
    now_ns: u64,
) -> Result<Next, Refuse> {
    let digital = &mut world.digital;
    let data = match verb {
        "spi_start" => spi::start(&mut digital.spi, &mut digital.pins, args, now_ns)?,
        "spi_stop" => spi::stop(&mut digital.spi, &mut digital.pins, now_ns),
        "spi_status" => digital.spi.status(),
        "spi_xfer" => {
            let exchange = spi::Exchange::send(&mut digital.spi, args, now_ns)?;
            let levels = |from_ns, to_ns, channels| digital.levels_on(from_ns, to_ns, channels);
            return Ok(exchange.answer(levels).into());
        }
        "spi_stream" => {
            return spi::stream(&mut digital.spi, &world.upload.psram, args, now_ns)
                .map(Next::from);
        }
        "spi_flash" => return spi::flash(&mut digital.spi, args, now_ns).map(Next::from),
        "sensor_types" => sensor::types(),
        "sensor_start" => {
            let start = sensor::Start::claim(&mut digital.pins, args, now_ns)?;
            let word = digital.word(now_ns);
            digital.sensor.start(&start, word, now_ns)
        }
        "sensor_set" => sensor::set(&mut digital.sensor, args)?,
        "sensor_status" => sensor::status(&digital.sensor),
        "sensor_regs" => return Regs::read(world, args, now_ns).map(Next::Regs),
        "sensor_la" => return BusCapture::from_args(args).map(Next::BusCapture),
        "sensor_stop" => sensor::stop(&mut digital.sensor, &mut digital.pins, now_ns),
        "gps_start" => gps::start(&mut digital.gps, &mut digital.pins, args, now_ns)?,
        "gps_set" => gps::set(&mut digital.gps, args, now_ns)?,
        "gps_status" => gps::status(&digital.gps, now_ns),
        "gps_stop" => gps::stop(&mut digital.gps, &mut digital.pins, now_ns),
        _ => return admin::dispatch(world, verb, args, peer, now_ns),
    };
    Ok(Next::Reply(data))
}

fn gate(world: &World, verb: &str) -> Result<(), Refuse> {
    if !world.config.firmware.knows(verb) {
        return Err(Refuse::UnknownCommand);
    }
    // A verb that is not in the table is not answered.
    let command = commands::find(verb).ok_or(Refuse::UnknownCommand)?;
    if command.has_gate(Gate::Waveforms) && !world.config.ac_dac {
        return Err(Refuse::DcOnly);
    }
    if command.has_gate(Gate::NoDacLimits) && world.converters.stored.limits.is_some() {
        return Err(Refuse::LimitsSet {
            command: verb.to_owned(),
        });
    }
    Ok(())
}

fn profile(world: &mut World, args: &Args<'_>, now_ns: u64) -> Result<Next, Refuse> {
    Ok(
        match profile::power_profile(&mut world.profile, args, now_ns)? {
            profile::Asked::Reply(data) => Next::Reply(data),
            profile::Asked::Wait { end_ns } => Next::Profile { end_ns },
            profile::Asked::Read => Next::ReadProfile,
        },
    )
}

fn calibrate(world: &mut World, args: &Args<'_>) -> Result<Next, Refuse> {
    Ok(match calibrate::calibrate(&mut world.converters, args)? {
        calibrate::Asked::Reply(data) => Next::Reply(data),
        calibrate::Asked::Measure(run) => Next::Calibrate(run),
    })
}

fn analog_path(world: &mut World, args: &Args<'_>, now_ns: u64) -> Result<Value, Refuse> {
    let path = args
        .text("path")?
        .ok_or(Refuse::Missing { field: "path" })?;
    let name = world.converters.route(path, now_ns)?;
    let switches = world.converters.switches.at(now_ns);
    Ok(json!({"path": name, "u55": switches.mux, "u58": switches.relays}))
}

fn dac_mux(world: &mut World, args: &Args<'_>, now_ns: u64) -> Result<Value, Refuse> {
    let after = world.converters.switches.at(now_ns).with_mux(args)?;
    world.converters.switch(after, now_ns);
    Ok(after.mux_report())
}

fn cal_switch(world: &mut World, args: &Args<'_>, now_ns: u64) -> Result<Value, Refuse> {
    let after = world.converters.switches.at(now_ns).with_relays(args)?;
    world.converters.switch(after, now_ns);
    Ok(after.relay_report())
}

fn dac_stop(world: &mut World, now_ns: u64) -> Value {
    match world.converters.park(now_ns) {
        Some(parked_mv) => json!({"parked_mv": parked_mv}),
        None => {
            world.converters.dac.stop(now_ns);
            Value::Null
        }
    }
}

fn adc_read(world: &mut World, args: &Args<'_>, now_ns: u64) -> Result<Next, Refuse> {
    let source = args.text("source")?.unwrap_or("ext");
    let path = Input::path(source).ok_or(Refuse::Bad {
        field: "source",
        want: "ext, cal1, cal2 or current_in",
    })?;
    world.take_capture(now_ns)?;
    world.release_capture();
    world.converters.route(path, now_ns)?;
    Ok(Next::ReadAdc(path))
}
