# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs that are killed, stopped, or short of memory or disk leave nothing half-written.

usage: test_robustness.py DIRECTORY [--full] [--seed N]     with AW_ARCWAKE, the program

Many short runs write to one directory. Each meets a mishap at a random moment or of a random size.
Afterwards every mesh file is complete, monitor.csv has whole rows, resolved.yaml is whole or
absent, the exit status is one that README.md promises, stderr has one line for each error, and a
run with --force works. The moments depend on the machine; --seed repeats the random choices only.
"""
import argparse
import collections
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

try:
    import h5py
except ImportError as problem:
    print(f"skipped: {problem}")
    sys.exit(77)

MIB = 1 << 20
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)
# Of each kind of mishap: how many by default (about 10 s in all), and with --full.
COUNTS = {"kill": (7, 100), "signal": (8, 100), "memory": (4, 30), "size": (3, 10), "disk": (3, 10)}
OWN_MOUNTS = "AW_TEST_OWN_MOUNTS"  # set once this script has a mount namespace of its own

LATTICE = """PALS:
  version: null
  facility:
    - line:
        kind: BeamLine
        line:
          - start: {kind: BeginningEle, ReferenceP: {species_ref: electron, E_tot_ref: 5.1e9}}
          - bend: {kind: Bend, length: 0.1, BendP: {radius_ref: 25.13}}
    - ring: {kind: Lattice, branches: [line]}
    - use: ring
"""
RUN = """lattice: line.yaml
beam: {charge_C: 1.0e-9, gamma: 1.0e4, particles: 2000, sigma_s_m: 50.0e-6, sigma_x_m: 50.0e-6}
numerics: {grid: [16, 16], step_m: 0.01, tolerance: 1.0e-3}
output: {directory: disk/out, every: 1, particles_every: 2}
"""
COMMAND = ["run", "run.yaml", "--force", "--quiet", "--threads", "1"]


class Failure(Exception):
    """A promise that a run broke."""


def need(good, text):
    if not good:
        raise Failure(text)


def inventory(path):
    """Names and shapes of all datasets of a mesh file, which are read and so checked."""
    found = {}

    def look(name, item):
        if isinstance(item, h5py.Dataset):
            found[name.split("/", 2)[-1]] = item[()].shape

    with h5py.File(path, "r") as file:
        file.visititems(look)
        need("input" in file.attrs, f"{path}: has no attribute 'input'")
    return found


class Bench:
    """The directory in which all runs work, and what a run without mishap leaves there."""

    def __init__(self, program):
        self.program = program
        self.environment = dict(os.environ, AW_PYTHON="/bin/false", OMP_WAIT_POLICY="passive",
                                ARCWAKE_TUNING="none")
        self.out = Path("disk/out")
        Path("disk").mkdir()
        Path("line.yaml").write_text(LATTICE, encoding="utf-8")
        Path("run.yaml").write_text(RUN, encoding="utf-8")
        self.run()  # the first one reads the program from the disk
        begin = time.monotonic()
        status, stderr = self.run()
        self.seconds = time.monotonic() - begin
        need(status == 0, f"a run without mishap: status {status}: {stderr}")
        self.resolved = (self.out / "resolved.yaml").read_bytes()
        self.header, *rows = (self.out / "monitor.csv").read_text().splitlines()
        self.rows = len(rows)
        self.files = {p.name: inventory(p) for p in (self.out / "diag").iterdir()}
        self.largest = max(p.stat().st_size for p in self.out.rglob("*") if p.is_file())
        self.total = sum(p.stat().st_size for p in self.out.rglob("*") if p.is_file())
        need(len(self.files) == self.rows == 11, f"{self.rows} rows, {len(self.files)} mesh files")

    def start(self, limit=None, arguments=()):
        def set_limit():
            if limit:
                resource.setrlimit(limit[0], (limit[1], limit[1]))

        return subprocess.Popen([self.program, *COMMAND, *arguments], env=self.environment,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                errors="replace", preexec_fn=set_limit)

    def run(self, limit=None, arguments=()):
        """@return the status and stderr."""
        process = self.start(limit, arguments)
        stderr = process.communicate(timeout=120)[1]
        return process.returncode, stderr

    def check_files(self):
        """Every file in the directory is whole."""
        resolved, monitor = self.out / "resolved.yaml", self.out / "monitor.csv"
        if resolved.exists():
            need(resolved.read_bytes() == self.resolved, "resolved.yaml is not whole")
        text = monitor.read_text() if monitor.exists() else ""
        need(text == "" or text.endswith("\n"), f"monitor.csv ends with {text[-60:]!r}")
        lines = text.splitlines()
        need(not lines or lines[0] == self.header, "the header of monitor.csv is not whole")
        for line in lines[1:]:
            need(line.count(",") == self.header.count(","), f"a row of monitor.csv: {line!r}")
        for path in sorted((self.out / "diag").glob("*.h5")):
            need(inventory(path) == self.files[path.name], f"{path.name} is not complete")

    def check_end(self, status, stderr):
        """A run that ended by itself left nothing temporary, and one line for each error."""
        left = [p.name for p in self.out.rglob("*") if ".tmp" in p.name or p.name == "run.lock"]
        need(not left, f"left behind: {left}")
        lines = stderr.splitlines()
        for line in lines:
            need(line.startswith(("arcwake: error: ", "arcwake: warning: ")), f"stderr: {line!r}")
        errors = sum(line.startswith("arcwake: error: ") for line in lines)
        need(errors > 0 if status else errors == 0, f"status {status}, {errors} errors: {stderr}")
        if status == 0:
            need(len((self.out / "monitor.csv").read_text().splitlines()) == self.rows + 1,
                 "status 0, but rows are missing")
            names = {p.name for p in (self.out / "diag").iterdir()}
            need(names == set(self.files), "status 0, but mesh files are missing")

    def check_next(self):
        """The next run works."""
        status, stderr = self.run(arguments=("--steps", "1"))
        need(status == 0, f"the next run: status {status}: {stderr}")

    def interrupt(self, number):
        """Send a signal at a random moment. @return status, stderr"""
        shutil.rmtree(self.out, ignore_errors=True)
        process = self.start()
        time.sleep(random.uniform(0.0, 1.1 * self.seconds))
        process.send_signal(number)
        stderr = process.communicate(timeout=120)[1]
        return process.returncode, stderr


def kill(bench):
    status, _ = bench.interrupt(signal.SIGKILL)
    need(status in (0, -signal.SIGKILL), f"status {status}")
    return status


def stop(bench):
    number = random.choice((*STOPPING, signal.SIGPIPE))
    status, stderr = bench.interrupt(number)
    if status == -number:  # before the program itself had begun
        need(not bench.out.exists(), f"{number.name} ended the run, which had begun to write")
        return status
    need(status in ((0,) if number == signal.SIGPIPE else (0, 75)), f"{number.name}: {status}")
    if status == 75:
        need(stderr.count("stopped by a signal") == 1, f"{number.name}: {stderr}")
    if bench.out.exists():
        bench.check_end(status, stderr)
    return status


def short_of_memory(bench):
    size = int(bench.address_space * random.uniform(0.2, 1.1))
    shutil.rmtree(bench.out, ignore_errors=True)  # a refused run leaves it as it was
    status, stderr = bench.run((resource.RLIMIT_AS, size))
    # 127: the system could not load the program's libraries.
    need(status in (0, 4, 127), f"{size / MIB:.0f} MiB: status {status}: {stderr}")
    if status == 4:
        bench.check_end(status, stderr)
    return status


def short_of_size(bench):
    size = int(bench.largest * random.uniform(0.0, 1.1) ** 2)  # small files are many
    status, stderr = bench.run((resource.RLIMIT_FSIZE, size))
    need(status == (0 if size >= bench.largest else 4), f"{size} bytes: {status}: {stderr}")
    bench.check_end(status, stderr)
    return status


def short_of_disk(bench):
    size = int(bench.total * random.uniform(0.0, 1.3)) // 4096 * 4096 + 4096
    shutil.rmtree(bench.out, ignore_errors=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", "disk"], check=True)
    try:
        status, stderr = bench.run()
        need(status in (0, 4), f"{size} bytes: status {status}: {stderr}")
        bench.check_files()
        bench.check_end(status, stderr)
        more = f"remount,size={size + 2 * bench.total}"
        subprocess.run(["mount", "-o", more, "disk"], check=True)
        bench.check_next()
    finally:
        subprocess.run(["umount", "disk"], check=True)
    return status


def address_space(bench):
    """Largest address space of a run [bytes]."""
    process, most = bench.start(), 0
    while process.poll() is None:
        try:
            text = Path(f"/proc/{process.pid}/status").read_text()
            most = max([most] + [int(line.split()[1]) << 10 for line in text.splitlines()
                                 if line.startswith("VmPeak:")])
        except OSError:
            pass
        time.sleep(0.002)
    process.stderr.close()
    return most


def with_own_mounts(directory):
    """Start this script again where it may mount a small disk that nobody else sees."""
    if os.environ.get(OWN_MOUNTS) or not shutil.which("unshare"):
        return
    attempt = ["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", str(directory)]
    if subprocess.run(attempt, capture_output=True, check=False).returncode == 0:
        os.environ[OWN_MOUNTS] = "1"
        os.execvp("unshare", ["unshare", "--mount", sys.executable, *sys.argv])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--full", action="store_true", help="100 kills, 100 signals, ...")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.directory.mkdir(exist_ok=True)
    with_own_mounts(options.directory)
    random.seed(options.seed)
    program = os.path.abspath(os.environ["AW_ARCWAKE"])
    os.chdir(options.directory)
    bench = Bench(program)
    bench.address_space = address_space(bench)
    mishaps = {"kill": kill, "signal": stop, "memory": short_of_memory, "size": short_of_size,
               "disk": short_of_disk}
    bad = 0
    for name, mishap in mishaps.items():
        if name == "disk" and not os.environ.get(OWN_MOUNTS):
            print("skipped: small disks (no permission to mount)")
            continue
        if name == "memory" and bench.address_space > 1 << 40:
            print("skipped: memory (a sanitizer takes terabytes of address space)")
            continue
        statuses = collections.Counter()
        for i in range(COUNTS[name][options.full]):
            try:
                statuses[mishap(bench)] += 1
                bench.check_files()
                if options.full or i % 3 == 0:
                    bench.check_next()
            except Failure as failure:
                print(f"{name} {i + 1} of seed {options.seed}: {failure}")
                bad = 1
        print(f"{name}: " + ", ".join(f"{n} x status {s}" for s, n in sorted(statuses.items())))
    return bad


if __name__ == "__main__":
    sys.exit(main())
