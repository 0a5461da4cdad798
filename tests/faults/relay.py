"""`python -m tests.faults.relay FROM TO …`: pass connections on; an end is `host:port` or the path of a Unix socket."""

import asyncio
import sys
from contextlib import suppress


async def relay(where: str, to: str) -> None:
    """Listen at one end and pass each connection on to the other."""

    async def passes(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            there = await _opened(to)
            await asyncio.gather(_pump(reader, there[1]), _pump(there[0], writer))
        writer.close()

    if "/" in where:
        await asyncio.start_unix_server(passes, where)
    else:
        host, _, port = where.rpartition(":")
        await asyncio.start_server(passes, host, int(port))


async def _opened(to: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    if "/" in to:
        return await asyncio.open_unix_connection(to)
    host, _, port = to.rpartition(":")
    return await asyncio.open_connection(host, int(port))


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass on until one side ends, and have the other one know."""
    with suppress(OSError):
        while block := await reader.read(1 << 16):
            writer.write(block)
            await writer.drain()
    writer.close()


async def main(words: list[str]) -> None:
    """Relay until killed; says `ready` when it listens everywhere."""
    for where, to in zip(words[::2], words[1::2], strict=True):
        await relay(where, to)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
