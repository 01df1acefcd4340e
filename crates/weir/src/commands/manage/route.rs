//! `weir route`

use super::Session;
use super::flags::flag_names;
use crate::cli::manage::{ListArgs, RouteCommand};
use crate::exit::{Failure, Kind};
use crate::output::{self, Column, Table};
use control::Duration;
use net::client::{RouteEntry, lists};
use net::management::parameters::ControlParameters;
use net::management::rib::{CAPTURE, CHILD_INHERIT};
use packet::Name;
use schemars::JsonSchema;
use serde::Serialize;

/// A route of a forwarder.
#[derive(JsonSchema, Serialize)]
pub struct Route {
    /// Its prefix.
    prefix: String,
    /// The number of its face.
    face: u64,
    /// The number of what made it, such as 255 for `weir route add`.
    origin: u64,
    /// Its cost.
    cost: u64,
    /// Its flags.
    #[schemars(extend("items" = { "type": "string", "enum": ["inherit", "capture"] }))]
    flags: Vec<&'static str>,
    /// The time until it ends in ms; null: it does not end.
    expires_ms: Option<u64>,
}

/// The route of `weir route add`, as the forwarder says it. Null where it does not say it.
#[derive(JsonSchema, Serialize)]
pub struct Added {
    /// Its prefix.
    prefix: Option<String>,
    /// The number of its face.
    face: Option<u64>,
    /// The number of what made it.
    origin: Option<u64>,
    /// Its cost.
    cost: Option<u64>,
    /// Its flags: `inherit`, `capture`.
    flags: Option<Vec<&'static str>>,
    /// The time until it ends in ms; null: it does not end.
    expires_ms: Option<u64>,
}

/// The result of `weir route remove`.
#[derive(JsonSchema, Serialize)]
pub struct Removed {
    /// The prefix.
    prefix: String,
    /// The number of the face.
    face: u64,
    /// The number of what made the route; null with `--all`.
    origin: Option<u64>,
    /// Routes for the prefix to the face that are still there. If there are some, the command
    /// fails.
    stay: Vec<Route>,
}

const FLAGS: [(u64, &str); 2] = [(CHILD_INHERIT, "inherit"), (CAPTURE, "capture")];

/// Lists, adds or removes routes.
pub fn run(command: &RouteCommand) -> Result<(), Failure> {
    match command {
        RouteCommand::List(args) => list(args),
        RouteCommand::Add { prefix, face, cost, origin, no_inherit, capture, expires, list } => {
            let mut session = Session::open(list)?;
            let face = session.face(face)?;
            let inherit = if *no_inherit { 0 } else { CHILD_INHERIT };
            let asked = ControlParameters {
                name: Some(prefix.clone()),
                face_id: Some(face),
                origin: Some(*origin),
                cost: Some(*cost),
                flags: Some(inherit | if *capture { CAPTURE } else { 0 }),
                expiration_ms: expires.map(Duration::as_millis),
                ..ControlParameters::default()
            };
            let what = format!("add a route for {prefix}");
            let body = session.command(["nfd", "rib", "register"], &asked, &what, &[])?.body;
            session.print(
                &route_reply(&body),
                &format!("route for {prefix} to face {face}, cost {cost}"),
            )
        }
        RouteCommand::Remove { prefix, face, origin, all, list } => {
            let mut session = Session::open(list)?;
            let face = session.face(face)?;
            let origins = match all {
                true => session.routes(prefix, face)?.iter().map(|route| route.origin).collect(),
                false => vec![*origin],
            };
            for origin in origins {
                session.unregister(prefix, face, origin)?;
            }
            let stay = session.routes(prefix, face)?;
            let removed = Removed {
                prefix: prefix.to_string(),
                face,
                origin: (!all).then_some(*origin),
                stay: stay.iter().map(object).collect(),
            };
            if stay.is_empty() {
                return session
                    .print(&removed, &format!("no route for {prefix} to face {face} any more"));
            }
            if session.json {
                output::json(&removed)?;
            }
            Err(others_stay(prefix, face, *origin, &stay))
        }
    }
}

impl Session {
    /// The routes for a prefix to a face, of all origins.
    fn routes(&mut self, prefix: &Name, face: u64) -> Result<Vec<RouteEntry>, Failure> {
        let mut routes = lists::routes(&mut self.connection)?;
        routes.retain(|route| route.prefix == *prefix && route.face == face);
        Ok(routes)
    }

    fn unregister(&mut self, prefix: &Name, face: u64, origin: u64) -> Result<(), Failure> {
        let asked = ControlParameters {
            name: Some(prefix.clone()),
            face_id: Some(face),
            origin: Some(origin),
            ..ControlParameters::default()
        };
        let what = format!("remove a route for {prefix}");
        self.command(["nfd", "rib", "unregister"], &asked, &what, &[]).map(drop)
    }
}

/// Routes of other origins still lead there.
fn others_stay(prefix: &Name, face: u64, removed: u64, stay: &[RouteEntry]) -> Failure {
    let each = stay.iter().map(|r| format!("origin {}, cost {}", origin(r.origin), r.cost));
    let each = each.collect::<Vec<_>>().join("; ");
    let text = format!(
        "{prefix} still leads to face {face}: none of origin {} is left, but others stay: {each}",
        origin(removed)
    );
    let first = stay.first().map_or(0, |route| route.origin);
    let next = format!("`--origin {first}` removes that of origin {}, `--all` all", origin(first));
    Failure::new(Kind::Failed, text).then(&next)
}

fn route_reply(body: &ControlParameters) -> Added {
    Added {
        prefix: body.name.as_ref().map(ToString::to_string),
        face: body.face_id,
        origin: body.origin,
        cost: body.cost,
        flags: body.flags.map(|flags| flag_names(flags, &FLAGS)),
        expires_ms: body.expiration_ms,
    }
}

/// NFD's words for the origin of a route.
fn origin(number: u64) -> String {
    match number {
        0 => "app".to_owned(),
        64 => "autoreg".to_owned(),
        65 => "client".to_owned(),
        66 => "autoconf".to_owned(),
        128 => "nlsr".to_owned(),
        129 => "prefixann".to_owned(),
        255 => "static".to_owned(),
        other => other.to_string(),
    }
}

fn list(args: &ListArgs) -> Result<(), Failure> {
    let mut session = Session::open(args)?;
    let routes = lists::routes(&mut session.connection)?;
    let mut table = Table::new(vec![
        Column::left("prefix", 0),
        Column::right("face", 0),
        Column::right("cost", 0),
        Column::left("origin", 1),
        Column::left("flags", 1),
        Column::left("expires", 1),
    ]);
    for route in &routes {
        let expires = route.expires_ms.map(|ms| Duration::from_millis(ms).to_string());
        table.row(vec![
            route.prefix.to_string(),
            route.face.to_string(),
            route.cost.to_string(),
            origin(route.origin),
            flag_names(route.flags, &FLAGS).join(" "),
            expires.unwrap_or_default(),
        ]);
    }
    session.list(&routes.iter().map(object).collect::<Vec<_>>(), &table)
}

fn object(route: &RouteEntry) -> Route {
    Route {
        prefix: route.prefix.to_string(),
        face: route.face,
        origin: route.origin,
        cost: route.cost,
        flags: flag_names(route.flags, &FLAGS),
        expires_ms: route.expires_ms,
    }
}
