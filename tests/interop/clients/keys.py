"""Keys that sign the segments of objects, Weir's and python-ndn's, and how each is trusted."""

import base64
import json
import os
import subprocess
import sys
from pathlib import Path

from clients import HERE
from ndn.security import KeychainSqlite3, TpmFile

PATIENCE = 60
KINDS = ("ecdsa", "rsa", "ed25519", "hmac")
PYTHON = [sys.executable, HERE / "ndnpy.py"]


def way(kind):
    """By what ndnpy.py verifies with a key: its own validator has ECDSA and RSA alone."""
    return "chain" if kind in ("ecdsa", "rsa") else kind


class Keys:
    """A folder of keys: Weir's in `weir`, python-ndn's in `.ndn`; it is the home directory."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def weir(self, *argv, home="weir"):
        """The program's output; with another home, it is an unknown peer."""
        environment = {**os.environ, "WEIR_HOME": str(self.folder / home)}
        argv = [str(word) for word in (self.program, *argv)]
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "timeout": PATIENCE}
        return subprocess.run(argv, text=True, check=True, env=environment, **options).stdout

    def trusted(self, kind, home="weir", owner="site"):
        """Makes a key for /OWNER/KIND; the file by which it is trusted."""
        printed = self.weir("key", "new", f"/{owner}/{kind}", "--type", kind, home=home)
        if kind == "hmac":
            return Path(printed.strip())
        file = self.folder / f"{home}-{owner}-{kind}.cert"
        file.write_text(printed, encoding="utf-8")
        return file

    def of_python(self):
        """Kinds, identities, what signs for them in which way, and the files that are trusted."""
        folder = self.folder / ".ndn"
        secrets = folder / "ndnsec-key-file"
        secrets.mkdir(parents=True)
        KeychainSqlite3.initialize(str(folder / "pib.db"), "tpm-file", str(secrets))
        chain = KeychainSqlite3(str(folder / "pib.db"), TpmFile(str(secrets)))
        for kind, key_type in (("ecdsa", "ec"), ("rsa", "rsa")):
            identity = f"/python/{kind}"
            key = chain.new_key(chain.new_identity(identity).name, key_type=key_type)
            file = self.folder / f"python-{kind}.cert"
            file.write_bytes(base64.b64encode(bytes(key.default_cert().data)))
            yield kind, identity, "chain", identity, file
        chain.shutdown()
        # Of these it has signers, and no key chain.
        trusted = self.trusted("ed25519", owner="python")
        keys = json.loads(self.weir("key", "list", "--json"))
        (secret,) = [key["secret"] for key in keys if key["name"].startswith("/python/ed25519/")]
        yield "ed25519", "/python/ed25519", "ed25519", secret, trusted
        shared = self.trusted("hmac", owner="python")
        yield "hmac", "/python/hmac", "hmac", shared, shared
