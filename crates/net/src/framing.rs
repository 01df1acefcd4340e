//! Frames out of a byte stream.
//!
//! All streams share one large read buffer. Between two reads a stream keeps only the bytes of a
//! frame that has not arrived whole, so one frame bounds the memory for a stream, whatever its peer
//! sends.

use packet::tlv::{self, DecodeError};

/// The largest frame accepted on a stream: the largest network packet and room for its link header.
pub const MAX_FRAME: usize = packet::MAX_PACKET + 1024;

/// The state of a stream between reads.
#[derive(Debug, Default)]
pub struct Unframer {
    rest: Vec<u8>,
}

impl Unframer {
    /// A stream of which nothing was read.
    #[must_use]
    pub fn new() -> Unframer {
        Unframer::default()
    }

    /// Puts the kept bytes at the start of `buffer`; the driver reads behind them. Returns their
    /// number, less than [`MAX_FRAME`]; `buffer` must be longer than that.
    pub fn begin(&mut self, buffer: &mut [u8]) -> usize {
        let kept = self.rest.len();
        buffer[..kept].copy_from_slice(&self.rest);
        self.rest.clear();
        kept
    }

    /// Passes every whole frame in `filled` (kept bytes and new ones) to `each`, in order, and
    /// keeps the rest.
    ///
    /// # Errors
    ///
    /// The next bytes are no frame or exceed [`MAX_FRAME`]. A stream has no way to find the next
    /// frame then: close it.
    pub fn frames(
        &mut self,
        filled: &[u8],
        mut each: impl FnMut(&[u8]),
    ) -> Result<(), DecodeError> {
        let mut left = filled;
        while let Some(len) = tlv::frame_len(left, MAX_FRAME)? {
            let Some((frame, after)) = left.split_at_checked(len) else { break };
            each(frame);
            left = after;
        }
        self.rest.extend_from_slice(left);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Frames as a peer would send them: an Interest-typed TLV around each body.
    fn stream_of(bodies: &[Vec<u8>]) -> (Vec<u8>, Vec<Vec<u8>>) {
        let frames: Vec<Vec<u8>> = bodies
            .iter()
            .map(|body| {
                let mut frame = vec![5];
                match body.len() {
                    n @ 0..=252 => frame.push(n as u8),
                    n => frame.extend([253, (n >> 8) as u8, n as u8]),
                }
                frame.extend(body);
                frame
            })
            .collect();
        (frames.concat(), frames)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        // Other projects' programs, "Faces": [peer-5].
        #[test]
        fn any_cut_of_the_stream_gives_the_same_frames(
            sizes in prop::collection::vec(0usize..600, 1..20),
            cuts in prop::collection::vec(1usize..900, 1..40),
        ) {
            let bodies: Vec<Vec<u8>> = sizes.iter().map(|n| vec![*n as u8; *n]).collect();
            let (stream, expected) = stream_of(&bodies);
            let mut unframer = Unframer::new();
            let mut buffer = vec![0; MAX_FRAME + 1000];
            let mut got = Vec::new();
            let mut at = 0;
            for cut in cuts.iter().cycle() {
                if at == stream.len() {
                    break;
                }
                let n = (*cut).min(stream.len() - at);
                let kept = unframer.begin(&mut buffer);
                buffer[kept..kept + n].copy_from_slice(&stream[at..at + n]);
                unframer.frames(&buffer[..kept + n], |f| got.push(f.to_vec())).unwrap();
                at += n;
            }
            prop_assert_eq!(got, expected);
        }

        #[test]
        fn any_bytes_are_frames_or_an_error_and_little_is_kept(
            junk in prop::collection::vec(any::<u8>(), 0..2000),
        ) {
            let mut unframer = Unframer::new();
            let mut total = 0;
            if unframer.frames(&junk, |f| total += f.len()).is_ok() {
                prop_assert_eq!(total + unframer.rest.len(), junk.len());
                prop_assert!(unframer.rest.len() < MAX_FRAME);
            }
        }
    }

    #[test]
    fn a_frame_with_a_huge_length_is_rejected_at_its_header() {
        let mut unframer = Unframer::new();
        assert!(unframer.frames(&[0x64, 0xfe, 0x7f, 0xff, 0xff, 0xff], |_| ()).is_err());
    }
}
