//! BBR's equations and parameters, as the manual shows them.

use control::{Duration, Equation, ParamSpec, Params, Rate, Value};

pub(super) const EQUATIONS: &[Equation] = &[
    ("BBR, eq. 1", "btl_bw = max(delivered / interval) over 10 rounds"),
    ("BBR, eq. 2", "min_rtt = min(RTT) over 10 s"),
    (
        "BBR, section 4.2.1",
        "pacing rate = gain btl_bw; gain: Drain 0.5; ProbeBW up probe_gain, down 0.75, cruise 1",
    ),
    ("BBR, section 4.2.3", "in flight <= window_gain btl_bw min_rtt"),
    (
        "after FAST and Swift",
        "in flight <= w; each round trip w = w (1 + (wanted - (RTT - min_rtt)) / RTT), \
         wanted = s (2 ms + (2 sqrt(w) - 1) RTT / w)",
    ),
    (
        "after Chiu and Jain",
        "on overflow w = max(0.5, min(0.85, 1 - lost)) w, s = 0.7 s; s = min(1, s + 0.04 a second)",
    ),
];

pub(super) const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "initial_window",
        default: Value::Number(8.0),
        range: (4.0, 1000.0),
        help: "segments at the start",
        source: "own: RFC 6928 has ten, of a sixth of the size; eight of 8 kB fit 64 kB of buffer \
                 and make a train that can be measured",
    },
    ParamSpec {
        name: "initial_rate",
        default: Value::Rate(Rate(40_000_000)),
        range: (0.0, 1e12),
        help: "what follows the initial window until its first Data come, if one small request \
               went ahead and was answered, or nothing has come yet",
        source: "own: on paths of 100 ms one round trip with ten segments only is a tenth of a \
                 second lost; on short paths it adds nothing",
    },
    ParamSpec {
        name: "probe_gain",
        default: Value::Number(1.25),
        range: (1.01, 2.0),
        help: "how much more than the estimate is tried when ProbeBW goes up",
        source: "BBR draft, section 4.3.4.1",
    },
    ParamSpec {
        name: "window_gain",
        default: Value::Number(2.0),
        range: (1.0, 4.0),
        help: "the window in bandwidth-delay products",
        source: "BBR draft, section 4.2.3",
    },
    ParamSpec {
        name: "loss",
        default: Value::Number(0.02),
        range: (0.0, 1.0),
        help: "share of a round's segments that may be lost, beyond what is lost at random",
        source: "BBR draft -02, `BBRLossThresh`",
    },
    ParamSpec {
        name: "slack",
        default: Value::Time(Duration::from_millis(2)),
        range: (0.0, 1.0),
        help: "what the window holds beyond window_gain, as time at the bottleneck's rate",
        source: "own: wake-ups of hosts along the path come up to a millisecond late",
    },
    ParamSpec {
        name: "probe_rtt_interval",
        default: Value::Time(Duration::from_secs(10)),
        range: (0.1, 3600.0),
        help: "how long the smallest round-trip time stays valid",
        source: "BBR draft, section 4.1.1.5",
    },
];

/// The values of the parameters.
pub(super) struct Settings {
    pub initial_window: f64,
    pub initial_rate: Rate,
    pub probe_gain: f64,
    pub window_gain: f64,
    pub slack: Duration,
    pub probe_rtt_interval: Duration,
}

impl Settings {
    pub fn new(params: &Params) -> Settings {
        Settings {
            initial_window: params.number("initial_window"),
            initial_rate: params.rate("initial_rate"),
            probe_gain: params.number("probe_gain"),
            window_gain: params.number("window_gain"),
            slack: params.time("slack"),
            probe_rtt_interval: params.time("probe_rtt_interval"),
        }
    }
}
