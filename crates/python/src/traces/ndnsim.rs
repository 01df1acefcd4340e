//! The tracers of ndnSIM (`utils/tracers` in its sources).
//!
//! Rates are smoothed by the tracers themselves: 0.8 times the rate of the last period, and 0.2
//! times the value before. A kilobyte is 1024 bytes. Numbers have six digits.

use super::format::{Column, Format, Kind};

/// All of them.
pub const FORMATS: &[&Format] = &[&DELAYS, &RATES, &STORES, &DROPS];

const TIME: Column = Column {
    name: "time_s",
    help: "simulated seconds since the beginning, at the end of a period",
    word: 0,
    kind: Kind::Number(1.0),
};
const NODE: Column =
    Column { name: "node", help: "its name, or its number", word: 1, kind: Kind::Text };

/// kB/s as Mbit/s.
const KILOBYTES: Kind = Kind::Number(1024.0 * 8.0 / 1e6);

const fn column(name: &'static str, help: &'static str, word: usize, kind: Kind) -> Column {
    Column { name, help, word, kind }
}

/// A smoothed rate of packets.
const fn packets_per_s(word: usize) -> Column {
    column("packets_per_s", "the smoothed rate", word, Kind::Number(1.0))
}

/// A smoothed rate of bytes.
const fn throughput(word: usize) -> Column {
    column("throughput_mbps", "the smoothed rate of their bytes", word, KILOBYTES)
}

const fn packets(word: usize) -> Column {
    column("packets", "packets in the period", word, Kind::Count)
}

const fn bytes(word: usize) -> Column {
    column("bytes", "their bytes, to six digits", word, Kind::Bytes(1024.0))
}

/// `ndn::AppDelayTracer`
const DELAYS: Format = Format {
    name: "ndnsim-app-delays",
    header: &[
        "Time",
        "Node",
        "AppId",
        "SeqNo",
        "Type",
        "DelayS",
        "DelayUS",
        "RetxCount",
        "HopCount",
    ],
    columns: &[
        column("time_s", "simulated seconds since the beginning", 0, Kind::Number(1.0)),
        NODE,
        column("app", "the number of the application on its node", 2, Kind::Count),
        column("segment", "the sequence number of the Data", 3, Kind::Count),
        column(
            "kind",
            "`FullDelay`: from the first Interest for it; `LastDelay`: from the last one",
            4,
            Kind::Text,
        ),
        column("delay_ms", "from that Interest to the Data", 5, Kind::Number(1e3)),
        column("interests", "Interests sent for it; 1 for `LastDelay`", 7, Kind::Count),
        column("hops", "hops that the Data took, where they are known", 8, Kind::OptionalCount),
    ],
};

/// `ndn::L3RateTracer`
const RATES: Format = Format {
    name: "ndnsim-rates",
    header: &[
        "Time",
        "Node",
        "FaceId",
        "FaceDescr",
        "Type",
        "Packets",
        "Kilobytes",
        "PacketRaw",
        "KilobytesRaw",
    ],
    columns: &[
        TIME,
        NODE,
        column("face", "its number; none for all faces together", 2, Kind::OptionalCount),
        column("face_description", "its address; `all` for all faces together", 3, Kind::Text),
        column("kind", "the packets: `InInterests`, `OutData`, …", 4, Kind::Text),
        packets_per_s(5),
        throughput(6),
        packets(7),
        bytes(8),
    ],
};

/// `ndn::CsTracer`
const STORES: Format = Format {
    name: "ndnsim-content-stores",
    header: &["Time", "Node", "Type", "Packets"],
    columns: &[
        TIME,
        NODE,
        column("kind", "`CacheHits` or `CacheMisses`", 2, Kind::Text),
        column("packets", "Interests in the period", 3, Kind::Count),
    ],
};

/// `L2RateTracer`
const DROPS: Format = Format {
    name: "ndnsim-drops",
    header: &[
        "Time",
        "Node",
        "Interface",
        "Type",
        "Packets",
        "Kilobytes",
        "PacketsRaw",
        "KilobytesRaw",
    ],
    columns: &[
        TIME,
        NODE,
        column("interface", "`combined`: all queues of the node", 2, Kind::Text),
        column("kind", "`Drop`", 3, Kind::Text),
        packets_per_s(4),
        throughput(5),
        packets(6),
        bytes(7),
    ],
};
