//! Files of other tools: what becomes of their channels, times and values, and of everything that is no such file.
#![allow(clippy::unwrap_used, reason = "helpers of tests end them")]

#[path = "support/traffic.rs"]
#[allow(dead_code, reason = "the equality tests use all of it")]
mod traffic;

use decode::analog::AnalogSegment;
use decode::import::{Import, ImportError, Kind, Limits, Memory, Options};
use decode::segment::Segment;
use decode::sr;
use traffic::Rng;

/// Mutations of each file in a run.
const MUTATIONS: usize = 1500;

/// Small enough to keep every mutation quick.
const LIMITS: Limits = Limits {
    session: sr::Limits {
        unpacked_bytes_max: 1 << 22,
        ratio_max: 1040,
        entries_max: 64,
        metadata_bytes_max: 1 << 16,
    },
    samples_max: 1 << 24,
    analog_samples_max: 1 << 18,
    channels_max: 100,
    line_bytes_max: 4096,
};

/// What became of a file.
#[derive(Debug, PartialEq)]
struct Got {
    kind: Kind,
    names: Vec<String>,
    rate_hz: f64,
    samples: u64,
    edges: Vec<(u64, u64)>,
    analog: Option<GotAnalog>,
    notes: Vec<String>,
}

#[derive(Debug, PartialEq)]
struct GotAnalog {
    name: String,
    unit: String,
    rate_hz: f64,
    values: Vec<f64>,
}

fn read(bytes: &[u8], options: &Options) -> Result<Got, ImportError> {
    let import = Import::open(bytes, options, &LIMITS)?;
    let (logic, analog) = Memory::of(&import)?;
    let mut got = Got {
        kind: import.kind(),
        names: Vec::new(),
        rate_hz: 0.0,
        samples: 0,
        edges: Vec::new(),
        analog: None,
        notes: import.notes().to_vec(),
    };
    if let Some(said) = import.logic() {
        let segment = Segment::open(&logic).unwrap();
        assert_eq!(segment.samples(), said.samples);
        assert_eq!(segment.sample_rate_hz(), said.sample_rate_hz);
        let channels: Vec<usize> = (0..segment.channels()).collect();
        let level = |channel: &usize| u64::from(segment.level_at(*channel, 0).unwrap()) << channel;
        got.edges = vec![(0, channels.iter().map(level).sum())];
        got.edges
            .extend(segment.edges(&channels, 1, u64::MAX).map(Result::unwrap));
        (got.names, got.rate_hz, got.samples) =
            (said.names.clone(), said.sample_rate_hz, said.samples);
    }
    if let Some(said) = import.analog() {
        let segment = AnalogSegment::open(&analog).unwrap();
        assert_eq!(segment.samples(), said.samples);
        assert_eq!(segment.sample_rate_hz(), said.sample_rate_hz);
        let mut counts = Vec::new();
        segment.read(0, u64::MAX, &mut counts).unwrap();
        let value = |count: &u16| said.offset + f64::from(*count) * said.full_scale / 65_536.0;
        got.analog = Some(GotAnalog {
            name: said.name.clone(),
            unit: said.unit.clone(),
            rate_hz: said.sample_rate_hz,
            values: counts.iter().map(value).collect(),
        });
    }
    Ok(got)
}

fn plain(bytes: &[u8]) -> Got {
    read(bytes, &Options::default())
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(bytes)))
}

fn choosing(channels: &[&str]) -> Options {
    Options {
        rate_hz: None,
        channels: channels.iter().map(|&name| name.to_owned()).collect(),
    }
}

const DUMP: &str = "$date today $end\n$timescale 10ns $end\n$scope module top $end\n$var wire 1 ! clk $end\n\
     $scope module cpu $end\n$var reg 3 \" state [2:0] $end\n$var real 64 # vcc $end\n$upscope $end\n\
     $var wire 1 ! alias $end\n$upscope $end\n$enddefinitions $end\n\
     $dumpvars 0! bx \" r1.5 # $end\n#5 1!\n#10 0! b101 \"\n#20 1! b1 \" r-0.5 #\n#30\n";

#[test]
fn a_dump_becomes_levels_and_values() {
    let got = plain(DUMP.as_bytes());
    assert_eq!(got.kind, Kind::Vcd);
    assert_eq!(
        got.names,
        [
            "clk",
            "cpu.state[0]",
            "cpu.state[1]",
            "cpu.state[2]",
            "alias"
        ]
    );
    // Five ticks of 10 ns: the coarsest period that fits all.
    assert_eq!((got.rate_hz, got.samples), (20e6, 6));
    assert_eq!(
        got.edges,
        [(0, 0), (1, 0b10001), (2, 0b01010), (4, 0b10011)]
    );
    let analog = got.analog.unwrap();
    assert_eq!((analog.name.as_str(), analog.rate_hz), ("cpu.vcc", 10e6));
    assert_eq!(analog.values, [1.5, 1.5, -0.5]);
    assert_eq!(got.notes, ["Levels `x` and `z` were read as 0."]);
}

#[test]
fn channels_and_rate_can_be_chosen() {
    let mut options = choosing(&["cpu.state[2]", "clk"]);
    let got = read(DUMP.as_bytes(), &options).unwrap();
    assert_eq!(got.edges, [(0, 0), (1, 0b10), (2, 0b01), (4, 0b10)]);
    assert_eq!((got.analog, got.rate_hz), (None, 20e6));
    options.rate_hz = Some(100e6);
    let got = read(DUMP.as_bytes(), &options).unwrap();
    assert_eq!((got.samples, got.edges[1]), (30, (5, 0b10)));
    // Changes nearer together than a sample come to the last.
    options.rate_hz = Some(10e6);
    let got = read(DUMP.as_bytes(), &options).unwrap();
    assert_eq!(got.edges, [(0, 0), (1, 0b01), (2, 0b10)]);
    options.rate_hz = Some(-1.0);
    assert_eq!(
        read(DUMP.as_bytes(), &options),
        Err(ImportError::Rate { hz: -1.0 })
    );
    let error = read(DUMP.as_bytes(), &choosing(&["SCL"]))
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("find the channel `SCL`; the file has `clk`, `cpu.state[0]`"),
        "{error}"
    );
    options.rate_hz = Some(1e12);
    assert!(matches!(read(DUMP.as_bytes(), &options), Ok(got) if got.samples == 300_000));
}

#[test]
fn rounded_times_give_the_rate_of_a_clock() {
    for (hz, exponent) in [(3e6, 9), (24e6 / 11.0, 9), (12e6, 12), (48e6 / 7.0, 9)] {
        let mut random = Rng::new(7);
        let mut dump = format!(
            "$timescale 1 {} $end $var wire 1 ! a $end $enddefinitions $end\n#0 0!\n",
            if exponent == 9 { "ns" } else { "ps" }
        );
        let mut edges = vec![(0, 0)];
        let mut sample = 0;
        for level in (0..200).map(|at| (at + 1) % 2) {
            sample += 1 + random.range(0, 50);
            let tick = (sample as f64 / hz * 10_f64.powi(exponent)).round();
            dump += &format!("#{tick}\n{level}!\n");
            edges.push((sample, level));
        }
        let got = plain(dump.as_bytes());
        assert!((got.rate_hz - hz).abs() < 1e-3, "{hz}: {}", got.rate_hz);
        assert_eq!(got.edges, edges);
    }
}

#[test]
fn tables_become_levels_and_values() {
    let own = plain(b"time_s,LA1,LA2,ADC (V)\r\n0.000000,1,0,7\r\n0.000002,0,1,7\r\n0.000004,0,1,9\r\n0.000005,1,1,9\r\n0.000006,1,1,9\r\n");
    assert_eq!((own.kind, own.rate_hz, own.samples), (Kind::Csv, 1e6, 6));
    assert_eq!(own.edges, [(0, 0b01), (2, 0b10), (5, 0b11)]);
    let analog = own.analog.unwrap();
    assert_eq!(
        (analog.name.as_str(), analog.unit.as_str(), analog.rate_hz),
        ("ADC", "V", 500e3)
    );
    assert_eq!(analog.values, [7.0, 7.0, 9.0]);

    let saleae =
        plain(b"Time [s],Channel 0,Ch1\n-0.125000000,0,X\n0.000000000,1,X\n0.250000000,0,1\n");
    assert_eq!((saleae.rate_hz, saleae.samples), (8.0, 4));
    assert_eq!(saleae.edges, [(0, 0), (1, 1), (3, 2)]);
    assert_eq!(saleae.names, ["Channel 0", "Ch1"]);
    assert_eq!(
        saleae.notes,
        ["Levels `X` and `Z`, and empty ones, were read as 0."]
    );

    let waves = plain(
        b"Trigger [s],Time [s],Ch0,Ch1\n0.0,1.0,1200.5,-2\n0.5,1.5,1200.5,3\n1.0,2.0,-3.0,3\n",
    );
    let analog = waves.analog.unwrap();
    assert_eq!((analog.name.as_str(), analog.rate_hz), ("Ch0", 1.0));
    assert_eq!((analog.values, waves.samples), (vec![1200.5, -3.0], 0));
    assert!(
        waves.notes[0].contains("Left out: `Ch1`"),
        "{:?}",
        waves.notes
    );

    // Levels and values are told apart by their names, too.
    let twins = plain(b"Time (s),x,x\n0,1,0.5\n1,0,0.25\n2,1,0.5\n");
    let analog = twins.analog.unwrap();
    assert_eq!(
        (twins.names, analog.name),
        (vec!["x".to_owned()], "x'".to_owned())
    );

    let comma = plain(b"Time (ms);a\n0,0;0\n1,5;1\n3,0;0\n");
    assert_eq!(
        (comma.rate_hz, comma.edges),
        (1e3 / 1.5, vec![(0, 0), (1, 1), (2, 0)])
    );

    let sigrok = plain(b"; CSV generated by libsigrok 0.5.2\n; Channels (2/32): SCL, SDA\n; Samplerate: 200 kHz\nlogic,logic\n1,0\n1,0\n0,1\n");
    assert_eq!((sigrok.rate_hz, sigrok.samples), (200e3, 3));
    assert_eq!(
        (sigrok.edges, sigrok.names),
        (
            vec![(0, 1), (2, 2)],
            vec!["SCL".to_owned(), "SDA".to_owned()]
        )
    );
    let bare = b"0,1\n1,1\n";
    assert_eq!(read(bare, &Options::default()), Err(ImportError::NoRate));
    let asked = Options {
        rate_hz: Some(5.0),
        channels: Vec::new(),
    };
    assert_eq!(read(bare, &asked).unwrap().rate_hz, 5.0);
}

fn saleae(version: i32, kind: i32, rest: &[&[u8]]) -> Vec<u8> {
    let mut file = b"<SALEAE>".to_vec();
    file.extend(version.to_le_bytes());
    file.extend(kind.to_le_bytes());
    file.extend(rest.concat());
    file
}

fn doubles(values: &[f64]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

fn exports() -> Vec<Vec<u8>> {
    let two = 2_u64.to_le_bytes();
    let floats: Vec<u8> = [0.5_f32, -1.5]
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    let high = 1_u32.to_le_bytes();
    vec![
        saleae(
            0,
            0,
            &[
                &high,
                &doubles(&[-1e-6, 2e-6]),
                &two,
                &doubles(&[-0.5e-6, 1e-6]),
            ],
        ),
        saleae(
            1,
            0,
            &[
                &two,
                &high,
                &doubles(&[4e6, 0.0, 1e-6]),
                &two[..],
                &doubles(&[0.25e-6, 0.5e-6]),
                &high,
                &doubles(&[4e6, 2e-6, 3e-6]),
                &[0; 8],
            ],
        ),
        saleae(
            0,
            1,
            &[
                &doubles(&[0.0]),
                &1000_u64.to_le_bytes(),
                &two,
                &two,
                &floats,
            ],
        ),
        saleae(
            1,
            1,
            &[
                &1_u64.to_le_bytes(),
                &doubles(&[0.0, 0.0, 1000.0]),
                &two,
                &two,
                &floats,
            ],
        ),
    ]
}

#[test]
fn binary_exports_become_levels_and_values() {
    let got: Vec<Got> = exports().iter().map(|file| plain(file)).collect();
    assert_eq!((got[0].rate_hz, got[0].samples), (2e6, 6));
    assert_eq!(got[0].edges, [(0, 1), (1, 0), (4, 1)]);
    assert_eq!((got[1].rate_hz, got[1].samples), (4e6, 12));
    assert_eq!(got[1].edges, [(0, 1), (1, 0), (2, 1)]);
    assert_eq!(
        got[1].notes,
        ["The file has gaps; the level before each was kept."]
    );
    for got in &got[2..] {
        let analog = got.analog.as_ref().unwrap();
        assert_eq!((analog.rate_hz, analog.unit.as_str()), (500.0, "V"));
        assert_eq!(analog.values, [0.5, -1.5]);
    }
    let later = saleae(2, 0, &[]);
    assert!(matches!(
        read(&later, &Options::default()),
        Err(ImportError::Unsupported { .. })
    ));
}

/// A WAV file of so many tracks.
fn wav(tag: u16, tracks: u16, bits: u16, data: &[u8]) -> Vec<u8> {
    let mut file = b"RIFF\0\0\0\0WAVELIST\x03\0\0\0abc\0fmt ".to_vec();
    file.extend(16_u32.to_le_bytes());
    file.extend(tag.to_le_bytes());
    file.extend(tracks.to_le_bytes());
    file.extend(8000_u32.to_le_bytes());
    file.extend([0; 6]);
    file.extend(bits.to_le_bytes());
    file.extend(b"data");
    file.extend(u32::try_from(data.len()).unwrap().to_le_bytes());
    file.extend(data);
    file
}

#[test]
fn wav_files_become_values() {
    for (tag, bits, data) in [
        (1, 8, vec![128, 192, 0]),
        (1, 16, vec![0, 0, 0, 0x40, 0, 0x80]),
        (1, 24, vec![0, 0, 0, 0, 0, 0x40, 0, 0, 0x80]),
        (1, 32, vec![0, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0x80]),
        (
            3,
            32,
            [0.0_f32, 0.5, -1.0]
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect(),
        ),
        (3, 64, doubles(&[0.0, 0.5, -1.0])),
    ] {
        let got = plain(&wav(tag, 1, bits, &data));
        let analog = got.analog.unwrap();
        assert_eq!(
            (analog.values, analog.rate_hz),
            (vec![0.0, 0.5, -1.0], 8000.0),
            "{tag} {bits}"
        );
    }
    let stereo = wav(1, 2, 16, &[0, 0, 0, 0x40, 0, 0, 0, 0xC0]);
    let got = read(&stereo, &choosing(&["A1"])).unwrap();
    assert_eq!(got.analog.unwrap().values, [0.5, -0.5]);
    let both = read(&stereo, &choosing(&["A1", "A0"]));
    assert!(matches!(both, Err(ImportError::TwoAnalog { .. })));
    let coded = read(&wav(2, 1, 4, &[0]), &Options::default());
    assert!(matches!(coded, Err(ImportError::Unsupported { .. })));
}

fn session() -> Vec<u8> {
    let mut writer = sr::Writer::with_layout(&sr::Layout {
        sample_rate_hz: 1000,
        logic: &["SCL", "SDA", "X"],
        unit_size: 1,
        analog: &["VCC", "GND"],
    });
    writer.add(&[1, 3, 5, 5]);
    writer.add_analog(0, &[0.5, 1.5]);
    writer.add_analog(0, &[1.5, 3.0]);
    writer.add_analog(1, &[0.0, 0.25, 0.0, 0.25]);
    writer.finish()
}

#[test]
fn sessions_keep_an_analog_channel_and_say_what_they_leave_out() {
    let got = plain(&session());
    assert_eq!((got.rate_hz, got.samples), (1000.0, 4));
    assert_eq!(got.edges, [(0, 1), (1, 3), (2, 5)]);
    assert_eq!(got.analog.unwrap().values, [0.5, 1.5, 1.5, 3.0]);
    assert!(got.notes[0].contains("Left out: `GND`"), "{:?}", got.notes);
    let got = read(&session(), &choosing(&["X", "SCL", "GND"])).unwrap();
    assert_eq!(got.edges, [(0, 0b10), (2, 0b11)]);
    assert_eq!(got.analog.unwrap().values, [0.0, 0.25, 0.0, 0.25]);
}

#[test]
fn what_cannot_be_read_is_said() {
    for (file, says) in [
        (
            &b"this is text"[..],
            "recognise the file; known are sigrok sessions (.sr), value change",
        ),
        (
            b"$timescale 1 us $end\n$var wire 1 ! a $end\n",
            "`$enddefinitions` is missing",
        ),
        (
            b"$timescale 3 parsecs $end",
            "read line 1: no such timescale",
        ),
        (
            b"$var wire 1 ! a $end $enddefinitions $end\n#5\n1!\n#4\n",
            "read line 4: a time lies before",
        ),
        (
            b"$var wire 1 ! a $end $enddefinitions $end\n#1\n?!\n",
            "read line 3: no such value change",
        ),
        (
            b"$var wire 1 ! a $end $enddefinitions $end\n#0 1! #1 0! #99999999999999 1!",
            "store",
        ),
        (
            b"$version x $end $enddefinitions $end\n#5\n",
            "the file has none",
        ),
        (b"time_s,a\n0,1\n1\n", "read line 3: it has fewer fields"),
        (b"time_s,a\n0,1\n1,1,1\n", "read line 3: it has more fields"),
        (b"time_s,a\n0,1\nsoon,1\n", "read line 3: no such time"),
        (b"time_s,a\n1,1\n0,1\n", "read line 3: a time lies before"),
        (b"time_s,a\n", "the file has none"),
        (
            b"RIFF\0\0\0\0WAVEdata\0\0\0\0",
            "read the format of a WAV file",
        ),
        (b"<SALEAE>\0\0\0\0", "read a binary export of Saleae"),
        (b"PK", "no .sr file"),
    ] {
        let error = read(file, &Options::default()).expect_err(&String::from_utf8_lossy(file));
        assert!(error.to_string().contains(says), "{error}");
    }
    let mut wide = "$timescale 1 us $end\n".to_owned();
    for at in 0..65 {
        wide += &format!("$var wire 1 a{at} n{at} $end\n");
    }
    wide += "$enddefinitions $end\n#0 1a64\n#9\n";
    let error = read(wide.as_bytes(), &Options::default()).unwrap_err();
    assert_eq!(error, ImportError::Channels { channels: 65 });
    assert_eq!(
        read(wide.as_bytes(), &choosing(&["n64"])).unwrap().edges,
        [(0, 1)]
    );
}

/// The same changes as a dump, and as traces that GTKWave's `vcd2fst` made of it, each packed in another way.
const TRACED: &[u8] = include_bytes!("../testdata/traces/bus.vcd");
const TRACES: [&[u8]; 3] = [
    include_bytes!("../testdata/traces/lz4.fst"),
    include_bytes!("../testdata/traces/fastlz.fst"),
    include_bytes!("../testdata/traces/zlib.fst"),
];
const PACKED_TRACE: &[u8] = include_bytes!("../testdata/traces/packed.fst");

#[test]
fn a_trace_becomes_what_its_dump_does() {
    let dump = plain(TRACED);
    assert_eq!(dump.names[..3], ["clk", "bus.data[0]", "bus.data[1]"]);
    assert!(dump.edges.len() > 800 && dump.analog.is_some());
    for trace in TRACES {
        let mut got = plain(trace);
        assert_eq!(got.kind, Kind::Fst);
        got.kind = Kind::Vcd;
        assert_eq!(got, dump);
        // Other signals are not unpacked.
        let mut options = choosing(&["bus.state[2]", "bus.cs", "supply"]);
        options.rate_hz = Some(1e6);
        let mut some = read(trace, &options).unwrap();
        some.kind = Kind::Vcd;
        assert_eq!(some, read(TRACED, &options).unwrap());
    }
}

#[test]
fn traces_that_cannot_be_read_are_refused() {
    let refused = |bytes: &[u8], says: &str| {
        let error = read(bytes, &Options::default()).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    };
    refused(PACKED_TRACE, "packed as a whole");
    for trace in TRACES {
        for len in [9, 300, 331, 400, trace.len() - 1] {
            refused(&trace[..len], "truncated or damaged");
        }
        // The number of signals, and the unit of time.
        let geometry = trace
            .windows(9)
            .rposition(|at| at == [3, 0, 0, 0, 0, 0, 0, 0, 29]);
        let mut many = trace.to_vec();
        many[geometry.unwrap() + 18] = 1;
        refused(&many, "the limit is 65536");
        let mut fine = trace.to_vec();
        fine[73] = 0x80;
        refused(&fine, "a unit of time");
    }
    let import = |limits: &Limits| {
        let refused = Import::open(TRACES[0], &Options::default(), limits);
        refused.map(|_| ()).unwrap_err().to_string()
    };
    let few = Limits {
        channels_max: 8,
        ..LIMITS
    };
    assert!(import(&few).contains("the limit is 8"), "{}", import(&few));
    let mut short = LIMITS;
    short.session.unpacked_bytes_max = 1000;
    assert!(
        import(&short).contains("the limit is 1000"),
        "{}",
        import(&short)
    );
}

#[test]
fn mutated_files_never_panic() {
    let table = b"Time [s],a,b (V)\n0.0,0,1.5\n0.5,1,-2e3\n1.0,0,7\n".to_vec();
    let mut files = vec![
        DUMP.as_bytes().to_vec(),
        table,
        session(),
        wav(1, 2, 16, &[1; 64]),
    ];
    files.extend(exports());
    files.extend(TRACES.map(<[u8]>::to_vec));
    let mut random = Rng::new(0x0F11E);
    let mut below = |limit: usize| usize::try_from(random.range(0, limit.max(1) as u64)).unwrap();
    let mut read_whole = 0;
    for file in &files {
        for _ in 0..MUTATIONS {
            let mut mutated = file.clone();
            for _ in 0..=below(3) {
                let at = below(mutated.len());
                match below(3) {
                    0 => mutated[at] = b"0129#$!bxr,.-e\n\0\xff"[below(17)],
                    1 => mutated[at] ^= 1 << below(8),
                    _ => {
                        let from = below(mutated.len());
                        let piece =
                            mutated[from..(from + below(9)).min(file.len()).max(from)].to_vec();
                        mutated.splice(at..at, piece);
                    }
                }
            }
            if below(5) == 0 {
                mutated.truncate(below(mutated.len()));
            }
            read_whole += usize::from(read(&mutated, &Options::default()).is_ok());
        }
    }
    // Many survive, so that what follows the header is reached, too.
    assert!(read_whole > MUTATIONS, "{read_whole}");
}
