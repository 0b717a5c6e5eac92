#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""http_peer - the kernel's HTTP server: files by GET; POST to /sha256 tells the body's hash; GET of
/silence is never answered

Usage: http_peer.py PORT FOLDER
"""
import functools
import hashlib
import http.server
import sys
import threading


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path == "/silence":
            threading.Event().wait(60)
        super().do_GET()

    def do_POST(self):
        digest = hashlib.sha256()
        left = int(self.headers["Content-Length"])
        while left:
            part = self.rfile.read(min(left, 1 << 18))
            if not part:
                return
            digest.update(part)
            left -= len(part)
        body = digest.hexdigest().encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer.daemon_threads = True
http.server.ThreadingHTTPServer(
    ("", int(sys.argv[1])), functools.partial(Handler, directory=sys.argv[2])).serve_forever()
