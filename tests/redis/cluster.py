"""The client for filters in parts, ext/redis/cluster: with one server, and with two that a slot moves
between. In a long run (TAMIS_LONG) also with a cluster of six, of which each primary is killed while
slots move: what was acknowledged is there, and replicas are equal to their primaries."""
import contextlib
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import threading
import time

import redis
from redis import check, wait_until

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "ext/redis/cluster"
PARTS = 24
LOADERS = 4


def run(*words, text=None):
    """Exit code and output of the client; its complaints come after the output."""
    done = subprocess.run([PROGRAM, *map(str, words)], input=text, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


# ---- Six servers -----------------------------------------------------------------------------------

class Cluster:
    """What ext/redis/cluster/start starts, in a folder of its own."""

    has_replicas = True

    def __init__(self, module):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tamis-cluster-"))
        self.module = module
        self.first = free_ports(6)
        self.ports = range(self.first, self.first + 6)
        self.dead = set()
        self.moving = threading.Lock()

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        subprocess.run([SCRIPTS / "start", self.folder, str(self.first)], check=True,
                       env={**os.environ, "MODULE": str(self.module)})

    def stop(self):
        subprocess.run([SCRIPTS / "stop", self.folder], check=True)

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def ask(self, port, *words):
        with contextlib.closing(redis.Client(("127.0.0.1", port))) as client:
            return client.ask(*words)

    def alive(self):
        return [port for port in self.ports if port not in self.dead]

    def role(self, port):
        """b"master" or b"slave", or None of a server that does not answer."""
        try:
            reply = self.ask(port, "ROLE")
        except OSError:
            return None
        return reply[0] if isinstance(reply, list) else None

    def primaries(self):
        return [port for port in self.alive() if self.role(port) == b"master"]

    def replica_of(self, primary):
        for port in self.alive():
            reply = self.ask(port, "ROLE")
            if reply[0] == b"slave" and reply[2] == primary:
                return port
        raise SystemExit(f"the server at {primary} has no replica")

    def identity(self, port):
        return self.ask(port, "CLUSTER", "MYID")

    def owner(self, slot, port):
        """The primary that has a slot, as the server at a port sees it."""
        for first, last, primary, *_ in self.ask(port, "CLUSTER", "SLOTS"):
            if first <= slot <= last:
                return primary[1]
        return None

    def is_whole(self):
        """All servers know all slots, and each primary has a replica that follows it."""
        try:
            states = [self.ask(port, "CLUSTER", "INFO") for port in self.ports]
            roles = [self.ask(port, "ROLE") for port in self.ports]
        except OSError:
            return False
        if any(isinstance(reply, redis.Error) for reply in (*states, *roles)): # it is loading
            return False
        links = sorted(role[2] for role in roles if role[0] == b"slave" and role[3] == b"connected")
        return (all(b"cluster_state:ok" in state and b"cluster_slots_ok:16384" in state
                    for state in states) and
                links == sorted(port for port, role in zip(self.ports, roles) if role[0] == b"master"))


def free_ports(n):
    """The first of some that are free, with those of the bus above them."""
    def is_free(port):
        with contextlib.suppress(OSError), redis.socket.create_server(("127.0.0.1", port)):
            return True
        return False

    while True:
        first = random.randrange(20000, 50000, max(n, 2))
        if all(is_free(port) and is_free(port + 10000) for port in range(first, first + n)):
            return first


# ---- Trouble ---------------------------------------------------------------------------------------

def has_caught_up(cluster, primary):
    """Whether the replicas of a primary have all that it has now."""
    def is_there():
        _, _, replicas = cluster.ask(primary, "ROLE")
        return any(int(offset) >= wanted for _, _, offset in replicas)

    wanted = cluster.ask(primary, "ROLE")[1]
    wait_until(is_there, f"the replica of {primary} to catch up")


def move_keys(cluster, slot, source, target):
    """Until move_slot() has ended, who asks the source for a key that is gone is told to ASK."""
    source_id, target_id = cluster.identity(source), cluster.identity(target)
    check("IMPORTING", cluster.ask(target, "CLUSTER", "SETSLOT", slot, "IMPORTING", source_id), "OK")
    check("MIGRATING", cluster.ask(source, "CLUSTER", "SETSLOT", slot, "MIGRATING", target_id), "OK")
    time.sleep(random.random() / 50)
    while keys := cluster.ask(source, "CLUSTER", "GETKEYSINSLOT", slot, 1):
        check("MIGRATE", cluster.ask(source, "MIGRATE", "127.0.0.1", target, "", 0, 10000, "KEYS",
                                     *keys), "OK")
        time.sleep(random.random() / 50)


def move_slot(cluster, slot, source, target):
    """As redis-cli --cluster reshard does it. At the end replicas know of it, too: before that, a
    server that is lost can take with it what it was just given."""
    move_keys(cluster, slot, source, target)
    if cluster.has_replicas:
        has_caught_up(cluster, target)
        has_caught_up(cluster, source)
    for port in (target, source):
        check("NODE", cluster.ask(port, "CLUSTER", "SETSLOT", slot, "NODE", cluster.identity(target)),
              "OK")
    wait_until(lambda: all(cluster.owner(slot, port) == target for port in cluster.alive()),
               "all servers to know where the slot is")


class Mover(threading.Thread):
    """Moves the slots of parts between primaries, of which none is to be killed."""

    def __init__(self, cluster, slots):
        super().__init__()
        self.cluster, self.slots = cluster, slots
        self.moved, self.is_over = 0, threading.Event()
        self.random = random.Random(22)

    def run(self):
        while not self.is_over.is_set():
            with self.cluster.moving:
                self.step()
            time.sleep(0.02)

    def step(self):
        primaries = self.cluster.primaries()
        slot, target = self.random.choice(self.slots), self.random.choice(primaries)
        source = self.cluster.owner(slot, target)
        if source in primaries and source != target:
            move_slot(self.cluster, slot, source, target)
            self.moved += 1

    def end(self):
        self.is_over.set()
        self.join()


def kill(cluster, victim):
    """A primary dies, its replica takes over, and later it comes back as a replica."""
    with cluster.moving:
        heir = cluster.replica_of(victim)
        cluster.dead.add(victim)
    pid = int((cluster.folder / str(victim) / "pid").read_text())
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: cluster.role(heir) == b"master", f"{heir} to take over from {victim}")
    time.sleep(1)
    subprocess.run(["redis-server", cluster.folder / str(victim) / "redis.conf"], check=True,
                   stdout=subprocess.DEVNULL)
    wait_until(cluster.is_whole, f"{victim} to come back")
    cluster.dead.clear()
    print(f"killed the primary at {victim}, {heir} has taken over")


def reshard(cluster):
    """A tenth of the slots of one primary goes to another, by the tool of Redis."""
    with cluster.moving:
        source, target = cluster.primaries()[:2]
        done = subprocess.run(
            ["redis-cli", "--cluster", "reshard", f"127.0.0.1:{source}", "--cluster-from",
             cluster.identity(source), "--cluster-to", cluster.identity(target), "--cluster-slots",
             "500", "--cluster-yes"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        check("redis-cli --cluster reshard", done.returncode, 0)
        wait_until(cluster.is_whole, "the cluster to be whole after reshard")


# ---- Load ------------------------------------------------------------------------------------------

class Loader(threading.Thread):
    """A client that adds numbers, not faster than they come: some are left until all is over."""

    def __init__(self, cluster, first, n):
        super().__init__()
        self.first, self.n = first, n
        self.rest = threading.Event()
        self.acknowledged = 0
        self.process = subprocess.Popen(
            [PROGRAM, "-p", str(cluster.first), "-b", "500", "-w", "1", "add", "seen"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self):
        step = 250
        for at in range(0, self.n, step):
            if at > self.n * 0.9:
                self.rest.wait()
            else:
                time.sleep(30 * step / self.n)
            for key in range(at, min(at + step, self.n)):
                self.process.stdin.write(f"{self.first + key}\n")
            self.process.stdin.flush()
        output, _ = self.process.communicate()
        if self.process.returncode == 0:
            self.acknowledged = int(output.split()[1].rstrip(","))


def digests_equal(cluster):
    equal = 0
    for primary in cluster.primaries():
        replica = cluster.replica_of(primary)
        has_caught_up(cluster, primary)
        equal += cluster.ask(primary, "DEBUG", "DIGEST") == cluster.ask(replica, "DEBUG", "DIGEST")
    return equal


def missing(cluster, keys):
    code, output = run("-p", cluster.first, "-r", f"1-{keys}", "check", "seen")
    print(output, end="")
    return int(output.split()[-1]) if code in (0, 1) else None


def check_torture(module, keys):
    with Cluster(module) as cluster:
        check("reserve", run("-p", cluster.first, "-n", PARTS, "reserve", "seen", keys)[0], 0)
        _, where = run("-p", cluster.first, "where", "seen")
        slots = [int(line.split()[2]) for line in where.splitlines()]
        loaders = [Loader(cluster, 1 + i * keys // LOADERS, keys // LOADERS) for i in range(LOADERS)]
        mover = Mover(cluster, slots)
        for thread in (*loaders, mover):
            thread.start()
        try:
            for victim in cluster.primaries():
                time.sleep(2)
                kill(cluster, victim)
            reshard(cluster)
        finally:
            for loader in loaders:
                loader.rest.set()
                loader.join()
            mover.end()
        print(f"moved {mover.moved} slots with parts, and 500 others")
        check("slots have moved", mover.moved > 0, True)
        acknowledged = sum(loader.acknowledged for loader in loaders)
        lost = missing(cluster, keys)
        print(f"acknowledged {acknowledged}, lost {lost}")
        check("acknowledged, lost", (acknowledged, lost), (keys, 0))
        wait_until(cluster.is_whole, "the cluster to be whole")
        equal = digests_equal(cluster)
        print(f"digests equal: {equal} of 3")
        check("digests equal", equal, 3)
        check_goes_on(cluster, keys)


def check_goes_on(cluster, keys):
    """A cluster that is stopped and started has its data."""
    cluster.stop()
    cluster.start()
    check("lost by a restart of all", missing(cluster, keys), 0)


# ---- One server, and two ---------------------------------------------------------------------------

def rows(port, table):
    """Words of the client, its exit code, and its output."""
    for words, code, output in table:
        check(words, run("-p", port, "-w", 0, *words.split()), (code, output))


def check_one():
    """What the client does and says, on one server that is no cluster."""
    with redis.Server(MODULE, port=free_ports(1)) as server:
        rows(server.port, [
            ("reserve seen 10000", 0, "reserved 12 parts\n"),
            ("-r 1-1000 add seen", 0, "acknowledged 1000, new 1000\n"),
            ("-r 1-1000 check seen", 0, "asked 1000, missing 0\n"),
            ("-r 1-10 add other", 2,
             "tamis-redis-client: no such filter: reserve it first: other\n"),
            ("-n 5 reserve seen 10000", 2,
             "tamis-redis-client: there is a filter of this name: 12 spread bf 10000 0.01\n"),
            ("-n 3 -k cqf -e 1e-9 reserve day 10000", 0, "reserved 3 parts\n"),
            ("reserve day@mon like day", 0, "reserved 3 parts\n"),
            ("reserve day@tue like day", 0, "reserved 3 parts\n"),
            ("-r 1-500 add day@mon", 0, "acknowledged 500, new 500\n"),
            ("-r 501-800 add day@tue", 0, "acknowledged 300, new 300\n"),
            ("merge day day@mon day@tue", 0, "merged 2 filters of 3 parts\n"),
            ("-r 1-800 check day", 0, "asked 800, missing 0\n"),
            ("merge day seen", 2,
             "tamis-redis-client: not a filter that can be merged into the first: seen\n"),
            ("-t -n 4 reserve near 100", 0, "reserved 4 parts\n"),
        ])
        check("lines", run("-p", server.port, "ask", "seen", text="7\nstranger\n\n999\n"),
              (0, "7\n999\n"))
        _, where = run("-p", server.port, "where", "near")
        check("together", len({line.split()[2] for line in where.splitlines()}), 1)
        _, where = run("-p", server.port, "where", "seen")
        check("spread", len({line.split()[2] for line in where.splitlines()}), 12)
        code, output = run("-p", server.port, "-w", 1, "-s", 0.1, "-r", "1-2", "add", "seen")
        check("no replica", (code, output), (1, WITHOUT_REPLICA.replace("PORT", str(server.port))))


WITHOUT_REPLICA = """\
waiting: 127.0.0.1:PORT: 0 of 1 replicas have it
given up after 0.1 s: 127.0.0.1:PORT: 0 of 1 replicas have it
acknowledged 0, new 0
tamis-redis-client: keys from number 1 on are not acknowledged; they can be added again.
A primary that has lost its replica needs one: start that server again, or wait for none with -w 0.
"""


def check_replica_lost():
    """A primary without its replica: the client says why it waits, and goes on when there is one."""
    with redis.Server(MODULE, port=free_ports(1)) as primary, \
            redis.Server(MODULE, replicaof=f"127.0.0.1 {primary.port}") as replica:
        wait_until(lambda: b"state=online" in primary.ask("INFO", "replication"), "the replica")
        check("reserve", run("-p", primary.port, "reserve", "seen", 1000)[0], 0)
        check("add", run("-p", primary.port, "-r", "1-500", "add", "seen"),
              (0, "acknowledged 500, new 500\n"))
        replica.kill()
        adding = subprocess.Popen(
            [PROGRAM, "-p", str(primary.port), "-s", "20", "-r", "501-900", "add", "seen"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        check("why it waits", adding.stderr.readline(),
              f"waiting: 127.0.0.1:{primary.port}: 0 of 1 replicas have it\n")
        replica.start()
        output, complaints = adding.communicate()
        check("goes on", (adding.returncode, output.split(",")[0], complaints),
              (0, "acknowledged 400", ""))


class Pair(Cluster):
    """Two servers of a cluster without replicas; the first has all slots."""

    has_replicas = False

    def __init__(self, servers):
        self.ports, self.dead = [server.port for server in servers], set()
        self.first = self.ports[0]
        check("slots", self.ask(self.first, "CLUSTER", "ADDSLOTSRANGE", 0, 16383), "OK")
        check("meet", self.ask(self.ports[1], "CLUSTER", "MEET", "127.0.0.1", self.first), "OK")
        wait_until(lambda: all(self.owner(1, port) == self.first for port in self.ports) and
                   all(b"cluster_state:ok" in self.ask(port, "CLUSTER", "INFO")
                       for port in self.ports), "the two to meet")


def check_two():
    """Parts move from one server to another while keys are added, and none is lost."""
    first, parts, keys = free_ports(2), 4, 20000
    settings = {"cluster_enabled": "yes", "cluster_node_timeout": 5000}
    with redis.Server(MODULE, port=first, **settings) as one, \
            redis.Server(MODULE, port=first + 1, **settings) as other:
        pair = Pair([one, other])
        rows(first, [(f"-n {parts} reserve seen {keys}", 0, f"reserved {parts} parts\n")])
        _, where = run("-p", first, "where", "seen")
        slots = [int(line.split()[2]) for line in where.splitlines()]
        adding = subprocess.Popen([PROGRAM, "-p", str(first), "-w", "0", "-b", "100", "-r",
                                   f"1-{keys}", "add", "seen"], stdout=subprocess.PIPE, text=True)
        for slot in slots[1:]:
            move_slot(pair, slot, first, first + 1)
        check("added", adding.communicate()[0].split(",")[0], f"acknowledged {keys}")
        move_keys(pair, slots[0], first, first + 1)
        with redis.contextlib.closing(redis.Client(("127.0.0.1", first))) as client:
            check("half moved", client.ask("BF.EXISTS", where.split()[0], "1"),
                  redis.Error(f"ASK {slots[0]} 127.0.0.1:{first + 1}"))
            check("moved", client.ask("BF.EXISTS", where.splitlines()[1].split()[0], "1"),
                  redis.Error(f"MOVED {slots[1]} 127.0.0.1:{first + 1}"))
        rows(first, [(f"-r 1-{keys} check seen", 0, f"asked {keys}, missing 0\n")])


MODULE = redis.module_or_skip()
PROGRAM = MODULE.parent / "tamis-redis-client"
if not PROGRAM.exists():
    redis.skip("the client is not built: hiredis is not here")
check_one()
check_replica_lost()
check_two()
if redis.IS_LONG:
    check_torture(MODULE, 10**6)
redis.finish()
