#!/usr/bin/env python3
"""Every console block of every page says what really happens.

    tests/docs/consoles.py /path/to/tamis [PAGE...]

The blocks of a page are one session, in a folder of its own, with tamis first in PATH. After "$ "
comes a command, and after it all that it prints, errors last. A comment before a block can tell that
it is different:

    <!-- varies: why -->    is run, and not compared
    <!-- not run: why -->   needs what is not here: a compiler, the web, minutes

A block that runs a command of an application that was deleted is passed over, and so are those after it
in its section, which may need its files.

On a page that has " host:" in a command, `ssh host` reaches this machine: an sshd on loopback, with
keys of its own, where the folder "host" is the home.
"""
import contextlib
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))
import applications

BLOCK = re.compile(r"^(## )|(?:^<!-- (varies|not run): [^\n]*-->\n+)?^```console\n(.*?)^```", re.M | re.S)
MARK = "\x1e"

# After each command: its errors, and its status for the next one.
PROLOGUE = f"""exec 2>>errors
mark() {{ local status=$?; cat errors; : >errors; printf '{MARK}'; return $status; }}
"""


def blocks_of(page):
    """How each is run, its text, and whether it is passed over."""
    is_passed_over = False
    for heading, how, block in BLOCK.findall(page.read_text()):
        is_passed_over = not heading and (is_passed_over or bool(applications.absent_in(block)))
        if not heading and how != "not run":
            yield how, block, is_passed_over


def commands_of(page):
    """Pairs of a command and what it prints, or None."""
    for how, block, is_passed_over in blocks_of(page):
        for piece in [] if is_passed_over else re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = piece.partition("\n")
            yield command, None if how == "varies" else output


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def ssh_settings(bin_folder, home, path):
    """Two files: what the server is told, and what ssh is."""
    port, at = free_port(), str(bin_folder)
    server = f"""ListenAddress 127.0.0.1:{port}
HostKey {at}/host_key
AuthorizedKeysFile {at}/key.pub
PidFile {at}/pid
StrictModes no
UsePAM no
PermitRootLogin yes
PasswordAuthentication no
SetEnv PATH={path}
ForceCommand cd {home} && eval "$SSH_ORIGINAL_COMMAND"
"""
    client = f"""Host host
HostName 127.0.0.1
Port {port}
IdentityFile {at}/key
IdentitiesOnly yes
BatchMode yes
StrictHostKeyChecking no
UserKnownHostsFile /dev/null
LogLevel ERROR
"""
    return server, client


@contextlib.contextmanager
def ssh_host(folder, path):
    """A folder with an ssh that knows "host", to be first in PATH."""
    with tempfile.TemporaryDirectory(prefix="tamis-ssh-") as name:
        bin_folder, home = pathlib.Path(name), pathlib.Path(folder) / "host"
        home.mkdir()
        if os.getuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        for key in ("host_key", "key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", bin_folder / key], check=True)
        server, client = ssh_settings(bin_folder, home, path)
        (bin_folder / "sshd_config").write_text(server)
        (bin_folder / "ssh_config").write_text(client)
        (bin_folder / "ssh").write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F {name}/ssh_config "$@"\n')
        (bin_folder / "ssh").chmod(0o755)
        subprocess.run(["/usr/sbin/sshd", "-f", bin_folder / "sshd_config", "-E", bin_folder / "log"], check=True)
        pid = bin_folder / "pid"
        while not (pid.exists() and pid.read_text().strip()):
            time.sleep(0.01)
        try:
            yield name
        finally:
            os.kill(int(pid.read_text()), signal.SIGTERM)


def outputs_of(commands, folder, tamis):
    script = PROLOGUE + "mark\n" + "".join(f"{command}\nmark\n" for command, _ in commands)
    path = f"{tamis.parent}:{os.environ['PATH']}"
    needs_host = any(" host:" in command for command, _ in commands)
    with ssh_host(folder, path) if needs_host else contextlib.nullcontext() as first:
        return run_script(script, folder, f"{first}:{path}" if first else path)


def run_script(script, folder, path):
    done = subprocess.run(["bash", "-s"], input=script, cwd=folder, text=True, check=False,
                          stdout=subprocess.PIPE, env=dict(os.environ, PATH=path, LC_ALL="C.UTF-8"))
    return done.stdout.split(MARK)[1:-1]


def differences(page, tamis):
    commands = list(commands_of(page))
    if not commands:
        return 0, []
    with tempfile.TemporaryDirectory(prefix="tamis-docs-") as folder:
        os.symlink(ROOT / "demo", pathlib.Path(folder) / "demo")
        outputs = outputs_of(commands, folder, tamis)
    outputs += [""] * (len(commands) - len(outputs))
    wrong = [(command, said, real) for (command, said), real in zip(commands, outputs)
             if said is not None and said != real]
    return len(commands), wrong


def main():
    # Pages have runs of millions of keys, which tests/cli has smaller.
    if os.environ.get("TAMIS_SANITIZED"):
        print("the sanitizers are too slow for it")
        return 77
    tamis = pathlib.Path(sys.argv[1]).resolve()
    pages = [pathlib.Path(name).resolve() for name in sys.argv[2:]]
    pages = pages or applications.pages()
    ran = failed = 0
    for page in pages:
        n, wrong = differences(page, tamis)
        ran += n
        failed += len(wrong)
        for command, said, real in wrong:
            print(f"{page.relative_to(ROOT)}: $ {command}\n--- the page says\n{said}--- it prints\n{real}")
    print(f"{ran} commands, {failed} print something else")
    passed_over = sum(is_passed_over for page in pages for _, _, is_passed_over in blocks_of(page))
    applications.say_passed_over(passed_over, "blocks")
    return 1 if failed or ran == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
