"""The same bytes by other means: files from nginx or proftpd by curl, datagrams by iperf3.

Both run in the foreground, in a folder of ours, on a port that is free, and end with us.
"""

import json
import socket

from support.children import Child, Failed, run, wait_until

NGINX = """
daemon off;
master_process off;
error_log stderr;
pid {folder}/nginx.pid;
events {{}}
http {{
    access_log off;
    sendfile on;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {more}
    server {{
        listen {address}:{port};
        {what}
    }}
}}
"""
# A proxy's files stay in its folder; a second request for a file in transfer waits for it.
CACHE = "proxy_cache_path {folder}/cache keys_zone=kept:1m max_size={megabytes}m use_temp_path=off;"
PROXY = """location / {{
            proxy_pass {upstream};
            proxy_http_version 1.1;
            proxy_cache kept;
            proxy_cache_valid 200 1h;
            proxy_cache_lock on;
            proxy_cache_lock_timeout 600s;
            proxy_cache_lock_age 600s;
        }}"""
PROFTPD = """
ServerType standalone
DefaultAddress {address}
SocketBindTight on
Port {port}
User root
Group root
AuthOrder mod_auth_unix.c
RequireValidShell off
UseFtpUsers off
UseIPv6 off
UseReverseDNS off
WtmpLog off
TransferLog none
SystemLog {folder}/proftpd-system.log
PidFile {folder}/proftpd.pid
ScoreboardFile {folder}/proftpd.scoreboard
DelayTable {folder}/proftpd.delay
ControlsSocket {folder}/proftpd.sock
<Anonymous {files}>
    User nobody
    Group nogroup
    UserAlias anonymous nobody
</Anonymous>
"""


def here(*argv):
    """A command on this machine itself, where a host's `command` would start it elsewhere."""
    return [str(word) for word in argv]


def free_port(kind=socket.SOCK_STREAM):
    """A port without a listener."""
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A server of files; `on` is the command of the host that it runs on."""

    def __init__(self, folder, address, on, argv):
        self.address = address
        self.log = folder / f"{argv[0]}.log"
        # It is written when the server runs.
        pid_file = folder / f"{argv[0]}.pid"
        pid_file.unlink(missing_ok=True)
        self.child = Child(on(*argv), self.log)
        wait_until(lambda: self._started(pid_file), f"{argv[0]} to start")

    def _started(self, pid_file):
        if not self.child.running:
            raise Failed(f"{self.child.name} ended\n{self.child.last_words()}")
        return pid_file.exists()

    @property
    def url(self):
        """Where its files are."""
        return f"{self.scheme}://{self.address}:{self.port}"

    def begin(self, name, output, log, on=here):
        """Begin to fetch a file with curl."""
        url = f"{self.url}/{name}"
        return Child(on("curl", "--silent", "--show-error", "-o", output, url), log)

    def fetch(self, name, output, log, timeout, on=here):
        """Fetch a file with curl and return the finished child."""
        child = self.begin(name, output, log, on)
        with child:
            if child.wait(timeout) != 0:
                raise Failed(f"curl: status {child.status}\n{child.last_words()}")
        return child

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.stop()


class Nginx(Server):
    """A web server for the files of one folder, or a cache before another one (its URL)."""

    scheme = "http"

    def __init__(self, folder, address="127.0.0.1", on=here, upstream=None, megabytes=1000):
        self.port = free_port()
        config = folder / "nginx.conf"
        what, more = f"root {folder};", ""
        if upstream:
            what = PROXY.format(upstream=upstream)
            more = CACHE.format(folder=folder, megabytes=megabytes)
        about = {"folder": folder, "address": address, "port": self.port}
        config.write_text(NGINX.format(**about, what=what, more=more), encoding="utf-8")
        # -e: without it nginx tries the system's log before it has read the configuration.
        argv = ["nginx", "-p", folder, "-c", config, "-e", folder / "nginx.log"]
        super().__init__(folder, address, on, argv)


class ProFtpd(Server):
    """An FTP server for the files of one folder, without login. It needs root."""

    scheme = "ftp"

    def __init__(self, folder, files, address="127.0.0.1", on=here):
        self.port = free_port()
        config = folder / "proftpd.conf"
        about = {"folder": folder, "files": files, "address": address, "port": self.port}
        config.write_text(PROFTPD.format(**about), encoding="utf-8")
        super().__init__(folder, address, on, ["proftpd", "--nodaemon", "--quiet", "-c", config])


def iperf3_udp(folder, seconds=5, size=8000, address="127.0.0.1", server_on=here, client_on=here):
    """Bits per second that arrive when iperf3 sends datagrams as fast as possible, and those
    sent."""
    port = free_port()
    # With a file as output it would buffer its messages until it ends.
    flags = ["--server", "--one-off", "--forceflush", "--port", port]
    server = Child(server_on("iperf3", *flags), folder / "iperf3.log")
    with server:
        wait_until(lambda: b"listening" in server.log.read_bytes(), "iperf3 to listen")
        flags = ["--udp", "--bitrate", 0, "--length", size, "--time", seconds, "--json"]
        client = client_on("iperf3", "--client", address, "--port", port, *flags)
        said = json.loads(run(client, timeout=seconds + 30))
        server.wait(timeout=30)
    end = said["end"]
    sent = end.get("sum_sent", end["sum"])["bits_per_second"]
    return sent * (1 - end["sum"]["lost_percent"] / 100), sent
