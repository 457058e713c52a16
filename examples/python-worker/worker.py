#!/usr/bin/env python3
"""A worker for a queue of Perdure: the standard library, nothing else.

    python3 worker.py --queue words

It claims tasks by long poll, keeps each by heartbeats while it works on it, and completes it. What `handle` raises fails
the attempt; the task comes again after a pause. SIGTERM and Ctrl-C let the task under way end first.
"""

import argparse
import http.client
import json
import os
import random
import signal
import socket
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid

WAIT_MS = 25_000
# Seconds that an answer may take beyond what was asked for.
ON_THE_WAY_S = 15
PAUSE_MOST_S = 30


class Refused(Exception):
    """What the server says no to. `code` is the word to tell refusals apart by."""

    def __init__(self, status, problem):
        super().__init__(problem.get("detail", ""))
        self.status = status
        self.code = problem.get("code", "unexpected_answer")
        self.retryable = problem.get("retryable", status in (429, 502, 503, 504))


class GiveUp(Exception):
    """Raised by `handle` where no further attempt would help."""


LOST = ("lease_lost", "task_closed", "task_not_found")


def call(server, path, body, key=None, timeout_s=30):
    """One POST; the answer's JSON, or Refused. Raises OSError when there is no answer."""
    headers = {"Authorization": f"Bearer {server['key']}", "Content-Type": "application/json"}
    if key:
        headers["Idempotency-Key"] = key
    data = json.dumps(body).encode()
    request = urllib.request.Request(server["url"] + path, data=data, headers=headers, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=timeout_s) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        try:
            problem = json.load(error)
        except ValueError:
            problem = {}
        raise Refused(error.code, problem) from None
    except http.client.HTTPException as error:
        # The server went away in the middle of its answer.
        raise OSError(f"no whole answer: {error!r}") from error


class Lease:
    """Keeps a task while it is worked on: a heartbeat at each third of the lease."""

    def __init__(self, server, task):
        self.server = server
        self.task = task
        self.lost = threading.Event()
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.keep, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()

    def keep(self):
        lease_s = self.task["leaseMs"] / 1000
        until = time.monotonic() + lease_s
        pause = lease_s / 3
        while not self.over.wait(pause):
            asked = time.monotonic()
            if asked >= until:
                self.lost.set()
                return
            try:
                path = f"/v1/tasks/{self.task['id']}/heartbeat"
                call(self.server, path, {"leaseToken": self.task["leaseToken"]}, None, until - asked)
                until = asked + lease_s
                pause = lease_s / 3
            except Refused as refusal:
                if refusal.code in LOST:
                    self.lost.set()
                    return
                pause = lease_s / 10
            except (OSError, ValueError):
                pause = lease_s / 10


def handle(task, lost):
    """The work itself: counts words. `lost` is set when the task is somebody else's; look at it in long loops."""
    given = task["input"]
    text = given.get("text") if isinstance(given, dict) else None
    if not isinstance(text, str):
        raise GiveUp("The input needs a text.")
    for _ in range(int(given.get("pages", 0))):
        if lost.wait(1):
            return None
    return {"words": len(text.split()), "countedBy": f"python {sys.version_info.major}"}


def failure(code, error, retryable):
    return {"error": {"code": code, "message": str(error)[:500]}, "retryable": retryable}


def do(server, task):
    path = f"/v1/tasks/{task['id']}"
    with Lease(server, task) as lease:
        try:
            result, verb = {"output": handle(task, lease.lost)}, "complete"
            # What is no JSON is a failure of the work too.
            json.dumps(result, allow_nan=False)
        except Exception as error:  # Whatever it is, the server is to know.
            result, verb = failure("failed", error, not isinstance(error, GiveUp)), "fail"
        key = str(uuid.uuid4())
        failures = 0
        # Said again under the same key until it is heard: it acts once.
        while not lease.lost.is_set():
            try:
                call(server, f"{path}/{verb}", {"leaseToken": task["leaseToken"], **result}, key)
                return
            except Refused as refusal:
                if not refusal.retryable:
                    print(f"{task['id']}: {refusal.code}: {refusal}", file=sys.stderr)
                    if verb == "fail" or refusal.code in LOST:
                        return
                    # An output that is too large, say: the next attempt would end alike.
                    result, verb = failure(refusal.code, refusal, False), "fail"
                    key = str(uuid.uuid4())
                    continue
            except (OSError, ValueError):
                pass
            pause(failures)
            failures += 1


def pause(failures):
    time.sleep(min(0.5 * 2 ** min(failures, 10), PAUSE_MOST_S) * random.uniform(0.5, 1))


class Worker:
    def __init__(self, server, queue, name, lease_ms):
        self.server = server
        self.path = f"/v1/queues/{queue}/claim"
        self.claim = {"worker": name, "max": 1, "waitMs": WAIT_MS}
        if lease_ms:
            self.claim["leaseMs"] = lease_ms
        self.stopping = False
        self.busy = False

    def stop(self, *_):
        self.stopping = True
        if not self.busy:
            # Nothing is under way but a long poll.
            sys.exit(0)

    def run(self):
        failures = 0
        while not self.stopping:
            try:
                answer = call(self.server, self.path, self.claim, None, WAIT_MS / 1000 + ON_THE_WAY_S)
                failures = 0
            except (Refused, OSError, ValueError) as error:
                print(f"claim: {error}", file=sys.stderr)
                pause(failures)
                failures += 1
                continue
            self.busy = True
            for task in answer["tasks"]:
                print(f"working on {task['id']}, attempt {task['attempts']}", flush=True)
                do(self.server, task)
            self.busy = False


def main():
    options = argparse.ArgumentParser(description="A worker for a queue of Perdure.")
    options.add_argument("--queue", required=True)
    options.add_argument("--url", default=os.environ.get("PERDURE_URL", "http://127.0.0.1:8787"))
    options.add_argument("--worker", default=f"python-{socket.gethostname()}-{os.getpid()}")
    options.add_argument("--lease-ms", type=int, default=0, help="as each task says, unless given")
    given = options.parse_args()
    server = {"url": given.url.rstrip("/"), "key": os.environ.get("PERDURE_API_KEY", "dev")}
    worker = Worker(server, given.queue, given.worker, given.lease_ms)
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, worker.stop)
    worker.run()


if __name__ == "__main__":
    main()
