use super::*;
use packet::{Data, DataBuf, Name};
use security::{SecretKey, Validity};
use std::os::unix::fs::PermissionsExt as _;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let identity: Name = "/blog".parse().unwrap();
    let secret = SecretKey::ed25519(&[1; 32]);
    let certificate =
        Certificate::self_signed(identity.as_ref(), &secret, Validity::days(1000, 10), 1);
    std::fs::write(folder.path().join("root.cert"), certificate.to_base64()).unwrap();
    // Version, first node, named patterns, and one node without edges.
    let model = b"\x61\x04\x00\x01\x10\x00\x25\x01\x00\x69\x01\x00\x63\x03\x25\x01\x00";
    std::fs::write(folder.path().join("model.lvs"), model).unwrap();
    let shared = shared(3);
    for (file, mode) in [("film.shared", 0o600), ("open.shared", 0o644)] {
        let path = folder.path().join(file);
        std::fs::write(&path, shared.to_text()).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    folder
}

/// A secret that the authors under `/blog` share.
fn shared(secret: u8) -> StoredShared {
    let identity: Name = "/blog".parse().unwrap();
    StoredShared::generate(identity.as_ref(), &[secret; 32], &[2; 32])
}

const ANCHOR: &str = "[[anchor]]\ncertificate = \"root.cert\"\n";

fn read(text: &str) -> Result<Validator, String> {
    let folder = folder();
    let path = folder.path().join("rules.toml");
    std::fs::write(&path, text).unwrap();
    let shown =
        |error: TrustError| error.to_string().replace(&folder.path().display().to_string(), "");
    load(&path).map_err(shown)
}

#[test]
fn anchors_and_rules_are_read() {
    let rules = "[trust]\ndepth = 3\n[[rule]]\ndata = \"/blog/{author}/{...}\"\n\
                 signer = \"/blog/{author}\"\n[[rule]]\ncertificate = \"/blog/{}\"\n\
                 signer = \"/blog\"\n";
    let validator = read(&format!("{ANCHOR}{rules}")).unwrap();
    assert_eq!(validator.anchors().len(), 1);
    // The clocks may differ by a minute.
    assert_eq!(validator.outdated(940), None);
    assert_eq!(validator.outdated(939), Some(&validator.anchors()[0]));
    assert!(read(ANCHOR).is_ok());
    assert!(read(&format!("{ANCHOR}[trust]\nmodel = \"model.lvs\"\n")).is_ok());
}

#[test]
fn a_shared_secret_is_trusted_for_names_below_its_identity() {
    let validator = read("[[shared]]\nkey = \"film.shared\"\n").unwrap();
    let is_trusted = |name: &str, secret: u8| {
        let mut wire = Vec::new();
        let data = DataBuf::new(name.parse().unwrap(), "text");
        shared(secret).signer().encode(&data, &mut wire);
        validator.verify(&Data::decode(&wire).unwrap(), 0).is_ok()
    };
    assert!(is_trusted("/blog/film", 3));
    assert!(!is_trusted("/blog/film", 4) && !is_trusted("/other/film", 3));
}

#[test]
fn every_mistake_is_shown_with_its_place() {
    let wrong = |text: &str, message: &str| {
        let shown = read(text).unwrap_err();
        assert!(shown.contains("/rules.toml:") && shown.contains(message), "{shown}");
    };
    wrong("", "without an [[anchor]] no key is trusted");
    wrong("[[anchor]]\ncertificate = \"other.cert\"\n", "No such file");
    wrong("[[anchor]]\ncertificate = \"rules.toml\"\n", "base64");
    let with = |rule: &str| format!("{ANCHOR}[[rule]]\n{rule}\n");
    wrong(&with("signer = \"/a\""), "a rule is about `data`, a `certificate` or a `command`");
    wrong(&with("data = \"/a\"\ncertificate = \"/a\"\nsigner = \"/a\""), "give one of them");
    wrong(&with("data = \"/a\"\ncommand = \"/a\"\nsigner = \"/a\""), "give one of them");
    wrong(&with("command = \"/{a}\"\nsigner = \"/{b}\""), "`{b}` is not a word of `command`");
    wrong(&with("data = \"/a\""), "needs a field `signer`");
    wrong(&with("data = \"a\"\nsigner = \"/a\""), "does not begin with `/`");
    wrong(&with("data = \"/{a}\"\nsigner = \"/{b}\""), "`{b}` is not a word of `data`");
    let shared = |file: &str| format!("[[shared]]\nkey = \"{file}\"\n");
    wrong(&shared("none.shared"), "No such file");
    wrong(&shared("open.shared"), "can be read by other users");
    wrong(&shared("root.cert"), "can be read by other users");
    wrong(&format!("{ANCHOR}[trust]\ndepth = -1\n"), "from 0 to 64");
    wrong(&format!("{ANCHOR}[trust]\ndeep = 1\n"), "no field `deep`");
    let model = |file: &str| format!("{ANCHOR}[trust]\nmodel = \"{file}\"\n");
    wrong(&model("none.lvs"), "No such file");
    wrong(&model("root.cert"), "not a compiled Light VerSec model");
    let both = "[[rule]]\ndata = \"/a\"\nsigner = \"/a\"\n";
    wrong(&format!("{}{both}", model("model.lvs")), "leave out the [[rule]]s");
}

#[test]
fn a_certificate_is_not_taken_for_rules() {
    let folder = folder();
    let certificate = std::fs::read_to_string(folder.path().join("root.cert")).unwrap();
    assert!(!is_meant(&certificate));
    assert!(is_meant(ANCHOR));
}
