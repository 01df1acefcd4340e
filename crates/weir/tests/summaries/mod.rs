//! What the fields of the commands' JSON objects mean. The end-to-end tests compare the fields with
//! those that the commands print.

/// A command, and its fields with their meanings, in the order in which they are printed.
pub const SUMMARIES: &[(&str, &[(&str, &str)])] = &[
    (
        "weir get",
        &[
            ("name", "the object's name, with its version"),
            ("control", "the congestion-control scheme"),
            ("bytes", "bytes of the object"),
            ("resumed_bytes", "those of them that an earlier transfer had left"),
            ("segments", "segments that this transfer verified"),
            ("duration_s", "seconds from the first Interest to the last byte"),
            ("goodput_mbps", "Mbit/s of content that this transfer brought"),
            (
                "verified",
                "what was proved: `key` (signed by a trusted key or one's own), `digest` \
                 (undamaged, but anybody's), `unchecked` (signed by a key that is not known here)",
            ),
            ("key", "the name of the key that signed, or null"),
            ("interests", "Interests sent"),
            ("data", "Data packets received that were asked for"),
            ("timeouts", "losses found by time-out"),
            ("gaps", "losses that later answers, or silence, showed before a time-out"),
            ("false_timeouts", "losses that were none"),
            ("nacks", "Nacks received"),
            ("retransmissions", "Interests that were sent again"),
            ("marks", "Data received with a congestion mark"),
            ("false_losses", "the former name of `false_timeouts`, in this version only"),
            ("duplicates", "Data received that nobody waited for any more"),
            ("forged", "Data received that was not what its publisher signed"),
            ("rtt_min_ms", "the smallest round-trip time in ms, or null"),
            ("rtt_mean_ms", "the mean round-trip time in ms, or null"),
        ],
    ),
    (
        "weir gateway",
        &[
            ("method", "what was asked: the method"),
            ("path", "what was asked: the path, as it was sent"),
            ("status", "the HTTP status of the answer"),
            ("name", "the object's name, with its version, or null if it was not found"),
            ("range", "the Content-Range of the answer, or null"),
            ("bytes", "bytes of content that were fetched for the client"),
            ("segments", "segments that were verified"),
            ("interests", "Interests sent"),
            ("duration_s", "seconds from the first Interest to the last byte fetched"),
            ("verified", "what was proved, as for `weir get`, or null"),
            ("key", "the name of the key that signed, or null"),
            ("error", "what went wrong, or null"),
        ],
    ),
    (
        "weir put",
        &[
            (
                "objects",
                "a list: `name` with its version, `bytes` of content, and `segments` of each",
            ),
            ("answered", "Interests answered with Data"),
            ("content_bytes", "bytes of content sent"),
            ("refused", "Interests for what a published object does not have"),
            ("unknown", "Interests for names that are not published"),
            ("dropped", "Interests dropped because too many were waiting"),
            ("malformed", "frames that were no Interests"),
            ("failed", "answers that failed because the file could not be read or had changed"),
        ],
    ),
    (
        "weir key list",
        &[
            ("name", "the key's name"),
            ("certificate", "the name of its certificate; null of a shared key"),
            ("type", "`ed25519`, `ecdsa`, `rsa` or `hmac`"),
            (
                "not_after",
                "when the certificate expires, in seconds since 1970; null of a shared key",
            ),
            ("self_signed", "whether the key itself signed the certificate, and nobody else"),
            ("default", "whether it signs when no other key is asked for"),
            ("secret", "the file that holds the secret"),
            ("store", "`weir`, or `ndn`: the key chain that ndn-cxx and python-ndn share"),
        ],
    ),
    (
        "weir schemes",
        &[
            ("name", "the scheme's name"),
            ("summary", "what it does, in a line"),
            ("paper", "who thought of it, where"),
            ("parts", "a list of the parts that it has"),
            (
                "default_for",
                "a list of what it is where nobody chooses: `controller`, `strategy`, or the \
                 `baseline` of comparisons",
            ),
            ("equations", "a list: `number`, what the source calls it, and `text`"),
            (
                "parameters",
                "a list: `name`, `default`, range from `low` to `high`, `help`, `source`",
            ),
        ],
    ),
    (
        "weir compare",
        &[
            (
                "first",
                "the folder that differences are measured from: `name`, `folder`, `scenario`, \
                 `version`, `command`, and how many `runs`",
            ),
            ("second", "the other one, in the same way"),
            ("within", "the share up to which a difference is not marked"),
            ("main", "how many goodputs, completion times and mean queues were compared"),
            ("beyond", "how many of them differ by more than `within`"),
            ("alone", "how many flows and workloads of the cases only one of the two has"),
            ("remarks", "a list of what has to be known when they are read"),
            (
                "cases",
                "a list, one for each combination of swept settings that is in both: `settings` \
                 (field and value), `first_seeds`, `second_seeds`, `method` (`paired`, `welch`, or \
                 `single`: no intervals of differences), `differences`, and things that \
                 `only_first` or `only_second` has, by `kind` and `entity`",
            ),
            (
                "cases[].differences",
                "a list: `kind` (`network`, `flow`, `workload`, `link`, `node`) and `entity` as in \
                 the series; `quantity`, a field of [results](results.md) in its unit \
                 (where runs are not equally long, `queue_mean_bytes` and `utilization` of links \
                 are of the time until the last flow ended); `main`, \
                 whether it counts for `beyond`; `first` and `second`, means over the runs with \
                 `mean`, `ci95` (half the width of the 95 % interval) and `n`, or null; \
                 `difference`, the second less the first, in the same way; `share`, the difference \
                 as a share of the first, and its `share_ci95`; `missing`, whether it has a value \
                 in some runs of one and not in those of the other; `resolution`, up to where a \
                 difference says nothing; `beyond`, whether it is over `within` and over that",
            ),
            ("only_first", "a list of settings that only the first has runs with"),
            ("only_second", "a list of settings that only the second has runs with"),
        ],
    ),
    (
        "weir demo",
        &[
            ("file", "the file that was sent"),
            ("bytes", "its size"),
            ("link_mbps", "the rate of the links in Mbit/s"),
            ("link_delay_ms", "their delay in ms, each way"),
            ("key", "the name of the key that signed"),
            (
                "transfers",
                "a list: `consumer`, `goodput_mbps`, `duration_s`, `sha256_matches`, and Data \
                 `from_cache` and `from_producer`",
            ),
        ],
    ),
];
