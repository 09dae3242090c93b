"""Requests to a server."""

import base64
import http.client
import json
import ssl
import time
import urllib.error
import urllib.request
import uuid
from urllib.parse import quote, urlencode

from ._settings import read_settings

# Attempts of a request that a busy server refuses, and the longest pause between them, in seconds.
MAX_TRIES = 5
MAX_PAUSE_SECONDS = 30
TIMEOUT_SECONDS = 600


def _create_key():
    """Returns a unique key, which begins with the time: the server then stores keys next to each other."""
    return f"{time.time_ns() // 1_000_000:012x}{uuid.uuid4().hex}"


class GridlineError(Exception):
    """An error of the server or the connection.

    ``status``: HTTP status, 0 without a response. ``code``: code of the error, such as ``not_found``.
    ``hint``: how to fix it, or None.
    """

    def __init__(self, status, code, message, hint=None):
        super().__init__(f"{message}. {hint}" if hint else message)
        self.status = status
        self.code = code
        self.message = message
        self.hint = hint


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the key must not reach another host."""

    def redirect_request(self, *_args, **_kwargs):
        return None


class Client:
    """A server and a user on it."""

    def __init__(self, url, user, api_key, ca_file=None):
        self.url = url.rstrip("/")
        self.user = user
        token = base64.b64encode(f"{user}:{api_key}".encode()).decode()
        self._authorization = f"Basic {token}"
        context = ssl.create_default_context(cafile=ca_file)
        self._opener = urllib.request.build_opener(
            urllib.request.HTTPSHandler(context=context), _NoRedirects
        )

    def request(self, method, path, query=None, body=None, headers=None):
        """Sends a request and returns the bytes of the response.

        A dict or list as ``body`` is sent as JSON. Writes can be repeated safely: all attempts have one
        idempotency key. Raises ``GridlineError``.
        """
        url = self.url + path
        if query:
            pairs = [(name, value) for name, value in query.items() if value is not None]
            url += "?" + urlencode(pairs, doseq=True) if pairs else ""
        sent = {"Authorization": self._authorization, "User-Agent": "gridline-python/0.1"}
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
            sent["Content-Type"] = "application/json"
        if method != "GET":
            sent["Idempotency-Key"] = _create_key()
        sent.update(headers or {})
        for attempt in range(1, MAX_TRIES + 1):
            try:
                request = urllib.request.Request(url, data=body, headers=sent, method=method)
                with self._opener.open(request, timeout=TIMEOUT_SECONDS) as response:
                    return response.read()
            except urllib.error.HTTPError as error:
                if error.code in (429, 503) and attempt < MAX_TRIES:
                    time.sleep(_pause_of(error, attempt))
                    continue
                raise _to_error(error) from None
            except (urllib.error.URLError, OSError, http.client.HTTPException) as error:
                reason = getattr(error, "reason", error)
                hint = None
                if isinstance(reason, ssl.SSLCertVerificationError):
                    hint = "Name its certificate with GRIDLINE_CA_FILE"
                elif attempt < MAX_TRIES and not isinstance(reason, ssl.SSLError):
                    time.sleep(min(MAX_PAUSE_SECONDS, 0.5 * 2**attempt))
                    continue
                raise GridlineError(0, "unreachable", f"{self.url}: {reason}", hint) from None
        raise AssertionError("unreachable code")

    def call(self, method, path, **arguments):
        """Sends a request and returns the JSON of the response."""
        return json.loads(self.request(method, path, **arguments) or b"null")

    def find(self, name, kind):
        """Returns the metadata of a file: by path, or by id such as ``alice:7``. ``kind``: grids, plots or files."""
        owner, _, number = name.partition(":")
        if owner and number.isdigit():
            return self.call("GET", f"/v2/{kind}/{quote(name, safe=':')}")
        return self.call("GET", f"/v2/{kind}/lookup", query={"path": name})


def _pause_of(error, attempt):
    """Returns the seconds to wait before the next attempt."""
    try:
        pause = float(error.headers.get("Retry-After", ""))
    except ValueError:
        pause = 0.5 * 2**attempt
    return max(0.1, min(MAX_PAUSE_SECONDS, pause))


def _to_error(error):
    """Converts a response to an error."""
    if 300 <= error.code < 400:
        return GridlineError(error.code, "redirect", f"the server leads to {error.headers.get('Location')}")
    try:
        first = json.loads(error.read())["errors"][0]
        return GridlineError(error.code, first["code"], first["message"], first.get("hint"))
    except (ValueError, KeyError, IndexError, TypeError):
        return GridlineError(error.code, "failed", f"the server answered {error.code}")


_default = None


def connect(url=None, user=None, api_key=None, ca_file=None):
    """Sets the server and user of this process. Missing arguments come from the settings. Returns the client."""
    global _default
    settings = read_settings()
    given = {"url": url, "user": user, "api_key": api_key, "ca_file": ca_file}
    if url or user or api_key:
        # A key of the settings belongs to their user and server.
        if url and url != settings["url"]:
            settings = {"url": None, "user": None, "api_key": None, "ca_file": settings["ca_file"]}
        elif user and user != settings["user"]:
            settings["api_key"] = None
    chosen = {name: value or settings[name] for name, value in given.items()}
    missing = [name for name in ("url", "user", "api_key") if not chosen[name]]
    if missing:
        raise GridlineError(
            0,
            "unauthenticated",
            f"the settings have no {', '.join(missing)}",
            "Log in with: gridline login URL, or set GRIDLINE_URL, GRIDLINE_USER and GRIDLINE_API_KEY",
        )
    _default = Client(**chosen)
    return _default


def default_client():
    """Returns the client of ``connect``, or one of the settings."""
    return _default or connect()
