//! Queries about signals: pulses, edges, levels.

use decode::segment::Edge;

use super::Parser;
use crate::error::QueryError;
use crate::length::Length;
use crate::query::{EdgeOf, Gap, Kind, Level, Near, Pulse, Side};

/// A query about signals, if it begins as one.
pub(super) fn kind(parser: &mut Parser) -> Result<Option<Kind>, QueryError> {
    if let Some(level) = parser.level() {
        parser.need("pulse")?;
        return pulse(parser, Some(level)).map(Some);
    }
    if parser.take("pulse") {
        return pulse(parser, None).map(Some);
    }
    if parser.take("no") {
        return gap(parser).map(Some);
    }
    if parser.take("level") {
        return level(parser).map(Some);
    }
    let edges = ["edge", "edges", "rising", "falling", "any"];
    let begins = parser
        .peek()
        .is_some_and(|token| edges.iter().any(|word| token.is(word)));
    match begins {
        true => edge(parser).map(Some),
        false => Ok(None),
    }
}

/// `on X shorter than T`; the level may stand before, behind the channel or at the end.
fn pulse(parser: &mut Parser, level: Option<bool>) -> Result<Kind, QueryError> {
    parser.need("on")?;
    let channel = parser.channel()?;
    let level = level.or_else(|| parser.level());
    let is_longer = parser.need_one_of(&[("shorter", false), ("longer", true)])?;
    parser.need("than")?;
    let length = parser.length()?;
    let level = level.or_else(|| parser.level());
    Ok(Kind::Pulse(Pulse {
        channel,
        level,
        is_longer,
        length,
    }))
}

/// `edge on X for T`, or without a channel.
fn gap(parser: &mut Parser) -> Result<Kind, QueryError> {
    let edge = parser.edge()?;
    let channel = match parser.take("on") {
        true => Some(parser.channel()?),
        false => None,
    };
    if !parser.take("for") {
        return Err(parser.expected(match channel {
            Some(_) => "`for`",
            None => "`on` or `for`",
        }));
    }
    let length = parser.length()?;
    Ok(Kind::Gap(Gap {
        channel,
        edge,
        length,
    }))
}

/// `of X high for T`, or without a time.
fn level(parser: &mut Parser) -> Result<Kind, QueryError> {
    parser.need_one_of(&[("of", ()), ("on", ())])?;
    let channel = parser.channel()?;
    let level = parser.need_one_of(&[("high", true), ("low", false)])?;
    let length = match parser.take("for") {
        true => parser.length()?,
        false => Length::Samples(1.0),
    };
    Ok(Kind::Level(Level {
        channel,
        level,
        length,
    }))
}

fn edge(parser: &mut Parser) -> Result<Kind, QueryError> {
    let edge = edge_of(parser)?;
    let is_not = parser.take("not");
    if !parser.take("within") {
        return match is_not || parser.peek().is_some() {
            true => Err(parser.expected("`within`, or the end of the query")),
            false => Ok(Kind::Edge(edge)),
        };
    }
    let length = parser.length()?;
    let sides = [
        ("of", Side::Either),
        ("after", Side::After),
        ("before", Side::Before),
    ];
    let side = parser.need_one_of(&sides)?;
    let other = edge_of(parser)?;
    Ok(Kind::Near(Near {
        edge,
        other,
        side,
        is_not,
        length,
    }))
}

fn edge_of(parser: &mut Parser) -> Result<EdgeOf, QueryError> {
    let edge: Edge = parser.edge()?;
    parser.need("on")?;
    let channel = parser.channel()?;
    Ok(EdgeOf { channel, edge })
}
