//! Loads and stores: of one register, of pairs and lists, and the exclusive ones. A single one takes two
//! cycles, a multiple one takes one plus one per register. Nothing changes if an access fails, except
//! memory, so that the instruction can be repeated.

use super::operation::{Access, Index, Operation};
use super::{Core, Executed, PC, SP, Trap};
use crate::bus::{Bus, Width};
use crate::word::bit;

impl<B: Bus> Core<B> {
    /// Where an access goes, and what becomes of its base register.
    #[inline]
    fn indexed(&self, index: Index, n: u8, offset: u32) -> (u32, Option<u32>) {
        let base = if usize::from(n) == PC {
            self.r[PC] & !3
        } else {
            self.get(n)
        };
        let moved = base.wrapping_add(offset);
        match index {
            Index::Offset | Index::Unprivileged => (moved, None),
            Index::PreIndexed => (moved, Some(moved)),
            Index::PostIndexed => (base, Some(moved)),
        }
    }

    /// Ends a load: one to the program counter is a branch.
    #[inline]
    pub(super) fn finish_load(&mut self, t: u8, value: u32) -> Executed {
        if usize::from(t) == PC {
            return self.branch_exchange(value);
        }
        self.put(t, value);
        Ok(())
    }

    #[inline]
    pub(super) fn load_register(
        &mut self,
        access: Access,
        index: Index,
        [t, n]: [u8; 2],
        offset: u32,
    ) -> Executed {
        self.cycles += 1;
        let (address, moved) = self.indexed(index, n, offset);
        let value = if index == Index::Unprivileged {
            self.load_unprivileged(access, address)?
        } else {
            self.load_as(access, address)?
        };
        if let Some(moved) = moved {
            self.put(n, moved);
        }
        self.finish_load(t, value)
    }

    #[inline]
    pub(super) fn store_register(
        &mut self,
        access: Access,
        index: Index,
        [t, n]: [u8; 2],
        offset: u32,
    ) -> Executed {
        self.cycles += 1;
        let (address, moved) = self.indexed(index, n, offset);
        let value = self.get(t);
        if index == Index::Unprivileged {
            self.store_unprivileged(access, address, value)?;
        } else {
            self.store_as(access, address, value)?;
        }
        if let Some(moved) = moved {
            self.put(n, moved);
        }
        Ok(())
    }

    pub(super) fn load_literal(
        &mut self,
        access: Access,
        t: u8,
        ahead: u8,
        offset: u32,
    ) -> Executed {
        self.cycles += 1;
        let base = self.r[PC].wrapping_add(u32::from(ahead)) & !3;
        let value = self.load_as(access, base.wrapping_add(offset))?;
        self.finish_load(t, value)
    }

    pub(super) fn transfer(&mut self, operation: Operation) -> Executed {
        match operation {
            Operation::LoadPair {
                index,
                t,
                t2,
                n,
                offset,
            } => {
                self.cycles += 2;
                let (address, moved) = self.indexed(index, n, offset);
                let first = self.load_word(address)?;
                let second = self.load_word(address.wrapping_add(4))?;
                self.move_base(n, moved);
                self.put(t, first);
                self.put(t2, second);
                Ok(())
            }
            Operation::StorePair {
                index,
                t,
                t2,
                n,
                offset,
            } => {
                self.cycles += 2;
                let (address, moved) = self.indexed(index, n, offset);
                self.store_word(address, self.get(t))?;
                self.store_word(address.wrapping_add(4), self.get(t2))?;
                self.move_base(n, moved);
                Ok(())
            }
            Operation::LoadMany {
                n,
                list,
                writes_back,
                descends,
            } => self.load_many(n, list, writes_back, descends),
            Operation::StoreMany {
                n,
                list,
                writes_back,
                descends,
            } => self.store_many(n, list, writes_back, descends),
            Operation::ClearExclusive => {
                self.monitor = None;
                Ok(())
            }
            exclusive => self.exclusive(exclusive),
        }
    }

    fn move_base(&mut self, n: u8, moved: Option<u32>) {
        if let Some(moved) = moved {
            self.put(n, moved);
        }
    }

    /// The lowest address of a list, and the base register after it.
    fn list_span(&self, n: u8, list: u16, descends: bool) -> (u32, u32) {
        let (base, bytes) = (self.get(n), 4 * list.count_ones());
        if descends {
            let lowest = base.wrapping_sub(bytes);
            (lowest, lowest)
        } else {
            (base, base.wrapping_add(bytes))
        }
    }

    fn load_many(&mut self, n: u8, list: u16, writes_back: bool, descends: bool) -> Executed {
        let (mut address, moved) = self.list_span(n, list, descends);
        let mut loaded = self.r;
        let mut left = u32::from(list);
        while left != 0 {
            let register = left.trailing_zeros() as usize;
            left &= left - 1;
            loaded[register] = self.load_word(address)?;
            address = address.wrapping_add(4);
            self.cycles += 1;
        }
        if writes_back {
            loaded[usize::from(n & 15)] = moved;
        }
        loaded[SP] &= !3;
        let target = bit(u32::from(list), 15).then_some(loaded[PC]);
        loaded[PC] = self.r[PC];
        self.r = loaded;
        match target {
            Some(target) => self.branch_exchange(target),
            None => Ok(()),
        }
    }

    fn store_many(&mut self, n: u8, list: u16, writes_back: bool, descends: bool) -> Executed {
        let (mut address, moved) = self.list_span(n, list, descends);
        let mut left = u32::from(list);
        while left != 0 {
            let register = left.trailing_zeros() as usize;
            left &= left - 1;
            self.store_word(address, self.r[register & 15])?;
            address = address.wrapping_add(4);
            self.cycles += 1;
        }
        if writes_back {
            self.put(n, moved);
        }
        Ok(())
    }

    /// LDREX and STREX. The monitor remembers one address.
    fn exclusive(&mut self, operation: Operation) -> Executed {
        self.cycles += 1;
        match operation {
            Operation::LoadExclusive {
                access,
                t,
                n,
                offset,
            } => {
                let address = self.get(n).wrapping_add(u32::from(offset));
                aligned(access.width(), address)?;
                let value = self.load_as(access, address)?;
                self.monitor = Some(address);
                self.put(t, value);
            }
            Operation::StoreExclusive {
                access,
                d,
                t,
                n,
                offset,
            } => {
                let address = self.get(n).wrapping_add(u32::from(offset));
                aligned(access.width(), address)?;
                let is_mine = self.monitor == Some(address);
                if is_mine {
                    self.store_as(access, address, self.get(t))?;
                }
                self.monitor = None;
                self.put(d, u32::from(!is_mine));
            }
            _ => return Err(Trap::Undefined),
        }
        Ok(())
    }
}

fn aligned(width: Width, address: u32) -> Executed {
    if width.is_aligned(address) {
        Ok(())
    } else {
        Err(Trap::Unaligned)
    }
}
