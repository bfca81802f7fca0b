"""Sends one greeting, and then works: DATABASE_URL=postgres://... python3 main.py"""

import os

import psycopg
from psycopg.types.json import Jsonb

from worker import Worker


def greet(job, db):
    print(f"Hello, {job.payload['name']}! This is attempt {job.attempt}.")


url = os.environ["DATABASE_URL"]

# In the transaction that writes your own rows: the job runs if, and only if, that commits.
with psycopg.connect(url) as db:
    db.execute("select queue.enqueue('greet', %s, %s)", [Jsonb({"name": "world"}), Jsonb({"delay": "1s", "maxAttempts": 3})])

Worker(url, {"greet": greet}).run()
