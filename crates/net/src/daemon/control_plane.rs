//! The owner of management: commands and datasets, the configuration that is read again, and what
//! other threads ask.

mod configured;
mod connecting;
mod orders;
mod reload;
mod report;

use super::accounts;
use super::applied::choose;
use super::error::DaemonError;
use super::faces::FaceSet;
use super::faces::news::News;
use super::health::Condition;
use super::metrics::{ServeMetrics, Served};
use super::timer::ControlTimer;
use super::wake_up::{Question, Reread, WakeUps};
use super::{permissions, supervisor};
use crate::clock::{Clock, unix_millis};
use crate::config::{Config, ConfigError};
use crate::management::{self, Answer, FaceEvent, Host, Management, metrics};
use configured::Configured;
use connecting::Connecting;
use control::Time;
use forwarder::{FaceConfig, FaceId, Forwarder, Scope, Wire};
use packet::Name;
use packet::options::Capability;
use report::Report;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

/// Management and its state in the daemon.
#[derive(Debug)]
pub(super) struct ControlPlane {
    clock: Clock,
    management: Management,
    /// Faces that a command requested, and that are not connected yet.
    connecting: Vec<Connecting>,
    configured: Configured,
    metrics: Served,
    wake_ups: WakeUps,
    report: Report,
    /// Parts of the configuration that could not be applied, and why.
    left_out: Vec<String>,
    /// Mistakes of the configuration as it was last read, and changes that wait for a restart.
    warnings: Vec<String>,
}

impl ControlPlane {
    /// Adds the internal face with its routes, and sets the strategies of the configuration.
    ///
    /// # Errors
    /// A certificate, a user or a strategy of the configuration cannot be used.
    pub fn new(
        forwarder: &mut Forwarder,
        config: &Config,
        clock: Clock,
        wake_ups: WakeUps,
    ) -> Result<ControlPlane, DaemonError> {
        let mut management = management(forwarder, config, clock.now())?;
        management.strategies().extend(strategies(forwarder, config)?);
        let (configured, metrics) = (Configured::new(config), Served::default());
        Ok(ControlPlane {
            clock,
            management,
            connecting: Vec::new(),
            configured,
            metrics,
            wake_ups,
            report: Report::default(),
            left_out: Vec::new(),
            warnings: Vec::new(),
        })
    }

    /// The internal face.
    pub fn face(&self) -> FaceId {
        self.management.face()
    }

    /// The wake-ups for other threads and signals.
    pub fn wake_ups(&self) -> &WakeUps {
        &self.wake_ups
    }

    /// Serves metrics at these addresses, and at others when the configuration is read again.
    ///
    /// # Errors
    /// Of the addresses that cannot be used, the first.
    pub fn serve_metrics(
        &mut self,
        serve: ServeMetrics,
        addresses: &[SocketAddr],
    ) -> Result<(), DaemonError> {
        self.metrics.serve_by(serve);
        let failed = self.metrics.adopt(addresses, &self.wake_ups);
        failed.into_iter().next().map_or(Ok(()), Err)
    }

    /// Reads the configuration again with this function, when a signal asks for it.
    pub fn reread_by(&mut self, reread: Option<Reread>) {
        self.wake_ups.reread_by(reread);
    }

    /// Answers other threads and signals. A daemon that is stopping reads no configuration.
    pub fn answer_wake_ups(
        &mut self,
        forwarder: &mut Forwarder,
        faces: &mut FaceSet,
        is_stopping: bool,
    ) {
        if self.wake_ups.take_signal() && !is_stopping {
            self.reread(forwarder, faces);
            // The cached metrics describe the earlier configuration.
            self.report = Report::default();
        }
        let mut askers = Vec::new();
        while let Some(question) = self.wake_ups.next_question() {
            match question {
                Question::Metrics(asker) => askers.push(asker),
                // A thread that waits no longer needs no answer.
                Question::Condition(asker) => {
                    let _ = asker.send(Condition { is_stopping, ..self.condition(faces) });
                }
            }
        }
        if !askers.is_empty() {
            let mut report = std::mem::take(&mut self.report);
            let text = report.text(|| self.clock.now(), || self.metrics(forwarder, faces));
            self.report = report;
            for asker in askers {
                let _ = asker.send(Arc::clone(&text));
            }
        }
    }

    fn metrics(&self, forwarder: &Forwarder, faces: &FaceSet) -> String {
        let condition = self.condition(faces);
        let node = metrics::Node {
            forwarder,
            management: &self.management,
            uptime_ms: condition.uptime_ms,
            is_applied: condition.is_applied(),
        };
        metrics::text(&node, &faces.infos(forwarder))
    }

    fn condition(&self, faces: &FaceSet) -> Condition {
        Condition {
            uptime_ms: self.management.uptime_ms(unix_millis()),
            is_stopping: false,
            listening: faces.listening(),
            left_out: self.left_out.clone(),
            warnings: self.warnings.clone(),
        }
    }

    /// Reads the configuration and applies the changes. With a mistake in it, none.
    fn reread(&mut self, forwarder: &mut Forwarder, faces: &mut FaceSet) {
        supervisor::notify(&supervisor::reloading());
        match self.wake_ups.reread() {
            None => tracing::warn!("there is no configuration file to reload"),
            Some(Ok(config)) => {
                self.warnings.clear();
                self.adopt(forwarder, faces, &config);
            }
            Some(Err(ConfigError::Mistakes(mistakes))) => {
                for mistake in &mistakes {
                    tracing::error!("{mistake}");
                }
                tracing::error!(mistakes = mistakes.len(), "previous configuration kept");
                self.warnings = mistakes.iter().map(ToString::to_string).collect();
            }
            Some(Err(error)) => {
                tracing::error!(%error, "previous configuration kept");
                self.warnings = vec![error.to_string()];
            }
        }
        supervisor::notify(supervisor::READY);
    }

    /// Has management decide about routes that strategies have learned.
    pub fn learn(&mut self, forwarder: &mut Forwarder) {
        while let Some(learned_route) = forwarder.poll_learned_route() {
            let now = self.clock.now();
            self.management.learn(forwarder, now, unix_millis(), learned_route);
        }
    }

    /// When [`ControlPlane::on_deadline`] has to be called.
    pub fn next_deadline(&self) -> Option<Time> {
        ControlTimer::ALL.into_iter().filter_map(|timer| self.due(timer)).min()
    }

    /// Serves the timers whose time has come.
    pub fn on_deadline(&mut self, forwarder: &mut Forwarder, faces: &mut FaceSet, now: Time) {
        for timer in ControlTimer::ALL {
            if self.due(timer).is_some_and(|at| at <= now) {
                self.on_timer(timer, forwarder, faces, now);
            }
        }
    }

    /// When a timer goes off, if it is set.
    fn due(&self, timer: ControlTimer) -> Option<Time> {
        match timer {
            ControlTimer::Management => self.management.next_deadline(),
            ControlTimer::Connection => self.connecting.iter().map(|waiting| waiting.until).min(),
        }
    }

    fn on_timer(
        &mut self,
        timer: ControlTimer,
        forwarder: &mut Forwarder,
        faces: &mut FaceSet,
        now: Time,
    ) {
        match timer {
            ControlTimer::Management => {
                self.take_news(forwarder, faces);
                self.management.on_deadline(forwarder, now);
                self.manage(forwarder, faces);
                self.count(forwarder);
            }
            // The daemon calls [`ControlPlane::reply_to_connected`] in every turn.
            ControlTimer::Connection => {}
        }
    }

    /// Reports the memory of management to the forwarder.
    pub fn count(&mut self, forwarder: &mut Forwarder) {
        self.management.count(forwarder);
    }

    /// Hands the packets that the forwarder sends to its internal face to management, and takes the
    /// answers.
    pub fn manage(&mut self, forwarder: &mut Forwarder, faces: &mut FaceSet) {
        self.take_news(forwarder, faces);
        let now = self.clock.now();
        let face = self.management.face();
        let channels = faces.listening();
        let mut frame = std::mem::take(faces.packet_buffer());
        let mut orders = Vec::new();
        frame.clear();
        while forwarder.poll_transmit(now, face, &mut frame).is_some() {
            let mut host = Host {
                forwarder: &mut *forwarder,
                faces: &|forwarder| faces.infos(forwarder),
                channels: &channels,
                account: &|id| faces.account(id),
            };
            match self.management.receive(&mut host, now, unix_millis(), &frame) {
                Some(Answer::Frame(frame)) => forwarder.receive(now, face, Wire::Borrowed(&frame)),
                Some(Answer::Order(order)) => orders.push(order),
                None => {}
            }
            frame.clear();
            self.management.count(forwarder);
        }
        *faces.packet_buffer() = frame;
        loop {
            let mut host = Host {
                forwarder: &mut *forwarder,
                faces: &|forwarder| faces.infos(forwarder),
                channels: &channels,
                account: &|id| faces.account(id),
            };
            match self.management.resume(&mut host, now) {
                Some(Answer::Frame(frame)) => forwarder.receive(now, face, Wire::Borrowed(&frame)),
                Some(Answer::Order(order)) => orders.push(order),
                None => break,
            }
        }
        orders.into_iter().for_each(|order| self.execute(forwarder, faces, *order, now));
        self.notify(forwarder, faces);
    }

    /// Gives the forwarder the packets that management sends of its own accord.
    pub fn notify(&mut self, forwarder: &mut Forwarder, faces: &mut FaceSet) {
        self.take_news(forwarder, faces);
        let (now, face) = (self.clock.now(), self.management.face());
        while let Some(frame) = self.management.poll_transmit(now) {
            forwarder.receive(now, face, Wire::Borrowed(&frame));
        }
    }

    /// Tells management about faces that came, went, or changed their state.
    fn take_news(&mut self, forwarder: &mut Forwarder, faces: &mut FaceSet) {
        let now = self.clock.now();
        while let Some(News { event, face }) = faces.poll_news() {
            let is_gone = event == FaceEvent::Destroyed;
            if is_gone {
                self.management.face_gone(forwarder, face.id);
            }
            self.management.face_event(now, event, &face);
            if is_gone {
                self.management.count(forwarder);
            }
        }
    }
}

/// Checks that the users, groups, certificates and trust rules of a configuration can be used.
///
/// # Errors
///
/// The first that is missing or cannot be used.
pub(super) fn check(config: &Config) -> Result<(), DaemonError> {
    accounts::access(&config.listen)?;
    permissions::look_up(config).map(drop)
}

/// Sets the strategies of the configuration; returns all prefixes with their strategies' names.
fn strategies(
    forwarder: &mut Forwarder,
    config: &Config,
) -> Result<BTreeMap<Name, Name>, DaemonError> {
    let root = (Name::default(), schemes::instance::name(&super::applied::root_choice()));
    let mut all = BTreeMap::from([root]);
    for entry in &config.strategies {
        choose(forwarder, &mut all, &entry.prefix, &entry.choice)?;
    }
    Ok(all)
}

/// Adds the internal face and its routes.
fn management(
    forwarder: &mut Forwarder,
    config: &Config,
    now: Time,
) -> Result<Management, DaemonError> {
    let face = FaceConfig {
        name: "management".to_owned(),
        scope: Scope::Local,
        local_fields: true,
        capability: Capability::default(),
        ..FaceConfig::default()
    };
    let id = forwarder.add_face(now, face);
    let mut management = Management::new(id, config.application.routes, unix_millis());
    for prefix in management::prefixes() {
        forwarder
            .add_route(id, prefix.as_ref(), 0)
            .map_err(|e| DaemonError::Table { prefix: prefix.clone(), why: e.to_string() })?;
    }
    forwarder.set_uncached(&config.no_cache);
    permissions::grant(forwarder, &mut management, config)?;
    management.log_packets(forwarder);
    Ok(management)
}
