//! Capabilities of the two ends of a link, and the proof of an address.
//!
//! A face announces its capabilities in an IDLE frame, which programs without them ignore. The end
//! that opens a link announces first; the end that accepted it answers. Libraries of other projects
//! need not be able to read an IDLE frame, and never get one unasked.
//!
//! On datagrams anything can forge a sender's address. The opener therefore adds an [`AddressEcho`]
//! to its announcement. A listener that has no proof answers with an [`AddressChallenge`], a token
//! that only this address receives, and without [`Capability::RANGE`]; the echo of the token is the
//! proof. Frames with an echo are answered, and no other frame of the exchange is, except that an
//! opener echoes a challenge: two ends never answer each other for ever. An answer is never longer
//! than the frame that it answers.

use control::{Duration, Time};
use packet::options::{AddressChallenge, AddressEcho, Capability};
use packet::{HopOptions, LpHeader};

use crate::config::Announce;

/// The medium of a link's frames, as it affects the exchange.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transport {
    /// A stream, or a group: no address has to be proved.
    #[default]
    Other,
    /// Datagrams to and from one address.
    Datagrams,
}

/// The options of a peer's IDLE frame.
#[derive(Clone, Copy, Debug)]
pub struct IdleOptions {
    capability: Capability,
    challenge: Option<AddressChallenge>,
    echo: Option<AddressEcho>,
}

impl IdleOptions {
    /// Reads the options that accompany a Capability in an IDLE frame.
    #[must_use]
    pub fn new(capability: Capability, options: &HopOptions) -> IdleOptions {
        IdleOptions { capability, challenge: options.get(), echo: options.get() }
    }
}

/// The interval of announcements: a datagram is lost easily, and another peer may take the address.
const EVERY: Duration = Duration::from_secs(30);
/// On a link of datagrams, an announcement is valid for three periods and a little.
const VALID: Duration = Duration::from_secs(95);
/// The first interval at which an opener without an answer repeats itself. It doubles each time.
const RETRY: Duration = Duration::from_secs(1);

/// The announcements of both ends of a link.
#[derive(Debug)]
pub struct Capabilities {
    /// The capabilities of this end.
    own: Capability,
    announce: Announce,
    /// The peer's capabilities before its first announcement.
    known: Capability,
    /// The peer's current capabilities.
    now: Capability,
    /// When the peer's announcement expires.
    until: Option<Time>,
    /// When this end repeats its announcement.
    next: Option<Time>,
    /// This end announces its capabilities in the next frame.
    due: bool,
    /// An echo is to be answered with the next frame.
    answer: bool,
    on_datagrams: bool,
    /// The token that the other end still has to echo.
    challenge: Option<u64>,
    /// The latest token of the other end; zero if there was none.
    token: u64,
    /// The wait before the next repetition, as long as the other end has not confirmed.
    retry: Option<Duration>,
}

impl Capabilities {
    /// The state before any announcement. `own` are the capabilities of this end, `known` those of
    /// the other end that are known without an announcement.
    #[must_use]
    pub fn new(own: Capability, known: Capability, announce: Announce) -> Capabilities {
        Capabilities {
            own,
            announce,
            known,
            now: known,
            until: None,
            next: None,
            due: announce == Announce::First,
            answer: false,
            on_datagrams: false,
            challenge: None,
            token: 0,
            retry: None,
        }
    }

    /// The same on what carries the link.
    #[must_use]
    pub fn on(self, transport: Transport) -> Capabilities {
        match transport {
            Transport::Other => self,
            Transport::Datagrams => {
                let retry = (self.announce == Announce::First).then_some(RETRY);
                Capabilities { on_datagrams: true, retry, ..self }
            }
        }
    }

    /// This end has opened the link, perhaps again, and perhaps to another peer.
    pub fn opened(&mut self) {
        let transport = match self.on_datagrams {
            true => Transport::Datagrams,
            false => Transport::Other,
        };
        *self = Capabilities::new(self.own, self.known, Announce::First).on(transport);
    }

    /// The peer's capabilities.
    #[inline]
    #[must_use]
    pub const fn peer(&self) -> Capability {
        self.now
    }

    /// True if the peer's address is proved, or need not be.
    #[inline]
    pub(crate) const fn is_proved(&self) -> bool {
        self.challenge.is_none()
    }

    /// The token that the other end has to echo, not zero; `None`: its address counts as proved.
    pub(crate) fn set_challenge(&mut self, token: Option<u64>) {
        self.challenge = token.filter(|_| self.on_datagrams);
    }

    /// Challenges the other end with the next frame, if there is something to prove.
    pub(crate) fn ask_for_proof(&mut self) {
        self.answer |= self.challenge.is_some() && self.announce != Announce::Never;
    }

    /// The other end has sent an IDLE frame with what it understands.
    pub fn on_idle(&mut self, now: Time, options: &IdleOptions, is_stream: bool) {
        self.now = options.capability;
        self.until = (!is_stream).then(|| now + VALID);
        match options.echo.filter(|_| self.on_datagrams) {
            Some(AddressEcho(token)) => {
                if self.challenge == Some(token) {
                    self.challenge = None;
                }
                self.answer = self.announce != Announce::Never;
            }
            None => self.due |= self.announce == Announce::Answer && self.next.is_none(),
        }
        if self.announce == Announce::First && self.on_datagrams {
            match options.challenge {
                Some(AddressChallenge(token)) => {
                    (self.token, self.due) = (token, true);
                    self.retry.get_or_insert(RETRY);
                }
                None => {
                    if self.retry.take().is_some() {
                        self.next = self.next.map(|_| now + EVERY);
                    }
                }
            }
        }
    }

    /// An announcement is due.
    #[inline]
    pub(crate) const fn is_due(&self) -> bool {
        self.due || self.answer
    }

    /// Appends the frame with the announcement, if one is due; returns its bytes.
    pub fn put_announcement(&mut self, now: Time, out: &mut Vec<u8>) -> Option<usize> {
        if !self.is_due() {
            return None;
        }
        let (due, answer) = (std::mem::take(&mut self.due), std::mem::take(&mut self.answer));
        let mut header = LpHeader::default();
        match self.challenge {
            None => header.options.set(&self.own),
            Some(_) => header.options.set(&Capability(self.own.0 & !Capability::RANGE)),
        };
        if let Some(token) = self.challenge.filter(|_| answer) {
            header.options.set(&AddressChallenge(token));
        }
        if due && self.on_datagrams && self.announce == Announce::First {
            header.options.set(&AddressEcho(self.token));
        }
        self.next = match &mut self.retry {
            Some(wait) => {
                let next = now + *wait;
                *wait = Duration((wait.0 * 2).min(EVERY.0));
                Some(next)
            }
            None => Some(now + EVERY),
        };
        let start = out.len();
        header.encode_into(&[], out);
        Some(out.len() - start)
    }

    /// When [`Capabilities::on_deadline`] wants to be called.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Time> {
        match (self.next, self.until) {
            (Some(next), Some(until)) => Some(next.min(until)),
            (next, until) => next.or(until),
        }
    }

    /// The peer's announcement may have expired, and this end's may have to be repeated.
    pub fn on_deadline(&mut self, now: Time) {
        if self.until.is_some_and(|until| until <= now) {
            (self.now, self.until) = (self.known, None);
            if self.announce == Announce::Answer {
                self.next = None;
            }
        }
        if self.next.is_some_and(|next| next <= now) {
            // An address that may be forged is only answered.
            (self.next, self.due) = (None, self.is_proved());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: u64) -> Time {
        Time::ZERO + Duration::from_secs(secs)
    }

    fn capabilities(announce: Announce) -> Capabilities {
        Capabilities::new(Capability::ALL, Capability(0), announce)
    }

    fn plain(capability: Capability) -> IdleOptions {
        IdleOptions { capability, challenge: None, echo: None }
    }

    #[test]
    fn the_opening_side_announces_capabilities_first_and_every_30_s() {
        let mut capabilities = capabilities(Announce::First);
        let mut out = Vec::new();
        assert_eq!(capabilities.put_announcement(at(0), &mut out), Some(7));
        // LpPacket, type 904 with one byte: both bits.
        assert_eq!(out, [0x64, 5, 0xfd, 0x03, 0x88, 1, 3]);
        assert_eq!(
            (capabilities.put_announcement(at(0), &mut out), capabilities.next_deadline()),
            (None, Some(at(30)))
        );
        capabilities.on_deadline(at(29));
        assert!(!capabilities.is_due());
        capabilities.on_deadline(at(30));
        assert!(capabilities.is_due());
    }

    #[test]
    fn the_accepting_side_announces_capabilities_only_in_reply() {
        let mut capabilities = capabilities(Announce::Answer);
        assert!(!capabilities.is_due() && capabilities.next_deadline().is_none());
        capabilities.on_idle(at(5), &plain(Capability::ALL), true);
        let mut out = Vec::new();
        assert!(capabilities.put_announcement(at(5), &mut out).is_some());
        capabilities.on_idle(at(6), &plain(Capability::ALL), true);
        assert!(!capabilities.is_due(), "the answer was given");
        assert_eq!(capabilities.next_deadline(), Some(at(35)));
    }

    #[test]
    fn a_link_that_is_opened_again_begins_again() {
        let mut capabilities = capabilities(Announce::Answer);
        capabilities.on_idle(at(0), &plain(Capability::ALL), true);
        capabilities.opened();
        assert!(capabilities.is_due() && capabilities.peer() == Capability(0));
    }

    #[test]
    fn capabilities_expire_on_datagrams_without_renewal() {
        let mut capabilities = capabilities(Announce::Answer);
        capabilities.on_idle(at(0), &plain(Capability(Capability::OPTIONS)), false);
        capabilities.put_announcement(at(0), &mut Vec::new());
        assert!(
            capabilities.peer().has(Capability::OPTIONS)
                && !capabilities.peer().has(Capability::RANGE)
        );
        for secs in [30, 60, 90] {
            capabilities.on_deadline(at(secs));
            assert!(capabilities.put_announcement(at(secs), &mut Vec::new()).is_some());
        }
        assert_eq!(capabilities.next_deadline(), Some(at(95)));
        capabilities.on_deadline(at(95));
        assert_eq!((capabilities.peer(), capabilities.next_deadline()), (Capability(0), None));
        capabilities.on_idle(at(200), &plain(Capability::ALL), false);
        assert!(capabilities.is_due(), "it is announced again");
    }

    /// Delivers one end's announcement to the other. Returns the options of the frame and its
    /// bytes, if there was one.
    fn pass(
        from: &mut Capabilities,
        to: &mut Capabilities,
        secs: u64,
    ) -> Option<(HopOptions, usize)> {
        let mut frame = Vec::new();
        let len = from.put_announcement(at(secs), &mut frame)?;
        let options = packet::LpPacket::decode(&frame).unwrap().to_options();
        to.on_idle(at(secs), &IdleOptions::new(options.get().unwrap(), &options), false);
        Some((options, len))
    }

    fn datagrams(announce: Announce, challenge: Option<u64>) -> Capabilities {
        let mut capabilities = capabilities(announce).on(Transport::Datagrams);
        capabilities.set_challenge(challenge);
        capabilities
    }

    /// An opener and a listener, with the lengths of what they say to each other in turn until
    /// neither has anything to say.
    fn exchange(opener: &mut Capabilities, listener: &mut Capabilities, secs: u64) -> Vec<usize> {
        let mut lens = Vec::new();
        while opener.is_due() || listener.is_due() {
            assert!(lens.len() < 10, "they answer each other for ever");
            lens.extend(pass(opener, listener, secs).map(|(_, len)| len));
            lens.extend(pass(listener, opener, secs).map(|(_, len)| len));
        }
        lens
    }

    #[test]
    fn an_address_is_proved_in_one_round_trip_and_no_answer_is_longer_than_what_it_answers() {
        let mut opener = datagrams(Announce::First, None);
        let mut listener = datagrams(Announce::Answer, Some(77));
        let (asks, asked) = pass(&mut opener, &mut listener, 0).unwrap();
        assert_eq!(asks.get(), Some(AddressEcho(0)));
        assert!(!listener.is_proved() && asked == 19);
        let (challenges, answered) = pass(&mut listener, &mut opener, 0).unwrap();
        assert_eq!(challenges.get(), Some(AddressChallenge(77)));
        assert!(answered <= asked);
        assert!(!opener.peer().has(Capability::RANGE), "ranges are not for the unproved");
        assert!(opener.peer().has(Capability::OPTIONS));
        assert_eq!(pass(&mut opener, &mut listener, 0).unwrap().0.get(), Some(AddressEcho(77)));
        assert!(listener.is_proved());
        let (confirms, len) = pass(&mut listener, &mut opener, 0).unwrap();
        assert!(len <= asked && confirms.get::<AddressChallenge>().is_none());
        assert_eq!((opener.peer(), opener.is_due()), (Capability::ALL, false));
        assert_eq!(opener.next_deadline(), Some(at(30)), "and not sooner");
    }

    #[test]
    fn a_wrong_echo_proves_nothing() {
        let mut listener = datagrams(Announce::Answer, Some(77));
        for token in [0, 76, u64::MAX] {
            let echo = Some(AddressEcho(token));
            listener.on_idle(at(0), &IdleOptions { echo, ..plain(Capability::ALL) }, false);
            assert!(!listener.is_proved());
        }
        let challenge = Some(AddressChallenge(77));
        listener.on_idle(at(0), &IdleOptions { challenge, ..plain(Capability::ALL) }, false);
        assert!(!listener.is_proved(), "a challenge is no echo");
    }

    #[test]
    fn an_opener_without_an_answer_asks_again_at_longer_and_longer_spans() {
        let mut opener = datagrams(Announce::First, None);
        let mut now = 0;
        for span in [1, 2, 4, 8, 16, 30, 30] {
            assert!(opener.put_announcement(at(now), &mut Vec::new()).is_some());
            now += span;
            assert_eq!(opener.next_deadline(), Some(at(now)));
            opener.on_deadline(at(now));
        }
    }

    #[test]
    fn a_listener_that_has_forgotten_is_given_a_new_proof() {
        let mut opener = datagrams(Announce::First, None);
        let mut listener = datagrams(Announce::Answer, Some(77));
        assert_eq!(exchange(&mut opener, &mut listener, 0).len(), 4);
        let mut restarted = datagrams(Announce::Answer, Some(78));
        opener.on_deadline(at(30));
        assert_eq!(exchange(&mut opener, &mut restarted, 30).len(), 4);
        assert!(restarted.is_proved() && opener.peer() == Capability::ALL);
        // The same where it is a range that reaches a listener without proof.
        let mut restarted = datagrams(Announce::Answer, Some(79));
        restarted.ask_for_proof();
        assert_eq!(exchange(&mut opener, &mut restarted, 40).len(), 3);
        assert!(restarted.is_proved());
    }

    #[test]
    fn a_restarted_opener_learns_at_once_that_it_is_proved() {
        let mut opener = datagrams(Announce::First, None);
        let mut listener = datagrams(Announce::Answer, Some(77));
        exchange(&mut opener, &mut listener, 0);
        let mut restarted = datagrams(Announce::First, None);
        assert_eq!(exchange(&mut restarted, &mut listener, 5).len(), 2);
        assert_eq!(restarted.peer(), Capability::ALL);
    }

    #[test]
    fn two_openers_and_two_listeners_do_not_answer_each_other_for_ever() {
        let (mut a, mut b) = (datagrams(Announce::First, None), datagrams(Announce::First, None));
        assert!(exchange(&mut a, &mut b, 0).len() <= 4);
        assert!(a.peer() == Capability::ALL && b.peer() == Capability::ALL);
        assert!(a.is_proved() && b.is_proved(), "both name each other: that is enough");
        let mut a = datagrams(Announce::Answer, Some(1));
        let mut b = datagrams(Announce::Answer, Some(2));
        a.ask_for_proof();
        assert!(exchange(&mut a, &mut b, 0).len() <= 4);
        assert!(!a.is_proved() && !b.is_proved());
    }

    #[test]
    fn peers_without_the_exchange_are_served_as_before() {
        let mut listener = datagrams(Announce::Answer, Some(77));
        listener.on_idle(at(0), &plain(Capability::ALL), false);
        let mut frame = Vec::new();
        assert_eq!(
            listener.put_announcement(at(0), &mut frame),
            Some(7),
            "as long as what it answers"
        );
        assert_eq!(frame, [0x64, 5, 0xfd, 0x03, 0x88, 1, 2], "options, and no ranges");
        // An opener learns from a listener without the exchange that nothing is to be proved.
        let mut opener = datagrams(Announce::First, None);
        opener.put_announcement(at(0), &mut Vec::new());
        opener.on_idle(at(0), &plain(Capability::ALL), false);
        assert_eq!((opener.peer(), opener.is_due()), (Capability::ALL, false));
    }
}
