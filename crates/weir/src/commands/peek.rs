//! `weir peek`: asks for one packet, and shows it.

use crate::cli::packets::PeekArgs;
use crate::consumer::Verified;
use crate::exit::{Failure, Kind, Word};
use crate::identity;
use crate::output;
use crate::signals::Stop;
use client::parts::{Answer, Exchange};
use control::{Duration, Size};
use net::client::{Address, Connection, Turn};
use net::text::visible;
use packet::{ContentType, Data, InterestBuf, KeyLocator, NackReason};
use schemars::JsonSchema;
use security::Proof;
use serde::Serialize;
use std::io::Write;

/// Asks for one packet, verifies it, and prints it.
pub fn run(args: &PeekArgs) -> Result<(), Failure> {
    let stop = Stop::listen().map_err(|error| Failure::new(Kind::Failed, error))?;
    let policy = identity::policy(&args.trust)?;
    let mut connection = Connection::open(Address::find(args.forwarder.socket.as_deref())?)?;
    let nonce = getrandom::u32().map_err(|error| Failure::new(Kind::Failed, error))?;
    let interest = InterestBuf {
        can_be_prefix: args.prefix,
        must_be_fresh: args.fresh,
        nonce: Some(nonce),
        lifetime_ms: Some(args.lifetime.as_millis()),
        hop_limit: args.hops,
        ..InterestBuf::new(args.name.clone())
    };
    let mut exchange = Exchange::new(&interest);
    if exchange.interest_len() > packet::MAX_PACKET {
        let bytes = args.name.encoded_len();
        let text = format!("a name of {bytes} bytes does not fit into a packet");
        return Err(Failure::new(Kind::Usage, text).then("use a shorter name"));
    }
    let end = connection.now() + args.lifetime;
    while !exchange.is_over() && connection.now() < end {
        if connection.turn(&mut exchange, end)? == Turn::Interrupted || stop.requested() {
            return Err(Failure::new(Kind::Interrupted, "interrupted"));
        }
    }
    match exchange.into_answer() {
        Some(Answer::Data { wire, mark, took }) => {
            let data = Data::decode(&wire).map_err(|error| Failure::new(Kind::Failed, error))?;
            let proof = policy.verify(&data).map_err(|error| {
                Failure::new(Kind::NotVerified, format!("{} is not verified: {error}", data.name()))
                    .then("--trust names the keys themselves; `weir get` fetches certificates, too")
            })?;
            show(args, &Shown { data, proof, mark, took })
        }
        Some(Answer::Nack(reason)) => Err(rejected(args, reason)),
        None => {
            let text = format!("no answer to {} within {}", args.name, args.lifetime);
            Err(Failure::new(Kind::NotFound, text).then(if args.prefix {
                "is its producer running?"
            } else {
                "is its producer running? --prefix accepts packets below the name"
            }))
        }
    }
}

/// The error for a Nack.
fn rejected(args: &PeekArgs, reason: NackReason) -> Failure {
    // A producer rejects names below its prefix without a packet, and gives no reason.
    if reason == NackReason::None {
        let (place, next) = match args.prefix {
            true => ("below this name", "is the name spelled as it is there?"),
            false => ("of exactly this name", "--prefix accepts packets below the name"),
        };
        let text = format!("the producer of {} has no packet {place}", args.name);
        return Failure::new(Kind::NotFound, text).then(next);
    }
    let word = if reason == NackReason::NoRoute { Word::NoRoute } else { Word::Failed };
    Failure::new(word, format!("a forwarder rejected {}: {reason}", args.name))
        .then("is its producer running, and does a route on the way lead to it?")
}

/// A Data packet.
#[derive(JsonSchema, Serialize)]
pub struct Packet {
    /// Its name.
    name: String,
    /// The number of its type: 0 for content.
    content_type: u64,
    /// Bytes of content.
    content_bytes: usize,
    /// Its freshness period in ms, or null.
    freshness_ms: Option<u64>,
    /// The last component of the object, as a component of a URI, or null.
    final_block: Option<String>,
    /// The proof by the signature.
    verified: Verified,
    /// The name of the key in the packet, or null.
    key: Option<String>,
    /// Its implicit digest, in hexadecimal digits.
    digest: String,
    /// Bytes of the packet.
    packet_bytes: usize,
    /// Its congestion mark; 0 for none.
    mark: u64,
    /// The round-trip time in ms.
    rtt_ms: f64,
}

/// A packet with the results of its checks.
struct Shown<'a> {
    data: Data<'a>,
    proof: Proof,
    mark: u64,
    took: Duration,
}

impl Shown<'_> {
    fn signature(&self) -> String {
        match &self.proof {
            Proof::Digest => "a digest, which is right".to_owned(),
            Proof::Key(key) => format!("by {key}, which is right"),
            Proof::Unchecked => match self.data.signature_info().key_locator() {
                Some(KeyLocator::Name(key)) => format!("by {key}, not checked"),
                _ => "not checked".to_owned(),
            },
        }
    }

    fn type_word(&self) -> String {
        match self.data.content_type() {
            ContentType::BLOB => "content".to_owned(),
            ContentType::LINK => "a link".to_owned(),
            ContentType::KEY => "a key".to_owned(),
            ContentType::NACK => "an application's \"no\"".to_owned(),
            ContentType::MANIFEST => "a manifest".to_owned(),
            ContentType::PREFIX_ANNOUNCEMENT => "a prefix announcement".to_owned(),
            other => format!("content of type {other}"),
        }
    }

    fn digest(&self) -> String {
        self.data.implicit_digest().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Name and value of each line.
    fn fields(&self) -> Vec<[String; 2]> {
        let data = &self.data;
        let mut fields = vec![
            ("name", data.name().to_string()),
            ("type", self.type_word()),
            ("content", Size(data.content().len() as u64).to_string()),
        ];
        if let Some(ms) = data.freshness_ms() {
            fields.push(("freshness", Duration::from_millis(ms).to_string()));
        }
        if let Some(last) = data.final_block() {
            fields.push(("last", last.to_string()));
        }
        fields.push(("signature", self.signature()));
        fields.push(("digest", self.digest()));
        fields.push(("packet", Size(data.wire().len() as u64).to_string()));
        if self.mark > 0 {
            fields.push(("congestion mark", self.mark.to_string()));
        }
        fields.push(("round trip", self.took.to_string()));
        fields.into_iter().map(|(name, value)| [name.to_owned(), visible(&value)]).collect()
    }

    fn object(&self) -> Packet {
        let data = &self.data;
        let key = match data.signature_info().key_locator() {
            Some(KeyLocator::Name(key)) => Some(key.to_string()),
            _ => None,
        };
        Packet {
            name: data.name().to_string(),
            content_type: data.content_type(),
            content_bytes: data.content().len(),
            freshness_ms: data.freshness_ms(),
            final_block: data.final_block().map(|last| last.to_string()),
            verified: match self.proof {
                Proof::Key(_) => Verified::Key,
                Proof::Digest => Verified::Digest,
                Proof::Unchecked => Verified::Unchecked,
            },
            key,
            digest: self.digest(),
            packet_bytes: data.wire().len(),
            mark: self.mark,
            rtt_ms: self.took.as_secs_f64() * 1e3,
        }
    }
}

fn show(args: &PeekArgs, shown: &Shown<'_>) -> Result<(), Failure> {
    if args.json {
        return output::json(&shown.object());
    }
    if args.content || args.wire {
        let bytes = if args.wire { shown.data.wire() } else { shown.data.content() };
        let mut out = std::io::stdout().lock();
        let written = out.write_all(bytes).and_then(|()| out.flush());
        return written.map_err(|error| output::unwritable(&error));
    }
    let fields = shown.fields();
    let wide = fields.iter().map(|[name, _]| name.len()).max().unwrap_or(0);
    fields.iter().try_for_each(|[name, value]| output::wrapped(&format!("{name:wide$}  {value}")))
}
