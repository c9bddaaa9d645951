//! Handler group `captures`: start captures, watch and read them, decode them.

mod assert;
mod base64;
mod cancel;
mod capture;
mod decode;
mod decoders;
mod delete;
mod edges;
mod export;
mod frames;
mod get;
mod import;
mod link;
mod linked;
mod list;
mod live;
mod measure;
mod order;
mod overview;
mod refusal;
mod search;
mod search_many;
mod spectrum;
mod start;
mod start_dual;
mod start_i2c;
mod start_logic;
mod start_measure;
mod start_scope;
mod subject;
mod tiles;
mod trigger;
mod update;

/// The endpoints of this group.
pub static ROUTES: &[guest::Route] = &[
    start_scope::ROUTE,
    start_logic::ROUTE,
    start_i2c::ROUTE,
    start_dual::ROUTE,
    start_measure::ROUTE,
    list::ROUTE,
    get::ROUTE,
    cancel::ROUTE,
    update::ROUTE,
    delete::ROUTE,
    decode::ROUTE,
    decoders::ROUTE,
    live::ROUTE,
    overview::ROUTE,
    tiles::ROUTE,
    search::ROUTE,
    search_many::ROUTE,
    edges::ROUTE,
    measure::ROUTE,
    spectrum::ROUTE,
    assert::ROUTE,
    export::ROUTE,
    link::ROUTE,
    linked::ROUTE,
    import::ROUTE,
];

guest::serve!(crate::ROUTES);

#[cfg(test)]
mod tests;
