//! Every section and field of a file of trust rules: name, form, default, meaning.

use document::schema::{Form, Section, field, required};

const PATTERN: Form = Form::As("pattern of names");

/// All sections.
pub const SECTIONS: &[Section] = &[
    Section {
        name: "trust",
        repeated: false,
        help: "How far chains of certificates are followed.",
        fields: &[&[
            field(
                "depth",
                Form::Number(0, 64),
                "8",
                "How many certificates may stand between what is verified and an anchor.",
            ),
            field(
                "model",
                Form::As("file's path"),
                "",
                "A Light VerSec model as python-ndn compiles and saves it (`Checker.save()`), in \
                 the place of `[[rule]]`s. Of functions, `$eq` and `$eq_type` are known.",
            ),
            field(
                "clock_skew",
                Form::Duration,
                "\"1 min\"",
                "By how much this host's clock may differ from those of issuers.",
            ),
        ]],
    },
    Section {
        name: "anchor",
        repeated: true,
        help: "A certificate that is believed for itself. At least one is needed, or a shared key.",
        fields: &[&[required(
            "certificate",
            Form::As("file's path"),
            "The file, as `weir key new` and `weir key export` print it; beside this one unless \
             the path is absolute.",
        )]],
    },
    Section {
        name: "shared",
        repeated: true,
        help: "A shared key, by which everybody who has it signs (HMAC-SHA256). It may sign what a \
               key of its name may, but no certificates.",
        fields: &[&[required(
            "key",
            Form::As("file's path"),
            "The file that `weir key new --type hmac` names, or one like it, beside this one \
             unless the path is absolute. Nobody else may be able to read it (mode 0600).",
        )]],
    },
    Section {
        name: "rule",
        repeated: true,
        help: "Who may sign what; what no rule allows is refused. Without any rule, a key may sign \
               names under its identity, certificates for identities under its own, and commands \
               about names under it.",
        fields: &[&[
            field("data", PATTERN, "", "Names of Data that are no certificates."),
            field(
                "certificate",
                PATTERN,
                "",
                "Identities that certificates are for: their names without `KEY` and what follows.",
            ),
            field(
                "command",
                PATTERN,
                "",
                "Names that management commands are about, as the prefix that is registered; `/` \
                 if a command is about none. For `[[authorize]]` of a daemon.",
            ),
            required(
                "signer",
                PATTERN,
                "Identities whose keys may sign that: the names of keys without `KEY` and the \
                 key's id. Its words are words of `data`, `certificate` or `command`.",
            ),
        ]],
    },
];
