"""Real clients of HTTP origins, pointed at `weir gateway --mirror` instead."""

import os
import socket
import subprocess
import sys
import unittest
from pathlib import Path

import boto3
import botocore.config
from proxy import Proxied
from support import buckets, weir
from support.children import Child, wait_until
from support.origin import Origin

PATIENCE = 120
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def program(name):
    """A program of scripts/need, or a skipped test."""
    found = weir.ROOT / ".venv/bin" / name
    if not found.exists():
        raise unittest.SkipTest(f"{name} could not be installed")
    return str(found)


def free_port():
    """A port that no program has."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def listens(port):
    """True if a program listens there."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class HuggingFace(Proxied):
    """huggingface_hub, with a hub that redirects to the store of its large files."""

    def setUp(self):
        super().setUp()
        self.store = Origin()
        self.addCleanup(self.store.close)
        self.proxy.kill()
        self.proxy = self.start("--redirect", f"127.0.0.1:{self.store.port}")
        self.large = os.urandom(3_000_000)
        self.store.files = {"/blobs/large": self.large}
        where = f"{self.store.url}blobs/large"
        linked = {"X-Linked-Size": str(len(self.large)), "X-Linked-Etag": '"largeblob"'}
        hub = {"X-Repo-Commit": COMMIT}

        def large(handler):
            handler.answer(302, b"", {"Location": where, **linked, **hub})

        def small(handler):
            handler.file("config", b'{"a": 1}', **hub)

        def listing(handler):
            files = '[{"rfilename": "config.json"}, {"rfilename": "model.bin"}]'
            body = f'{{"id": "org/model", "sha": "{COMMIT}", "siblings": {files}}}'
            handler.answer(200, body.encode(), {"Content-Type": "application/json"})

        def tree(handler):
            files = (
                '[{"type": "file", "oid": "1", "size": 8, "path": "config.json"},'
                f'{{"type": "file", "oid": "2", "size": {len(self.large)}, "path": "model.bin"}}]'
            )
            handler.answer(200, files.encode(), {"Content-Type": "application/json"})

        for revision in ("main", COMMIT):
            self.origin.special |= {
                f"/org/model/resolve/{revision}/config.json": small,
                f"/org/model/resolve/{revision}/model.bin": large,
                f"/api/models/org/model/revision/{revision}": listing,
                f"/api/models/org/model/tree/{revision}": tree,
            }

    def hub(self, code):
        """Run a program with huggingface_hub, whose hub is the gateway."""
        gateway = self.gateway()
        home = self.here / "hf"
        endpoint = f"http://127.0.0.1:{gateway.port}/hub"
        env = dict(os.environ, HF_HOME=str(home), HF_ENDPOINT=endpoint)
        env |= {"HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=env,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return done.stdout.strip()

    def test_one_file(self):
        code = "import huggingface_hub as h; print(h.hf_hub_download('org/model', 'model.bin'))"
        path = Path(self.hub(code))
        self.assertIn(COMMIT, str(path))
        self.assertTrue(path.read_bytes() == self.large)

    def test_a_snapshot(self):
        code = "import huggingface_hub as h; print(h.snapshot_download('org/model'))"
        folder = Path(self.hub(code))
        self.assertEqual((folder / "config.json").read_bytes(), b'{"a": 1}')
        self.assertTrue((folder / "model.bin").read_bytes() == self.large)


class Registry(Proxied):
    """crane, and the registry that is part of it."""

    def test_pull_of_an_image(self):
        crane = program("crane")
        port = free_port()
        registry = Child(
            [crane, "registry", "serve", "--address", f"127.0.0.1:{port}"],
            self.here / "registry.log",
        )
        self.addCleanup(registry.kill)
        wait_until(lambda: listens(port), "the registry")
        # This registry gives blobs neither ETag nor Last-Modified, but their digests. Without
        # those, the proxy would reject a blob of this size.
        (self.here / "layer").write_bytes(os.urandom(5_000_000))
        subprocess.run(["tar", "cf", "layer.tar", "layer"], cwd=self.here, check=True)
        there = f"127.0.0.1:{port}/team/image:1"
        self.crane(crane, "append", "-f", "layer.tar", "-t", there, "--insecure")
        self.start(name="/example/registry", url=f"http://127.0.0.1:{port}/v2/")
        gateway = self.gateway("--mirror", "/v2=/example/registry")
        here = f"127.0.0.1:{gateway.port}/team/image:1"
        for image, out in ((there, "there.tar"), (here, "here.tar")):
            self.crane(crane, "export", image, out, "--insecure")
        self.assertTrue(
            (self.here / "here.tar").read_bytes() == (self.here / "there.tar").read_bytes()
        )
        digest = self.crane(crane, "digest", there, "--insecure")
        self.assertEqual(self.crane(crane, "digest", here, "--insecure"), digest)
        by_digest = f"127.0.0.1:{gateway.port}/team/image@{digest}"
        self.crane(crane, "pull", by_digest, "pulled.tar", "--insecure")

    def crane(self, *words):
        """Run it; its output."""
        done = subprocess.run(
            words, cwd=self.here, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()


class S3(Proxied):
    """boto3, with a public bucket of versitygw."""

    def test_objects_and_parts_of_them(self):
        root = self.here / "buckets"
        (root / "public").mkdir(parents=True)
        server = buckets.Server(root)
        server.start()
        self.addCleanup(server.stop)
        url, keys = f"http://{server.address}", buckets.KEYS
        owner = self.client(url, keys)
        owner.create_bucket(Bucket="bucket")
        data = os.urandom(3_000_000)
        key = "folder/a b.bin"
        owner.put_object(Bucket="bucket", Key=key, Body=data, Metadata={"kind": "test"})
        owner.put_object(Bucket="bucket", Key="empty", Body=b"")
        resources = '["arn:aws:s3:::bucket", "arn:aws:s3:::bucket/*"]'
        actions = '["s3:GetObject", "s3:ListBucket"]'
        allowed = f'{{"Effect": "Allow", "Principal": "*", "Action": {actions}'
        policy = f'{{"Version": "2012-10-17", "Statement": [{allowed}, "Resource": {resources}}}]}}'
        owner.put_bucket_policy(Bucket="bucket", Policy=policy)
        self.start(name="/example/s3", url=f"{url}/")
        gateway = self.gateway("--mirror", "/=/example/s3")
        client = self.client(f"http://127.0.0.1:{gateway.port}", keys)
        whole = client.get_object(Bucket="bucket", Key=key)
        self.assertTrue(whole["Body"].read() == data)
        self.assertEqual(whole["Metadata"], {"kind": "test"})
        part = client.get_object(Bucket="bucket", Key=key, Range="bytes=1500000-1500099")
        self.assertEqual(part["Body"].read(), data[1_500_000:1_500_100])
        head = client.head_object(Bucket="bucket", Key=key)
        self.assertEqual((head["ContentLength"], head["ETag"]), (len(data), whole["ETag"]))
        self.assertEqual(client.get_object(Bucket="bucket", Key="empty")["Body"].read(), b"")
        listed = client.list_objects_v2(Bucket="bucket")["Contents"]
        self.assertEqual([entry["Key"] for entry in listed], ["empty", "folder/a b.bin"])
        with self.assertRaises(client.exceptions.NoSuchKey):
            client.get_object(Bucket="bucket", Key="none")
        # In several parts at a time.
        client.download_file("bucket", "folder/a b.bin", str(self.here / "file"))
        self.assertTrue((self.here / "file").read_bytes() == data)

    def client(self, url, keys):
        """A client of the S3 server at a URL."""
        return boto3.client(
            "s3",
            endpoint_url=url,
            region_name="us-east-1",
            aws_access_key_id=keys["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=keys["AWS_SECRET_ACCESS_KEY"],
            config=botocore.config.Config(s3={"addressing_style": "path"}),
        )
