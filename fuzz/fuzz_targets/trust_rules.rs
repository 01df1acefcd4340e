//! Trust rules as a user writes them, and compiled models, applied to packets of a small world:
//! whatever the rules say, a damaged packet, one by a key that no anchor vouches for and one by a
//! digest are rejected.
//!
//! The input's first byte chooses: rules in text, or a compiled model that rules name.
#![no_main]

use libfuzzer_sys::fuzz_target;
use net::trust::{TrustError, parse};
use packet::{Component, Data, DataBuf, Name};
use security::certificate::Issue;
use security::trust::{LightVerSec, Schema, Validator};
use security::{Certificate, SecretKey, Signer, Validity};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;
use fuzz::folder_in_memory;

/// Seconds since 1970, when everything is valid.
const NOW: u64 = 1_700_000_000;

struct World {
    _folder: TempDir,
    /// The name of the file of rules.
    file: String,
    root: Certificate,
    /// A certificate for a key below the root, signed by it; another that signs itself.
    certificates: [Certificate; 2],
    /// Data signed by the root, by the one below it.
    signed: Vec<Vec<u8>>,
    /// Data by a key that signs its own certificate, by a digest, and damaged Data.
    forged: Vec<Vec<u8>>,
}

fn name(uri: &str) -> Name {
    uri.parse().expect("a name")
}

fn validity() -> Validity {
    Validity::days(0, 30_000)
}

fn signer(secret: SecretKey, certificate: &Certificate) -> Signer {
    Signer::Key { secret, key_locator: certificate.name().clone() }
}

fn data(uri: &str, signer: &Signer) -> Vec<u8> {
    let data = DataBuf::new(name(uri), b"content".to_vec());
    let mut wire = Vec::new();
    data.encode_into(&signer.info(), |portion| signer.sign(portion), &mut wire);
    wire
}

impl World {
    fn new() -> World {
        let [root_key, key, unknown_key] = [1, 2, 3].map(|n| SecretKey::ed25519(&[n; 32]));
        let root = Certificate::self_signed(name("/blog").as_ref(), &root_key, validity(), 1);
        let below = name("/blog/author/ann");
        let unknown = Certificate::self_signed(below.as_ref(), &unknown_key, validity(), 1);
        let root_signer = signer(root_key, &root);
        let issue = Issue { issuer: Component::generic(b"root"), validity: validity(), version: 2 };
        let author = Certificate::self_signed(below.as_ref(), &key, validity(), 1)
            .issued(&root_signer, &issue);
        let author_signer = signer(key, &author);
        let names = ["/blog/article/ann/1", "/blog/author/ann/2", "/other"];
        let by = |signer: &Signer| names.map(|uri| data(uri, signer)).to_vec();
        let signed = [by(&root_signer), by(&author_signer)].concat();
        let damaged = signed.iter().map(|wire| {
            let mut wire = wire.clone();
            // Its last byte is the signature's.
            *wire.last_mut().expect("a packet") ^= 1;
            wire
        });
        let mut forged = [by(&signer(unknown_key, &unknown)), by(&Signer::Digest)].concat();
        forged.extend(damaged);
        let folder = folder_in_memory();
        let anchor = folder.path().join("root.cert");
        fs::write(anchor, root.to_base64()).expect("it can be written");
        let file = folder.path().join("rules.toml").display().to_string();
        World { _folder: folder, file, root, certificates: [author, unknown], signed, forged }
    }

    fn model(&self) -> PathBuf {
        PathBuf::from(&self.file).with_file_name("model")
    }

    fn apply(&self, rules: &Validator) {
        for certificate in &self.certificates {
            let _ = rules.offer(&Data::decode(certificate.wire()).expect("a certificate"));
        }
        for wire in &self.signed {
            let first = rules.verify(&Data::decode(wire).expect("Data"), NOW);
            let again = rules.verify(&Data::decode(wire).expect("Data"), NOW);
            assert_eq!(first.is_ok(), again.is_ok(), "the same packet, the same rules");
            if let Err(error) = first {
                assert!(!error.to_string().is_empty());
            }
        }
        for wire in &self.forged {
            let data = Data::decode(wire).expect("Data");
            assert!(rules.verify(&data, NOW).is_err(), "forged: {}", data.name());
        }
    }
}

thread_local! {
    static WORLD: World = World::new();
}

fuzz_target!(|input: &[u8]| {
    let Some((kind, bytes)) = input.split_first() else { return };
    WORLD.with(|world| {
        if kind & 1 == 0 {
            let Ok(text) = str::from_utf8(bytes) else { return };
            match parse(text, &world.file) {
                Ok(rules) => world.apply(&rules),
                Err(TrustError::Mistakes(mistakes)) => assert!(!mistakes.is_empty()),
                Err(error) => panic!("{error}"),
            }
            return;
        }
        let model = LightVerSec::decode(bytes);
        if kind & 2 != 0 {
            // By way of the file that rules name, the same model.
            fs::write(world.model(), bytes).expect("it can be written");
            let text = "[trust]\nmodel = \"model\"\n[[anchor]]\ncertificate = \"root.cert\"\n";
            assert_eq!(parse(text, &world.file).is_ok(), model.is_ok());
        }
        if let Ok(model) = model {
            let schema = Schema::LightVerSec(model);
            world.apply(&Validator::new(vec![world.root.clone()], schema));
        }
    });
});
