//! Builds in images of containers. Most have a program in place of Podman, which notes what is asked of it; one has
//! Podman itself, where that is installed.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use jobs::{Cancel, Live, Options, Outcome, Request, RunEnd, Runner};

use crate::Case;
use crate::home::{Home, eventually, pipeline_of, plan, processes_with};
use crate::tape::{Tape, tiny};

pub(crate) const CASES: &[Case] = &[
    ("a_build_runs_in_an_image", runs),
    (
        "an_image_s_environment_is_under_the_pipeline_s",
        environment,
    ),
    ("an_image_that_cannot_be_had_is_told", refused),
    ("a_hostile_image_is_held", hostile),
    ("an_image_that_is_too_large_is_refused", large),
    ("a_damaged_image_is_refused", damaged),
    ("builds_of_one_image_unpack_it_once", once),
    ("a_build_waits_for_no_other_image", apart),
    ("a_cancel_ends_unpacking", cancelled),
    ("a_runner_killed_while_it_unpacks_leaves_nothing", killed),
    (
        "an_image_removed_from_podman_is_missed_by_the_next",
        removed,
    ),
    ("a_cache_is_of_an_image_not_of_its_name", caches),
    ("images_used_longest_ago_give_way", room),
    ("podman_s_own_images_run", podman),
];

/// The argument that makes this program a runner of one build in the image `slow`, for a test to kill.
pub(crate) const RUNNER: &str = "image-runner";

/// Has an image for each `<name>.json`, with the tar `<id>`. While there is a file `hold-<id>`, it sends half.
const FAKE: &str = r#"#!/bin/sh
cd "$(dirname "$0")" || exit 1
echo "$*" >> calls
case "$1" in
image) cat "$3.json" 2> /dev/null && exit
    echo "Error: inspecting object: $3: image not known" >&2; exit 125 ;;
create) [ ! -e "container-$5" ] || exit 125; echo "$6" > "container-$5" ;;
rm) rm -f "container-$4" ;;
export) id=$(cat "container-$2") || exit 125
    if [ -e "hold-$id" ]; then head -c 100000 "$id"; while [ -e "hold-$id" ]; do sleep 0.02; done
        tail -c +100001 "$id"
    else cat "$id"; fi ;;
*) exit 125 ;;
esac
"#;

struct Fake {
    home: Home,
}

impl Fake {
    fn new() -> Self {
        let mut home = Home::new();
        let folder = folder(home.path());
        fs::create_dir(&folder).unwrap();
        let program = folder.join("podman");
        fs::write(&program, FAKE).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        home.options.images.podman = program;
        Self { home }
    }

    fn path(&self, name: &str) -> PathBuf {
        folder(self.home.path()).join(name)
    }

    /// Gives it an image, whose id begins with `digit` and goes on with it.
    fn has(&self, name: &str, digit: char, tar: &[u8]) {
        self.says(name, digit, &[]);
        fs::write(self.path(&id(digit)), tar).unwrap();
    }

    fn says(&self, name: &str, digit: char, env: &[&str]) {
        let arch = match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            same => same,
        };
        let env = format!("{env:?}");
        let id = id(digit);
        let text = format!(
            r#"[{{"Id":"{id}","Os":"linux","Architecture":"{arch}","Config":{{"Env":{env}}}}}]"#
        );
        fs::write(self.path(&format!("{name}.json")), text).unwrap();
    }

    fn calls(&self, of: &str) -> usize {
        let calls = fs::read_to_string(self.path("calls")).unwrap_or_default();
        calls.lines().filter(|line| line.starts_with(of)).count()
    }

    fn hold(&self, digit: char) -> PathBuf {
        let hold = self.path(&format!("hold-{}", id(digit)));
        fs::write(&hold, "").unwrap();
        hold
    }

    /// Waits until half of an image has come.
    fn is_unpacking(&self, digit: char) {
        let tree = format!("images/{}.incomplete/tree/bin/sh", id(digit));
        let shell = self.home.options.state.join(tree);
        eventually("unpacking", || shell.exists());
    }

    /// What is there of images that are not whole.
    fn left(&self) -> Vec<String> {
        let names = |folder: &Path| -> Vec<String> {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            entries
                .map(|entry| entry.file_name().into_string().unwrap())
                .collect()
        };
        let mut left = names(&self.home.options.state.join("images"));
        left.retain(|name| name.ends_with(".incomplete"));
        let containers = names(&folder(self.home.path()));
        left.extend(
            containers
                .into_iter()
                .filter(|name| name.starts_with("container-")),
        );
        left
    }

    fn build(&self, image: &str, script: &str) -> RunEnd {
        self.build_with(image, script, &self.home.cancel)
    }

    fn build_with(&self, image: &str, script: &str, cancel: &Cancel) -> RunEnd {
        let plan = plan(&in_image(image, script));
        let runner = Runner::open(self.home.options.clone()).unwrap();
        let out = tempfile::tempdir().unwrap();
        let request = Request::new(&plan, self.home.source(), out.path().join("out"));
        let (live, _events) = Live::new();
        let mut job = runner.run(&request, &live, cancel).unwrap();
        job.runs.remove(0)
    }

    fn tree(&self, digit: char) -> PathBuf {
        let tree = format!("images/{}/tree", id(digit));
        self.home.options.state.join(tree)
    }
}

fn folder(home: &Path) -> PathBuf {
    home.join("podman")
}

fn id(digit: char) -> String {
    digit.to_string().repeat(64)
}

fn in_image(image: &str, script: &str) -> String {
    let steps = format!("      - run: {script:?}\n    sandbox: {{ image: {image:?} }}");
    pipeline_of("", &steps)
}

fn passed(run: &RunEnd) -> &str {
    assert!(run.outcome.has_passed(), "{} {run:#?}", run.outcome);
    &run.steps[0].tail
}

fn runs() {
    let mut fake = Fake::new();
    fake.has("tiny", 'a', &tiny().end());
    let tools = jail::Bind::same("/usr/share");
    fake.home.options.tools.push(tools);
    let script = "ls /; cat /etc/passwd /etc/shadow /closed/inner; echo made > fw; ls /dev/null /tmp; pwd; echo x > \"$HOSTD_OUT/x\"";
    let (mut job, _) = fake.home.run(&in_image("tiny", script));
    let run = job.runs.remove(0);
    let own = "bin\nclosed\ndev\netc\njob\nlib\nlib64\nproc\ntmp\n";
    let told = format!(
        "{own}job:x:1000:1000::/job:/bin/sh\nof the image\ninner\n/dev/null\n\n/tmp:\n/job\n"
    );
    let is_host = |line: &&str| !["lib", "lib64", "usr"].contains(line);
    let plain = |text: &str| text.lines().filter(is_host).collect::<Vec<_>>().join("\n");
    assert_eq!(plain(passed(&run)), plain(&told));
    let log = fake.home.log("fw");
    assert!(log.contains(&format!("image tiny: {}", id('a'))), "{log}");
    assert!(run.spans.iter().any(|(name, _)| name == "image"));
    passed(&fake.build("tiny", "true"));
    assert_eq!((fake.calls("image"), fake.calls("export")), (2, 1));
    assert_eq!(fake.left(), Vec::<String>::new());
    // No job's user can write to it, and no bit of it gives rights.
    let tree = fake.tree('a');
    let setuid = tree.join("bin/setuid").metadata().unwrap();
    assert_eq!(setuid.mode() & 0o6022, 0, "{:o}", setuid.mode());
    assert!(!tree.join("disk").exists());
    let slots = jail::Slot::FIRST_UID..jail::Slot::FIRST_UID + 64;
    assert!(!slots.contains(&setuid.uid()));
    let folders = [
        tree.parent().unwrap(),
        tree.parent().unwrap().parent().unwrap(),
    ];
    for folder in folders {
        assert_eq!(folder.metadata().unwrap().mode() & 0o077, 0);
    }
}

fn environment() {
    let fake = Fake::new();
    fake.has("tiny", 'a', &tiny().end());
    let env = [
        "PATH=/opt/own:/bin",
        "LANG=C",
        "A=image",
        "B=image",
        "HOME=/root",
        "TMPDIR=/x",
    ];
    fake.says("tiny", 'a', &env);
    let text = in_image("tiny", "echo $PATH $LANG $A $B $HOME $TMPDIR $CI").replacen(
        "version: 1",
        "version: 1\nvars: { B: pipeline }",
        1,
    );
    let (job, _) = fake.home.run(&text);
    assert_eq!(
        passed(&job.runs[0]),
        "/opt/own:/bin C image pipeline /job /tmp true\n"
    );
}

fn refused() {
    let mut fake = Fake::new();
    fake.has("tiny", 'a', &tiny().end());
    let told = |fake: &Fake, image: &str| {
        let run = fake.build(image, "true");
        assert_eq!(run.outcome.kind(), Some("infra.image"), "{}", run.outcome);
        assert!(run.steps.is_empty());
        run.outcome.to_string()
    };
    let missing = told(&fake, "gone");
    assert!(
        missing.contains("no image gone") && missing.contains("podman pull"),
        "{missing}"
    );
    let json = fs::read_to_string(fake.path("tiny.json")).unwrap();
    fs::write(fake.path("vax.json"), json.replace("linux", "vms")).unwrap();
    assert!(told(&fake, "vax").contains("is for vms/"));
    fs::write(fake.path("torn.json"), "[").unwrap();
    assert!(told(&fake, "torn").contains("Podman failed to tell about the image"));
    fs::remove_file(fake.path(&id('a'))).unwrap();
    let unread = told(&fake, "tiny");
    assert!(
        unread.contains("Podman failed to read the files"),
        "{unread}"
    );
    assert_eq!(fake.left(), Vec::<String>::new());
    fake.home.options.images.names = vec!["other*".to_owned()];
    assert!(told(&fake, "tiny").contains("`jobs.images`"));
    fake.home.options.images.names.clear();
    fake.home.options.images.podman = "no-such-podman".into();
    assert!(told(&fake, "tiny").contains("no Podman"));
    // Without a shell there is nothing to run a step with.
    let fake = Fake::new();
    fake.has("bare", 'b', &Tape::default().folder("etc", 0o755).end());
    let run = fake.build("bare", "true");
    assert_eq!(run.outcome.kind(), Some("infra.image"));
    assert!(
        run.outcome
            .to_string()
            .contains("/bin/sh cannot be executed in bare")
    );
}

/// Whatever an image has where a jail or its files go, nothing of the host is read or written by it.
fn hostile() {
    let fake = Fake::new();
    let victim = fake.home.path().join("victim");
    fs::create_dir(&victim).unwrap();
    fs::set_permissions(&victim, fs::Permissions::from_mode(0o777)).unwrap();
    fs::write(victim.join("passwd"), "kept").unwrap();
    let victim_path = victim.to_str().unwrap();
    let names = ["etc", "tmp", "dev", "proc", "job"];
    let with = |change: &dyn Fn(Tape, &str) -> Tape| {
        let tape = Tape::default().programs(&["sh", "cat", "ls"]);
        names
            .iter()
            .fold(tape, |tape, name| change(tape, name))
            .end()
    };
    let images = [
        with(&|tape, name| tape.link(name, victim_path)),
        with(&|tape, name| tape.link(name, "../../../../../..")),
        with(&|tape, name| tape.link(name, name)),
        with(&|tape, name| tape.file(name, 0o000, b"a file")),
        with(&|tape, name| tape.device(name)),
        with(&|tape, name| {
            let tape = tape.folder(name, 0o000);
            let tape = tape.folder(&format!("{name}/passwd"), 0o000);
            tape.link(&format!("{name}/group"), victim_path)
                .link(&format!("{name}/hosts"), "/proc/1/environ")
        }),
    ];
    for (digit, tar) in ('0'..).zip(images) {
        fake.has("hostile", digit, &tar);
        let run = fake.build(
            "hostile",
            "cat /etc/passwd /etc/hosts; ls /proc/self/status /dev/null; ls -A /job /tmp; echo x > /tmp/x; echo x > /job/x",
        );
        let told = passed(&run);
        assert!(told.starts_with("job:x:1000"), "{digit}: {told}");
        assert!(told.contains("127.0.0.1 localhost") && told.contains("/proc/self/status"));
        let names: Vec<_> = fs::read_dir(&victim).unwrap().collect();
        assert_eq!(names.len(), 1, "{digit}");
        assert_eq!(fs::read_to_string(victim.join("passwd")).unwrap(), "kept");
    }
    // A file behind a link that leads out.
    let tape = tiny()
        .link("out", victim_path)
        .file("out/passwd", 0o644, b"new");
    fake.has("out", 'f', &tape.end());
    let run = fake.build("out", "cat /out/passwd");
    assert!(!run.outcome.has_passed());
    assert_eq!(fs::read_to_string(victim.join("passwd")).unwrap(), "kept");
    assert_eq!(fake.left(), Vec::<String>::new());
}

fn large() {
    let mut fake = Fake::new();
    fake.home.options.images.bytes_max = 16 << 20;
    fake.has(
        "file",
        'a',
        &tiny().file("big", 0o644, &vec![7; 17 << 20]).end(),
    );
    // 52 MB of headers.
    let many = (0..100_000).fold(tiny(), |tape, number| {
        tape.file(&format!("f{number}"), 0o644, b"")
    });
    fake.has("many", 'b', &many.end());
    for image in ["file", "many"] {
        let run = fake.build(image, "true");
        assert_eq!(run.outcome.kind(), Some("infra.image"));
        let told = run.outcome.to_string();
        assert!(told.contains("jobs.images_gib_max"), "{told}");
        assert_eq!(fake.left(), Vec::<String>::new());
    }
    fake.home.options.images.bytes_max = 1 << 30;
    passed(&fake.build("many", "cat /f99999"));
    fake.home.options.floor_bytes = u64::MAX;
    let run = fake.build("file", "true");
    assert_eq!(run.outcome.kind(), Some("infra.disk_full"));
}

fn damaged() {
    let fake = Fake::new();
    let tars = [
        tiny().cut(100_001),
        tiny().file("../../escaped", 0o644, b"").end(),
        vec![b'x'; 200_000],
    ];
    for (digit, tar) in ('0'..).zip(tars) {
        fake.has("damaged", digit, &tar);
        let run = fake.build("damaged", "true");
        let told = run.outcome.to_string();
        assert_eq!(run.outcome.kind(), Some("infra.image"), "{told}");
        assert!(told.contains("cannot be unpacked (tar: "), "{told}");
        assert!(!fake.tree(digit).exists());
    }
    assert_eq!(fake.left(), Vec::<String>::new());
}

fn once() {
    let fake = Fake::new();
    fake.has("tiny", 'a', &tiny().end());
    let hold = fake.hold('a');
    let fake = &fake;
    thread::scope(|scope| {
        let first = scope.spawn(|| fake.build("tiny", "true"));
        fake.is_unpacking('a');
        let others: Vec<_> = (0..3)
            .map(|_| scope.spawn(|| fake.build("tiny", "true")))
            .collect();
        eventually("four that look", || fake.calls("image") == 4);
        fs::remove_file(hold).unwrap();
        passed(&first.join().unwrap());
        for other in others {
            passed(&other.join().unwrap());
        }
    });
    assert_eq!(fake.calls("export"), 1);
}

fn apart() {
    let fake = Fake::new();
    fake.has("slow", 'a', &tiny().end());
    fake.has("quick", 'b', &tiny().end());
    let hold = fake.hold('a');
    let fake = &fake;
    thread::scope(|scope| {
        let slow = scope.spawn(|| fake.build("slow", "true"));
        fake.is_unpacking('a');
        passed(&fake.build("quick", "true"));
        passed(&fake.home.build("      - run: 'true'"));
        fs::remove_file(hold).unwrap();
        passed(&slow.join().unwrap());
    });
}

fn cancelled() {
    let fake = Fake::new();
    fake.has("slow", 'a', &tiny().end());
    let hold = fake.hold('a');
    let fake = &fake;
    let (first, second) = (Cancel::default(), Cancel::default());
    thread::scope(|scope| {
        let maker = scope.spawn(|| fake.build_with("slow", "true", &first));
        fake.is_unpacking('a');
        let waiter = scope.spawn(|| fake.build_with("slow", "true", &second));
        let stays = scope.spawn(|| fake.build("slow", "true"));
        eventually("three that look", || fake.calls("image") == 3);
        let begun = Instant::now();
        second.cancel();
        assert_eq!(waiter.join().unwrap().outcome, Outcome::Cancelled);
        first.cancel();
        assert_eq!(maker.join().unwrap().outcome, Outcome::Cancelled);
        assert!(begun.elapsed() < Duration::from_secs(10));
        // Whoever waited makes it then.
        fs::remove_file(hold).unwrap();
        passed(&stays.join().unwrap());
    });
    assert_eq!((fake.calls("export"), fake.left().len()), (2, 0));
}

/// Runs a build in the image `slow` of the folder's Podman.
pub(crate) fn run(home: &str) -> ExitCode {
    let home = Path::new(home);
    let mut options = Options::new(home.join("state"));
    options.images.podman = folder(home).join("podman");
    options.floor_bytes = 0;
    let plan = plan(&in_image("slow", "true"));
    let runner = Runner::open(options).unwrap();
    let request = Request::new(&plan, home.join("source"), home.join("out"));
    let (live, _events) = Live::new();
    runner.run(&request, &live, &Cancel::default()).unwrap();
    ExitCode::SUCCESS
}

fn killed() {
    let fake = Fake::new();
    fake.has("slow", 'a', &tiny().end());
    let mark = fake.home.path().to_str().unwrap().to_owned();
    let kill = || {
        let hold = fake.hold('a');
        let mut runner = Command::new(std::env::current_exe().unwrap())
            .args([RUNNER, &mark])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        fake.is_unpacking('a');
        runner.kill().unwrap();
        runner.wait().unwrap();
        fs::remove_file(hold).unwrap();
        eventually("the end of all that the runner started", || {
            processes_with(&mark).is_empty()
        });
        assert_eq!(fake.left().len(), 2, "{:?}", fake.left());
    };
    // The next start removes it, with its container.
    kill();
    let runner = Runner::open(fake.home.options.clone()).unwrap();
    runner.sweep().unwrap();
    assert_eq!(fake.left(), Vec::<String>::new());
    drop(runner);
    // So does the next one that needs the image.
    kill();
    passed(&fake.build("slow", "true"));
    assert_eq!(fake.left(), Vec::<String>::new());
}

fn removed() {
    let fake = Fake::new();
    fake.has("tiny", 'a', &tiny().end());
    let fake = &fake;
    passed(&fake.build("tiny", "true"));
    thread::scope(|scope| {
        let script = "echo > up; while [ ! -e go ]; do :; done; cat /etc/passwd";
        let run = scope.spawn(move || fake.build("tiny", script));
        eventually("a step", || step_of(&fake.home).is_some());
        fs::remove_file(fake.path("tiny.json")).unwrap();
        let told = fake.build("tiny", "true").outcome.to_string();
        assert!(told.contains("no image tiny"), "{told}");
        fs::write(step_of(&fake.home).unwrap().join("go"), "").unwrap();
        passed(&run.join().unwrap());
    });
}

/// The folder of a build that has come to its first step, which wrote `up`.
fn step_of(home: &Home) -> Option<PathBuf> {
    let places = fs::read_dir(home.options.state.join("places"));
    let places = places.into_iter().flatten().flatten();
    places
        .map(|place| place.path().join("job"))
        .find(|job| job.join("up").exists())
}

fn caches() {
    let fake = Fake::new();
    fake.has("tiny", 'a', &tiny().end());
    // The image has no program that makes folders.
    fake.home.write(".kept/empty", "");
    let text = in_image("tiny", "cat .kept/from || true; echo x > .kept/from")
        + "    cache: { key: [Makefile], paths: [.kept] }\n";
    let hit = || {
        let (job, _) = fake.home.run(&text);
        passed(&job.runs[0]);
        job.runs[0].cache_hit
    };
    assert_eq!((hit(), hit()), (Some(false), Some(true)));
    // The same name, another image.
    fake.has("tiny", 'b', &tiny().end());
    assert_eq!((hit(), hit()), (Some(false), Some(true)));
    fake.says("tiny", 'a', &[]);
    assert_eq!(hit(), Some(true));
}

fn room() {
    let mut fake = Fake::new();
    for (name, digit) in [("one", 'a'), ("two", 'b'), ("three", 'c')] {
        fake.has(name, digit, &tiny().end());
    }
    passed(&fake.build("one", "true"));
    let size = fs::read_to_string(fake.tree('a').parent().unwrap().join("size")).unwrap();
    let size: u64 = size.parse().unwrap();
    fake.home.options.images.bytes_max = size * 5 / 2;
    passed(&fake.build("two", "true"));
    passed(&fake.build("one", "true"));
    passed(&fake.build("three", "true"));
    let there = || ['a', 'b', 'c'].map(|digit| fake.tree(digit).exists());
    assert_eq!(there(), [true, false, true]);
}

/// Without Podman on this machine it is left out, and says so.
#[allow(clippy::print_stderr, reason = "a test that is left out says why")]
fn podman() {
    if !Command::new("podman")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
    {
        eprintln!("Podman is not installed, so this test is left out");
        return;
    }
    let mut home = Home::new();
    let folder = folder(home.path());
    fs::create_dir(&folder).unwrap();
    let program = folder.join("podman");
    // Storage of its own, with the driver that works everywhere.
    let text = format!(
        "#!/bin/sh\nexec podman --root {0}/root --runroot {0}/run --storage-driver vfs \"$@\"\n",
        folder.display()
    );
    fs::write(&program, text).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let asked = |arguments: &[&str]| {
        let output = Command::new(&program).args(arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    };
    let tar = folder.join("tiny.tar");
    fs::write(&tar, tiny().end()).unwrap();
    let (path, env) = (tar.to_str().unwrap(), "ENV PATH=/bin:/opt/own");
    let changes = ["--change", env, "--change", "ENV A=b"];
    asked(&[&["import"][..], &changes, &[path, "localhost/tiny:1"]].concat());
    home.options.images.podman = program.clone();
    let id = asked(&[
        "image",
        "inspect",
        "--format",
        "{{.Id}}",
        "localhost/tiny:1",
    ]);
    let (job, _) = home.run(&in_image(
        "localhost/tiny:1",
        "echo $PATH $A; cat /etc/shadow",
    ));
    assert_eq!(passed(&job.runs[0]), "/bin:/opt/own b\nof the image\n");
    assert!(home.log("fw").contains(id.trim()));
    assert_eq!(asked(&["ps", "--all", "--quiet"]), "");
    let (job, _) = home.run(&in_image("localhost/none:1", "true"));
    let told = job.runs[0].outcome.to_string();
    assert!(told.contains("no image localhost/none:1"), "{told}");
    asked(&["rmi", "--all", "--force"]);
}
