//! The traits between congestion-control schemes and their hosts.
//!
//! This crate contains no algorithm and no I/O. It defines the types that consumers, forwarders and
//! schemes share: [`Time`] and the other quantities, named random streams ([`Rng`]), the context of
//! every state-changing call ([`Cx`]), the traits of the parts of a scheme ([`Controller`],
//! [`WindowLaw`], [`Marker`], [`Shaper`], [`Stamper`], [`Strategy`]), parameter tables and the
//! registry.
#![forbid(unsafe_code)]

pub mod consumer;
pub mod context;
pub mod link;
pub mod lossy;
pub mod math;
pub mod observation;
pub mod params;
pub mod policy;
pub mod quantity;
mod quickest;
pub mod recovery;
pub mod registry;
pub mod rng;
pub mod round;
pub mod rtt;
pub mod strategy;
mod summed;
pub mod time;
pub mod timer;
pub mod unit;
pub mod window;

pub use consumer::{
    Arrival, Ask, Cause, Controller, InFlight, Lane, Load, Loss, MAX_RATE, MAX_WINDOW, Memo,
    PathEstimate, Permit, Sent, Ticket,
};
pub use context::{Cx, Event};
pub use link::{
    Crossing, DataMeta, Direction, Flow, InterestMeta, Kind, LinkView, Marker, NodeView, Offer,
    QueueView, Queued, Released, Returned, Shaper, Stage, Stamper, Verdict,
};
pub use lossy::{LossModel, Lossy};
pub use observation::{Observer, Steps};
pub use params::{NO_FILE, ParamError, ParamSpec, Params, Value, Word};
pub use policy::{Observation, Policy};
pub use quantity::{Rate, Ratio, Size, counted};
pub use quickest::{Baseline, Beyond, Quickest};
pub use recovery::Recovery;
pub use registry::{Equation, Scheme};
pub use rng::Rng;
pub use round::{Came, Round, Rounds};
pub use rtt::RttEstimate;
pub use strategy::{Action, Downstream, Links, NextHop, NoLinks, Strategy, StrategyCx, Upstream};
pub use summed::Since;
pub use time::{Duration, Time};
pub use timer::{TIMERS, Timer};
pub use unit::QuantityError;
pub use window::{Ack, CloneLaw, GAPS, Signal, WindowLaw, Windowed};
