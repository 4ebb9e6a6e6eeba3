"""A worker for tasks over HTTP, with nothing but Python's standard library (3.9 or newer).

    def thumbnail(task):
        for page in task.data["pages"]:
            task.assert_held()
            draw(page, fence=task.token)
        return {"pages": len(task.data["pages"])}

    Worker(url, token, {"thumbnail": thumbnail}).run()
"""

import http.client
import json
import threading
import time
import traceback
import urllib.error
import urllib.request
from urllib.parse import quote

# An answer that is cut off is an HTTPException, one that is no JSON a ValueError: the call may have been carried out.
NO_ANSWER = (OSError, http.client.HTTPException, ValueError)


class Refused(Exception):
    """A call was refused: `code` is stable, `status` is HTTP's."""

    def __init__(self, status, problem):
        super().__init__(f"{problem.get('code') or status}: {problem.get('detail')}")
        self.status = status
        self.code = problem.get("code")


class TaskLost(Exception):
    """Another worker may have the task by now, or it was cancelled. Its result is refused."""


class InvalidTask(Exception):
    """Raise it when no attempt can succeed: the task becomes a dead letter at once."""


class RetryLater(Exception):
    """Raise it to be called again later, which is no failure."""

    def __init__(self, seconds):
        super().__init__(f"again in {seconds} s")
        self.seconds = seconds


class Task:
    """One attempt at a task. A thread renews its lease while the handler works."""

    def __init__(self, worker, claimed, asked):
        self._worker = worker
        self.id = claimed["id"]
        self.type = claimed["type"]
        self.data = claimed.get("data")
        # Grows with each attempt: give it to the resource that you guard.
        self.token = claimed["token"]
        self.attempt = claimed["attempt"]
        self.lost = threading.Event()
        self._ended = threading.Event()
        self._renewed(asked, claimed["remaining"])

    @property
    def is_held(self):
        return not self.lost.is_set() and time.monotonic() < self._until

    def assert_held(self):
        """Looks at the clock itself: the thread may have been late, too. Raises TaskLost."""
        if not self.is_held:
            raise TaskLost(f"task {self.id} was lost")

    def __enter__(self):
        self._thread = threading.Thread(target=self._keep, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        self._thread.join()

    def call(self, verb, timeout, **body):
        path = f"/{quote(self.id, safe='')}/{verb}"
        return self._worker.call(path, {"token": self.token, **body}, timeout)

    def _keep(self):
        lease = self._worker.lease
        while not self._ended.wait(lease / 6):
            asked = time.monotonic()
            try:
                renewed = self.call("renew", lease / 6, lease=round(lease * 1000))
                self._renewed(asked, renewed["remaining"])
            except Refused as refusal:
                # Others, such as 503, may pass: the lease lasts until its end all the same.
                if refusal.status == 409 or not self.is_held:
                    return self.lost.set()
            except (KeyError, *NO_ANSWER):
                if not self.is_held:
                    return self.lost.set()

    def _renewed(self, asked, remaining):
        """From when it was asked for. A sixth of the lease before its end: work that looks at `lost` needs time to stop."""
        self._until = asked + remaining / 1000 - self._worker.lease / 6


class Worker:
    """Works on one task after another.

    url: of a console, with its path: "https://jobs.example.com/gatekeeper"
    token: one of its console.tokens, of the role operate or higher
    handlers: a function for each type. It gets the Task, and its value is the result
    lease: seconds after which another worker gets the task of one that crashed
    """

    def __init__(self, url, token, handlers, lease=30, wait=20):
        self._url = url.rstrip("/") + "/api/tasks"
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._handlers = handlers
        self.lease = lease
        self._wait = wait
        self._stopped = threading.Event()

    def stop(self):
        """Ends `run` after the present task."""
        self._stopped.set()

    def run(self):
        """Works until `stop`. Raises Refused if the console does not let this token work."""
        while not self._stopped.is_set():
            try:
                self.run_once()
            except Refused as refusal:
                if refusal.status not in (429, 503):
                    raise
                self._stopped.wait(1)
            except NO_ANSWER:
                self._stopped.wait(1)

    def run_once(self):
        """Claims a task, waits for one if there is none, and works on it. Returns whether there was one."""
        asked = time.monotonic()
        body = {"types": list(self._handlers), "lease": round(self.lease * 1000), "wait": round(self._wait * 1000)}
        claimed = self.call("/claim", body, self._wait + 10)["tasks"]
        for each in claimed:
            task = Task(self, each, asked)
            # An answer that came too late is for nobody: another worker gets the task after the lease.
            if task.is_held:
                self._work(task)
        return len(claimed) > 0

    def _work(self, task):
        with task:
            end = self._end_of(task)
        verb, body = end
        # The end is noted once, however often it is told.
        while task.is_held:
            try:
                return task.call(verb, self.lease / 6, **body)
            except Refused as refusal:
                if refusal.status == 400 and verb == "complete":
                    # The result is too large, or is no JSON.
                    verb, body = "fail", {"message": str(refusal), "retryable": False}
                elif refusal.status not in (429, 503):
                    return None
            except NO_ANSWER:
                pass
            time.sleep(0.2)

    def _end_of(self, task):
        try:
            result = self._handlers[task.type](task)
            return "complete", {} if result is None else {"result": result}
        except TaskLost:
            return "give-back", {}
        except RetryLater as later:
            return "retry-later", {"after": round(later.seconds * 1000)}
        except Exception as error:
            body = {"name": type(error).__name__, "message": str(error)[:2000], "stack": traceback.format_exc()[:4000]}
            return "fail", {**body, "retryable": not isinstance(error, InvalidTask)}

    def call(self, path, body, timeout):
        request = urllib.request.Request(self._url + path, json.dumps(body).encode(), self._headers, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=timeout) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            with error:
                raise Refused(error.code, _problem_in(error)) from None


def _problem_in(error):
    try:
        problem = json.load(error)
    except NO_ANSWER:
        problem = None
    # Another server, or a path that is none of the console's, answers in other words.
    return problem if isinstance(problem, dict) else {"detail": error.reason}
