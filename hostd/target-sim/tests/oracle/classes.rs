//! The classes of instructions, as patterns of their bits. `x` is a random bit. A letter stands for a register,
//! four bits of it from the highest one; the same letter is the same register. `b` is a base whose address is in
//! the data, `i` an index with a small value; the others are any.

use super::cases::{Case, DATA, FLOATS, Random};

/// How the floating-point unit is set up.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Floats {
    /// It is not used.
    Zero,
    /// Any numbers and modes.
    Any,
    /// Any, and the alternative format of half precision.
    AnyHalf,
}

pub(crate) struct Class {
    pub(crate) name: &'static str,
    patterns: &'static [&'static str],
    floats: Floats,
    /// The instructions are in an IT block.
    in_block: bool,
    /// Encodings that mean nothing certain.
    is_unpredictable: fn(u32) -> bool,
}

fn none(_: u32) -> bool {
    false
}

fn bits(opcode: u32, low: u32, count: u32) -> u32 {
    opcode >> low & ((1 << count) - 1)
}

/// A replicated constant of zero.
fn zero_constant(opcode: u32) -> bool {
    let kind = bits(opcode, 26, 1) << 3 | bits(opcode, 12, 3);
    matches!(kind, 1..=3) && bits(opcode, 0, 8) == 0
}

fn empty_field(opcode: u32) -> bool {
    let low = bits(opcode, 12, 3) << 2 | bits(opcode, 6, 2);
    let last = bits(opcode, 0, 5);
    match bits(opcode, 20, 5) {
        // Extraction: the width less one.
        0x14 | 0x1c => low + last > 31,
        0x16 => last < low,
        // Saturation of half words has a fixed form.
        0x12 | 0x1a => low == 0 && bits(opcode, 4, 1) == 1,
        _ => false,
    }
}

/// Two results in one register.
fn same_results(opcode: u32) -> bool {
    bits(opcode, 12, 4) == bits(opcode, 8, 4)
}

/// Bases that are also moved, and lists of fewer than two.
fn odd_list(opcode: u32) -> bool {
    let base = bits(opcode, 16, 4);
    bits(opcode, 0, 15).count_ones() < 2 || opcode >> base & 1 == 1
}

/// A pair that is loaded into its base, or twice into one register.
fn odd_pair(opcode: u32) -> bool {
    let (n, t, t2) = (bits(opcode, 16, 4), bits(opcode, 12, 4), bits(opcode, 8, 4));
    n == t || n == t2 || t == t2
}

fn odd_base(opcode: u32) -> bool {
    bits(opcode, 16, 4) == bits(opcode, 12, 4)
}

/// Both words into one register.
fn odd_words(opcode: u32) -> bool {
    bits(opcode, 20, 1) == 1 && odd_base(opcode) || bits(opcode, 0, 4) > 6
}

/// More registers than the cases have.
fn many_floats(opcode: u32) -> bool {
    let first = bits(opcode, 12, 4) << 1 | bits(opcode, 22, 1);
    let count = bits(opcode, 0, 8);
    count == 0 || first + count > 16
}

/// More fraction bits than there are.
fn odd_fraction(opcode: u32) -> bool {
    let is_half = bits(opcode, 7, 1) == 0;
    let fraction = bits(opcode, 0, 4) << 1 | bits(opcode, 5, 1);
    is_half && fraction > 16
}

pub(crate) const CLASSES: &[Class] = &[
    Class {
        name: "16-bit data processing",
        patterns: &[
            "000xxxxxxxxxxxxx",
            "001xxxxxxxxxxxxx",
            "010000xxxxxxxxxx",
            "010001000mmmmxxx",
            "010001100mmmmxxx",
            "10110010xxxxxxxx",
            "1011101000xxxxxx",
            "1011101001xxxxxx",
            "1011101011xxxxxx",
            "10100xxxxxxxxxxx",
        ],
        floats: Floats::Zero,
        in_block: false,
        is_unpredictable: none,
    },
    Class {
        name: "conditional",
        patterns: &[
            "000xxxxxxxxxxxxx",
            "001xxxxxxxxxxxxx",
            "010000xxxxxxxxxx",
            "10110010xxxxxxxx",
            "1011101000xxxxxx",
        ],
        floats: Floats::Zero,
        in_block: true,
        is_unpredictable: none,
    },
    Class {
        name: "constants",
        patterns: &[
            "11110x00000xnnnn0xxxddddxxxxxxxx",
            "11110x00001xnnnn0xxxddddxxxxxxxx",
            "11110x00010xnnnn0xxxddddxxxxxxxx",
            "11110x00011xnnnn0xxxddddxxxxxxxx",
            "11110x00100xnnnn0xxxddddxxxxxxxx",
            "11110x01000xnnnn0xxxddddxxxxxxxx",
            "11110x01010xnnnn0xxxddddxxxxxxxx",
            "11110x01011xnnnn0xxxddddxxxxxxxx",
            "11110x01101xnnnn0xxxddddxxxxxxxx",
            "11110x01110xnnnn0xxxddddxxxxxxxx",
            "11110x00010x11110xxxddddxxxxxxxx",
            "11110x00011x11110xxxddddxxxxxxxx",
            "11110x000001nnnn0xxx1111xxxxxxxx",
            "11110x001001nnnn0xxx1111xxxxxxxx",
            "11110x010001nnnn0xxx1111xxxxxxxx",
            "11110x011011nnnn0xxx1111xxxxxxxx",
        ],
        floats: Floats::Zero,
        in_block: false,
        is_unpredictable: zero_constant,
    },
    Class {
        name: "shifted registers",
        patterns: &[
            "11101010000xnnnn0xxxddddxxxxmmmm",
            "11101010001xnnnn0xxxddddxxxxmmmm",
            "11101010010xnnnn0xxxddddxxxxmmmm",
            "11101010011xnnnn0xxxddddxxxxmmmm",
            "11101010100xnnnn0xxxddddxxxxmmmm",
            "11101011000xnnnn0xxxddddxxxxmmmm",
            "11101011010xnnnn0xxxddddxxxxmmmm",
            "11101011011xnnnn0xxxddddxxxxmmmm",
            "11101011101xnnnn0xxxddddxxxxmmmm",
            "11101011110xnnnn0xxxddddxxxxmmmm",
            "11101010010x11110xxxddddxxxxmmmm",
            "11101010011x11110xxxddddxxxxmmmm",
            "111010100001nnnn0xxx1111xxxxmmmm",
            "111010101001nnnn0xxx1111xxxxmmmm",
            "111010110001nnnn0xxx1111xxxxmmmm",
            "111010111011nnnn0xxx1111xxxxmmmm",
            "111010101100nnnn0xxxddddxxx0mmmm",
            "11111010000xnnnn1111dddd0000mmmm",
            "11111010001xnnnn1111dddd0000mmmm",
            "11111010010xnnnn1111dddd0000mmmm",
            "11111010011xnnnn1111dddd0000mmmm",
        ],
        floats: Floats::Zero,
        in_block: false,
        is_unpredictable: none,
    },
    Class {
        name: "plain constants, bit fields and saturation",
        patterns: &[
            "11110x100000nnnn0xxxddddxxxxxxxx",
            "11110x101010nnnn0xxxddddxxxxxxxx",
            "11110x10000011110xxxddddxxxxxxxx",
            "11110x10101011110xxxddddxxxxxxxx",
            "11110x100100xxxx0xxxddddxxxxxxxx",
            "11110x101100xxxx0xxxddddxxxxxxxx",
            "111100110100nnnn0xxxddddxx0xxxxx",
            "111100111100nnnn0xxxddddxx0xxxxx",
            "111100110110nnnn0xxxddddxx0xxxxx",
            "11110011011011110xxxddddxx0xxxxx",
            "1111001100x0nnnn0xxxddddxx0xxxxx",
            "1111001110x0nnnn0xxxddddxx0xxxxx",
            "111100110010nnnn0000dddd0000xxxx",
            "111100111010nnnn0000dddd0000xxxx",
        ],
        floats: Floats::Zero,
        in_block: false,
        is_unpredictable: empty_field,
    },
    Class {
        name: "extension and reversal",
        patterns: &[
            "111110100000nnnn1111dddd10xxmmmm",
            "111110100001nnnn1111dddd10xxmmmm",
            "111110100010nnnn1111dddd10xxmmmm",
            "111110100011nnnn1111dddd10xxmmmm",
            "111110100100nnnn1111dddd10xxmmmm",
            "111110100101nnnn1111dddd10xxmmmm",
            "11111010000011111111dddd10xxmmmm",
            "11111010000111111111dddd10xxmmmm",
            "11111010001011111111dddd10xxmmmm",
            "11111010001111111111dddd10xxmmmm",
            "11111010010011111111dddd10xxmmmm",
            "11111010010111111111dddd10xxmmmm",
            "111110101001mmmm1111dddd10xxmmmm",
            "111110101011mmmm1111dddd1000mmmm",
        ],
        floats: Floats::Zero,
        in_block: false,
        is_unpredictable: none,
    },
    Class {
        name: "parallel and saturating arithmetic",
        patterns: &[
            "111110101000nnnn1111dddd0x00mmmm",
            "111110101000nnnn1111dddd0x01mmmm",
            "111110101000nnnn1111dddd0x10mmmm",
            "111110101001nnnn1111dddd0x00mmmm",
            "111110101001nnnn1111dddd0x01mmmm",
            "111110101001nnnn1111dddd0x10mmmm",
            "111110101010nnnn1111dddd0x00mmmm",
            "111110101010nnnn1111dddd0x01mmmm",
            "111110101010nnnn1111dddd0x10mmmm",
            "111110101100nnnn1111dddd0x00mmmm",
            "111110101100nnnn1111dddd0x01mmmm",
            "111110101100nnnn1111dddd0x10mmmm",
            "111110101101nnnn1111dddd0x00mmmm",
            "111110101101nnnn1111dddd0x01mmmm",
            "111110101101nnnn1111dddd0x10mmmm",
            "111110101110nnnn1111dddd0x00mmmm",
            "111110101110nnnn1111dddd0x01mmmm",
            "111110101110nnnn1111dddd0x10mmmm",
            "111110101000nnnn1111dddd10xxmmmm",
            "111110101010nnnn1111dddd1000mmmm",
        ],
        floats: Floats::Zero,
        in_block: false,
        is_unpredictable: none,
    },
    Class {
        name: "multiplication and division",
        patterns: &[
            "111110110000nnnnaaaadddd000xmmmm",
            "111110110000nnnn1111dddd0000mmmm",
            "111110110001nnnnaaaadddd00xxmmmm",
            "111110110001nnnn1111dddd00xxmmmm",
            "111110110010nnnnaaaadddd000xmmmm",
            "111110110010nnnn1111dddd000xmmmm",
            "111110110011nnnnaaaadddd000xmmmm",
            "111110110011nnnn1111dddd000xmmmm",
            "111110110100nnnnaaaadddd000xmmmm",
            "111110110100nnnn1111dddd000xmmmm",
            "111110110101nnnnaaaadddd000xmmmm",
            "111110110101nnnn1111dddd000xmmmm",
            "111110110110nnnnaaaadddd000xmmmm",
            "111110110111nnnnaaaadddd0000mmmm",
            "111110110111nnnn1111dddd0000mmmm",
            "111110111001nnnn1111dddd1111mmmm",
            "111110111011nnnn1111dddd1111mmmm",
        ],
        floats: Floats::Zero,
        in_block: false,
        is_unpredictable: none,
    },
    Class {
        name: "long multiplication",
        patterns: &[
            "111110111000nnnnaaaadddd0000mmmm",
            "111110111010nnnnaaaadddd0000mmmm",
            "111110111100nnnnaaaadddd0000mmmm",
            "111110111100nnnnaaaadddd10xxmmmm",
            "111110111100nnnnaaaadddd110xmmmm",
            "111110111101nnnnaaaadddd110xmmmm",
            "111110111110nnnnaaaadddd0000mmmm",
            "111110111110nnnnaaaadddd0110mmmm",
        ],
        floats: Floats::Zero,
        in_block: false,
        is_unpredictable: same_results,
    },
    Class {
        name: "loads and stores",
        patterns: &[
            // Words, half words, bytes; loads also with their signs. Large, small and moving offsets.
            "11111000100xbbbbtttt0000xxxxxxxx",
            "11111000101xbbbbtttt0000xxxxxxxx",
            "11111000110xbbbbtttt0000xxxxxxxx",
            "111110011001bbbbtttt0000xxxxxxxx",
            "111110011011bbbbtttt0000xxxxxxxx",
            "11111000000xbbbbtttt11000xxxxxxx",
            "11111000010xbbbbtttt11000xxxxxxx",
            "11111000000xbbbbtttt1xx1xxxxxxxx",
            "11111000001xbbbbtttt1xx1xxxxxxxx",
            "11111000010xbbbbtttt1xx1xxxxxxxx",
            "111110010001bbbbtttt1xx1xxxxxxxx",
            "111110010011bbbbtttt1xx1xxxxxxxx",
            "11111000000xbbbbtttt000000xxiiii",
            "11111000001xbbbbtttt000000xxiiii",
            "11111000010xbbbbtttt000000xxiiii",
            "111110010001bbbbtttt000000xxiiii",
            "111110010011bbbbtttt000000xxiiii",
            "11111000000xbbbbtttt1110xxxxxxxx",
        ],
        floats: Floats::Zero,
        in_block: false,
        is_unpredictable: odd_base,
    },
    Class {
        name: "pairs",
        patterns: &[
            "1110100101x0bbbbttttuuuu00xxxxxx",
            "1110100111x1bbbbttttuuuu00xxxxxx",
            "111010001110bbbbttttuuuu00xxxxxx",
            "111010001111bbbbttttuuuu00xxxxxx",
            "111010000101bbbbtttt111100xxxxxx",
        ],
        floats: Floats::Zero,
        in_block: false,
        is_unpredictable: odd_pair,
    },
    Class {
        name: "lists",
        patterns: &[
            "1110100010x0bbbb000xxxxxxxxxxxxx",
            "1110100010x1bbbb000xxxxxxxxxxxxx",
            "1110100100x0bbbb000xxxxxxxxxxxxx",
            "1110100100x1bbbb000xxxxxxxxxxxxx",
        ],
        floats: Floats::Zero,
        in_block: false,
        is_unpredictable: odd_list,
    },
    Class {
        name: "floating-point arithmetic",
        patterns: &[
            "111011100x00xxxx0xxx1010xxx00xxx",
            "111011100x01xxxx0xxx1010xxx00xxx",
            "111011100x10xxxx0xxx1010xxx00xxx",
            "111011100x11xxxx0xxx1010xxx00xxx",
            "111011101x00xxxx0xxx1010x0x00xxx",
            "111011101x01xxxx0xxx1010xxx00xxx",
            "111011101x10xxxx0xxx1010xxx00xxx",
            "111011101x1100010xxx101011x00xxx",
        ],
        floats: Floats::Any,
        in_block: false,
        is_unpredictable: many_sources,
    },
    Class {
        name: "floating-point moves, conversions and comparisons",
        patterns: &[
            "111011101x1100000xxx1010x1x00xxx",
            "111011101x1100010xxx101001x00xxx",
            "111011101x1101000xxx1010x1x00xxx",
            "111011101x1101010xxx1010x1000000",
            "111011101x1110000xxx1010x1x00xxx",
            "111011101x1111000xxx1010x1x00xxx",
            "111011101x1111010xxx1010x1x00xxx",
            "111011101x11xxxx0xxx10100000xxxx",
            "11101110000x0xxxtttt1010x0010000",
            "111011100000xxxx0xxx1010xxx00xxx",
        ],
        floats: Floats::Any,
        in_block: false,
        is_unpredictable: many_sources,
    },
    Class {
        name: "fixed point",
        patterns: &[
            "111011101x1110100xxx1010x1x0xxxx",
            "111011101x1110110xxx1010x1x0xxxx",
            "111011101x1111100xxx1010x1x0xxxx",
            "111011101x1111110xxx1010x1x0xxxx",
        ],
        floats: Floats::Any,
        in_block: false,
        is_unpredictable: odd_fraction,
    },
    Class {
        name: "half precision",
        patterns: &[
            "111011101x1100100xxx1010x1x00xxx",
            "111011101x1100110xxx1010x1x00xxx",
        ],
        floats: Floats::AnyHalf,
        in_block: false,
        is_unpredictable: none,
    },
    Class {
        name: "floating-point loads and stores",
        patterns: &[
            "11101101xx00bbbb0xxx101000xxxxxx",
            "11101101xx01bbbb0xxx101000xxxxxx",
            "111011001x00bbbb0xxx10100000xxxx",
            "111011001x01bbbb0xxx10100000xxxx",
            "111011001x10bbbb0xxx10100000xxxx",
            "111011001x11bbbb0xxx10100000xxxx",
            "111011010x10bbbb0xxx10100000xxxx",
            "111011010x11bbbb0xxx10100000xxxx",
        ],
        floats: Floats::Any,
        in_block: false,
        is_unpredictable: many_floats,
    },
    Class {
        name: "pairs of words between the units",
        patterns: &["11101100010xuuuutttt101000x10xxx"],
        floats: Floats::Any,
        in_block: false,
        is_unpredictable: odd_words,
    },
];

/// The second source of an arithmetic instruction: only sixteen registers are set.
fn many_sources(opcode: u32) -> bool {
    bits(opcode, 16, 4) > 7 && bits(opcode, 20, 4) & 11 != 11
}

const EDGES: [u32; 12] = [
    0,
    1,
    2,
    31,
    32,
    33,
    u32::MAX,
    0x8000_0000,
    0x7fff_ffff,
    0x8000,
    0x7fff_8000,
    0xff80,
];
const FLOAT_EDGES: [u32; 16] = [
    0,
    0x8000_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0001,
    0xff80_0001,
    0x7f7f_ffff,
    0x0080_0000,
    0x807f_ffff,
    0x0000_0001,
    0x4f00_0000,
    0xcf00_0000,
    0x4f80_0000,
    0x3f00_0000,
];

fn number(random: &mut Random) -> u32 {
    match random.below(4) {
        0 => random.below(256),
        1 => random.pick(&EDGES),
        _ => random.next(),
    }
}

/// Half of the numbers are of similar size, so that their low bits matter to each other.
fn float(random: &mut Random) -> u32 {
    match random.below(8) {
        0 => random.pick(&FLOAT_EDGES),
        1 => random.next(),
        2 => random.next() & 0x807f_ffff | random.below(4) << 23,
        3 => random.next() & 0x807f_ffff | (0x7c + random.below(3)) << 24,
        4 => random.next() & 0x80ff_f000 | 0x3f00_0000,
        _ => random.next() & 0x807f_ffff | (0x74 + random.below(24)) << 23,
    }
}

impl Class {
    /// A random case.
    pub(crate) fn case(&self, random: &mut Random) -> Case {
        let floats: [u32; FLOATS] = std::array::from_fn(|_| match self.floats {
            Floats::Zero => 0,
            Floats::Any | Floats::AnyHalf => float(random),
        });
        let modes = match self.floats {
            Floats::Zero => 0,
            Floats::Any => 0x03c0_0000,
            Floats::AnyHalf => 0x07c0_0000,
        };
        let status = random.next() & if random.below(2) == 0 { 0 } else { modes };
        let mut registers = std::array::from_fn(|_| number(random));
        let opcode = loop {
            let mut tried = registers;
            let pattern = random.pick(self.patterns);
            let opcode = expand(pattern, random, &mut tried);
            if !(self.is_unpredictable)(opcode) {
                registers = tried;
                break (opcode, pattern.len());
            }
        };
        let mut code = [0xbf00; 4];
        let half = |word: u32| u16::try_from(word & 0xffff).unwrap();
        match opcode {
            (opcode, 16) if self.in_block => {
                // One or two instructions, the second with the condition or its opposite.
                let condition = random.below(14);
                let second = expand(random.pick(self.patterns), random, &mut registers);
                let mask = random.pick(&[8, 4 | (condition & 1) << 3, 4 | (!condition & 1) << 3]);
                code[0] = half(0xbf00 | condition << 4 | mask);
                code[1] = half(opcode);
                code[2] = half(second);
            }
            (opcode, 16) => code[0] = half(opcode),
            (opcode, _) => {
                code[0] = half(opcode >> 16);
                code[1] = half(opcode);
            }
        }
        Case {
            code,
            registers,
            flags: random.next() & super::cases::FLAGS,
            status,
            floats,
        }
    }
}

/// Fills a pattern in.
fn expand(pattern: &str, random: &mut Random, registers: &mut [u32; 14]) -> u32 {
    let mut chosen: [Option<(u32, u32)>; 26] = [None; 26];
    let mut opcode = 0;
    for letter in pattern.bytes() {
        let bit = match letter {
            b'0' => 0,
            b'1' => 1,
            b'x' => random.next() & 1,
            _ => {
                let place = usize::from(letter - b'a');
                let (register, used) = chosen[place].unwrap_or_else(|| {
                    let place = random.below(14);
                    // R13 is the runner's.
                    (if place == 13 { 14 } else { place }, 0)
                });
                if chosen[place].is_none() {
                    let value = &mut registers[register.min(13) as usize];
                    match letter {
                        b'b' => *value = DATA + 512 + 4 * random.below(2),
                        b'i' => *value = random.below(24),
                        _ => {}
                    }
                }
                chosen[place] = Some((register, used + 1));
                register >> (3 - used % 4) & 1
            }
        };
        opcode = opcode << 1 | bit;
    }
    // The index may have taken the base's place.
    let (base, index) = (chosen[1], chosen[8]);
    let collides = base
        .zip(index)
        .is_some_and(|(base, index)| base.0 == index.0);
    if collides {
        return expand(pattern, random, registers);
    }
    opcode
}
