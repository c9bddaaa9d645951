"""A CI system's identity provider for one machine: hands out id-tokens and publishes its keys.

Usage: issuer.py KEY.pem KEYS.json REPOSITORY REF; prints its address and serves until it is ended.
"""

import base64
import http.server
import json
import subprocess
import sys
import time
import urllib.parse

KEY, KEYS, REPOSITORY, REF = sys.argv[1:5]


def part(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def token(issuer: str, audience: str) -> str:
    header = {"alg": "RS256", "typ": "JWT", "kid": "test"}
    claims = {
        "iss": issuer,
        "aud": audience,
        "exp": int(time.time()) + 300,
        "repository": REPOSITORY,
        "ref": REF,
        "actor": "ada",
    }
    signed = part(json.dumps(header).encode()) + "." + part(json.dumps(claims).encode())
    command = ["openssl", "dgst", "-sha256", "-sign", KEY]
    signature = subprocess.run(command, input=signed.encode(), capture_output=True, check=True)
    return signed + "." + part(signature.stdout)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        url = urllib.parse.urlparse(self.path)
        if url.path == "/jwks":
            with open(KEYS, "rb") as keys:
                body = keys.read()
        else:
            audience = urllib.parse.parse_qs(url.query)["audience"][0]
            body = json.dumps({"value": token(ADDRESS, audience)}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
ADDRESS = f"http://127.0.0.1:{server.server_port}"
print(ADDRESS, flush=True)
server.serve_forever()
