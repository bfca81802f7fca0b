"""The worker of examples/python-worker with handlers for the kinds of these tests; and a producer. It tells what it does, as JSON."""

import json
import os
import sys
import time
from pathlib import Path

import psycopg
from psycopg.types.json import Jsonb

sys.path.insert(0, str(Path(__file__).parents[4] / "examples" / "python-worker"))
from worker import Worker  # noqa: E402

settings = json.loads(os.environ["E2E_PYTHON"])


def report(what, **details):
    print(json.dumps({"what": what, "pid": os.getpid(), **details}), flush=True)


def work(job, db):
    report("handling", id=str(job.id), attempt=job.attempt)
    time.sleep(job.payload["ms"] / 1000)
    if job.payload.get("fails"):
        raise ValueError("as it was told")


def enter(job, db):
    report("handling", id=str(job.id), attempt=job.attempt)
    ledger = "insert into ledger (entry, job, attempt, pid) values (%s, %s, %s, %s)"
    db.execute(ledger, [job.payload["entry"], str(job.id), job.attempt, os.getpid()])
    time.sleep(job.payload["ms"] / 1000)


class ChangedItsMind(Exception):
    pass


def produce(name, transactions):
    """Business transactions, each with an order and its job. Every third is rolled back."""
    with psycopg.connect(settings["url"], autocommit=True) as db:
        for n in range(transactions):
            entry = f"{name}-{n}"
            try:
                with db.transaction():
                    db.execute("insert into orders values (%s)", [entry])
                    job = [Jsonb({"entry": entry, "ms": n % 5}), Jsonb({"key": entry, "maxAttempts": 100})]
                    db.execute("select queue.enqueue('enter', %s, %s)", job)
                    if n % 3 == 2:
                        raise ChangedItsMind()
            except ChangedItsMind:
                pass
    report("produced")


if settings.get("produces"):
    produce(settings["produces"], settings["transactions"])
else:
    worker = Worker(settings["url"], {"work": work, "enter": enter}, lease=settings["lease"], poll=settings["poll"])
    report("worker", name=worker.name)
    worker.run()
    report("stopped")
