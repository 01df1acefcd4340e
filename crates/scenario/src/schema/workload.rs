//! Content, workloads and caching: the sections about who has what, who asks for it, and where
//! copies stay.

use document::Fields;
use document::parts::StoreRules;
use document::schema::{Form, Item, Section, field, required};

/// Who has what of a content with several producers.
pub const PLACEMENTS: &[&str] = &["replicated", "objects", "segments"];
/// Laws that sizes may be drawn by.
pub const DISTRIBUTIONS: [&str; 4] = ["uniform", "exponential", "pareto", "lognormal"];
/// When requests of a workload come.
pub const ARRIVALS: &[&str] = &["poisson", "constant"];
/// What a request of a workload asks for.
pub const REQUESTS: &[&str] = &["object", "chunk"];
/// Rules that choose the quality of video.
pub const ADAPTATIONS: &[&str] = &["buffer", "rate", "fixed"];

pub(super) const CONTENT: Section = Section {
    name: "content",
    repeated: true,
    help: "A named object, made from its name: it takes no memory, whatever its size. Or, with \
           `objects`, a catalogue of objects below the name; or, with `video`, a video.",
    fields: &[
        required("name", Form::Name, "Its name; it must not be the prefix of another one's."),
        required("at", Form::As("node, or a list of nodes"), "Its producer, or producers."),
        field(
            "size",
            Form::As("size, `{ distribution, … }`, or a list of classes"),
            "",
            "Bytes of content, of each object if there are several; required but of a video. \
             Sizes may be drawn: `{ distribution = \"uniform\", least = \"10 kB\", most = \"1 \
             MB\" }`, `{ distribution = \"exponential\", mean = … }`, `{ distribution = \
             \"pareto\", least = …, most = …, shape = 1.2 }`, `{ distribution = \"lognormal\", \
             median = …, sigma = 1 }`. A list gives objects of several classes, which results \
             tell apart: `[{ class = \"mice\", share = \"99 %\", size = \"50 kB\" }, { class = \
             \"elephants\", share = \"1 %\", size = \"10 MB\" }]`.",
        ),
        field("segment", Form::Size, "\"8000 B\"", "Bytes of content in a segment."),
        field(
            "objects",
            Form::As("number, `\"unlimited\"` or `\"listed\"`"),
            "",
            "It is a catalogue of so many objects, called `name/0`, `name/1`, … by rank: the most \
             popular first. `\"unlimited\"`: a new one for every request. `\"listed\"`: those that \
             the traces of workloads name.",
        ),
        field(
            "placement",
            Form::Word(PLACEMENTS),
            "\"replicated\"",
            "Who has what if there are several producers. `replicated`: everyone everything, and \
             routes lead to the nearest. `objects`, `segments`: each object, or each segment, is \
             at one of them, by chance; every node has a route of its own to it, where it needs \
             one.",
        ),
        field(
            "together",
            Form::Number(1, 256),
            "1",
            "With `placement = \"segments\"`: so many segments in a row are at the same producer, \
             such as the chunks of schemes of which an Interest asks for several.",
        ),
        field(
            "video",
            Form::As("table `{ ladder, segment, length }`"),
            "",
            "It is a video: `{ ladder = [\"300 kbit/s\", \"1 Mbit/s\"], segment = \"2 s\", length \
             = \"60 s\" }`. Each `segment` of it is an object of its own in every quality of the \
             `ladder`, `name/quality/number`.",
        ),
        field(
            "signing",
            Form::Word(&["manifest", "digest", "none"]),
            "\"manifest\"",
            "`manifest`: a signed list of all segments' digests, as `weir put` makes it; the whole \
             object is hashed when it is asked for first. `digest`: a digest in each segment, and \
             no list. `none`: nothing is hashed by anybody, as in other simulators.",
        ),
        field(
            "service_time",
            Form::Duration,
            "\"0 ms\"",
            "How long a producer takes for each answer, whatever its size: one after the other, \
             each producer of the content for itself.",
        ),
        field(
            "service_queue",
            Form::Number(0, 1_000_000),
            "1000",
            "How many Interests wait at a producer with a `service_time` while one is being \
             answered; what comes to a full queue is lost.",
        ),
        field(
            "production",
            Form::Word(&["on-demand", "in-order"]),
            "\"on-demand\"",
            "`on-demand`: a producer makes the segment that an Interest asks for. `in-order`: it \
             makes segments in order and sends each at once, as CCNx's `ccnsendchunks`: ten after \
             the latest Interest that reaches it, then one a second. Segments that no Interest \
             waits for go into the content store of its node, and are lost if it has none: no \
             segment is made twice. One object with `signing = \"none\"` or `\"digest\"`; \
             `service_time` is the time for each.",
        ),
        field(
            "slow_time",
            Form::Duration,
            "\"0 ms\"",
            "With `production = \"in-order\"`: how long the segment `slow_segment` takes, where \
             that is not the `service_time`. `\"0 ms\"`: there is no such segment.",
        ),
        field(
            "slow_segment",
            Form::Number(0, 1_000_000_000),
            "0",
            "The number of the segment that takes `slow_time`.",
        ),
    ],
};

/// How a fetch, or each of many, is done.
const FETCH: &[Item] = &[
    field(
        "control",
        Form::Part("controller"),
        "\"bbr\"",
        "The congestion-control scheme of a fetch. A startup may stand before it: \
         `\"packet-pair+cubic\"`, `{ scheme = \"cubic\", startup = \"packet-pair\" }`.",
    ),
    field(
        "patience",
        Form::Duration,
        "\"30 s\"",
        "A fetch gives up when nothing new has come for this long.",
    ),
    field("lifetime", Form::Duration, "\"4 s\"", "InterestLifetime."),
    field(
        "range",
        Form::Number(1, 256),
        "",
        "How many segments one Interest asks for. Without it, of a fetch as many as the scheme \
         says: 1, but for those that work on chunks; at a constant rate 1.",
    ),
];

/// How a video is played.
const PLAYER: &[Item] = &[
    field(
        "adaptation",
        Form::Word(ADAPTATIONS),
        "\"buffer\"",
        "Who asks for a video: the rule that chooses the quality of the next segment. `buffer`: by \
         what is in the playout buffer (BBA-0, Huang and others, 2014). `rate`: the highest below \
         85 % of the harmonic mean of the rates of the last five. `fixed`: always `quality`.",
    ),
    field("quality", Form::Number(0, 1_000), "0", "The place on the ladder for `fixed`."),
    field("buffer", Form::Duration, "\"30 s\"", "What the playout buffer holds at most."),
    field(
        "startup",
        Form::Duration,
        "\"4 s\"",
        "What must be in the playout buffer to begin, and to go on after a stall.",
    ),
];

pub(super) const CONSUMER: Section = Section {
    name: "consumer",
    repeated: true,
    help: "Who asks: a fetch under congestion control; with `rate`, Interests at a constant rate \
           for the segments one after the other, whatever happens; of a video, its player.",
    fields: &[
        Item::Group(&[
            required("at", Form::As("node, or a list of nodes"), "Where; one at each node."),
            required("name", Form::Name, "The content."),
            field("start", Form::Duration, "\"0 s\"", "When it begins."),
        ]),
        Item::Group(FETCH),
        Item::Group(&[
            field(
                "rate",
                Form::As("number a second (`\"140 /s\"`)"),
                "",
                "Interests a second at a constant rate, without congestion control.",
            ),
            field(
                "stop",
                Form::Duration,
                "",
                "When Interests at a constant rate end. Without it: never.",
            ),
        ]),
        Item::Group(PLAYER),
    ],
};

pub(super) const WORKLOAD: Section = Section {
    name: "workload",
    repeated: true,
    help: "Flows that begin by themselves, one after the other: requests of objects by chance or \
           by a trace. A flow that is over leaves its record alone, and beyond `listed` flows its \
           share in the sums.",
    fields: &[
        Item::Group(&[
            required("name", Form::As("name, or a list of names"), "The contents, each as likely."),
            field(
                "at",
                Form::As("node, or a list of nodes"),
                "",
                "Where requests come up, each as likely. Required without `trace`.",
            ),
            field(
                "rate",
                Form::As("number a second (`\"0.5 /s\"`)"),
                "",
                "Requests a second, over all nodes. Required without `trace`.",
            ),
            field(
                "arrivals",
                Form::Word(ARRIVALS),
                "\"poisson\"",
                "The distances between requests: exponentially distributed, or all the same.",
            ),
            field(
                "alpha",
                Form::As("number from 0 on"),
                "0.8",
                "The object of rank k is asked for with probability proportional to (k + q)^-alpha \
                 (Zipf-Mandelbrot).",
            ),
            field("q", Form::As("number from 0 on"), "0", "See `alpha`; 0 gives Zipf's law."),
            field(
                "request",
                Form::Word(REQUESTS),
                "\"object\"",
                "What is asked for: the whole object by a fetch, or one segment of it, any of them \
                 as likely, by a single Interest that is never repeated.",
            ),
            field("start", Form::Duration, "\"0 s\"", "No request comes before."),
            field("stop", Form::Duration, "", "No request comes from then on."),
            field("count", Form::Number(1, i64::MAX), "", "The most requests that come."),
            field(
                "trace",
                Form::Path,
                "",
                "A CSV file of requests, relative to the scenario's folder, with a head line and \
                 the columns `time` (seconds, or `\"5 ms\"`), `node`, `name` (an object's name, or \
                 its number) and, for contents with `objects = \"listed\"`, `size`.",
            ),
            field(
                "listed",
                Form::Number(0, 1_000_000),
                "10000",
                "So many flows are listed one by one in results, over all workloads: the smallest \
                 number given.",
            ),
        ]),
        Item::Group(FETCH),
        Item::Group(PLAYER),
    ],
};

/// What a content store is.
pub(super) const STORE: &[Item] = &[field(
    "content_store",
    Form::As("size, packets (`\"1000 packets\"`) or share (`\"2 %\"`)"),
    "\"0 B\"",
    "Bound of the content store: its memory, everything counted; Data packets; or Data packets \
         as a share of the segments of all content. `\"0 B\"` switches it off.",
)];

pub(super) const CACHING: Section = Section {
    name: "caching",
    repeated: false,
    help: "Content stores of nodes whose `[[node]]` does not say `content_store` itself; and the \
           warm-up.",
    fields: &[
        Item::Group(&[field(
            "at",
            Form::As("`\"all\"`, `\"routers\"`, node or list of nodes"),
            "\"routers\"",
            "Which nodes: `\"routers\"` are those where nobody produces.",
        )]),
        Item::Group(STORE),
        Item::Group(StoreRules::FIELDS),
        Item::Group(&[field(
            "warmup",
            Form::As("`\"auto\"` or time"),
            "\"auto\"",
            "Results tell what happened before its end from what happened after. `\"auto\"`: the \
             end is detected from the hit ratio over time (MSER-5).",
        )]),
    ],
};
