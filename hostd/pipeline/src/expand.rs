//! From a definition to its runs: one for each variant and pack, placeholders replaced in each.

mod action;
mod cache;
mod order;

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use serde::Serialize;

use crate::caps::DEFAULTS;
use crate::check;
use crate::condition::{Axis, Condition, When};
use crate::definition::{self, Bench, Build, Definition, Pack};
use crate::limits::{ALWAYS_MS_MAX, PLAN_BYTES_MAX, RUN_BYTES_MAX};
use crate::path::Path;
use crate::plan::{self, Role, Run};
use crate::predicate::Requirements;
use crate::problem::{Code, Finding};
use crate::template::Scope;
use order::Part;

/// The times that a definition asks for, or that it gets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Times {
    build_ms: u64,
    flash_ms: u64,
    test_ms: u64,
}

impl Times {
    fn of(definition: &Definition) -> Self {
        let times = &definition.timeouts;
        Self {
            build_ms: times.build.map_or(DEFAULTS.build_ms, |t| t.0),
            flash_ms: times.flash.map_or(DEFAULTS.flash_ms, |t| t.0),
            test_ms: times.test.map_or(DEFAULTS.test_ms, |t| t.0),
        }
    }
}

/// Which runs have their steps, environment and cache. The others have the rest alone, which is small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whole {
    All,
    /// The one at this place.
    One(usize),
    Nothing,
}

/// Gives all runs to `each`, in order, and returns what is wrong with values that placeholders became. The definition has
/// passed [`check::check`], or its findings are told besides. No more than one run is in memory.
pub(crate) fn runs(
    definition: &Definition,
    whole: Whole,
    each: &mut dyn FnMut(Run),
) -> Vec<Finding> {
    let mut expansion = Expansion {
        definition,
        times: Times::of(definition),
        findings: Vec::new(),
        told: BTreeSet::new(),
        whole,
        each,
        count: 0,
        run_bytes: 0,
        room_bytes: PLAN_BYTES_MAX,
    };
    for part in order::parts(definition) {
        match part {
            Part::Build(index, build) => expansion.builds(index, build),
            Part::Bench(index, bench) => expansion.benches(index, bench),
        }
    }
    expansion.findings
}

/// One variant and pack of a build.
#[derive(Clone, Copy, Default)]
pub(crate) struct Cell<'d> {
    variant: Option<(&'d str, &'d definition::Environment)>,
    pack: Option<&'d Pack>,
}

impl Cell<'_> {
    /// The id of the run of `part` in this cell.
    fn id(&self, part: &str) -> String {
        let variant = self.variant.map(|(name, _)| name);
        let pack = self.pack.map(|pack| &*pack.id);
        let parts: Vec<&str> = [Some(part), variant, pack].into_iter().flatten().collect();
        parts.join(".")
    }

    fn has(&self, axis: Axis, id: &str) -> bool {
        let own = match axis {
            Axis::Variant => self.variant.map(|(name, _)| name),
            Axis::Pack => self.pack.map(|pack| &*pack.id),
        };
        own == Some(id)
    }
}

/// Cells of a build, variants in the order of their names.
fn cells(build: &Build) -> Vec<Cell<'_>> {
    let mut variants = vec![None];
    if let Some(matrix) = &build.matrix {
        variants = matrix
            .variant
            .iter()
            .map(|(name, env)| Some((&**name, env)))
            .collect();
    }
    let mut packs: Vec<Option<&Pack>> = build.packs.iter().map(Some).collect();
    if packs.is_empty() {
        packs.push(None);
    }
    let cells = variants.into_iter().flat_map(|variant| {
        packs.iter().map(move |pack| Cell {
            variant,
            pack: *pack,
        })
    });
    cells.collect()
}

struct Expansion<'d> {
    definition: &'d Definition,
    times: Times,
    findings: Vec<Finding>,
    /// Fields that have a finding: other cells need not try them.
    told: BTreeSet<Path>,
    whole: Whole,
    each: &'d mut dyn FnMut(Run),
    /// Runs so far.
    count: usize,
    /// Bytes of the run that is being made, so far.
    run_bytes: usize,
    /// Bytes that further runs may have.
    room_bytes: usize,
}

impl<'d> Expansion<'d> {
    fn builds(&mut self, index: usize, build: &'d Build) {
        let path = Path::default().key("builds").index(index);
        for cell in cells(build) {
            if self.room_bytes > 0 {
                let run = self.build(&path, build, &cell);
                self.keep(run);
            }
        }
    }

    fn benches(&mut self, index: usize, bench: &'d Bench) {
        let path = Path::default().key("benches").index(index);
        let source = bench
            .for_each
            .as_deref()
            .map(|id| check::build(self.definition, id));
        let cells = match source {
            Some(Some(build)) => cells(build),
            // Unknown, which has been told.
            Some(None) => Vec::new(),
            None => vec![Cell::default()],
        };
        for cell in cells {
            if self.room_bytes > 0 {
                let run = self.bench(&path, bench, source.flatten(), &cell);
                self.keep(run);
            }
        }
    }

    /// Keeps a run, as long as there is room: many cells of long texts are a bomb.
    fn keep(&mut self, run: Run) {
        self.count += 1;
        match self.room_bytes.checked_sub(json_bytes(&run)) {
            Some(rest) => {
                self.room_bytes = rest;
                (self.each)(run);
            }
            None => {
                self.room_bytes = 0;
                let message = format!(
                    "all runs together come to more than {PLAN_BYTES_MAX} bytes: move what is long into scripts of the repository"
                );
                self.tell(Path::default(), Code::TooLarge, message);
            }
        }
    }

    /// Notes what is wrong with a field, once.
    fn tell(&mut self, path: Path, code: Code, message: String) {
        if self.told.insert(path.clone()) {
            self.findings.push(Finding::new(path, code, message));
        }
    }

    /// Whether the run that is being made has its steps.
    fn is_whole(&self) -> bool {
        match self.whole {
            Whole::All => true,
            Whole::One(at) => at == self.count,
            Whole::Nothing => false,
        }
    }

    fn build(&mut self, path: &Path, build: &'d Build, cell: &Cell<'d>) -> Run {
        let id = cell.id(&build.id);
        let env = self.environment(&id, cell);
        self.run_bytes = json_bytes(&env);
        let around = Surroundings {
            scope: self.scope(cell),
            cell: *cell,
            source: None,
            step_ms: self.times.build_ms,
        };
        let steps = self.steps(&path.key("steps"), &build.steps, &around);
        let sandbox = sandbox(&build.sandbox);
        let cache = build.cache.as_ref().filter(|_| self.is_whole());
        let cache = cache.map(|cache| cache::of(cache, &steps, &env, &sandbox));
        let names = |list: Option<Vec<String>>| list.unwrap_or_default();
        let role = Role::Build {
            artifacts: names(
                cell.pack
                    .map(|pack| pack.artifacts.iter().map(|name| name.0.clone()).collect()),
            ),
            targets: names(
                cell.pack
                    .map(|pack| pack.targets.iter().map(|chip| chip.to_string()).collect()),
            ),
            cache,
        };
        Run {
            needs: self.needs(&build.needs),
            timeout_ms: self.times.build_ms,
            of: build.id.0.clone(),
            variant: cell.variant.map(|(name, _)| name.to_owned()),
            pack: cell.pack.map(|pack| pack.id.0.clone()),
            id,
            env,
            sandbox,
            steps,
            role,
        }
    }

    fn bench(
        &mut self,
        path: &Path,
        bench: &'d Bench,
        source: Option<&'d Build>,
        cell: &Cell<'d>,
    ) -> Run {
        let id = cell.id(&bench.id);
        let env = self.environment(&id, cell);
        self.run_bytes = json_bytes(&env);
        let around = Surroundings {
            scope: self.scope(cell),
            cell: *cell,
            source: Some((source, bench)),
            step_ms: self.times.test_ms,
        };
        let always = Surroundings {
            step_ms: self.times.test_ms.min(ALWAYS_MS_MAX),
            ..around
        };
        let built_by = source.map(|build| cell.id(&build.id));
        let mut needs = self.needs(&bench.needs);
        needs.extend(built_by.clone().filter(|run| !needs.contains(run)));
        let role = Role::Bench {
            build: built_by,
            device: self.device(&path.key("device"), bench, &around.scope),
            always: self.steps(&path.key("always"), &bench.always, &always),
        };
        Run {
            needs,
            timeout_ms: self.times.test_ms,
            of: bench.id.0.clone(),
            variant: cell.variant.map(|(name, _)| name.to_owned()),
            pack: cell.pack.map(|pack| pack.id.0.clone()),
            env,
            id,
            sandbox: sandbox(&bench.sandbox),
            steps: self.steps(&path.key("steps"), &bench.steps, &around),
            role,
        }
    }

    fn scope(&self, cell: &Cell<'d>) -> Scope<'d> {
        Scope {
            vars: &self.definition.vars,
            variant: cell.variant.map(|(name, _)| name),
            pack: cell.pack,
        }
    }

    fn environment(&self, run: &str, cell: &Cell<'_>) -> BTreeMap<String, String> {
        if !self.is_whole() {
            return BTreeMap::new();
        }
        let vars = self.definition.vars.iter();
        let variant = cell.variant.into_iter().flat_map(|(_, env)| env.iter());
        let pack = cell.pack.into_iter().flat_map(|pack| pack.config.iter());
        let all = vars.chain(variant).chain(pack);
        let mut env: BTreeMap<String, String> = all
            .map(|(name, value)| (name.0.clone(), value.0.clone()))
            .collect();
        let own = [
            ("HOSTD_RUN", Some(run)),
            ("HOSTD_VARIANT", cell.variant.map(|(name, _)| name)),
            ("HOSTD_PACK", cell.pack.map(|pack| &*pack.id)),
        ];
        env.extend(
            own.into_iter()
                .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))),
        );
        env
    }

    /// All runs of the builds and benches of these ids.
    fn needs(&self, ids: &[crate::scalars::Id]) -> Vec<String> {
        let mut needs = Vec::new();
        let distinct: BTreeSet<&str> = ids.iter().map(|id| &**id).collect();
        for id in distinct {
            let bench = self
                .definition
                .benches
                .iter()
                .find(|bench| &*bench.id == id);
            let source = match bench {
                Some(bench) => bench
                    .for_each
                    .as_deref()
                    .and_then(|id| check::build(self.definition, id)),
                None => check::build(self.definition, id),
            };
            let cells = source.map_or_else(|| vec![Cell::default()], cells);
            needs.extend(cells.iter().map(|cell| cell.id(id)));
        }
        needs
    }

    fn device(&mut self, path: &Path, bench: &Bench, scope: &Scope<'_>) -> Requirements {
        let name = bench.device.name.as_ref();
        let name = name.and_then(|name| self.resolve(&path.key("name"), name, scope));
        let mut select = BTreeMap::new();
        for (key, predicate) in bench.device.select.iter().flat_map(|select| select.iter()) {
            let at = path.key("select").key(key);
            select.extend(
                self.resolve(&at, predicate, scope)
                    .map(|predicate| (key.0.clone(), predicate)),
            );
        }
        Requirements {
            name: name.map(|name| name.0),
            select,
        }
    }

    /// The steps that are there in this cell.
    fn steps(
        &mut self,
        path: &Path,
        steps: &'d [definition::Step],
        around: &Surroundings<'d>,
    ) -> Vec<plan::Step> {
        if !self.is_whole() {
            return Vec::new();
        }
        let judged: Vec<&str> = steps
            .iter()
            .filter_map(|step| step.assert.as_ref())
            .filter(|assert| assert.exit_code.is_some())
            .map(|assert| &*assert.on)
            .collect();
        let mut planned = Vec::new();
        for (index, step) in steps.iter().enumerate() {
            let Some(when) = when(step.condition.as_ref(), &around.cell) else {
                continue;
            };
            let at = path.index(index);
            let is_judged = step.id.as_deref().is_some_and(|id| judged.contains(&id));
            let Some(action) = self.action(&at, step, around, is_judged) else {
                continue;
            };
            let phase_ms = match step.flash {
                Some(_) => self.times.flash_ms.min(around.step_ms),
                None => around.step_ms,
            };
            let step = plan::Step {
                at: at.to_string(),
                id: step.id.as_deref().map(str::to_owned),
                case: step.case.as_deref().map(str::to_owned),
                when,
                timeout_ms: step.timeout.map_or(phase_ms, |timeout| timeout.0),
                background: step.background,
                env: action::environment(step),
                junit: step.junit.clone(),
                action,
            };
            self.run_bytes = self.run_bytes.saturating_add(json_bytes(&step));
            if self.run_bytes > RUN_BYTES_MAX {
                let message = format!(
                    "a run comes to more than {RUN_BYTES_MAX} bytes: move what is long into scripts of the repository"
                );
                self.tell(Path::default(), Code::TooLarge, message);
                self.room_bytes = 0;
                break;
            }
            planned.push(step);
        }
        planned
    }
}

/// Where steps run.
#[derive(Clone, Copy)]
struct Surroundings<'d> {
    scope: Scope<'d>,
    cell: Cell<'d>,
    /// In a bench: the build of its cells, and the bench.
    source: Option<(Option<&'d Build>, &'d Bench)>,
    step_ms: u64,
}

/// When a step runs; none: it is not there in this cell.
fn when(condition: Option<&Condition>, cell: &Cell<'_>) -> Option<When> {
    match condition {
        None => Some(When::Success),
        Some(Condition::When(when)) => Some(*when),
        Some(Condition::Cell { axis, is, id }) => {
            (cell.has(*axis, id) == *is).then_some(When::Success)
        }
    }
}

/// Bytes that something has as compact JSON.
fn json_bytes(value: &impl Serialize) -> usize {
    struct Count(usize);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    match serde_json::to_writer(&mut count, value) {
        Ok(()) => count.0,
        Err(_) => usize::MAX,
    }
}

fn sandbox(sandbox: &definition::Sandbox) -> plan::Sandbox {
    plan::Sandbox {
        network: sandbox.network,
        image: sandbox.image.as_deref().map(str::to_owned),
    }
}
