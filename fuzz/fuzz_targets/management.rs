//! Command Interests and replies of the management protocol are understood or rejected; what is
//! understood can be written again and means the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use net::management::command::{Asked, Command};
use net::management::parameters::{ControlParameters, numbers};
use net::management::response::ControlResponse;
use packet::{Interest, tlv};

fn written_again(parameters: &ControlParameters) {
    let mut wire = Vec::new();
    parameters.encode_into(&mut wire);
    let value = tlv::only(&wire, numbers::CONTROL_PARAMETERS).expect("one element");
    assert_eq!(ControlParameters::decode(value).as_ref(), Ok(parameters));
}

fuzz_target!(|wire: &[u8]| {
    if let Ok(interest) = Interest::decode(wire)
        && let Ok(command) = Command::take(&interest)
        && let Asked::Parameters(parameters) = &command.asked
    {
        written_again(parameters);
    }
    if let Ok(parameters) = ControlParameters::decode(wire) {
        written_again(&parameters);
    }
    if let Ok(response) = ControlResponse::decode(wire) {
        assert_eq!(ControlResponse::decode(&response.encode()), Ok(response));
    }
});
