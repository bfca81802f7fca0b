"""A worker of the queue in Python: psycopg 3 and nothing else. What it relies on is in docs/protocol.md."""

import os
import select
import signal
import socket
import threading
import traceback
import uuid
from datetime import timedelta

import psycopg
from psycopg.rows import namedtuple_row


class LeaseLost(Exception):
    """The job is another's by now: what the handler wrote is rolled back, and nothing is recorded."""


class Worker:
    """Runs one job at a time. A handler gets the job and a connection whose transaction commits together with the job's completion."""

    def __init__(self, url, handlers, lanes=None, lease=30.0, poll=1.0, batch=4):
        self.url, self.handlers, self.lanes, self.poll, self.batch = url, handlers, lanes, poll, batch
        self.lease, self.kinds = timedelta(seconds=lease), list(handlers)
        # Random for each start: it is half of the fence.
        self.name = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex}"
        self.held = {}  # id -> fence of what this process has claimed
        self.is_rung = self.is_stopping = False
        self.has_ended = threading.Event()

    def run(self):
        """Works until SIGTERM or SIGINT; then it ends the job that runs and gives the others back."""
        woken, waker = socket.socketpair()
        waker.setblocking(False)
        signal.set_wakeup_fd(waker.fileno())
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, self._stop)
        with self._connect() as db, self._connect() as ear:
            ear.add_notify_handler(self._ring)
            (channel,) = ear.execute("select queue.wake_up_channel()").fetchone()
            ear.execute(f"listen {channel}")
            self._say_alive(db)
            threading.Thread(target=self._keep_leases, daemon=True).start()
            xid, is_settled = None, False
            while not self.is_stopping:
                if xid is None:
                    (xid,) = ear.execute("select queue.arm_bell(%s)", [self.lanes]).fetchone()
                self.is_rung = False
                if self._work_batch(db):
                    continue
                wait = min(self.poll, self._next_due(db))
                if not is_settled:
                    # Transactions that began before the bell was armed do not ring: look until they have ended, and once more.
                    is_settled = xid is not None and ear.execute("select queue.is_bell_settled(%s)", [xid]).fetchone()[0]
                    wait = 0 if is_settled else 0.05
                if not self.is_rung and not self.is_stopping:
                    select.select([ear, woken], [], [], wait)
                    ear.execute("select 1")  # reads the notifications
            self.has_ended.set()
            db.execute("select queue.unregister_worker(%s)", [self.name])

    def _work_batch(self, db):
        claim = "select * from queue.claim(%s, %s, %s, %s, %s) order by priority, run_at, id"
        jobs = db.execute(claim, [self.lanes, self.kinds, self.batch, self.name, self.lease]).fetchall()
        self.held.update({job.id: job.fence for job in jobs})
        for job in jobs:
            if self.is_stopping:
                db.execute("select queue.release(%s, %s, %s, started => false)", [self.name, job.id, job.fence])
            elif job.id in self.held:
                self._work(db, job)
            self.held.pop(job.id, None)
        return len(jobs) > 0

    def _work(self, db, job):
        try:
            with db.transaction():
                self.handlers[job.kind](job, db)
                if not db.execute("select queue.complete(%s, %s, %s)", [self.name, job.id, job.fence]).fetchone()[0]:
                    raise LeaseLost()
        except LeaseLost:
            return
        except Exception as error:
            fail = "select queue.fail(%s, %s, %s, %s, error_name => %s, stack => %s)"
            # PostgreSQL has no NUL in a text.
            texts = [text.replace("\0", "") for text in (str(error), type(error).__name__, traceback.format_exc())]
            db.execute(fail, [self.name, job.id, job.fence, *texts])

    def _keep_leases(self):
        """Three heartbeats a lease, on a connection of their own; and the sweep, for those that died."""
        try:
            with self._connect() as db:
                while not self.has_ended.wait(self.lease.total_seconds() / 3):
                    held = dict(self.held)
                    beat = "select id from queue.heartbeat(%s, %s::bigint[], %s::integer[], %s) where not held"
                    for lost in db.execute(beat, [self.name, list(held), list(held.values()), self.lease]):
                        if self.held.get(lost.id) == held[lost.id]:  # It may have been claimed again meanwhile.
                            self.held.pop(lost.id, None)
                    self._say_alive(db)
                    db.execute("select id from queue.sweep(100, %s::bigint[])", [list(held)])
        except Exception:
            traceback.print_exc()
            os._exit(1)  # Who cannot keep leases must not work on: a supervisor starts it again.

    def _say_alive(self, db):
        register = "select queue.register_worker(%s, %s, %s, %s, %s, %s)"
        db.execute(register, [self.name, self.kinds, self.lanes, socket.gethostname(), os.getpid(), self.lease])

    def _next_due(self, db):
        (due,) = db.execute("select extract(epoch from queue.next_due(%s, %s))::float8", [self.lanes, self.kinds]).fetchone()
        return self.poll if due is None else max(0.0, due)

    def _connect(self):
        return psycopg.connect(self.url, autocommit=True, row_factory=namedtuple_row)

    def _ring(self, _notification):
        self.is_rung = True

    def _stop(self, _signal, _frame):
        self.is_stopping = True
