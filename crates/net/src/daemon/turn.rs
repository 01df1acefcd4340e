//! The loop.

use super::error::DaemonError;
use super::face::{Face, Link};
use super::listeners::FACES;
use super::memory::Watch;
use super::start::{STOP, TIMER, WAKE_UP};
use super::{Daemon, log};
use crate::clock::unix_millis;
use crate::management::{Answer, FaceEvent, Host};
use crate::socket::Progress;
use crate::timer::Sleep;
use control::{Duration, Time};
use forwarder::{Allowance, FaceId, Forwarder, Wire};
use std::io::ErrorKind;

/// Bytes that a UDP face may bring in one turn. A turn must end before the others' receive buffers
/// overflow: 200 kB fill within a millisecond at 1.5 Gbit/s.
const DATAGRAM_BUDGET: usize = 512 << 10;

/// Bytes that a stream may bring in one turn.
const STREAM_BUDGET: usize = 256 << 10;

/// Bytes that a face may send in one turn.
const SEND_BUDGET: usize = 256 << 10;

/// How long datagrams are received in one turn, and how long streams are, if many faces have some:
/// the others go on in the next turn, before those that had theirs.
const RECEIVING: Duration = Duration::from_millis(5);

/// How long pending Interests are ended in one turn: of a flood's there may be a million.
const ENDING: Duration = Duration::from_millis(5);

/// How often faces are looked at for silence, at least.
const IDLE_CHECK: Duration = Duration::from_secs(30);

/// How often it is written how many log lines were left out.
const LOG_REPORT: Duration = Duration::from_secs(1);

impl Daemon {
    /// Runs until it is stopped.
    ///
    /// # Errors
    /// The poll fails.
    pub fn run(mut self) -> Result<(), DaemonError> {
        while !self.stopping {
            self.turn()?;
        }
        self.finish()
    }

    /// Waits for something to happen, and deals with it.
    fn turn(&mut self) -> Result<(), DaemonError> {
        let work = &self.work;
        let busy = !work.datagrams.is_empty()
            || !work.streams.is_empty()
            || !work.sending.is_empty()
            || (work.listeners && self.listeners.paused.is_none());
        let sleep = if busy { Sleep::Not } else { Sleep::Until(self.next_deadline()) };
        self.poll(sleep)?;
        self.receive_datagrams();
        self.receive_streams();
        if self.work.listeners {
            self.accept();
        }
        self.on_deadlines();
        self.learn();
        self.send();
        // Sending shows, too, that a connection cannot be made.
        while self.connected() {
            self.send();
        }
        if let Some(memory) = &mut self.memory {
            memory.look(self.clock.now(), &mut self.forwarder);
        }
        Ok(())
    }

    /// Waits, and sorts what has become ready.
    pub(super) fn poll(&mut self, sleep: Sleep) -> Result<(), DaemonError> {
        let failed = DaemonError::system("cannot wait for sockets");
        let timeout = self.timer.prepare(self.clock.now(), sleep).map_err(&failed)?;
        match self.poll.poll(&mut self.events, timeout) {
            Ok(()) => {}
            Err(e) if e.kind() == ErrorKind::Interrupted => return Ok(()),
            Err(e) => return Err(failed(e)),
        }
        let (mut stop, mut woken) = (false, false);
        for event in &self.events {
            match event.token() {
                TIMER => {}
                STOP => stop = true,
                WAKE_UP => woken = true,
                token if token.0 < FACES => self.work.listeners = true,
                token => {
                    let id = FaceId((token.0 - FACES) as u64);
                    let Some(face) = self.faces.get_mut(id) else { continue };
                    let readable =
                        event.is_readable() || event.is_read_closed() || event.is_error();
                    if readable && !face.readable {
                        face.readable = true;
                        match face.link {
                            Link::Udp(..) => self.work.datagrams.push_back(id),
                            _ => self.work.streams.push_back(id),
                        }
                    }
                    if event.is_writable() && face.blocked {
                        face.blocked = false;
                        self.work.sending.push_back(id);
                    }
                }
            }
        }
        if stop {
            self.stop_requested();
        }
        if woken {
            self.woken();
        }
        Ok(())
    }

    fn receive_datagrams(&mut self) {
        let mut first_datagrams = Vec::new();
        let end = self.clock.now() + RECEIVING;
        for _ in 0..self.work.datagrams.len() {
            let Some(id) = self.work.datagrams.pop_front() else { break };
            let now = self.clock.now();
            let Daemon { faces, forwarder, buffers, .. } = self;
            let Some(face) = faces.get_mut(id) else { continue };
            let received =
                face.receive(forwarder, buffers, &mut first_datagrams, now, DATAGRAM_BUDGET);
            let unreachable = face.take_unreachable();
            match received {
                Ok(Progress::More) => self.work.datagrams.push_back(id),
                Ok(_) => face.readable = false,
                Err(why) => self.broken(id, &why),
            }
            if unreachable {
                self.unreachable(id);
            }
            if now >= end {
                break;
            }
        }
        if !first_datagrams.is_empty() {
            self.receive_first(first_datagrams, self.clock.now());
        }
    }

    fn receive_streams(&mut self) {
        let mut first_datagrams = Vec::new();
        let end = self.clock.now() + RECEIVING;
        for _ in 0..self.work.streams.len() {
            let Some(id) = self.work.streams.pop_front() else { break };
            let now = self.clock.now();
            let Daemon { faces, forwarder, buffers, .. } = self;
            let Some(face) = faces.get_mut(id) else { continue };
            match face.receive(forwarder, buffers, &mut first_datagrams, now, STREAM_BUDGET) {
                Ok(Progress::More) => self.work.streams.push_back(id),
                Ok(_) => face.readable = false,
                Err(why) => self.broken(id, &why),
            }
            if now >= end {
                break;
            }
        }
    }

    /// When something is due, whatever the sockets do.
    pub(super) fn next_deadline(&self) -> Option<Time> {
        [
            self.forwarder.next_deadline(),
            self.management.next_deadline(),
            self.faces.next_due(),
            self.faces.next_retry(),
            self.listeners.paused,
            self.memory.as_ref().and_then(Watch::next_deadline),
            self.connecting.iter().map(|waiting| waiting.until).min(),
            log::has_left_out().then(|| self.log_report.unwrap_or_else(|| self.clock.now())),
            (!self.faces.crowd.is_empty() || self.faces.commanded > 0)
                .then_some(self.next_idle_check),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Has management judge what strategies have learned.
    fn learn(&mut self) {
        while let Some(learned_route) = self.forwarder.poll_learned_route() {
            let now = self.clock.now();
            self.management.learn(&mut self.forwarder, now, unix_millis(), learned_route);
        }
    }

    fn on_deadlines(&mut self) {
        let now = self.clock.now();
        let due = |at: Option<Time>| at.is_some_and(|at| at <= now);
        while due(self.forwarder.next_deadline()) {
            self.forwarder.on_deadline(now);
            if self.clock.now() >= now + ENDING {
                break;
            }
        }
        if due(self.management.next_deadline()) {
            self.management.on_deadline(&mut self.forwarder, now);
            self.manage();
            self.management.count(&mut self.forwarder);
        }
        if due(self.faces.next_due()) {
            self.work.sending.extend(self.faces.due(now));
        }
        if due(self.faces.next_retry()) {
            self.faces.retries(now).into_iter().for_each(|id| self.dial(id, now));
        }
        if now >= self.next_idle_check {
            self.close_idle(now);
        }
        if log::has_left_out() && now >= *self.log_report.get_or_insert(now + LOG_REPORT) {
            self.log_report = None;
            log::report();
        }
    }

    /// Closes UDP faces that peers brought about and over which nothing came for long.
    fn close_idle(&mut self, now: Time) {
        while let Some((id, end)) =
            self.faces.next_to_end(&self.forwarder, &self.settings.on_demand)
        {
            if end > now {
                self.next_idle_check = end.min(now + IDLE_CHECK);
                return;
            }
            self.close(id, "nothing came over it for long");
        }
        self.next_idle_check = now + IDLE_CHECK;
    }

    /// Gives the kernel what the forwarder has to send.
    pub(super) fn send(&mut self) {
        self.notify();
        loop {
            while let Some(id) = self.forwarder.poll_ready() {
                if id == self.management.face() {
                    self.manage();
                } else if self.faces.get_mut(id).is_some_and(|face| !face.blocked) {
                    self.work.sending.push_back(id);
                }
            }
            if self.work.sending.is_empty() {
                return;
            }
            let mut more = Vec::new();
            while let Some(id) = self.work.sending.pop_front() {
                let now = self.clock.now();
                match self.send_over(id, now) {
                    Ok(Progress::More) => more.push(id),
                    Ok(_) => {}
                    Err(why) => self.broken(id, &why),
                }
            }
            if !more.is_empty() {
                // They go on in the next turn, when the others have been heard.
                self.work.sending.extend(more);
                return;
            }
        }
    }

    /// Gives the kernel what the forwarder has for a face: to an address that may be forged, no
    /// more than the limits let through.
    fn send_over(&mut self, id: FaceId, now: Time) -> Result<Progress, String> {
        let Daemon { faces, forwarder, buffers, unproved, settings, .. } = self;
        let Some(face) = faces.get_mut(id).filter(|face| !face.blocked) else {
            return Ok(Progress::Blocked);
        };
        face.try_again(forwarder, now);
        let limits = &settings.on_demand.unproved;
        let (spent, rates) = match face.is_neighbour {
            true => (&mut unproved.neighbours, limits.local_rates()),
            false => (&mut unproved.others, limits.rates()),
        };
        let bounded = face.source.filter(|_| face.unproved && !face.is_away()).map(|source| {
            let allowance = match forwarder.is_proved(id) {
                true => Allowance::Unlimited,
                false => Allowance::Bytes(spent.allowance(now, source, rates)),
            };
            face.unproved = allowance != Allowance::Unlimited;
            forwarder.set_allowance(id, allowance);
            (source, allowance)
        });
        let progress = face.send(forwarder, buffers, now, SEND_BUDGET);
        if let Some((source, Allowance::Bytes(before))) = bounded
            && let Allowance::Bytes(left) = forwarder.allowance(id)
        {
            spent.spend(source, before - left);
        }
        if face.take_unreachable() {
            self.unreachable(id);
        }
        progress
    }

    /// The network reported that nothing receives at the other end of a face that its peer brought
    /// about. Nothing more is sent to an address that may be forged, whose face ends with what it
    /// waits for. Another may come back, or the report may be forged, so that it keeps its face and
    /// its routes.
    fn unreachable(&mut self, id: FaceId) {
        let Some(face) = self.faces.get_mut(id) else { return };
        if face.is_unproved(&self.forwarder) {
            return self.close(id, "nothing receives there");
        }
        tracing::debug!(face = %id, uri = face.uri, "nothing receives there at present");
        face.is_unreachable(&mut self.forwarder, self.clock.now());
        // What waits is dropped when the forwarder is asked for it.
        self.work.sending.push_back(id);
    }

    /// Hands what the forwarder sends to its internal face to management, and takes the answers.
    fn manage(&mut self) {
        let now = self.clock.now();
        let Daemon { forwarder, management, faces, listeners, buffers, settings, .. } = self;
        let face = management.face();
        let infos = |forwarder: &Forwarder| faces.infos(forwarder, &settings.on_demand);
        let channels = listeners.uris();
        let account = |id: FaceId| faces.get(id).and_then(Face::account);
        let frame = &mut buffers.packet;
        let mut orders = Vec::new();
        let mut answered = |forwarder: &mut Forwarder, answer: Option<Answer>| match answer {
            Some(Answer::Frame(frame)) => {
                forwarder.receive(now, face, Wire::Borrowed(&frame));
                true
            }
            Some(Answer::Order(order)) => {
                orders.push(order);
                true
            }
            None => false,
        };
        frame.clear();
        while forwarder.poll_transmit(now, face, frame).is_some() {
            let mut host =
                Host { forwarder, faces: &infos, channels: &channels, account: &account };
            let answer = management.receive(&mut host, now, unix_millis(), frame);
            answered(forwarder, answer);
            frame.clear();
            management.count(forwarder);
        }
        loop {
            let mut host =
                Host { forwarder, faces: &infos, channels: &channels, account: &account };
            let answer = management.resume(&mut host, now);
            if !answered(forwarder, answer) {
                break;
            }
        }
        orders.into_iter().for_each(|order| self.obey(*order, now));
        self.notify();
    }

    /// Gives the forwarder what management has to say of itself.
    fn notify(&mut self) {
        let (now, face) = (self.clock.now(), self.management.face());
        while let Some(frame) = self.management.poll_transmit(now) {
            self.forwarder.receive(now, face, Wire::Borrowed(&frame));
        }
    }

    /// The face's socket is of no more use: a configured face is connected again, others end.
    fn broken(&mut self, id: FaceId, why: &str) {
        let now = self.clock.now();
        let Some(face) = self.faces.get_mut(id) else { return };
        if face.target.is_none() {
            return self.close(id, why);
        }
        tracing::warn!(face = %id, uri = face.uri, why, "face down, connecting again");
        face.readable = false;
        face.down(now);
        if !std::mem::replace(&mut face.was_down, true) {
            let info = face.info();
            self.management.face_event(now, FaceEvent::Down, &info);
        }
        self.faces.schedule(id);
    }

    /// Ends a face and its routes.
    pub(super) fn close(&mut self, id: FaceId, why: &str) {
        let Some(face) = self.faces.remove(id) else { return };
        if face.is_unproved(&self.forwarder) {
            tracing::debug!(face = %id, uri = face.uri, why, "face to an unproved address closed");
        } else {
            tracing::info!(face = %id, uri = face.uri, why, "face closed");
        }
        let now = self.clock.now();
        self.forwarder.remove_face(now, id);
        self.management.face_gone(&mut self.forwarder, id);
        self.management.face_event(now, FaceEvent::Destroyed, &face.info());
        self.management.count(&mut self.forwarder);
    }
}
