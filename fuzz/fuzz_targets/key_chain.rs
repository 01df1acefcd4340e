//! Other tools' files of keys and rules: databases, SafeBags, compiled models. Whatever the
//! bytes, reading them ends, and a file that can be read is used without surprise.
#![no_main]

use libfuzzer_sys::fuzz_target;
use packet::Name;
use security::SafeBag;
use security::pib::Sqlite;
use security::trust::{LightVerSec, Pattern};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(database) = Sqlite::open(bytes) {
        for table in ["identities", "keys", "certificates"] {
            let _ = database.table(table);
        }
    }
    // It is not opened: that takes time on purpose.
    if let Ok(bag) = SafeBag::decode(bytes) {
        assert_eq!(SafeBag::from_base64(&bag.to_base64()), Ok(bag));
    }
    if let Ok(model) = LightVerSec::decode(bytes) {
        let names = ["/blog/article/ann/v=3/x", "/blog/author/ann/KEY/1/up/v=1", "/"];
        let names = names.map(|uri| uri.parse::<Name>().expect("it is a name"));
        for (packet, key) in names.iter().flat_map(|a| names.iter().map(move |b| (a, b))) {
            let _ = model.allows(packet.as_ref(), key.as_ref());
        }
    }
    if let Some(Ok(pattern)) = str::from_utf8(bytes).ok().map(str::parse::<Pattern>) {
        assert_eq!(pattern.to_string().parse().as_ref(), Ok(&pattern));
    }
});
