//! One Interest, and its result.

use control::{Duration, Time};
use net::client::Endpoint;
use packet::{Data, Interest, InterestBuf, LpPacket, NackReason};
use std::fmt;

/// The answer to an Interest.
#[derive(Clone, Debug)]
pub enum Answer {
    /// A Data packet that satisfies the Interest. Its signature is not checked.
    Data {
        /// The packet.
        wire: Vec<u8>,
        /// The congestion mark.
        mark: u64,
        /// The round-trip time.
        took: Duration,
    },
    /// A forwarder or the producer returned the Interest.
    Nack(NackReason),
}

/// An exchange of one Interest for one packet: the first that answers it.
pub struct Exchange<'a> {
    interest: Vec<u8>,
    accepts: Box<dyn Fn(&Data<'_>) -> bool + 'a>,
    /// When the Interest left.
    sent_at: Option<Time>,
    answer: Option<Answer>,
}

impl<'a> Exchange<'a> {
    /// The exchange of `interest`, which needs a nonce.
    #[must_use]
    pub fn new(interest: &InterestBuf) -> Exchange<'a> {
        Exchange::accepting(interest, |_| true)
    }

    /// The same, for Data that `accepts` takes. Other Data is ignored: a better packet may follow.
    #[must_use]
    pub fn accepting(
        interest: &InterestBuf,
        accepts: impl Fn(&Data<'_>) -> bool + 'a,
    ) -> Exchange<'a> {
        let (interest, accepts) = (interest.encode().to_vec(), Box::new(accepts));
        Exchange { interest, accepts, sent_at: None, answer: None }
    }

    /// The length of the Interest in bytes.
    #[must_use]
    pub fn interest_len(&self) -> usize {
        self.interest.len()
    }

    /// True once an answer has come.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.answer.is_some()
    }

    /// The answer, if one has come.
    #[must_use]
    pub fn into_answer(self) -> Option<Answer> {
        self.answer
    }
}

impl fmt::Debug for Exchange<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange").field("answer", &self.answer).finish_non_exhaustive()
    }
}

impl Endpoint for Exchange<'_> {
    fn receive(&mut self, now: Time, frame: &[u8]) {
        let Ok(link) = LpPacket::decode(frame) else { return };
        let (Some(fragment), Ok(asked)) = (link.fragment(), Interest::decode(&self.interest))
        else {
            return;
        };
        if let Some(reason) = link.nack() {
            let returned = Interest::decode(fragment);
            if returned.is_ok_and(|interest| interest.nonce() == asked.nonce()) {
                self.answer.get_or_insert(Answer::Nack(reason));
            }
            return;
        }
        let Ok(data) = Data::decode(fragment) else { return };
        let is_answer = data.satisfies(&asked) && (self.accepts)(&data);
        if let Some(sent_at) = self.sent_at.filter(|_| is_answer) {
            let took = now.since(sent_at);
            let mark = link.congestion_mark();
            self.answer.get_or_insert(Answer::Data { wire: fragment.to_vec(), mark, took });
        }
    }

    fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        if self.sent_at.is_some() {
            return false;
        }
        self.sent_at = Some(now);
        out.extend_from_slice(&self.interest);
        true
    }

    fn next_deadline(&mut self, _now: Time) -> Option<Time> {
        None
    }

    fn on_deadline(&mut self, _now: Time) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::{DataBuf, LpHeader, Signature};
    use security::Signer;

    #[test]
    fn the_first_answer_counts() {
        let name: packet::Name = "/a/b".parse().unwrap();
        let asked = InterestBuf { nonce: Some(7), ..InterestBuf::new(name.clone()) };
        let mut exchange = Exchange::new(&asked);
        let mut sent = Vec::new();
        assert!(exchange.poll_transmit(Time::ZERO, &mut sent));
        let (mut data, mut nack) = (Vec::new(), Vec::new());
        let unsigned = |_: &[u8]| Signature::new(&[7; 32]);
        DataBuf::new(name, "content").encode_into(&Signer::Digest.info(), unsigned, &mut data);
        let header = LpHeader { nack: Some(NackReason::NoRoute), ..LpHeader::default() };
        header.encode_into(&sent, &mut nack);
        [data, nack].iter().for_each(|frame| exchange.receive(Time::ZERO, frame));
        assert!(matches!(exchange.into_answer(), Some(Answer::Data { .. })));
    }
}
