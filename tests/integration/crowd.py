#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""crowd - many connections at once, each with a stream of its own that is checked

crowd.py serve PORT              echoes
crowd.py call HOST PORT COUNT    COUNT connections, all open before the first byte is sent; status 0
                                 when every one of them got back what it had sent
"""
import asyncio
import hashlib
import sys

PART = 16384


async def echo(reader, writer):
    while part := await reader.read(PART):
        writer.write(part)
        await writer.drain()
    writer.close()


async def serve(port):
    server = await asyncio.start_server(echo, "0.0.0.0", port, backlog=1024)
    await server.serve_forever()


async def one(number, host, port, everyone_is_here):
    reader, writer = await asyncio.open_connection(host, port)
    await everyone_is_here()
    data = hashlib.sha256(b"%d" % number).digest() * (2048 + number % 64)
    writer.write(data)
    writer.write_eof()
    back = await reader.read(-1)
    writer.close()
    return back == data


async def call(host, port, count):
    missing = count
    gate = asyncio.Event()

    async def everyone_is_here():
        nonlocal missing
        missing -= 1
        if not missing:
            gate.set()
        await gate.wait()

    results = await asyncio.wait_for(
        asyncio.gather(*(one(i, host, port, everyone_is_here) for i in range(count))), 40)
    if not all(results):
        sys.exit(f"{results.count(False)} of {count} streams came back changed")


if sys.argv[1] == "serve":
    asyncio.run(serve(int(sys.argv[2])))
else:
    asyncio.run(call(sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
