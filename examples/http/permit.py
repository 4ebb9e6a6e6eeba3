"""Permits over HTTP, with nothing but Python's standard library (3.9 or newer).

    with Gatekeeper(url, token).permit("nightly-export", duration=60) as permit:
        for row in rows:
            permit.assert_held()
            write(row, fence=permit.token)
"""

import json
import threading
import time
import urllib.error
import urllib.request
import uuid
from urllib.parse import quote


class Denied(Exception):
    """Nobody else may know better: `reason` says why, `holders` who has it."""

    def __init__(self, problem):
        super().__init__(problem.get("detail") or problem.get("reason"))
        self.reason = problem.get("reason")
        self.holders = problem.get("holders", [])


class PermitLost(Exception):
    """It could not be kept: somebody else may have it by now."""


class Refused(Exception):
    """The call itself was refused; `problem` has its code and detail."""

    def __init__(self, problem):
        super().__init__(f"{problem.get('code')}: {problem.get('detail')}")
        self.problem = problem


class Gatekeeper:
    """The console of an application that has the gatekeeper.

    url: with its path: "https://jobs.example.com/gatekeeper"
    token: one of its console.tokens, of the role operate or higher
    """

    def __init__(self, url, token):
        self._url = url.rstrip("/") + "/api/permits"
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def permit(self, semaphore, duration, wait=0):
        """A permit for the length of a `with`. Durations in seconds; `wait`: how long to wait for one, up to 60.

        Raises Denied, Refused, or OSError when the application can't be asked.
        """
        return Permit(self, semaphore, duration, wait)

    def call(self, path, body, timeout):
        data = json.dumps(body).encode()
        request = urllib.request.Request(self._url + path, data, self._headers, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=timeout) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            with error:
                problem = _problem_in(error)
            if problem.get("code") == "denied":
                raise Denied(problem) from None
            raise Refused(problem) from None


class Permit:
    """Refreshed by a thread of its own while the `with` lasts."""

    def __init__(self, gatekeeper, semaphore, duration, wait):
        self._gatekeeper = gatekeeper
        self._semaphore = semaphore
        self._duration = duration
        self._wait = wait
        # Tells this one from all others: who asks again in its name gets the same permit.
        self._holder = f"python-{uuid.uuid4()}"
        self._ended = threading.Event()
        self.lost = threading.Event()

    @property
    def is_held(self):
        return not self.lost.is_set() and time.monotonic() < self._until

    def assert_held(self):
        """Looks at the clock itself: the thread may have been late, too. Raises PermitLost."""
        if not self.is_held:
            raise PermitLost(f"the permit of {self._semaphore} was lost")

    def __enter__(self):
        granted = self._acquire()
        self._id = granted["id"]
        self.token = granted["token"]
        self.slot = granted["slot"]
        self._thread = threading.Thread(target=self._keep, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        self._thread.join()
        if self.lost.is_set():
            return
        try:
            self._call(f"/{quote(self._id, safe='')}/release", 10)
        except (OSError, ValueError, Refused):
            pass  # It expires by itself.

    def _acquire(self):
        body = {"holder": self._holder, "duration": self._milliseconds, "wait": round(self._wait * 1000)}
        for last in (False, False, True):
            asked = time.monotonic()
            try:
                granted = self._call("", self._wait + 10, **body)
            except OSError:
                # It may have been granted: the same holder is given the same one.
                if last:
                    raise
                time.sleep(0.2)
            else:
                # What is left of it counts from before it was asked for; while it was waited for it was not held.
                self._renewed(max(asked, time.monotonic() - self._duration + granted["remaining"] / 1000))
                return granted

    def _keep(self):
        path = f"/{quote(self._id, safe='')}/refresh"
        while not self._ended.wait(self._duration / 6):
            asked = time.monotonic()
            try:
                self._call(path, self._duration / 6, token=self.token, duration=self._milliseconds)
                self._renewed(asked)
            except Refused as refusal:
                if refusal.problem.get("code") in ("permit-lost", "unknown-semaphore") or not self.is_held:
                    return self.lost.set()
            except (Denied, OSError, ValueError):
                # Denied for now, as while lost data recover: it lasts until its end all the same.
                if not self.is_held:
                    return self.lost.set()

    def _renewed(self, asked):
        """Ends a sixth before the others may have it."""
        self._until = asked + self._duration * 5 / 6

    @property
    def _milliseconds(self):
        return round(self._duration * 1000)

    def _call(self, path, timeout, **body):
        return self._gatekeeper.call(path, {"semaphore": self._semaphore, **body}, timeout)


def _problem_in(error):
    try:
        return json.load(error)
    except ValueError:
        return {"code": str(error.code), "detail": error.reason}
