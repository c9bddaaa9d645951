//! A bipartite matching that grows: tasks come in their order, each takes a free device, and if all
//! fitting devices are taken in this pass, their owners are moved to other devices that fit them as
//! well.

use std::collections::VecDeque;
use std::rc::Rc;

/// Which task of this pass has which device. Devices are numbered by the caller.
#[derive(Debug)]
pub(crate) struct Matching {
    /// For each device, the task that has it.
    owner: Vec<Option<usize>>,
    /// For each matched task, its device.
    has: Vec<Option<usize>>,
    /// For each matched task, the devices it may have, the best first.
    choices: Vec<Rc<[usize]>>,
    /// The last search that reached each device.
    seen: Vec<u32>,
    search: u32,
    /// The task through which that search reached it.
    through: Vec<usize>,
}

impl Matching {
    pub(crate) fn new(devices: usize) -> Self {
        Self {
            owner: vec![None; devices],
            has: Vec::new(),
            choices: Vec::new(),
            seen: vec![0; devices],
            search: 0,
            through: vec![0; devices],
        }
    }

    /// Matches one more task with one of `choices`; returns whether that was possible. Earlier tasks
    /// keep a device, though perhaps a different one. What is impossible for some choices stays
    /// impossible for the same choices.
    pub(crate) fn add(&mut self, choices: Rc<[usize]>) -> bool {
        let task = self.choices.len();
        self.choices.push(choices);
        self.has.push(None);
        self.search += 1;
        let mut open = VecDeque::from([task]);
        while let Some(from) = open.pop_front() {
            let devices = self.choices[from].clone();
            for &device in devices.iter() {
                if self.seen[device] == self.search {
                    continue;
                }
                self.seen[device] = self.search;
                self.through[device] = from;
                match self.owner[device] {
                    Some(other) => open.push_back(other),
                    None => {
                        self.hand_over(device);
                        return true;
                    }
                }
            }
        }
        self.choices.pop();
        self.has.pop();
        false
    }

    /// Gives `device` to the task through which the search reached it, that task's former device to
    /// the task through which the search reached that one, and so on back to the task that started
    /// the search, which had none.
    fn hand_over(&mut self, device: usize) {
        let mut handed = Some(device);
        while let Some(device) = handed {
            let to = self.through[device];
            self.owner[device] = Some(to);
            handed = self.has[to].replace(device);
        }
    }

    /// The device of each task, in the order in which they came.
    pub(crate) fn devices(&self) -> impl Iterator<Item = usize> {
        self.has.iter().flatten().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::Matching;

    #[test]
    fn a_picky_task_moves_an_undemanding_one() {
        let mut matching = Matching::new(3);
        assert!(matching.add([0, 1, 2].into()));
        assert!(matching.add([0, 1].into()));
        assert!(matching.add([0].into()));
        assert!(!matching.add([0, 1].into()));
        let devices: Vec<usize> = matching.devices().collect();
        assert_eq!((devices[2], devices.len()), (0, 3));
        assert_eq!(devices.iter().sum::<usize>(), 3);
    }

    #[test]
    fn it_is_as_large_as_one_can_be_and_nobody_loses_a_device() {
        let mut random = fastrand::Rng::with_seed(12);
        for _ in 0..2000 {
            let devices = random.usize(1..7);
            let mut matching = Matching::new(devices);
            let mut taken: Vec<Vec<usize>> = Vec::new();
            for _ in 0..random.usize(1..9) {
                let choices: Vec<usize> = (0..devices).filter(|_| random.u8(..3) == 0).collect();
                let mut wanted = taken.clone();
                wanted.push(choices.clone());
                let possible = all_can_be_served(&wanted, &mut vec![false; devices]);
                assert_eq!(matching.add(choices.into()), possible);
                if possible {
                    taken = wanted;
                }
                let has: Vec<usize> = matching.devices().collect();
                assert!(
                    has.iter()
                        .zip(&taken)
                        .all(|(device, may)| may.contains(device))
                );
                let mut distinct = has.clone();
                distinct.sort_unstable();
                distinct.dedup();
                assert_eq!(distinct.len(), has.len());
            }
        }
    }

    /// The answer by brute force.
    fn all_can_be_served(tasks: &[Vec<usize>], used: &mut [bool]) -> bool {
        let Some((first, rest)) = tasks.split_first() else {
            return true;
        };
        first.iter().any(|&device| {
            if std::mem::replace(&mut used[device], true) {
                return false;
            }
            let served = all_can_be_served(rest, used);
            used[device] = false;
            served
        })
    }
}
