//! The outer stage: everything that must happen on the host's side of the namespaces, and the supervision of
//! init.

use std::io::{self, PipeReader, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::process::{
    DumpableBehavior, Gid, Pid, PidfdFlags, Signal, Uid, WaitOptions, kill_process, pidfd_open,
    set_dumpable_behavior, set_parent_process_death_signal, waitpid,
};
use rustix::thread::UnshareFlags;

use super::uplink::{self, Uplink};
use super::{At, Failure, filter::Filter, held, init, kernel, leave, root, tell};
use crate::etc::UID_INSIDE;
use crate::usage::{self, Usage};
use crate::wire::{self, Blueprint, Event, Request, Step};

/// How readily the kernel ends the command when the whole machine is out of memory, from -1000 to 1000:
/// sooner than the server, which has 0.
const OOM_SCORE: &str = "500";

/// Runs one jail from its beginning to its end.
pub(super) fn run(request: Request, filter: &Filter, nursery: Pid) -> ! {
    let Request {
        blueprint,
        control,
        gauge,
        streams,
    } = request;
    if let Err(failure) = serve(&blueprint, (&control, gauge), streams, filter, nursery) {
        tell(control.as_fd(), &failure);
        leave(1);
    }
    leave(0)
}

fn serve(
    blueprint: &[u8],
    (control, gauge): (&OwnedFd, OwnedFd),
    streams: [OwnedFd; 3],
    filter: &Filter,
    nursery: Pid,
) -> Result<(), Failure> {
    let blueprint: Blueprint = serde_json::from_slice(blueprint).at(Step::Blueprint)?;
    take_streams(streams).at(Step::Streams)?;
    let Host {
        groups,
        relay,
        tree,
        network,
    } = prepare(&blueprint, control, nursery)?;
    let (slirp4netns, uplink) = network.unzip();
    let (lifeline, mut held) = io::pipe().at(Step::Lifeline)?;
    let started = Instant::now();
    let Some(init) = kernel::fork().at(Step::Fork)? else {
        drop((held, groups, gauge));
        init::run(&blueprint, control, (tree, relay), uplink, lifeline, filter);
    };
    drop::<PipeReader>(lifeline);
    drop((relay, tree, uplink));
    // Meanwhile init builds the root: joining waits for every processor of the machine.
    let joined = join(init, &groups).and_then(|()| match held.write_all(b".") {
        // It has failed meanwhile, and says why.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        released => released,
    });
    drop(groups);
    let outcome = match joined.at(Step::Groups) {
        Ok(()) => Watch {
            init,
            control,
            gauge: Some(gauge),
            started,
            wall: blueprint.limits.wall,
        }
        .run(),
        Err(failure) => {
            let _ = kill_process(init, Signal::KILL);
            Err(failure)
        }
    };
    // Waiting for PID 1 also waits for everything that ran below it.
    let ended = waitpid(Some(init), WaitOptions::empty());
    if let Some(slirp4netns) = slirp4netns {
        // It ends by itself when init does; nothing waits for how.
        let _ = kill_process(slirp4netns, Signal::KILL);
        let _ = waitpid(Some(slirp4netns), WaitOptions::empty());
    }
    outcome.and(ended.map(drop).at(Step::Fork))
}

/// Descriptors that are opened on the host's side, with the server's rights, for later use.
struct Host {
    /// The files through which init joins its groups.
    groups: Vec<OwnedFd>,
    /// The socket to which the relay forwards.
    relay: Option<OwnedFd>,
    /// The tree that becomes the root.
    tree: Option<OwnedFd>,
    /// The process that is the network's side, and what init needs of it.
    network: Option<(Pid, Uplink)>,
}

/// Puts a process into groups, and with it everything that it will start.
fn join(process: Pid, groups: &[OwnedFd]) -> io::Result<()> {
    let number = process.as_raw_nonzero().to_string();
    for group in groups {
        rustix::io::write(group, number.as_bytes())?;
    }
    Ok(())
}

/// Makes the job's streams those of this process, and so of everything that it starts. This closes the
/// nursery's socket, which was standard input.
fn take_streams(streams: [OwnedFd; 3]) -> io::Result<()> {
    let [stdin, stdout, stderr] = streams;
    rustix::stdio::dup2_stdin(stdin)?;
    rustix::stdio::dup2_stdout(stdout)?;
    rustix::stdio::dup2_stderr(stderr)?;
    Ok(())
}

/// Leaves this process in new namespaces. Steps that need the server's rights come first.
fn prepare(blueprint: &Blueprint, control: &OwnedFd, nursery: Pid) -> Result<Host, Failure> {
    rustix::thread::set_name(c"jail-outer").at(Step::Lifeline)?;
    rustix::process::umask(Mode::from_raw_mode(0o022));
    let open = |path, flags| rustix::fs::open(path, flags | OFlags::CLOEXEC, Mode::empty());
    let groups: Result<Vec<_>, _> = blueprint
        .groups
        .iter()
        .map(|group| open(group, OFlags::WRONLY))
        .collect();
    let groups = groups.at(Step::Groups)?;
    // The kernel refuses this if the server's own score is higher already.
    let _ = write_at_once("/proc/self/oom_score_adj", OOM_SCORE);
    // As the current folder it remains reachable, even for a user without access to the folders
    // above it.
    rustix::process::chdir(&blueprint.job).at(Step::JobFolder)?;
    let relay = blueprint
        .relay
        .as_ref()
        .map(|path| open(path, OFlags::PATH));
    let relay = relay.transpose().at(Step::RelaySocket)?;
    let tree = root::take_tree(blueprint)?;
    if let Some(uid) = blueprint.uid {
        become_user(uid).at(Step::User)?;
    }
    // After the change of user, which clears the parent-death signal.
    set_parent_process_death_signal(Some(Signal::KILL)).at(Step::Lifeline)?;
    if rustix::process::getppid() != Some(nursery) {
        return Err(io::Error::from_raw_os_error(libc::ESRCH)).at(Step::Lifeline);
    }
    let network = blueprint.network.as_ref();
    let network = network.map(|network| uplink::start(network, &groups, control));
    let network = network.transpose()?;
    let (uid, gid) = (rustix::process::geteuid(), rustix::process::getegid());
    kernel::unshare(
        UnshareFlags::NEWUSER
            | UnshareFlags::NEWNS
            | UnshareFlags::NEWPID
            | UnshareFlags::NEWNET
            | UnshareFlags::NEWIPC
            | UnshareFlags::NEWUTS,
    )
    .at(Step::Namespaces)?;
    map(uid, gid).at(Step::Maps)?;
    Ok(Host {
        groups,
        relay,
        tree,
        network,
    })
}

/// Becomes one user with one group, for good.
fn become_user(uid: u32) -> io::Result<()> {
    let (user, group) = (Uid::from_raw(uid), Gid::from_raw(uid));
    rustix::thread::set_thread_groups(&[])?;
    rustix::thread::set_thread_res_gid(group, group, group)?;
    rustix::thread::set_thread_res_uid(user, user, user)?;
    // After a change of user a process is not dumpable, and its own maps in /proc belong to root.
    set_dumpable_behavior(DumpableBehavior::Dumpable)?;
    Ok(())
}

/// There is one user and one group inside, and neither is root.
pub(super) fn map(uid: Uid, gid: Gid) -> io::Result<()> {
    write_at_once("/proc/self/setgroups", "deny")?;
    let (uid, gid) = (uid.as_raw(), gid.as_raw());
    write_at_once("/proc/self/uid_map", &format!("{UID_INSIDE} {uid} 1"))?;
    write_at_once("/proc/self/gid_map", &format!("{UID_INSIDE} {gid} 1"))
}

/// Writes a file of the kernel, which needs the whole value in one call.
pub(super) fn write_at_once(path: impl rustix::path::Arg, value: &str) -> io::Result<()> {
    let file = rustix::fs::openat(CWD, path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, value.as_bytes())?;
    Ok(())
}

/// What outer does while init runs.
struct Watch<'w> {
    init: Pid,
    control: &'w OwnedFd,
    /// None: nobody asks any more.
    gauge: Option<OwnedFd>,
    started: Instant,
    wall: Duration,
}

impl Watch<'_> {
    /// Waits for the end of init, and hastens it when the server lets go or the time is up. Answers what the server
    /// asks meanwhile.
    fn run(mut self) -> Result<(), Failure> {
        let watched = pidfd_open(self.init, PidfdFlags::empty()).at(Step::Fork);
        let watched = watched.inspect_err(|_| self.end_init(None))?;
        loop {
            let mut fds = vec![
                PollFd::new(&watched, PollFlags::IN),
                PollFd::new(self.control, PollFlags::IN),
            ];
            let gauge = self.gauge.as_ref();
            fds.extend(gauge.map(|gauge| PollFd::new(gauge, PollFlags::IN)));
            let left = self.wall.saturating_sub(self.started.elapsed());
            match poll(&mut fds, Timespec::try_from(left).ok().as_ref()) {
                Ok(0) => self.end_init(Some(Event::TimedOut)),
                Ok(_) if !fds[0].revents().is_empty() => {}
                Ok(_) if !fds[1].revents().is_empty() => self.end_init(Some(Event::Killed)),
                Ok(_) => {
                    drop(fds);
                    self.answer(&watched);
                    continue;
                }
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => {
                    self.end_init(None);
                    return Err(error).at(Step::Lifeline);
                }
            }
            return Ok(());
        }
    }

    fn end_init(&self, event: Option<Event>) {
        let _ = kill_process(self.init, Signal::KILL);
        // Only the first event counts: init may just have reported how the command ended.
        if let Some(event) = event {
            let _ = wire::send_event(self.control.as_fd(), &event);
        }
    }

    /// Counts what the jail takes of the disk, unless there is something else to do.
    fn answer(&mut self, watched: &OwnedFd) {
        let question = self.gauge.as_ref().map(wire::receive_question);
        let Some(Ok(Some(number))) = question else {
            self.gauge = None;
            return;
        };
        let mut goes_on = || {
            let mut fds = [
                PollFd::new(watched, PollFlags::IN),
                PollFd::new(self.control, PollFlags::IN),
            ];
            let now = Timespec::default();
            poll(&mut fds, Some(&now)) == Ok(0) && self.started.elapsed() < self.wall
        };
        let answer = match count(&mut goes_on) {
            Ok(None) => return,
            Ok(usage) => wire::Count {
                number,
                usage,
                errno: 0,
            },
            Err(error) => wire::Count {
                number,
                usage: None,
                errno: error.raw_os_error().unwrap_or(libc::EIO),
            },
        };
        if let Some(gauge) = &self.gauge {
            // A server that is gone needs no answer.
            let _ = wire::send_count(gauge, &answer);
        }
    }
}

/// What the job's folder and the jail's processes take of the disk. None if `goes_on` has said no.
///
/// This process is in the jail's user namespace and has all rights there, so no mode keeps anything from it. It is in the
/// mount namespace, too: its root became the jail's when init entered that, and its `/proc` the jail's.
fn count(goes_on: &mut dyn FnMut() -> bool) -> io::Result<Option<Usage>> {
    // This process has been in it since before it became another user.
    let folder = usage::open(CWD, ".")?;
    let disk = held::Disk::of(&folder)?;
    let mut count = usage::Count::new(goes_on);
    held::count(&disk, &mut count);
    count.tree(folder, usage::COUNTED_DEPTH_MAX);
    Ok((!count.is_interrupted).then_some(count.usage))
}
