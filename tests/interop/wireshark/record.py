"""Records what crosses an interface into a pcap file, until standard input closes.

    record.py INTERFACE FILE

The programs that capture packets are not on every machine; a packet socket is.
"""

import select
import socket
import struct
import sys
import time

ALL = 0x0003


def main(interface, path):
    """Write packets as they come."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL)) as wire:
        wire.bind((interface, 0))
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        with open(path, "wb") as out:
            out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 1 << 18, 1))
            out.flush()
            open_ends = [wire, sys.stdin]
            while True:
                ready, _, _ = select.select(open_ends, [], [])
                if wire in ready:
                    frame = wire.recv(1 << 18)
                    seconds, nanoseconds = divmod(time.time_ns(), 10**9)
                    size = len(frame)
                    head = struct.pack("<IIII", seconds, nanoseconds // 1000, size, size)
                    out.write(head + frame)
                elif not sys.stdin.buffer.read(1):
                    return


if __name__ == "__main__":
    main(*sys.argv[1:])
