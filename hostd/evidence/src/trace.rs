//! The timeline of a job as Chrome's trace JSON, which Perfetto opens: phases, serial lines, power and
//! captures, each in its own row.
//!
//! It is streamed as an array of events. The format allows the closing bracket to be missing, so the
//! timeline of a job that was killed can be opened too. Format: "Trace Event Format", Google, as read by
//! ui.perfetto.dev.

use std::collections::HashMap;
use std::io::{self, Write};

use serde_json::{Map, Value, json};

/// A timeline that is being written. All times are microseconds of one clock of the host that never
/// steps.
#[derive(Debug)]
pub struct Trace<W> {
    out: W,
    /// With the number of each, from 1.
    rows: HashMap<String, usize>,
    is_empty: bool,
}

/// How a phase ended, for those who colour it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Went<'a> {
    /// A stable word for how.
    pub outcome: &'a str,
    /// A stable word for the reason; none if there is nothing to explain.
    pub kind: Option<&'a str>,
}

/// The process that all rows belong to; the format requires one.
const PROCESS: u32 = 1;

impl<W: Write> Trace<W> {
    /// Begins the timeline of `job`.
    ///
    /// # Errors
    /// Like every method here: `out` cannot be written to.
    pub fn new(mut out: W, job: &str) -> io::Result<Self> {
        out.write_all(b"[\n")?;
        let mut trace = Self {
            out,
            rows: HashMap::new(),
            is_empty: true,
        };
        trace.meta("process_name", 0, json!({"name": job}))?;
        Ok(trace)
    }

    /// The offset between the clock of a pod and the host's, for the captures in its row: host time is
    /// pod time plus `offset_us`, give or take `error_us`.
    ///
    /// # Errors
    /// See [`new`](Self::new).
    pub fn clock(&mut self, row: &str, offset_us: i64, error_us: u64) -> io::Result<()> {
        let labels = format!("{row}: clock offset {offset_us} µs, error {error_us} µs");
        self.meta("process_labels", 0, json!({"labels": labels}))
    }

    /// A phase, once it is over. What it `went` like are its arguments.
    ///
    /// # Errors
    /// See [`new`](Self::new).
    pub fn phase(
        &mut self,
        row: &str,
        name: &str,
        (start_us, end_us): (u64, u64),
        went: Option<Went<'_>>,
    ) -> io::Result<()> {
        let mut more = json!({"dur": end_us.saturating_sub(start_us)});
        if let Some(Went { outcome, kind }) = went {
            more["args"] = match kind {
                Some(kind) => json!({"outcome": outcome, "kind": kind}),
                None => json!({"outcome": outcome}),
            };
        }
        self.event("X", row, name, start_us, more)
    }

    /// A line from a serial port, or another moment worth marking.
    ///
    /// # Errors
    /// See [`new`](Self::new).
    pub fn mark(&mut self, row: &str, text: &str, at_us: u64) -> io::Result<()> {
        self.event("i", row, text, at_us, json!({"s": "t"}))
    }

    /// Voltage and current of a rail from this moment on: two counters, which have no row.
    ///
    /// # Errors
    /// See [`new`](Self::new).
    pub fn power(&mut self, rail: &str, at_us: u64, mv: i64, ua: i64) -> io::Result<()> {
        // Millivolts and microamperes are exact in a double up to a quarter of a million volts and amperes.
        #[expect(clippy::cast_precision_loss, reason = "no supply has so much")]
        let (volts, milliamperes) = (mv as f64 / 1e3, ua as f64 / 1e3);
        let values = json!({"args": {"V": volts, "mA": milliamperes}});
        self.event_in(0, "C", rail, at_us, values)
    }

    /// A capture begins; captures may overlap.
    ///
    /// # Errors
    /// See [`new`](Self::new).
    pub fn capture_begins(
        &mut self,
        row: &str,
        id: &str,
        name: &str,
        at_us: u64,
    ) -> io::Result<()> {
        self.event("b", row, name, at_us, json!({"cat": "capture", "id": id}))
    }

    /// A capture ends.
    ///
    /// # Errors
    /// See [`new`](Self::new).
    pub fn capture_ends(&mut self, row: &str, id: &str, name: &str, at_us: u64) -> io::Result<()> {
        self.event("e", row, name, at_us, json!({"cat": "capture", "id": id}))
    }

    /// What is written to.
    pub fn out(&mut self) -> &mut W {
        &mut self.out
    }

    /// Ends the timeline and returns the writer.
    ///
    /// # Errors
    /// See [`new`](Self::new).
    pub fn finish(mut self) -> io::Result<W> {
        self.out.write_all(b"\n]\n")?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn event(
        &mut self,
        phase: &str,
        row: &str,
        name: &str,
        at_us: u64,
        more: Value,
    ) -> io::Result<()> {
        let row = self.row(row)?;
        self.event_in(row, phase, name, at_us, more)
    }

    fn event_in(
        &mut self,
        row: usize,
        phase: &str,
        name: &str,
        at_us: u64,
        more: Value,
    ) -> io::Result<()> {
        let mut event = Map::new();
        event.insert("ph".to_owned(), phase.into());
        event.insert("name".to_owned(), name.into());
        event.insert("pid".to_owned(), PROCESS.into());
        event.insert("tid".to_owned(), row.into());
        event.insert("ts".to_owned(), at_us.into());
        if let Value::Object(more) = more {
            event.extend(more);
        }
        self.write(&Value::Object(event))
    }

    /// The number of a row; it gets its name on first use.
    fn row(&mut self, name: &str) -> io::Result<usize> {
        if let Some(row) = self.rows.get(name) {
            return Ok(*row);
        }
        let row = self.rows.len() + 1;
        self.rows.insert(name.to_owned(), row);
        self.meta("thread_name", row, json!({"name": name}))?;
        self.meta("thread_sort_index", row, json!({"sort_index": row}))?;
        Ok(row)
    }

    fn meta(&mut self, what: &str, row: usize, args: Value) -> io::Result<()> {
        let event = json!({"ph": "M", "name": what, "pid": PROCESS, "tid": row, "args": args});
        self.write(&event)
    }

    fn write(&mut self, event: &Value) -> io::Result<()> {
        if !std::mem::take(&mut self.is_empty) {
            self.out.write_all(b",\n")?;
        }
        serde_json::to_writer(&mut self.out, event)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{Trace, Went};

    fn events(text: &str) -> Vec<Value> {
        serde_json::from_str(text).unwrap()
    }

    /// The rules of the format that Perfetto's importer depends on.
    fn check(events: &[Value]) {
        let is_number = |event: &Value, key: &str| event[key].is_u64();
        let mut open = std::collections::BTreeSet::new();
        for event in events {
            assert!(
                event["name"].is_string() && is_number(event, "pid"),
                "{event}"
            );
            assert!(is_number(event, "tid"), "{event}");
            let phase = event["ph"].as_str().unwrap();
            assert!(phase == "M" || is_number(event, "ts"), "{event}");
            let place = (event["cat"].as_str(), event["id"].as_str());
            match phase {
                "M" => {
                    let name = event["name"].as_str().unwrap();
                    let key = match name {
                        "process_name" | "thread_name" => "name",
                        "process_labels" => "labels",
                        "thread_sort_index" => "sort_index",
                        _ => panic!("no metadata is called {name}"),
                    };
                    assert!(!event["args"][key].is_null(), "{event}");
                }
                "X" => assert!(is_number(event, "dur"), "{event}"),
                "i" => assert!(["g", "p", "t"].contains(&event["s"].as_str().unwrap())),
                "C" => {
                    let series = event["args"].as_object().unwrap();
                    assert!(!series.is_empty() && series.values().all(Value::is_number));
                }
                "b" => assert!(place.0.is_some() && open.insert(place), "{event}"),
                "e" => assert!(open.remove(&place), "{event}"),
                other => panic!("no phase {other} is expected"),
            }
        }
        assert!(open.is_empty(), "{open:?}");
    }

    #[test]
    fn every_kind_of_event_is_in_its_row() {
        let mut trace = Trace::new(Vec::new(), "blinky").unwrap();
        let went = Went {
            outcome: "infrastructure",
            kind: Some("infra.device_lost"),
        };
        trace
            .phase("bench-1", "flash \"fw\"", (100, 350), Some(went))
            .unwrap();
        trace.mark("bench-1 uart", "boot ok\n", 400).unwrap();
        trace.power("3V3", 90, 3_300, 12_500).unwrap();
        trace.capture_begins("bench-1", "c1", "boot", 200).unwrap();
        trace.capture_ends("bench-1", "c1", "boot", 500).unwrap();
        trace.clock("bench-1", -1200, 3).unwrap();
        let text = String::from_utf8(trace.finish().unwrap()).unwrap();
        let events = events(&text);
        check(&events);
        let of = |phase: &str| events.iter().find(|event| event["ph"] == phase).unwrap();
        assert_eq!(
            (of("X")["ts"].as_u64(), of("X")["dur"].as_u64()),
            (Some(100), Some(250))
        );
        assert_eq!(of("X")["name"], "flash \"fw\"");
        assert_eq!(
            of("X")["args"],
            serde_json::json!({"outcome": "infrastructure", "kind": "infra.device_lost"})
        );
        assert_eq!(of("C")["args"], serde_json::json!({"V": 3.3, "mA": 12.5}));
        assert_eq!(of("b")["id"], of("e")["id"]);
        assert_eq!(of("b")["tid"], of("X")["tid"]);
        assert_ne!(of("i")["tid"], of("X")["tid"]);
        let names = events.iter().filter(|event| event["name"] == "thread_name");
        assert_eq!(names.count(), 2);
    }

    #[test]
    fn a_timeline_that_was_cut_off_needs_only_its_bracket() {
        let mut trace = Trace::new(Vec::new(), "blinky").unwrap();
        trace.phase("a", "b", (1, 2), None).unwrap();
        let text = String::from_utf8(trace.out).unwrap();
        let events = events(&format!("{text}]"));
        assert_eq!(events.len(), 4);
        assert!(events[3].get("args").is_none(), "{}", events[3]);
    }
}
