"""Small file systems, each seen only by programs that enter its mount namespace."""

import contextlib
import subprocess

from support.children import Failed, run


class Volume:
    """A file system at `folder`. A subclass says how to mount it, as a script for `sh`."""

    def __init__(self, folder, script, *words):
        self.folder = folder / "volume"
        self.folder.mkdir()
        self._holder = subprocess.Popen(
            ["unshare", "--mount", "sh", "-c", f"{script} && echo ready && exec cat"]
            + [str(self.folder), *map(str, words)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        if self._holder.stdout.readline() != b"ready\n":
            self.close()
            raise Failed("this system lets us mount no file system of our own")

    def command(self, *argv):
        """The command as it has to be started to see the file system."""
        return ["nsenter", "--target", str(self._holder.pid), "--mount", *map(str, argv)]

    def run(self, *argv):
        """Run a short command there to its end and return what it printed."""
        return run(self.command(*argv))

    def free(self):
        """Bytes that can still be written."""
        blocks, size = self.run("stat", "-f", "-c", "%f %S", self.folder).split()
        return int(blocks) * int(size)

    def taken(self, name):
        """Bytes on the disk of a file there, and its length; zeros if there is none."""
        script = 'test -e "$0" && stat -c "%b %s" "$0" || echo 0 0'
        blocks, length = self.run("sh", "-c", script, self.folder / name).split()
        return int(blocks) * 512, int(length)

    def write(self, name, size):
        """Write and remove a file, as another program would: Failed if the disk is full."""
        self.run("sh", "-c", 'head -c "$0" /dev/zero >"$1"', size, self.folder / name)
        self.run("rm", self.folder / name)

    def sha256(self, name):
        """The digest of a file there, in hexadecimal."""
        return self.run("sha256sum", self.folder / name).split()[0]

    def names(self):
        """The files in it, without what the file system itself puts there."""
        return set(self.run("ls", "-N", self.folder).splitlines()) - {"lost+found"}

    def close(self):
        """Leave the namespace; the kernel unmounts with it."""
        with contextlib.suppress(BrokenPipeError):
            self._holder.stdin.close()
        self._holder.wait()
        self._holder.stdout.close()


class InMemory(Volume):
    """A tmpfs, which can reserve space."""

    def __init__(self, folder, size):
        super().__init__(folder, 'mount -t tmpfs -o "size=$1" none "$0"', size)


class Ext2(Volume):
    """An ext2 file system, which cannot reserve space: writing shows how much there is."""

    def __init__(self, folder, size):
        image = folder / "image"
        with open(image, "wb") as file:
            file.truncate(size)
        run(["mkfs.ext2", "-q", "-m", "0", "-b", "1024", image])
        super().__init__(folder, 'mount -o loop "$1" "$0"', image)


class Fat(Volume):
    """A FAT file system: no links, no permissions, and not every name."""

    def __init__(self, folder, size):
        image = folder / "image"
        with open(image, "wb") as file:
            file.truncate(size)
        try:
            run(["mkfs.vfat", image])
        except FileNotFoundError as missing:
            raise Failed("there is no mkfs.vfat") from missing
        super().__init__(folder, 'mount -t vfat -o loop,umask=022 "$1" "$0"', image)


class Ntfs(Volume):
    """An NTFS in user space, which takes only the names that FAT takes."""

    def __init__(self, folder, size):
        image = folder / "image"
        with open(image, "wb") as file:
            file.truncate(size)
        try:
            run(["mkfs.ntfs", "--quick", "--force", image])
        except FileNotFoundError as missing:
            raise Failed("there is no mkfs.ntfs") from missing
        options = "windows_names,uid=0,fmask=022,dmask=022"
        super().__init__(folder, f'mount.ntfs-3g -o {options} "$1" "$0"', image)


def foreign(folder, size):
    """A file system with the names of other systems: FAT, or NTFS where the kernel has no FAT."""
    reasons = []
    for kind in (Fat, Ntfs):
        try:
            # Each has a folder of its own: the first may fail after it has made its image.
            place = folder / kind.__name__.lower()
            place.mkdir()
            return kind(place, size)
        except Failed as reason:
            reasons.append(str(reason))
    raise Failed("; ".join(reasons))
