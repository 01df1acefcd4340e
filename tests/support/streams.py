"""Short films as HLS and DASH: a playlist, and segments of two seconds."""

from pathlib import Path

from .children import run

SEGMENT = 2
# A picture that moves and a tone, in codecs that every browser has. One key picture a segment.
PICTURES = "testsrc2=size=320x180:rate=25"
CODING = ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-sc_threshold", "0"]
CODING += ["-g", 25 * SEGMENT, "-c:a", "aac", "-b:a", "64k"]


def hls(folder, seconds, segments="fmp4"):
    """Make index.m3u8, and segments of fragmented MP4 or of MPEG-TS (`mpegts`)."""
    ending = {"fmp4": "m4s", "mpegts": "ts"}[segments]
    form = ["-f", "hls", "-hls_time", SEGMENT, "-hls_playlist_type", "vod"]
    form += ["-hls_segment_type", segments]
    form += ["-hls_segment_filename", Path(folder) / f"part%d.{ending}"]
    return _make(Path(folder) / "index.m3u8", seconds, form)


def dash(folder, seconds):
    """Make index.mpd and its segments."""
    form = ["-f", "dash", "-seg_duration", SEGMENT, "-use_timeline", 1, "-use_template", 1]
    return _make(Path(folder) / "index.mpd", seconds, form)


def plain(folder, seconds):
    """Make film.mp4, which can be played from its beginning."""
    form = ["-f", "mp4", "-movflags", "+frag_keyframe+empty_moov+default_base_moof"]
    return _make(Path(folder) / "film.mp4", seconds, form)


def _make(path, seconds, form):
    path.parent.mkdir(parents=True, exist_ok=True)
    sources = ["-f", "lavfi", "-i", PICTURES, "-f", "lavfi", "-i", "sine"]
    argv = ["ffmpeg", "-loglevel", "error", "-y", *sources, "-t", seconds, *CODING, *form, path]
    run(argv)
    return path
