"""Keys and certificates both ways between Weir, python-ndn, and OpenSSL, which ndn-cxx uses."""

import base64
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

import ndn.security.validator as validators  # noqa: E402
from Cryptodome.PublicKey import ECC, RSA  # noqa: E402
from ndn.app_support.security_v2 import SafeBag, parse_certificate  # noqa: E402
from ndn.encoding import Name, parse_and_check_tl, parse_data, write_tl_num  # noqa: E402
from ndn.security import KeychainSqlite3, TpmFile  # noqa: E402
from support import content, report, weir  # noqa: E402

PATIENCE = 60
SAFE_BAG = 0x80
PASSPHRASE = "open sesame"


def verifies(kind, public, wire):
    """True if python-ndn accepts the packet by that key."""
    _, _, _, pointers = parse_data(wire)
    if kind == "rsa":
        return validators.verify_rsa(RSA.import_key(public), pointers)
    if kind == "ecdsa":
        return validators.verify_ecdsa(ECC.import_key(public), pointers)
    return validators.verify_ed25519(ECC.import_key(public), pointers)


class Keys(unittest.TestCase):
    """A home for both tools."""

    def setUp(self):
        self.home = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="weir-keys-")))
        self.program = weir.program()
        environment = {"HOME": str(self.home), "WEIR_HOME": str(self.home / "weir")}
        self.enterContext(unittest.mock.patch.dict(os.environ, environment))
        for name in ("NDN_CLIENT_PIB", "NDN_CLIENT_TPM"):
            os.environ.pop(name, None)
        self.passphrase = self.home / "passphrase"
        self.passphrase.write_text(PASSPHRASE + "\n", encoding="utf-8")

    def weir(self, *argv, text=None):
        """The program's output."""
        argv = [self.program, *map(str, argv)]
        options = {"input": text, "stdout": subprocess.PIPE, "timeout": PATIENCE}
        return subprocess.run(argv, text=True, check=True, **options).stdout

    def python_chain(self, *kinds):
        """A key chain of python-ndn, with an identity of each kind."""
        folder = self.home / ".ndn"
        secrets = folder / "ndnsec-key-file"
        secrets.mkdir(parents=True)
        KeychainSqlite3.initialize(str(folder / "pib.db"), "tpm-file", str(secrets))
        chain = KeychainSqlite3(str(folder / "pib.db"), TpmFile(str(secrets)))
        self.addCleanup(chain.shutdown)
        for kind in kinds:
            chain.new_key(chain.new_identity(f"/py/{kind}").name, key_type=kind)
        for secret in secrets.iterdir():
            secret.chmod(0o600)
        return chain

    def test_python_ndn_reads_and_verifies_certificates(self):
        """Of each kind, signed by themselves and by others."""
        wires = {}
        for kind in ("rsa", "ecdsa", "ed25519"):
            own = self.weir("key", "new", f"/weir/{kind}", "--type", kind)
            wires[kind] = base64.b64decode(own)
            certificate = parse_certificate(wires[kind])
            self.assertTrue(verifies(kind, bytes(certificate.content), wires[kind]), kind)
        keys = {kind: bytes(parse_certificate(wire).content) for kind, wire in wires.items()}
        for kind in ("rsa", "ecdsa", "ed25519"):
            for below, wire in wires.items():
                request = base64.b64encode(wire).decode()
                by = f"/weir/{kind}"
                signed = base64.b64decode(self.weir("key", "sign", "-", "--by", by, text=request))
                self.assertTrue(verifies(kind, keys[kind], signed), f"{below} by {kind}")
                self.assertFalse(verifies(kind, keys[kind], signed[:-1] + b"?"))

    def test_others_open_our_bags(self):
        """The key in them is PKCS#8, encrypted as is usual."""
        for kind, reader in (("rsa", RSA), ("ecdsa", ECC), ("ed25519", ECC)):
            self.weir("key", "new", f"/weir/{kind}", "--type", kind)
            export = ("key", "export", f"/weir/{kind}", "--secret")
            text = self.weir(*export, "--passphrase-file", self.passphrase)
            value = parse_and_check_tl(base64.b64decode(text), SAFE_BAG)
            bag = SafeBag.parse(value)
            encrypted = bytes(bag.encrypted_key_bag)
            argv = ["openssl", "pkcs8", "-inform", "DER", "-passin", f"file:{self.passphrase}"]
            options = {"input": encrypted, "stdout": subprocess.PIPE}
            opened = subprocess.run(argv, check=True, timeout=PATIENCE, **options).stdout
            secret = reader.import_key(opened)
            certificate = parse_certificate(tlv(0x06, bytes(bag.certificate_v2)))
            public = reader.import_key(bytes(certificate.content))
            ours = secret.public_key().export_key(format="DER")
            self.assertEqual(ours, public.export_key(format="DER"), kind)

    def test_bags_that_openssl_encrypted_are_imported(self):
        """As `ndnsec export` makes them, which encrypts by OpenSSL: older ones by way of SHA-1."""
        chain = self.python_chain("rsa", "ec")
        for kind, reader, hashed in (("rsa", RSA, "hmacWithSHA1"), ("ec", ECC, "hmacWithSHA256")):
            key = chain[f"/py/{kind}"].default_key()
            name = Name.to_str(key.name)
            path = (
                self.home / ".ndn/ndnsec-key-file" / TpmFile._to_file_name(Name.to_bytes(key.name))
            )
            secret = reader.import_key(base64.b64decode(path.read_text()))
            plain = secret.export_key(format="PEM", **({"pkcs": 8} if kind == "rsa" else {}))
            argv = ["openssl", "pkcs8", "-topk8", "-outform", "DER", "-v2", "aes-256-cbc"]
            argv += ["-v2prf", hashed, "-passout", f"file:{self.passphrase}"]
            plain = plain if isinstance(plain, bytes) else plain.encode()
            options = {"input": plain, "stdout": subprocess.PIPE, "timeout": PATIENCE}
            encrypted = subprocess.run(argv, check=True, **options).stdout
            wire = tlv(SAFE_BAG, bytes(key.default_cert().data) + tlv(0x81, encrypted))
            text = base64.b64encode(wire).decode()
            self.weir("key", "import", "-", "--passphrase-file", self.passphrase, text=text)
            ours = base64.b64decode(self.weir("key", "export", name))
            self.assertEqual(ours, bytes(key.default_cert().data))

    def test_keys_of_its_key_chain_sign_what_we_publish(self):
        """And who trusts their certificates believes it."""
        chain = self.python_chain("rsa", "ec")
        listen = {"udp": "off", "tcp": "off"}
        sent, copy = self.home / "sent", self.home / "copy"
        content.make(sent, 100_000)
        with weir.Daemon(self.program, self.home, "node", listen=listen) as daemon:
            for kind in ("rsa", "ec"):
                name, sign = f"/py/{kind}/file", ("--sign", f"/py/{kind}")
                trusted = self.home / f"{kind}.cert"
                key = chain[f"/py/{kind}"].default_key()
                trusted.write_bytes(base64.b64encode(bytes(key.default_cert().data)))
                with daemon.put(name, sent, options=sign):
                    fetch = daemon.get(name, copy, options=("--trust", trusted)).finish(PATIENCE)
                self.assertEqual(fetch.summary["key"], Name.to_str(key.name))
                self.assertEqual(content.sha256(copy), content.sha256(sent))


def tlv(typ, value):
    """One element; its type has one byte."""
    head = bytearray(16)
    end = 1 + write_tl_num(len(value), head, 1)
    head[0] = typ
    return bytes(head[:end]) + value


if __name__ == "__main__":
    sys.exit(report.run(["__main__"]))
