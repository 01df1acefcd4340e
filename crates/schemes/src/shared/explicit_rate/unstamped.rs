//! A consumer's control if no link stamps a rate on its Data, or its bottleneck does not: a window.
//!
//! The papers assume that every link of a path stamps. Without stamps, only losses and Nacks show
//! the capacity of the path, and a constant rate is too high for one path and too low for another.
//! The window law of another scheme learns from losses and Nacks, for all unstamped paths together.
//!
//! Where only some links stamp, a stamp may be many times what the others carry: round trip after
//! round trip most Interests are lost, while links that stamp answer what is too much with Nacks.
//! The window holds beside the stamps then, until it allows for more than they do.

use crate::shared::consumer::window_law;
use control::{
    Arrival, Ask, Came, Cause, Controller, Cx, Loss, Memo, ParamSpec, Params, Permit, Round,
    Rounds, Sent, Ticket, Time, Value, WindowLaw, Windowed, Word,
};

/// The law.
pub(crate) const UNSTAMPED: ParamSpec = ParamSpec {
    name: "unstamped",
    default: Value::Word(Word { text: "cubic", of: window_law::names }),
    range: (0.0, 0.0),
    help: "the scheme whose window law applies while no link of the path stamps a rate",
    source: "own: in the paper every link stamps",
};

/// The law that `params` choose, as it begins.
pub(super) fn law(params: &Params) -> Box<dyn WindowLaw> {
    window_law::make(params.word(UNSTAMPED.name), &[])
}

/// Where the window's part of a memo lies in the first word of the consumer's.
const SHIFT: u32 = 1;

/// The share of a round trip's Interests that a lossy path loses.
const LOSSY: f64 = 0.05;

/// The sum of loss shares over consecutive lossy round trips that means an unstamped bottleneck.
const MOST_LOST: f64 = 1.0;

/// The window applies until it permits this many times as much as the stamps.
const ENOUGH: f64 = 1.5;

/// The window, while there is one.
pub(super) struct Unstamped {
    law: Box<dyn WindowLaw>,
    window: Option<Windowed>,
    /// Requests that left before do not count for the window.
    since: Time,
    /// Stamps rule as well.
    is_stamped: bool,
    /// Stamps have been too high.
    suspects: bool,
    /// Answers and silent losses.
    rounds: Rounds,
    /// The sum of the shares that lossy round trips lost, since the last that was not.
    lost: f64,
}

impl Unstamped {
    pub(super) fn new(law: Box<dyn WindowLaw>) -> Unstamped {
        let (since, is_stamped, suspects) = (Time::ZERO, false, false);
        Unstamped {
            law,
            window: None,
            since,
            is_stamped,
            suspects,
            rounds: Rounds::new(),
            lost: 0.0,
        }
    }

    /// Segments that the known stamps allow for in a round trip; `None`: there are no stamps.
    fn set(&mut self, now: Time, stamped: Option<f64>) {
        self.is_stamped = stamped.is_some();
        let window = self.window().unwrap_or(0.0);
        let is_enough = stamped.is_some_and(|stamped| window >= ENOUGH * stamped);
        self.suspects = (self.suspects && !is_enough) || self.lost >= MOST_LOST;
        if self.suspects || !self.is_stamped {
            if self.window.is_none() {
                self.window = Some(Windowed::new(self.law.clone()));
                self.since = now;
            }
            self.lost = 0.0;
        } else {
            self.window = None;
        }
    }

    /// The window's permit, and true if stamps do not count; `None`: stamps decide.
    pub(super) fn permit(&self, now: Time, ask: &Ask<'_>) -> Option<(Permit, bool)> {
        Some((self.window.as_ref()?.permit(now, ask), !self.is_stamped))
    }

    fn on_round(&mut self, ended: &Round) {
        let share = f64::from(ended.lost) / f64::from(ended.arrived.saturating_add(ended.lost));
        self.lost = if share > LOSSY { self.lost + share } else { 0.0 };
    }

    /// Adds what the window has to say to the ticket of an Interest that left.
    pub(super) fn on_sent(&mut self, cx: &mut Cx<'_>, sent: &Sent, ticket: &mut Ticket) {
        if let Some(window) = &mut self.window {
            let own = window.on_sent(cx, sent);
            ticket.timeout = ticket.timeout.max(own.timeout);
            ticket.memo[0] |= own.memo[1] << SHIFT;
        }
    }

    /// Data has arrived. The known stamps permit `stamped` segments in a round trip; `None`: there
    /// are none.
    pub(super) fn on_data(&mut self, cx: &mut Cx<'_>, arrival: &Arrival<'_>, stamped: Option<f64>) {
        let came = Came { sent_at: arrival.sent_at, ..Came::default() };
        if let Some(ended) = self.rounds.on_data(cx.now, &came) {
            self.on_round(&ended);
        }
        self.set(cx.now, stamped);
        if let Some(window) = &mut self.window {
            window.on_data(cx, &Arrival { memo: own(arrival.memo), ..*arrival });
        }
    }

    pub(super) fn on_loss(&mut self, cx: &mut Cx<'_>, loss: &Loss<'_>) {
        // Nacks say what rate there is.
        if !matches!(loss.cause, Cause::Nack(_)) {
            self.rounds.on_loss();
        }
        if let Some(window) = &mut self.window
            && loss.sent_at >= self.since
        {
            window.on_loss(cx, &Loss { memo: own(loss.memo), ..*loss });
        }
    }

    /// The window in segments, if it rules.
    pub(super) fn window(&self) -> Option<f64> {
        let window = self.window.as_ref()?;
        let mut segments = None;
        window.gauges(&mut |_, _, value| segments = Some(value));
        segments
    }
}

/// The window's part of a memo.
fn own(memo: Memo) -> Memo {
    [0, memo[0] >> SHIFT]
}
