//! Every section and field of a scenario file: name, form, default, meaning.

mod workload;

pub use workload::{ADAPTATIONS, ARRIVALS, DISTRIBUTIONS, PLACEMENTS, REQUESTS};

use document::Fields;
use document::LOSS_FORM;
use document::parts::{LINK_PARTS, StoreRules};
use document::schema::{Form, Item, Section, field, required};

/// Generators of topologies.
pub const GENERATORS: &[&str] = &[
    "line",
    "ring",
    "star",
    "dumbbell",
    "parking-lot",
    "tree",
    "grid",
    "waxman",
    "barabasi-albert",
];
/// Formats of files that hold topologies.
pub const FORMATS: &[&str] =
    &["graphml", "fnss", "rocketfuel-cch", "rocketfuel-latencies", "rocketfuel-weights", "ndnsim"];
/// How routes come about.
pub const ROUTING: &[&str] = &["delay", "hops", "metric", "listed"];
/// What can happen to a network.
pub const FAULTS: &[&str] = &[
    "link-down",
    "link-up",
    "node-crash",
    "node-restart",
    "link-rate",
    "route-add",
    "route-remove",
];

/// What one direction of a link is made of.
const DIRECTION: &[Item] = &[
    field("rate", Form::Rate, "", "How fast bytes leave. Required of a link."),
    field("delay", Form::Duration, "\"0 ms\"", "Propagation delay."),
    field(
        "metric",
        Form::As("number from 0 on"),
        "1",
        "What it costs with `routing = \"metric\"`; counted in thousandths.",
    ),
    field(
        "queue",
        Form::As("size, or packets (`\"100 packets\"`)"),
        "\"100 packets\"",
        "Bound of the queue of Data at the sending end; Interests and Nacks have one of their own \
         with the same bound.",
    ),
    field(
        "loss",
        Form::As(LOSS_FORM),
        "\"0 %\"",
        "Share of frames that are lost (Bernoulli); as a table, the four probabilities of the \
         Gilbert-Elliott model: of changing the state after a frame, and of loss in each state \
         (`good` is 0 and `bad` is 1 unless given).",
    ),
    field(
        "jitter",
        Form::Duration,
        "\"0 ms\"",
        "Every frame takes up to this much longer, evenly distributed; frames keep their order.",
    ),
    field("reorder", Form::Ratio, "\"0 %\"", "Share of frames that later ones overtake."),
    field("reorder_by", Form::Duration, "\"5 ms\"", "For how long these are held back."),
    field("duplicate", Form::Ratio, "\"0 %\"", "Share of frames that arrive twice."),
    field("corrupt", Form::Ratio, "\"0 %\"", "Share of frames of which a byte is changed."),
    field(
        "reliability",
        Form::Switch,
        "false",
        "The ends acknowledge frames and send lost ones again (NDNLPv2 link reliability); both do, \
         whichever direction says it.",
    ),
];

/// A direction that differs from another one; not a section of its own.
pub const OTHER_DIRECTION: Section = Section {
    name: "link direction",
    repeated: false,
    help: "What differs from the fields around it.",
    fields: &[Item::Group(DIRECTION), Item::Group(LINK_PARTS)],
};

const SCENARIO: Section = Section {
    name: "scenario",
    repeated: false,
    help: "What the whole run is about.",
    fields: &[
        field("name", Form::Text, "", "Its name in results. Without it: the file's."),
        field("question", Form::Text, "", "What it is to answer: the head of its report."),
        required("duration", Form::Duration, "Simulated time after which the run ends."),
        field(
            "seed",
            Form::Number(0, i64::MAX),
            "1",
            "Everything random comes from it; equal seeds give equal results, byte for byte.",
        ),
        field(
            "routing",
            Form::Word(ROUTING),
            "\"delay\"",
            "Routes from every node to every producer along the path of the smallest delay, of \
             the fewest hops or of the smallest sum of the links' metrics; or only those of the \
             `[[route]]` sections, which come on top of computed ones otherwise.",
        ),
        field(
            "paths",
            Form::Number(1, 16),
            "1",
            "Paths from each consumer to each producer of what it asks for; more than one for \
             strategies that use several next hops. [Routes](routes.md) says which.",
        ),
        field(
            "scheme",
            Form::Part("controller, marker, shaper, stamper or strategy"),
            "",
            "A scheme as a whole: every consumer, link and node that names no scheme for a part \
             has this one's, if it has the part.",
        ),
        field(
            "strategy",
            Form::Part("strategy"),
            "\"best-route\"",
            "The forwarding strategy of nodes that name none.",
        ),
    ],
};

const NODE: Section = Section {
    name: "node",
    repeated: true,
    help: "A forwarder, or several alike. A generated one may be named to say more about it.",
    fields: &[
        Item::Group(&[required(
            "name",
            Form::As("text, or a list of texts"),
            "Its name; of several, theirs.",
        )]),
        Item::Group(workload::STORE),
        Item::Group(StoreRules::FIELDS),
        Item::Group(&[field("strategy", Form::Part("strategy"), "", "Its forwarding strategy.")]),
        Item::Group(MACHINE),
    ],
};

/// What a node is made of.
const MACHINE: &[Item] = &[
    field(
        "memory",
        Form::Size,
        "",
        "The most memory that its daemon takes, everything counted: `memory` of the daemon's \
         configuration, at least `\"16 MB\"`. For `weir testbed`; the simulator does not \
         look at it.",
    ),
    field(
        "cpu",
        Form::Ratio,
        "",
        "The share of one processor that all programs of the node have together, such as \
         `\"10 %\"`. For `weir testbed`; the simulator's nodes take no time.",
    ),
];

const LINK: Section = Section {
    name: "link",
    repeated: true,
    help: "A link between two nodes, the same both ways unless `back` says something else.",
    fields: &[
        Item::Group(&[required("between", Form::As("list of two nodes"), "Its ends.")]),
        Item::Group(DIRECTION),
        Item::Group(LINK_PARTS),
        Item::Group(&[field(
            "back",
            Form::As("table of link fields"),
            "",
            "What is different from the second end to the first: `back = { rate = \"1 Mbit/s\" }`.",
        )]),
    ],
};

const TOPOLOGY: Section = Section {
    name: "topology",
    repeated: false,
    help: "Nodes and links that a generator makes or a file holds. `line`, `ring` and `star` \
           name their nodes `n0`, `n1`, …, the hub of a star being `n0`. `grid` has `rows` \
           times `columns` nodes `n0_0`, `n0_1`, … by row and column. `tree` has the root \
           `n0` and numbers level by level. `dumbbell` joins consumers `c0`, … over routers \
           `left` and `right` to producers `p0`, …; `parking-lot` is a line of routers `r0`, \
           … with a consumer `c` and a producer `p` at its ends, and for each of its links a \
           consumer `c0`, … before and a producer `p0`, … behind it. `waxman` and \
           `barabasi-albert` draw networks of nodes `n0`, `n1`, …; \
           [topologies](topologies.md) says how, and what files are read.",
    fields: &[
        Item::Group(&[
            field("generator", Form::Word(GENERATORS), "", "The shape; or else a `file`."),
            field(
                "size",
                Form::Number(1, 10_000),
                "2",
                "Nodes of a line, ring, star or drawn network; pairs of a dumbbell; links in the \
                 row of a parking lot.",
            ),
            field("rows", Form::Number(1, 1_000), "2", "Rows of a grid."),
            field("columns", Form::Number(1, 1_000), "2", "Columns of a grid."),
            field("depth", Form::Number(1, 16), "2", "Levels of a tree below its root."),
            field("branches", Form::Number(1, 100), "2", "Children of each node of a tree."),
            field(
                "drawn_from",
                Form::Number(0, i64::MAX),
                "1",
                "The seed of a drawn network; the run's own seed does not change it.",
            ),
            field(
                "alpha",
                Form::Ratio,
                "\"15 %\"",
                "How far links of `waxman` reach, as a share of the largest distance.",
            ),
            field("beta", Form::Ratio, "\"40 %\"", "How many links `waxman` makes."),
            field(
                "across",
                Form::Duration,
                "",
                "Propagation delay over one side of the square of `waxman`: links have delays by \
                 their lengths. Without it: all have `delay`.",
            ),
            field(
                "attach",
                Form::Number(1, 100),
                "2",
                "Links that each new node of `barabasi-albert` brings.",
            ),
            field(
                "file",
                Form::As("path, from the folder of the scenario"),
                "",
                "A file that holds the network. Where it says nothing of a link's rate, delay or \
                 queue, the fields of this section count.",
            ),
            field(
                "format",
                Form::Word(FORMATS),
                "",
                "What the file is. `.graphml` and `.cch` are known by their endings.",
            ),
            field(
                "latencies",
                Form::As("path, from the folder of the scenario"),
                "",
                "The file with the delays for `rocketfuel-weights`.",
            ),
            field(
                "signal_speed",
                Form::Ratio,
                "\"66.7 %\"",
                "Share of the speed of light at which signals travel, where a file has places or \
                 lengths but no delays.",
            ),
        ]),
        Item::Group(DIRECTION),
        Item::Group(LINK_PARTS),
        Item::Group(&[field(
            "access",
            Form::As("table of link fields"),
            "",
            "What is different on the links of consumers and producers (dumbbell, parking lot).",
        )]),
    ],
};

const ROUTE: Section = Section {
    name: "route",
    repeated: true,
    help: "A route, on top of those that `routing` computes.",
    fields: &[
        required("at", Form::As("node"), "The node that has it."),
        required("prefix", Form::Name, "Names below it are asked for by it."),
        required("via", Form::As("node"), "The neighbour that it leads to."),
        field("cost", Form::Number(0, i64::MAX), "0", "The smaller, the more preferred."),
    ],
};

const FAULT: Section = Section {
    name: "fault",
    repeated: true,
    help: "Something that happens during the run.",
    fields: &[
        required("at", Form::Duration, "When."),
        required("kind", Form::Word(FAULTS), "What."),
        field("link", Form::As("list of two nodes"), "", "The link of a `link-…` fault."),
        field("node", Form::As("node"), "", "The node of a `node-…` or `route-…` fault."),
        field(
            "rate",
            Form::Rate,
            "",
            "The new rate of `link-rate`, from the first node to the second.",
        ),
        field("prefix", Form::Name, "", "The prefix of a `route-…` fault."),
        field("via", Form::As("node"), "", "The neighbour of a `route-…` fault."),
        field("cost", Form::Number(0, i64::MAX), "0", "The cost of `route-add`."),
    ],
};

const RECORD: Section = Section {
    name: "record",
    repeated: false,
    help: "What `--out` keeps of the run besides its summary: a sample of each quantity at every \
           interval. [Results](results.md) lists the quantities.",
    fields: &[
        field(
            "interval",
            Form::As("time, or `\"auto\"`"),
            "\"auto\"",
            "From sample to sample. `auto` takes 500 to 1000 samples, and fewer where there is so \
             much to sample that it would come to more than two million values; never fewer than \
             50.",
        ),
        field(
            "flows",
            Form::As("`\"all\"`, `\"none\"`, or list of nodes"),
            "\"all\"",
            "Consumers of which samples are kept, by their nodes. Of the flows of a workload \
             there are samples by class, if one of its nodes is among these, and a row for each in \
             `flows.parquet`.",
        ),
        field(
            "links",
            Form::As("`\"all\"`, `\"none\"`, or list of pairs of nodes"),
            "\"all\"",
            "Links, both directions of each: `[[\"a\", \"b\"], [\"b\", \"c\"]]`.",
        ),
        field("nodes", Form::As("`\"all\"`, `\"none\"`, or list of nodes"), "\"all\"", "Nodes."),
    ],
};

/// Its other fields are settings, as `--set` takes them.
pub const SWEEP: Section = Section {
    name: "sweep",
    repeated: false,
    help: "Runs with each of several settings: a field's name as `--set` takes it, and a list of \
           values. Several fields give every combination.",
    fields: &[field(
        "repetitions",
        Form::Number(1, 10_000),
        "1",
        "Runs of each combination, with seeds counted up from `seed`.",
    )],
};

/// All sections, in the order of the manual.
pub const SECTIONS: &[&Section] = &[
    &SCENARIO,
    &TOPOLOGY,
    &NODE,
    &LINK,
    &workload::CONTENT,
    &workload::CONSUMER,
    &workload::WORKLOAD,
    &workload::CACHING,
    &ROUTE,
    &FAULT,
    &RECORD,
    &SWEEP,
];
