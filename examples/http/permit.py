"""Permits over HTTP, with nothing but Python's standard library (3.9 or newer).

    with Gatekeeper(url, token).permit("nightly-export", duration=60) as permit:
        for row in rows:
            permit.assert_held()
            write(row, fence=permit.token)
"""

import http.client
import json
import threading
import time
import urllib.error
import urllib.request
import uuid
from urllib.parse import quote

# An answer that is cut off is an HTTPException, one that is no JSON a ValueError: the call may have been carried out.
NO_ANSWER = (OSError, http.client.HTTPException, ValueError)


class Denied(Exception):
    """No permit was granted: `reason` says why, `holders` names who has it."""

    def __init__(self, problem):
        super().__init__(problem.get("detail") or problem.get("reason"))
        self.reason = problem.get("reason")
        self.holders = problem.get("holders", [])


class PermitLost(Exception):
    """The permit could not be kept: another holder may have it by now."""


class Refused(Exception):
    """The call itself was refused; `problem` has its code and detail, `status` is HTTP's."""

    def __init__(self, problem, status, retry_after):
        super().__init__(f"{problem.get('code') or status}: {problem.get('detail') or problem.get('message')}")
        self.problem = problem
        self.status = status
        # Seconds until another try may be of use.
        self.retry_after = retry_after


class Gatekeeper:
    """The console of an application that has the gatekeeper.

    url: with its path: "https://jobs.example.com/gatekeeper"
    token: one of its console.tokens, of the role operate or higher
    """

    def __init__(self, url, token):
        self._url = url.rstrip("/") + "/api/permits"
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def permit(self, semaphore, duration, wait=0, patience=10):
        """A permit for the length of a `with`. All times in seconds.

        wait: how long to wait for a free permit, up to 60
        patience: how long to ask again, beyond `wait`, while no answer comes or the answer is 503

        Raises Denied, Refused, or what NO_ANSWER names when the application can't be asked.
        """
        return Permit(self, semaphore, duration, wait, patience)

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
            raise Refused(problem, error.code, _retry_after(error)) from None


class Permit:
    """Refreshed by a thread of its own while the `with` lasts."""

    def __init__(self, gatekeeper, semaphore, duration, wait, patience):
        self._gatekeeper = gatekeeper
        self._semaphore = semaphore
        self._duration = duration
        self._wait = wait
        self._patience = patience
        # A name that no other permit has: a request that is repeated under it gets the same permit.
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
        except (Denied, Refused, *NO_ANSWER):
            pass  # It expires by itself; the work that it guarded was done.

    def _acquire(self):
        """Repeats a take whose outcome is not known: the holder's name makes that safe."""
        end = time.monotonic() + self._wait + self._patience
        while True:
            # What was waited for an answer that never came is not waited for again.
            wait = max(0, min(self._wait, end - self._patience - time.monotonic()))
            body = {"holder": self._holder, "duration": self._milliseconds, "wait": round(wait * 1000)}
            asked = time.monotonic()
            try:
                granted = self._call("", wait + 10, **body)
                # From when it was asked for: the server adds what it let the request wait. What came too late, because
                # the answer or this process was held up, counts as nothing and is asked for again.
                self._renewed(asked, granted["remaining"])
                if self.is_held:
                    return granted
                delay, failure = 0.2, PermitLost(f"the permit of {self._semaphore} was over when its answer came")
            except Refused as refusal:
                if refusal.status != 503 and refusal.problem.get("code") != "permit-lost":
                    raise
                delay, failure = refusal.retry_after, refusal
            except NO_ANSWER as error:
                delay, failure = 0.2, error
            if time.monotonic() + delay >= end:
                raise failure
            time.sleep(delay)

    def _keep(self):
        path = f"/{quote(self._id, safe='')}/refresh"
        while not self._ended.wait(self._duration / 6):
            asked = time.monotonic()
            try:
                refreshed = self._call(path, self._duration / 6, token=self.token, duration=self._milliseconds)
                self._renewed(asked, refreshed["remaining"])
            except Refused as refusal:
                if refusal.problem.get("code") in ("permit-lost", "unknown-semaphore") or not self.is_held:
                    return self.lost.set()
            except (Denied, KeyError, *NO_ANSWER):
                # Denied for now, as while lost data recover, or not answered: it lasts until its end all the same.
                if not self.is_held:
                    return self.lost.set()

    def _renewed(self, asked, remaining):
        """A sixth of the duration before its end: work that looks at `lost` needs the time to stop."""
        self._until = asked + remaining / 1000 - self._duration / 6

    @property
    def _milliseconds(self):
        return round(self._duration * 1000)

    def _call(self, path, timeout, **body):
        return self._gatekeeper.call(path, {"semaphore": self._semaphore, **body}, timeout)


def _problem_in(error):
    try:
        problem = json.load(error)
    except NO_ANSWER:
        problem = None
    # Another server, or a path that is none of the console's, answers in other words.
    return problem if isinstance(problem, dict) else {"detail": error.reason}


def _retry_after(error):
    """Seconds; the other form of the header, a date, is not worth a parser here."""
    text = error.headers.get("Retry-After") or ""
    return min(int(text), 60) if text.isdigit() else 1
