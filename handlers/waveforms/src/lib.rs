//! Handler group `waveforms`: waveforms that an organisation keeps for its DACs, and playing them.

mod delete;
mod fault;
mod get;
mod list;
mod output;
mod preview;
mod recording;
mod rename;
mod replay_start;
mod save_codes;
mod save_recording;
mod save_segments;
mod waveform;

/// The endpoints of this group.
pub static ROUTES: &[guest::Route] = &[
    list::ROUTE,
    save_codes::ROUTE,
    save_recording::ROUTE,
    save_segments::ROUTE,
    get::ROUTE,
    recording::ROUTE,
    preview::ROUTE,
    rename::ROUTE,
    delete::ROUTE,
    replay_start::ROUTE,
];

guest::serve!(crate::ROUTES);

#[cfg(test)]
mod tests;
