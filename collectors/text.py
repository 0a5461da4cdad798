"""Bytes of unknown origin → numbered lines, in blocks, in bounded memory.

Exports arrive as UTF-8, UTF-16 or Latin-1, with CRLF, with the escape sequences of the terminal they were captured
from, with NULs where a file system padded the last block. None of that may reach a reader, and no line number may
move: a finding quotes lines, and a person will look them up in an editor.
"""

import codecs
import io
import re
from collections.abc import Callable, Iterator
from typing import BinaryIO

CHUNK = 1 << 18
LONGEST_LINE = 1 << 20
"""Characters. T4's own limit for its longest line, the one with the column names, is 220,000."""

ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|[()*+][0-9A-Za-z]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[=>78cDEHMZ])")
CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")
OTHER_CONTROLS = re.compile(r"[\x01-\x08\x0b\x0e-\x1f\x7f]")
STRAY = 50
"""One byte in so many may be NUL in a text that was damaged on its way; more are no text."""
RUN, OPEN_RUN = re.compile(r"^\0{16,}"), re.compile(r"^\0+")
PADDING = re.compile(rb"\0{16,}")
"""What a file system or T4 leaves in the last block."""
PROMPTED = "1> 2> "
PROMPTS = re.compile(r"(?:[0-9]{1,6}> ){2,}(?=\s*\S)")
"""What isql prints in front of an answer where it reads its lines from a file and does not echo them (`-e`): one prompt
for each line, all in one. The heading behind them would stand too far to the right of its dashes."""
NO_TEXT = {
    b"%PDF-": "a PDF; upload the listing itself as plain text, as it was printed",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "a document of Office (.xls, .doc); save a sheet as CSV, a text as plain text",
    b"\x89PNG\r\n": "a picture (PNG); upload the text that it shows",
    b"\xff\xd8\xff": "a picture (JPEG); upload the text that it shows",
    b"GIF8": "a picture (GIF); upload the text that it shows",
    b"Rar!\x1a\x07": "a RAR archive; unpack it, or pack the files as .zip",
    b"\x28\xb5\x2f\xfd": "packed by zstd; unpack it, or pack it as .gz",
    b"SQLite format 3\0": "a database of SQLite; upload the tables as CSV",
    b"\x7fELF": "a program; upload the text export",
    b"MZ\x90\0": "a program; upload the text export",
}
"""First bytes of files that are no text → what they are, and what is read instead."""
CONTROL_BYTES = bytes([*range(9), 11, *range(14, 32), 127])


class NotText(Exception):
    """The bytes are no text export; the message says what they look like and what to bring instead."""


class Begun(io.RawIOBase):
    """A stream whose first bytes, `start`, were looked at: it gives them again, also where there is no way back."""

    def __init__(self, inner: BinaryIO, size: int) -> None:
        """Look at `size` bytes, or at as many as there are. Raises nothing: the `read` that comes to it does."""
        self.inner, self.start = inner, b""
        self.failed: Exception | None = None
        while len(self.start) < size and (more := self._inner(size - len(self.start))):
            self.start += more
        self.pending = self.start

    def _inner(self, size: int) -> bytes:
        """Read on; what that raises waits for the next `read`, so that nothing is lost that came before it."""
        try:
            return b"" if self.failed else self.inner.read(size)
        except Exception as error:  # noqa: BLE001 - whatever it is, `read` raises it
            self.failed = error
            return b""

    def readable(self) -> bool:
        """Say yes, as io wants it."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Read on. Raises what the stream raises."""
        end = len(self.pending) if size < 0 else size
        given, self.pending = self.pending[:end], self.pending[end:]
        if given:
            left = size - len(given)
            return given + self._inner(left) if left else given
        if self.failed:
            raise self.failed
        return self.inner.read(size)


def blocks(stream: BinaryIO, problem: Callable[[str], None]) -> Iterator[tuple[int, list[str]]]:
    """Yield `(number of the first line, lines)`; tells `problem` about lines that had to be cut.

    Raises `NotText` for binary content, at the start or when it begins later.
    """
    nuls = _Nuls()
    try:
        yield from _blocks(stream, problem, nuls)
    finally:
        if nuls.count:
            problem(nuls.said)


class _Nuls:
    """Where NUL bytes stand among the text: bytes that were lost on the way.

    Padding is none of that: those after the end of the text, and a run at the start of a line, which T4 leaves before
    the older rows of its last block. A block that is lost begins where it may.
    """

    def __init__(self) -> None:
        self.first, self.lines, self.count = 0, 0, 0
        self.waiting: list[tuple[int, int]] = []
        """Line and number of those that nothing has followed yet."""
        self.padded = False
        """Whether what was looked at last ended in a run of padding, which may go on."""

    def look(self, first: int, lines: list[str], begun: bool) -> None:
        """Look at lines that may hold some, and at those after them; `begun`: the first of them began before."""
        for number, line in enumerate(lines, first):
            whole = line
            if number > first or not begun:
                line = (OPEN_RUN if number == first and self.padded else RUN).sub("", line)
            self.padded = line != whole and not line
            if count := line.count("\0"):
                self.waiting.append((number, count))
                line = line.partition("\0")[2].replace("\0", "")
            if self.waiting and line.strip():
                self._inside()

    def _inside(self) -> None:
        self.first = self.first or self.waiting[0][0]
        self.lines += len({number for number, _ in self.waiting})
        self.count += sum(count for _, count in self.waiting)
        self.waiting = []

    @property
    def said(self) -> str:
        more = (
            f" and {self.lines - 1:,} more {'line has' if self.lines == 2 else 'lines have'}"
            if self.lines > 1
            else " has"
        )
        return (
            f"line {self.first}{more} NUL bytes ({self.count:,} in all): left out, so figures beside them may be "
            "wrong. Transfer the export again"
        )


def _blocks(stream: BinaryIO, problem: Callable[[str], None], nuls: _Nuls) -> Iterator[tuple[int, list[str]]]:
    number, carry, skipping, had_return = 1, "", False, False
    for text, dirty in _decoder(stream):
        holds_nuls = dirty and "\0" in text
        if dirty:
            text = (OTHER_CONTROLS if holds_nuls else CONTROLS).sub("", ESCAPES.sub("", text))
        if had_return and text.startswith("\n"):
            text = text[1:]
        had_return = text.endswith("\r")
        lines = _split(text.replace("\f", " ") if "\f" in text else text)
        if holds_nuls or nuls.waiting:
            nuls.look(number, lines, bool(carry))
            lines = [line.replace("\0", "") for line in lines]
        if skipping:
            if len(lines) == 1:
                continue
            lines[0], skipping = "", False
        else:
            lines[0] = carry + lines[0]
        if PROMPTED in text or PROMPTED in lines[0][:1000]:
            lines[:-1] = map(_behind_prompts, lines[:-1])
        carry = lines.pop()
        if len(carry) > LONGEST_LINE:
            problem(_too_long(number + len(lines)))
            carry, skipping = "", True
        if lines:
            if len(lines[0]) > LONGEST_LINE:  # only the first can be: the others lie within one chunk
                problem(_too_long(number))
                lines[0] = ""
            yield number, lines
            number += len(lines)
    if carry:
        yield number, [_behind_prompts(carry)]


def _behind_prompts(line: str) -> str:
    """The line as it is printed without the prompts in front of it; the blank that a row begins with may be theirs."""
    found = PROMPTS.match(line)
    return " " + line[found.end() :].removeprefix(" ") if found else line


def _split(text: str) -> list[str]:
    """Split at LF, CRLF and lone CR; the last piece, possibly empty, is the line that goes on in the next chunk."""
    if "\r\r\n" in text:  # a transfer in text mode of what had CRLF already
        text = text.replace("\r\r\n", "\n")
    if "\u00a0" in text:  # pasted from a browser
        text = text.replace("\u00a0", " ")
    if not text.isascii():  # splitlines() knows more line ends than an editor counts, all of them beyond ASCII
        return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    lines = text.splitlines()
    if not text or text[-1] in "\r\n":
        lines.append("")
    return lines


def _too_long(line: int) -> str:
    return f"line {line} is longer than {LONGEST_LINE:,} characters: not read. Export it again with line breaks"


def _decoder(stream: BinaryIO) -> Iterator[tuple[str, bool]]:
    """Decode chunk by chunk: by byte-order mark, else UTF-8, else Latin-1 from the first byte that is no UTF-8.

    The flag says whether control characters may be among the text, so that clean text is not searched twice.
    """
    chunk = stream.read(CHUNK)
    encoding = _encoding_of(chunk)
    decoder = codecs.getincrementaldecoder(encoding)()
    while chunk:
        dirty = encoding.startswith("utf-16") or len(chunk.translate(None, CONTROL_BYTES)) < len(chunk)
        try:
            yield decoder.decode(chunk), dirty
        except UnicodeDecodeError:
            if encoding != "utf-8-sig":
                raise NotText(f"not readable as {encoding}: save it as UTF-8 text") from None
            pending = decoder.getstate()[0]
            encoding, decoder = "latin-1", codecs.getincrementaldecoder("latin-1")()
            yield decoder.decode(pending + chunk), dirty
        chunk = stream.read(CHUNK)
    try:
        yield decoder.decode(b"", final=True), False
    except UnicodeDecodeError:
        yield "\ufffd", False


def _encoding_of(start: bytes) -> str:
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if looks := next((said for magic, said in NO_TEXT.items() if start.startswith(magic)), None):
        raise NotText(f"binary content: {looks}")
    if start.startswith((b"PK\x03\x04", b"\x1f\x8b\x08", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf")):
        raise NotText("binary content: an archive inside an archive, or of a kind not read; unpack it first")
    sample = PADDING.sub(b"", start[:4096])
    nuls = sample.count(0)
    if not sample and start:
        raise NotText("nothing but NUL bytes: the transfer lost the content; upload the text export again")
    if nuls:
        if sample[1::2].count(0) > 0.4 * len(sample) and nuls < 0.6 * len(sample):
            return "utf-16-le"
        if sample[::2].count(0) > 0.4 * len(sample) and nuls < 0.6 * len(sample):
            return "utf-16-be"
        if nuls * STRAY > len(sample):
            raise NotText(
                "binary content (NUL bytes) of no kind that is read: upload the text export, or a "
                "recording (MONITOR.DAT) once more, transferred as binary"
            )
    odd = sum(byte < 9 or 13 < byte < 27 or 27 < byte < 32 for byte in sample)
    if odd > 0.1 * max(len(sample), 1):
        raise NotText("binary content: upload the text export")
    return "utf-8-sig"
