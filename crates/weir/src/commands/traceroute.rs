//! `weir traceroute`: asks the forwarders on the way of a name, one after the other.
//!
//! The HopLimit of a probe decides which forwarder replies; see `packet::traceroute`.

use crate::cli::packets::TracerouteArgs;
use crate::exit::{Failure, Kind};
use crate::identity;
use crate::output;
use crate::signals::Stop;
use client::parts::Exchange;
use control::Duration;
use net::client::{Address, Connection, Turn};
use packet::traceroute::{Next, Reply, probe};
use packet::{Data, InterestBuf, MAX_PACKET, NackReason};
use schemars::JsonSchema;
use security::TrustPolicy;
use serde::Serialize;

/// The search ends behind this many forwarders in a row that do not reply.
const MOST_SILENT: usize = 3;

/// The outcome of one probe.
#[derive(Clone, Debug, PartialEq)]
enum Answer {
    Reply(Reply, Duration),
    Rejected(NackReason),
    Silent,
}

/// The result, for programs.
#[derive(JsonSchema, Serialize)]
pub struct Summary {
    /// The name.
    name: String,
    /// The forwarder with the producer replied.
    reached: bool,
    /// The forwarders on the way.
    hops: Vec<Hop>,
}

/// A place on the way, for programs.
#[derive(JsonSchema, Serialize)]
pub struct Hop {
    /// Its place on the way, from 1.
    hop: u8,
    /// The number of the forwarder, 16 hexadecimal digits; null without a reply.
    node: Option<String>,
    /// Its name, or null.
    name: Option<String>,
    /// The round-trip time in ms, or null.
    rtt_ms: Option<f64>,
    /// Where Interests for the name go from there; null without a reply.
    #[schemars(extend("enum" = ["forwarder", "application", "none", null]))]
    next: Option<&'static str>,
    /// Its content store has Data at or below the name; null without a reply.
    stored: Option<bool>,
    /// The reason of a Nack, or null.
    rejected: Option<String>,
}

impl Hop {
    fn new(hop: u8, answer: &Answer) -> Hop {
        let none = Hop {
            hop,
            node: None,
            name: None,
            rtt_ms: None,
            next: None,
            stored: None,
            rejected: None,
        };
        match answer {
            Answer::Reply(reply, took) => Hop {
                node: Some(format!("{:016x}", reply.node)),
                name: reply.name.as_ref().map(ToString::to_string),
                rtt_ms: Some(took.as_secs_f64() * 1e3),
                next: Some(match reply.next {
                    Next::None => "none",
                    Next::Forwarder => "forwarder",
                    Next::Application => "application",
                }),
                stored: Some(reply.is_stored),
                ..none
            },
            Answer::Rejected(reason) => Hop { rejected: Some(reason.to_string()), ..none },
            Answer::Silent => none,
        }
    }

    fn line(&self) -> String {
        let Hop { hop, .. } = self;
        let (Some(node), Some(rtt_ms)) = (&self.node, self.rtt_ms) else {
            return match &self.rejected {
                Some(reason) => format!("{hop:>3}  rejected, {reason}"),
                None => format!("{hop:>3}  no reply"),
            };
        };
        let name = self.name.as_ref().map_or_else(|| format!("node {node}"), String::clone);
        let stored = if self.stored == Some(true) { ", has content" } else { "" };
        let next = match self.next {
            Some("application") => ", the producer is here",
            Some("none") => ", has no route",
            _ => "",
        };
        format!("{hop:>3}  {name}  {rtt_ms:.3} ms{stored}{next}")
    }
}

/// Asks one forwarder after the other, until one has the producer or no route.
pub fn run(args: &TracerouteArgs) -> Result<(), Failure> {
    let stop = Stop::listen().map_err(|error| Failure::new(Kind::Failed, error))?;
    let policy = identity::policy(&[])?;
    let mut connection = Connection::open(Address::find(args.forwarder.socket.as_deref())?)?;
    let (mut hops, mut silent) = (Vec::new(), 0);
    let mut end = None;
    for hop in 1..=args.hops {
        let answer = ask(args, hop, &mut connection, &policy, &stop)?;
        let shown = Hop::new(hop, &answer);
        if !args.json {
            output::wrapped(&shown.line())?;
        }
        hops.push(shown);
        silent = if matches!(answer, Answer::Reply(..)) { 0 } else { silent + 1 };
        end = match answer {
            Answer::Reply(reply, _) if reply.next != Next::Forwarder => Some(reply.next),
            _ => None,
        };
        if end.is_some() || silent == MOST_SILENT {
            break;
        }
    }
    let is_reached = end == Some(Next::Application);
    if args.json {
        output::json(&Summary { name: args.name.to_string(), reached: is_reached, hops })?;
    }
    if is_reached {
        Ok(())
    } else {
        Err(Failure::silent(Kind::NotFound, "the producer was not reached"))
    }
}

/// Asks the forwarder at one place, several times if it does not reply.
fn ask(
    args: &TracerouteArgs,
    hop: u8,
    connection: &mut Connection,
    policy: &TrustPolicy,
    stop: &Stop,
) -> Result<Answer, Failure> {
    let mut answer = Answer::Silent;
    for _ in 0..args.tries.get() {
        let number = getrandom::u64().map_err(|error| Failure::new(Kind::Failed, error))?;
        let interest = InterestBuf {
            must_be_fresh: true,
            nonce: Some(number as u32),
            lifetime_ms: Some(args.timeout.as_millis()),
            hop_limit: Some(hop),
            ..InterestBuf::new(probe(&args.name, number))
        };
        let mut exchange = probe_exchange(&interest, policy);
        if exchange.interest_len() > MAX_PACKET {
            let bytes = args.name.encoded_len();
            let text = format!("a name of {bytes} bytes does not fit into a packet");
            return Err(Failure::new(Kind::Usage, text).then("use a shorter name"));
        }
        let end = connection.now() + args.timeout;
        while !exchange.is_over() && connection.now() < end {
            if connection.turn(&mut exchange, end)? == Turn::Interrupted || stop.requested() {
                return Err(Failure::silent(Kind::Interrupted, "interrupted"));
            }
        }
        answer = answer_of(exchange);
        if matches!(answer, Answer::Reply(..)) {
            break;
        }
    }
    Ok(answer)
}

/// The exchange of a probe for a reply. Damaged Data and other Data are no answer: the forwarder's
/// reply may still arrive.
fn probe_exchange<'a>(probe: &InterestBuf, policy: &'a TrustPolicy) -> Exchange<'a> {
    Exchange::accepting(probe, |data| {
        policy.verify(data).is_ok() && Reply::decode(data.content()).is_some()
    })
}

fn answer_of(exchange: Exchange<'_>) -> Answer {
    match exchange.into_answer() {
        Some(client::parts::Answer::Data { wire, took, .. }) => {
            let reply = Data::decode(&wire).ok().and_then(|data| Reply::decode(data.content()));
            reply.map_or(Answer::Silent, |reply| Answer::Reply(reply, took))
        }
        Some(client::parts::Answer::Nack(reason)) => Answer::Rejected(reason),
        None => Answer::Silent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::Time;
    use net::client::Endpoint;

    #[test]
    fn a_line_shows_the_node_that_replied_and_its_next_hop() {
        let reply = |name: Option<&str>, next, is_stored| {
            let name = name.map(|name| name.parse().unwrap());
            Answer::Reply(Reply { node: 0xab, name, next, is_stored }, Duration::from_micros(1500))
        };
        for (answer, line) in [
            (reply(Some("/r/1"), Next::Forwarder, false), "  1  /r/1  1.500 ms"),
            (
                reply(None, Next::Application, true),
                "  1  node 00000000000000ab  1.500 ms, has content, the producer is here",
            ),
            (reply(Some("/r"), Next::None, false), "  1  /r  1.500 ms, has no route"),
            (Answer::Rejected(NackReason::NoRoute), "  1  rejected, no route"),
            (Answer::Silent, "  1  no reply"),
        ] {
            assert_eq!(Hop::new(1, &answer).line(), line);
        }
    }

    #[test]
    fn only_a_reply_to_the_probe_itself_is_an_answer() {
        let policy = TrustPolicy::AnySigned(Vec::new());
        let name = probe(&"/a".parse().unwrap(), 7);
        let interest = InterestBuf { nonce: Some(1), ..InterestBuf::new(name.clone()) };
        let mut one = probe_exchange(&interest, &policy);
        assert!(one.poll_transmit(Time::ZERO, &mut Vec::new()));
        let reply = Reply { node: 1, name: None, next: Next::Forwarder, is_stored: false };
        let other = probe(&"/a".parse().unwrap(), 8);
        let mut damaged = reply.encode(name.as_ref()).to_vec();
        *damaged.last_mut().unwrap() ^= 1;
        let bare = packet::DataBuf::new(name.clone(), &b"x"[..]).encode_digest();
        for frame in [&reply.encode(other.as_ref())[..], &damaged, &bare, b"HTTP"] {
            one.receive(Time(1_000_000), frame);
            assert!(!one.is_over());
        }
        one.receive(Time(2_000_000), &reply.encode(name.as_ref()));
        assert_eq!(answer_of(one), Answer::Reply(reply, Duration::from_millis(2)));
    }
}
