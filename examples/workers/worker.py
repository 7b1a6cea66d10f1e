#!/usr/bin/env python3
"""A Sluice worker in Python's standard library alone. Copy it, and put your own HANDLERS in.

    SLUICE_URL=http://127.0.0.1:7420 python3 examples/workers/worker.py

One thread reads the stream on which tasks arrive, one sends heartbeats, and each task has its own.
What must stay true, and is all there is to a worker that loses nothing:

1. A lease is in `held` from its arrival until its final report is answered, and a resume lists all
   of `held`. What is listed is not pushed again; what is not listed never arrived.
2. A final report is sent until it is answered. To send it twice does no harm.
3. Only the server says that a lease is lost. A broken connection says nothing.
"""
import http.client
import json
import os
import signal
import sys
import threading
import time
from urllib.parse import urlsplit

URL = urlsplit(os.environ.get("SLUICE_URL", "http://127.0.0.1:7420"))
KEY = os.environ.get("SLUICE_API_KEY")
NAME = os.environ.get("WORKER_NAME", "worker.py")
SLOTS = 10
# The server says `ping` after 5 s of silence, so a stream that is silent for 15 s is dead.
SILENCE_S = 15
PAUSE_S = 0.5

def say(text):
    print(f"worker.py {text}", flush=True)

class Cancelled(Exception):
    pass

class Task:
    def __init__(self, worker, pushed):
        self.id, self.type, self.lease = pushed["id"], pushed["type"], pushed["lease"]
        self.input, self.input_blob = pushed.get("input"), pushed.get("inputBlob")
        self.worker = worker
        # A handler that takes long looks at it, or waits on it.
        self.cancelled = threading.Event()

    def progress(self, fraction):
        self.worker.mention({"lease": self.lease, "kind": "progress", "fraction": fraction})

def echo(task):
    return task.input

def fail(task):
    raise RuntimeError(task.input["message"])

def sleep(task):
    slept, whole = 0, task.input["ms"]
    while slept < whole:
        step = min(200, whole - slept)
        if task.cancelled.wait(step / 1000):
            raise Cancelled
        slept += step
        task.progress(slept / whole)
    return whole

HANDLERS = {"echo": echo, "fail": fail, "sleep": sleep}

class Worker:
    def __init__(self):
        self.session = None
        self.resumes = 0
        self.slots = SLOTS
        self.heartbeat_s = 1
        self.held = {}
        self.change = threading.Condition()  # Guards `held`; told when a lease leaves it.

    def request(self, method, path, body):
        headers = {"authorization": f"Bearer {KEY}"} if KEY else {}
        kind = http.client.HTTPSConnection if URL.scheme == "https" else http.client.HTTPConnection
        connection = kind(URL.hostname, URL.port, timeout=SILENCE_S)
        text = None if body is None else json.dumps(body)
        connection.request(method, path, body=text, headers=headers)
        return connection.getresponse()

    def fetch(self, blob):
        with self.request("GET", f"/v1/blobs/{blob}", None) as answer:
            content = answer.read()
            if answer.status != 200:
                raise RuntimeError(f"no input: the server answered {answer.status} for blob {blob}")
            return json.loads(content)

    def report(self, body):
        """Answers the status. Every report renews all leases, also an empty one."""
        with self.request("POST", f"/v1/worker-sessions/{self.session}/reports", body) as answer:
            answer.read()
            return answer.status

    def mention(self, *reports, **more):
        """For what need not arrive: the next word of the same kind replaces it."""
        try:
            self.report({"reports": reports, **more})
        except (OSError, http.client.HTTPException):
            pass  # The thread that reads the stream finds out, and connects again.

    def finish(self, task, report):
        while True:
            try:
                status = self.report({"reports": [{"lease": task.lease, **report}]})
                if status == 200:
                    break
                if status in (400, 413):  # Too large, for one: it would be refused for ever.
                    error = {"message": f"the server refused the report with {status}"}
                    report = {"kind": "failed", "error": error, "retryable": False}
            except (OSError, http.client.HTTPException):
                pass  # Sent again below: the server recognises a report that it has.
            time.sleep(PAUSE_S)
        with self.change:
            del self.held[task.lease]
            self.change.notify_all()

    def run(self, task):
        if self.slots == 0:  # It was on its way when this worker was told to stop: at no cost.
            self.finish(task, {"kind": "refused"})
            return
        self.mention({"lease": task.lease, "kind": "started"})
        say(f"runs {task.id}")
        try:
            if task.input_blob:  # Too large for the stream: it is fetched by itself.
                task.input = self.fetch(task.input_blob)
            report = {"kind": "succeeded", "output": HANDLERS[task.type](task)}
            json.dumps(report)  # What is not JSON is the handler's failure.
        except Cancelled:
            report = {"kind": "cancelled"}
        except Exception as failure:  # Whatever it is, the task's retry policy decides.
            report = {"kind": "failed", "error": {"message": str(failure)}}
        say(f"ended {task.id}")
        self.finish(task, report)

    def cancel(self, lease):
        with self.change:
            if lease in self.held:
                self.held[lease].cancelled.set()

    def hear(self, event, data):
        if event == "welcome":
            say("is back" if self.session else f"is ready at {URL.geturl()}")
            self.session, self.heartbeat_s = data["sessionId"], data["heartbeatMs"] / 1000
            for lease in data["lost"]:
                self.cancel(lease)
        if event == "tasks":
            for task in [Task(self, pushed) for pushed in data]:
                with self.change:
                    self.held[task.lease] = task
                threading.Thread(target=self.run, args=(task,), daemon=True).start()
        if event == "cancel":
            self.cancel(data["lease"])

    def listen(self):
        """Reads one stream to its end."""
        body = {"name": NAME, "types": [{"type": name} for name in HANDLERS]}
        body["capacity"] = {"slots": self.slots}
        if self.session:
            # By its number a resume that was stuck on its way cannot undo a later one.
            self.resumes += 1
            with self.change:
                running = list(self.held)
            body["resume"] = {"sessionId": self.session, "running": running}
            body["resume"]["number"] = self.resumes
        with self.request("POST", "/v1/worker-sessions", body) as stream:
            if stream.status != 200:
                return
            event = None
            for line in stream:
                field, _, value = line.decode().rstrip("\n").partition(": ")
                if field == "event":
                    event = value
                if field == "data" and event == "drain":
                    return
                if field == "data":
                    self.hear(event, json.loads(value))

    def listen_for_ever(self):
        while True:
            try:
                self.listen()
            except (OSError, http.client.HTTPException):
                pass  # Handlers run on meanwhile, and their ends are reported until answered.
            time.sleep(PAUSE_S)

    def beat(self):
        while True:
            time.sleep(self.heartbeat_s)
            if self.held:
                self.mention()

    def stop(self):
        self.slots = 0
        self.mention(capacity={"slots": 0})
        with self.change:
            self.change.wait_for(lambda: not self.held)
        self.request("DELETE", f"/v1/worker-sessions/{self.session}", None).read()

USAGE = """Usage: [SLUICE_URL=URL] [SLUICE_API_KEY=KEY] [WORKER_NAME=NAME] python3 worker.py

Runs tasks of the types %s until it gets SIGTERM or SIGINT.
SLUICE_URL is the address of the server (default http://127.0.0.1:7420)."""

if len(sys.argv) > 1:
    print(USAGE % ", ".join(HANDLERS))
    sys.exit(0 if sys.argv[1] in ("-h", "--help") else 2)

stopping = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: stopping.set())
signal.signal(signal.SIGINT, lambda *_: stopping.set())
worker = Worker()
threading.Thread(target=worker.listen_for_ever, daemon=True).start()
threading.Thread(target=worker.beat, daemon=True).start()
stopping.wait()
worker.stop()
