"""Another implementation of the store's format, as small as can be: what the tests let ours work beside.

peer.py <namespace directory> lease <cycles> <log> | count <times> | print <file>
"""

import fcntl
import json
import os
import sys
import time

base, task, times = sys.argv[1], sys.argv[2], sys.argv[3]


def token(name):
    return "".join(
        chr(b) if chr(b) in "abcdefghijklmnopqrstuvwxyz0123456789_-" else "%%%02X" % b
        for b in name.encode()
    )


def compact(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


class locked:
    """Holds the flock of a side file that the path still names."""

    def __init__(self, path):
        self.path = path

    def __enter__(self):
        while True:
            self.fd = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
            if os.fstat(self.fd).st_size == 0:
                os.write(self.fd, b"\0")
            fcntl.flock(self.fd, fcntl.LOCK_EX)
            try:
                named = os.stat(self.path)
                held = os.fstat(self.fd)
                if (named.st_dev, named.st_ino) == (held.st_dev, held.st_ino):
                    return
            except FileNotFoundError:
                pass
            os.close(self.fd)

    def __exit__(self, *_):
        fcntl.flock(self.fd, fcntl.LOCK_UN)
        os.close(self.fd)


def replace(path, value, sequence=[0]):
    sequence[0] += 1
    temporary = os.path.join(base, "tmp", "w-%012x-%d.tmp" % (os.getpid(), sequence[0]))
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(fd, compact(value).encode())
    os.fsync(fd)
    os.close(fd)
    os.rename(temporary, path)


def read(path):
    try:
        with open(path, "rb") as file:
            return json.load(file)
    except FileNotFoundError:
        return None


def take_renew_release(log):
    name, holder = "slots/race", "peer#%d" % os.getpid()
    path = os.path.join(base, "leases", token(name))
    fence = None
    while fence is None:
        with locked(path + ".lock"):
            lease, now = read(path + ".lease"), time.time()
            if lease is None or lease["expiresAt"] <= now:
                fence = 1 if lease is None else lease["fence"] + 1
                replace(path + ".lease", {"name": name, "holder": holder, "fence": fence, "expiresAt": now + 60})
    os.write(log, b"+ %d\n" % fence)
    with locked(path + ".lock"):
        lease = read(path + ".lease")
        assert (lease["holder"], lease["fence"]) == (holder, fence), "lost the lease while holding it"
        replace(path + ".lease", {**lease, "expiresAt": time.time() + 60})
    os.write(log, b"- %d\n" % fence)
    with locked(path + ".lock"):
        replace(path + ".lease", {**read(path + ".lease"), "expiresAt": 0.0})


def add_one():
    directory = os.path.join(base, "docs", token("cursor/race"))
    os.makedirs(directory, mode=0o700, exist_ok=True)
    path = os.path.join(directory, token("n"))
    with locked(path + ".lock"):
        document = read(path + ".doc") or {"data": {"value": 0}, "schemaVersion": "v1"}
        document["data"]["value"] += 1
        replace(path + ".doc", document)


if task == "lease":
    log = os.open(sys.argv[4], os.O_WRONLY | os.O_APPEND)
    for _ in range(int(times)):
        take_renew_release(log)
elif task == "count":
    for _ in range(int(times)):
        add_one()
elif task == "print":
    sys.stdout.write(compact(read(times)))
