"""The same bytes by other means: a file from nginx by curl, datagrams by iperf3.

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
    server {{
        listen {address}:{port};
        root {folder};
    }}
}}
"""


def here(*argv):
    """A command on this machine itself, where a host's `command` would start it elsewhere."""
    return [str(word) for word in argv]


def free_port(kind=socket.SOCK_STREAM):
    """A port that nobody listens on now."""
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Nginx:
    """A web server for the files of one folder; `on` is the command of the host it runs on."""

    def __init__(self, folder, address="127.0.0.1", on=here):
        self.port = free_port()
        self.address = address
        config = folder / "nginx.conf"
        text = NGINX.format(folder=folder, address=address, port=self.port)
        config.write_text(text, encoding="utf-8")
        self.log = folder / "nginx.log"
        # -e: without it nginx tries the system's log before it has read the configuration.
        argv = on("nginx", "-p", folder, "-c", config, "-e", self.log)
        self.child = Child(argv, self.log)
        pid_file = folder / "nginx.pid"
        wait_until(lambda: self._started(pid_file), "nginx to start")

    def _started(self, pid_file):
        if not self.child.running:
            raise Failed(f"nginx ended\n{self.child.last_words()}")
        return pid_file.exists()

    def fetch(self, name, output, log, timeout, on=here):
        """Fetch a file of the folder with curl and return the finished child."""
        url = f"http://{self.address}:{self.port}/{name}"
        child = Child(on("curl", "--silent", "--show-error", "-o", output, url), log)
        with child:
            if child.wait(timeout) != 0:
                raise Failed(f"curl: status {child.status}\n{child.last_words()}")
        return child

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.stop()


def iperf3_udp(folder, seconds=5, size=8000, address="127.0.0.1", server_on=here, client_on=here):
    """Bits a second that arrive when iperf3 sends datagrams as fast as it can, and those sent."""
    port = free_port()
    # Into a file it would keep its words until it ends.
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
