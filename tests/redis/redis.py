"""What tests of the Redis module need: a client of our own, a server of their own, and checks.

    tests/redis/NAME.py /path/to/tamis-redis.so

A test makes a Server, which runs in a folder of its own until the `with` block ends, and asks it by
Client.ask(). Replies are compared with their types: True is not 1, b"OK" is not "OK".

    reply       Python
    simple      str, "OK"
    bulk        bytes
    integer     int
    error       Error("ERR ..."), also inside arrays; it is not raised
    null        None
    array       list
    RESP3 only  True, False, float, dict
"""
import contextlib
import ctypes
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

WRONG_TYPE = "WRONGTYPE Operation against a key holding the wrong kind of value"
IS_LONG = "TAMIS_LONG" in os.environ
IS_SANITIZED = "TAMIS_SANITIZED" in os.environ


class Error(str):
    """The text of an error reply."""

    def __repr__(self):
        return f"Error({str(self)!r})"


def arity(command):
    return Error(f"ERR wrong number of arguments for '{command}' command")


ARITY = object()  # in a table: arity() of the command beside it


def items(tag, n):
    return [f"{tag}:{i}".encode() for i in range(n)]


def as_bytes(word):
    return word if isinstance(word, bytes) else str(word).encode()


class Client:
    """One connection, to a socket or to (host, port). ask() sends a command and waits for its reply."""

    def __init__(self, where, protocol=2):
        is_tcp = isinstance(where, tuple)
        self.socket = socket.socket(socket.AF_INET if is_tcp else socket.AF_UNIX)
        self.socket.connect(where if is_tcp else str(where))
        self.input = self.socket.makefile("rb")
        if protocol == 3:
            self.ask("HELLO", 3)

    def close(self):
        self.input.close()
        self.socket.close()

    def send(self, *words):
        words = [as_bytes(word) for word in words]
        parts = [b"*%d\r\n" % len(words)] + [b"$%d\r\n%s\r\n" % (len(w), w) for w in words]
        self.socket.sendall(b"".join(parts))

    def ask(self, *words):
        self.send(*words)
        return self.receive()

    def ask_many(self, commands):
        """Sends all before it waits: the replies, in order."""
        for at in range(0, len(commands), 500):
            part = commands[at:at + 500]
            for words in part:
                self.send(*words)
            yield from (self.receive() for _ in part)

    def receive(self):
        line = self.input.readline()
        if not line:
            raise ConnectionError("the server has closed the connection")
        mark, rest = chr(line[0]), line[1:-2]
        if mark in "$=":
            return self.bulk(int(rest))
        if mark in "*~>":
            return None if rest == b"-1" else [self.receive() for _ in range(int(rest))]
        if mark == "%":
            return {self.receive(): self.receive() for _ in range(int(rest))}
        return self.scalar(mark, rest.decode())

    def bulk(self, size):
        return None if size < 0 else self.input.read(size + 2)[:-2]

    @staticmethod
    def scalar(mark, text):
        return {"+": str, "-": Error, ":": int, ",": float, "_": lambda _: None,
                "#": lambda t: t == "t"}[mark](text)


def die_with_parent():
    """A server may turn round for ever in a file that it cannot read: it ends with its test."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class Server:
    """redis-server with the module, on a socket in a folder of its own and, if it has a port, on
    loopback. Settings are lines of redis.conf; they hold for restarts too."""

    def __init__(self, module, *words, port=0, **settings):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tamis-redis-"))
        self.path = self.folder / "socket"
        self.port = port
        self.settings = {"save": '""', "loglevel": "warning", "enable-debug-command": "yes",
                         **{name.replace("_", "-"): value for name, value in settings.items()}}
        self.load = " ".join([str(module), *map(str, words)])
        self.process = None

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self):
        lines = [f"dir {self.folder}", f"unixsocket {self.path}", f"port {self.port}",
                 "bind 127.0.0.1", f"loadmodule {self.load}", "repl-diskless-sync-delay 0",
                 *(f"{name} {value}" for name, value in self.settings.items())]
        (self.folder / "redis.conf").write_text("\n".join(lines) + "\n")
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(["redis-server", self.folder / "redis.conf"],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            preexec_fn=die_with_parent)
        wait_until(self.answers, "the server to start", self)
        return self

    def answers(self):
        if self.process.poll() is not None:
            raise SystemExit(f"redis-server has ended:\n{self.log()}")
        try:
            with self.client() as client:
                return client.ask("PING") == "PONG"
        except OSError:
            return False

    def log(self):
        """The end of it, of each line the beginning."""
        lines = (self.folder / "log").read_text(errors="replace").splitlines()
        return "\n".join(line[:200] for line in lines[-20:])

    @contextlib.contextmanager
    def client(self, protocol=2):
        client = Client(self.path, protocol)
        try:
            yield client
        finally:
            client.close()

    def ask(self, *words, protocol=2):
        with self.client(protocol) as client:
            return client.ask(*words)

    def stop(self):
        """As an operator would: what is to be saved is saved."""
        with self.client() as client, contextlib.suppress(OSError):
            client.ask("SHUTDOWN")
        self.process.wait(30)

    def restart(self, **settings):
        self.stop()
        self.settings.update({name.replace("_", "-"): value for name, value in settings.items()})
        return self.start()

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    def digest(self):
        return self.ask("DEBUG", "DIGEST")


def wait_until(condition, what, server=None):
    end = time.monotonic() + 30
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(f"waited in vain for {what}\n{server.log() if server else ''}")
        time.sleep(0.005)


# ---- Checks --------------------------------------------------------------------------------------

failures = 0


def check(what, got, wanted):
    """Replies are equal, with their types."""
    global failures
    if repr(got) != repr(wanted):
        failures += 1
        print(f"{what}\n    got    {got!r}\n    wanted {wanted!r}", file=sys.stderr)


def check_rows(client, rows):
    """Each row is commands, as one string of words or a tuple each, and the reply to all of them."""
    for *commands, wanted in rows:
        for command in commands:
            words = command.split() if isinstance(command, str) else command
            check(command, client.ask(*words),
                  arity(words[0].lower()) if wanted is ARITY else wanted)


def check_alive(server):
    check("the server is alive", server.ask("PING"), "PONG")


def skip(why):
    print(why, file=sys.stderr)
    sys.exit(77)


def preload_sanitizer(module):
    """A server that is not built with a sanitizer loads its library before all others."""
    libraries = re.findall(r"=> (\S*/lib[a-z]+san\.so\S*)",
                           subprocess.run(["ldd", module], capture_output=True, text=True).stdout)
    if not libraries:
        sys.exit(f"{module}: no library of a sanitizer is loaded with it")
    os.environ.update(LD_PRELOAD=":".join(libraries), ASAN_OPTIONS="handle_sigill=1:detect_leaks=0")


def module_or_skip():
    """The path of the module, from the command line."""
    if not shutil.which("redis-server"):
        skip("redis-server is not here")
    module = pathlib.Path(sys.argv[1]).resolve()
    if IS_SANITIZED:
        preload_sanitizer(module)
    return module


def finish():
    print("failed" if failures else "ok")
    sys.exit(1 if failures else 0)


# ---- What holds for every type of value ------------------------------------------------------------

def check_lives(module, fill, ask):
    """What fill(client) puts into keys stays the same wherever it goes: DEBUG DIGEST is equal, and
    ask(client) answers the same. `ask` is given a client, and returns replies."""
    with Server(module, port=free_port(), appendonly="yes", save="3600 1") as server:
        with server.client() as client:
            fill(client)
            before = ask(client)
        check_moves(server)
        wanted = server.digest(), before
        check_restarts(server, wanted, ask)
        check_replication(module, server, fill, ask)


def state(server, ask):
    with server.client() as client:
        return server.digest(), ask(client)


def rewrite(server):
    """The file of commands, as the commands that make what there is."""
    server.ask("CONFIG", "SET", "aof-use-rdb-preamble", "no")
    server.ask("BGREWRITEAOF")
    wait_until(lambda: b"aof_rewrite_in_progress:0" in server.ask("INFO", "persistence") and
               b"aof_rewrite_scheduled:0" in server.ask("INFO", "persistence"), "the rewrite")


def check_restarts(server, wanted, ask):
    server.ask("DEBUG", "RELOAD")
    check("after DEBUG RELOAD", state(server, ask), wanted)
    check("after the file of commands", state(server.restart(), ask), wanted)
    rewrite(server)
    check("after a rewrite", state(server.restart(), ask), wanted)
    check("after an RDB file", state(server.restart(appendonly="no"), ask), wanted)


def check_moves(server):
    """DUMP and RESTORE, COPY, RENAME, MOVE and EXPIRE of each key there is."""
    with server.client() as client:
        for key in sorted(client.ask("KEYS", "*")):
            digest = client.ask("DEBUG", "DIGEST-VALUE", key)
            dump = client.ask("DUMP", key)
            check(f"RESTORE {key}", client.ask("RESTORE", "restored", 0, dump), "OK")
            check(f"COPY {key}", client.ask("COPY", key, "copied"), 1)
            check(f"RENAME {key}", client.ask("RENAME", "copied", "renamed"), "OK")
            check(f"digests of {key}", client.ask("DEBUG", "DIGEST-VALUE", "restored", "renamed"),
                  digest * 2)
            check(f"a copy of {key} is another", client.ask("DEL", "restored"), 1)
            check(f"MOVE {key}", client.ask("MOVE", "renamed", 1), 1)
            client.ask("SELECT", 1)
            check(f"moved {key}", client.ask("DEBUG", "DIGEST-VALUE", "renamed"), digest)
            check(f"EXPIRE {key}", client.ask("PEXPIRE", "renamed", 1), 1)
            wait_until(lambda: client.ask("EXISTS", "renamed") == 0, "a key to expire")
            client.ask("SELECT", 0)
            check(f"MEMORY USAGE {key}", client.ask("MEMORY", "USAGE", key) > 0, True)


def check_replication(module, primary, fill, ask):
    """A replica that comes late loads all; one whose line breaks goes on where it was."""
    def in_step():
        return (b"master_link_status:up" in replica.ask("INFO", "replication") and
                primary.digest() == replica.digest())

    with Server(module, port=free_port(), replicaof=f"127.0.0.1 {primary.port}") as replica:
        wait_until(in_step, "the replica to load", replica)
        with primary.client() as client:
            client.ask("FLUSHALL")
            fill(client)
        wait_until(in_step, "the replica to follow", replica)
        check("a replica answers", state(replica, ask), state(primary, ask))
        primary.ask("CLIENT", "KILL", "TYPE", "replica")
        with primary.client() as client:
            client.ask("FLUSHALL")
            fill(client)
        wait_until(in_step, "the replica to catch up", replica)
        check("no second full load", b"sync_full:1" in primary.ask("INFO", "stats"), True)
