//! Medians over rounds, as a table.

use std::collections::BTreeMap;
use std::time::Duration;

/// One measurement.
#[derive(Clone, Copy)]
pub(crate) struct Sample {
    pub(crate) per_s: f64,
    p50_us: f64,
    p99_us: f64,
    answers: usize,
    /// Not a number where the process does more than answer.
    cpu_us: f64,
}

impl Sample {
    pub(crate) fn new(took: Duration, mut latencies_ns: Vec<u32>) -> Self {
        assert!(!latencies_ns.is_empty(), "nothing was answered");
        latencies_ns.sort_unstable();
        let at = |percent: usize| {
            let index = (latencies_ns.len() - 1) * percent / 100;
            f64::from(latencies_ns[index]) / 1e3
        };
        Self {
            per_s: latencies_ns.len() as f64 / took.as_secs_f64(),
            p50_us: at(50),
            p99_us: at(99),
            answers: latencies_ns.len(),
            cpu_us: f64::NAN,
        }
    }

    /// `cpu` was used for these answers.
    pub(crate) fn with_cpu(mut self, cpu: Duration) -> Self {
        self.cpu_us = cpu.as_secs_f64() * 1e6 / self.answers as f64;
        self
    }
}

/// Samples by name and number of server threads.
pub(crate) struct Table {
    title: String,
    names: Vec<&'static str>,
    samples: BTreeMap<(usize, &'static str), Vec<Sample>>,
}

impl Table {
    /// `names` in the order of the lines; all are compared with the first.
    pub(crate) fn new(title: &str, names: &[&'static str]) -> Self {
        Self {
            title: title.to_owned(),
            names: names.to_vec(),
            samples: BTreeMap::new(),
        }
    }

    pub(crate) fn add(&mut self, name: &'static str, threads: usize, sample: Sample) {
        self.samples
            .entry((threads, name))
            .or_default()
            .push(sample);
    }

    pub(crate) fn print(&self) {
        println!("\n{}", self.title);
        println!(
            "{:<16}{:>8}{:>12}{:>10}{:>10}{:>11}{:>13}{:>9}{:>14}",
            "",
            "threads",
            "requests/s",
            "p50 µs",
            "p99 µs",
            "of native",
            "of 1 thread",
            "CPU µs",
            "of 1 by CPU"
        );
        for threads in [1, 2] {
            for name in &self.names {
                if let Some(line) = self.median(threads, name) {
                    self.print_line(name, threads, line);
                }
            }
        }
    }

    /// The last column is what `threads` cores would give if nobody else wanted them: it sees work
    /// that threads cost each other, and not what other programs take.
    fn print_line(&self, name: &'static str, threads: usize, line: Sample) {
        let text = |number: f64, digits: usize| match number.is_nan() {
            true => String::new(),
            false => format!("{number:.digits$}"),
        };
        let per_s = |of: Option<Sample>| of.map_or(f64::NAN, |s| s.per_s);
        let one = self.median(1, name).filter(|_| threads > 1);
        let by_cpu = one.map_or(f64::NAN, |one| threads as f64 * one.cpu_us / line.cpu_us);
        println!(
            "{name:<16}{threads:>8}{:>12.0}{:>10.1}{:>10.1}{:>11}{:>13}{:>9}{:>14}",
            line.per_s,
            line.p50_us,
            line.p99_us,
            text(line.per_s / per_s(self.median(threads, self.names[0])), 2),
            text(line.per_s / per_s(one), 2),
            text(line.cpu_us, 1),
            text(by_cpu, 2),
        );
    }

    fn median(&self, threads: usize, name: &'static str) -> Option<Sample> {
        let samples = self.samples.get(&(threads, name))?;
        let middle = |of: fn(&Sample) -> f64| {
            let mut values: Vec<f64> = samples.iter().map(of).collect();
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        Some(Sample {
            per_s: middle(|s| s.per_s),
            p50_us: middle(|s| s.p50_us),
            p99_us: middle(|s| s.p99_us),
            answers: samples.iter().map(|s| s.answers).sum(),
            cpu_us: middle(|s| s.cpu_us),
        })
    }
}
