# SPDX-License-Identifier: GPL-3.0-or-later
"""The notebooks of the examples run to their ends, and ^C in one is as arcwake.run says.

usage: test_notebook.py DIRECTORY    with ARCWAKE_PROGRAM, the program
"""
import os
import sys
import threading
import time
import unittest

from case import ROOT, SCRATCH, case

try:
    import matplotlib  # noqa: F401  pylint: disable=unused-import
    import nbclient
    import nbformat
    from jupyter_client.kernelspec import KernelSpecManager
    KernelSpecManager().get_kernel_spec("python3")
except Exception as problem:  # pylint: disable=broad-except  (NoSuchKernel is one of its own)
    print(f"skipped: {problem} (python3 -m pip install nbclient ipykernel matplotlib)")
    sys.exit(77)

NOTEBOOKS = sorted((ROOT / "python" / "examples").glob("*.ipynb"))
os.environ["PYTHONPATH"] = str(ROOT / "python")
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
del os.environ["MPLBACKEND"]  # the notebook's own


def client(notebook):
    return nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3",
                                   resources={"metadata": {"path": str(SCRATCH)}})


def printed(cell):
    return "".join(output.get("text", "") for output in cell.outputs)


class Notebooks(unittest.TestCase):
    def test_each_runs_to_its_end(self):
        self.assertGreater(len(NOTEBOOKS), 0)
        for path in NOTEBOOKS:
            with self.subTest(path.name):
                notebook = nbformat.read(path, as_version=4)
                self.assertFalse(any(cell.get("outputs") for cell in notebook.cells),
                                 "outputs are not kept in the sources")
                client(notebook).execute()  # raises where a cell does
                kinds = {kind for cell in notebook.cells if cell.cell_type == "code"
                         for output in cell.outputs for kind in output.get("data", {})}
                self.assertIn("image/png", kinds)

    def test_interrupt(self):
        """The kernel's interrupt stops the run with a checkpoint, and the next cell goes on."""
        cells = [f"""import arcwake, warnings
document = {case("notebook")!r}
slow = {{"numerics.step_m": 0.005}}""", """try:
    arcwake.run(document, set=slow)
except KeyboardInterrupt as stop:
    print("stopped:", type(stop).__name__, stop.resumable, stop.directory)""",
                 """r = arcwake.run(document, set=slow, restart=True)
print("rows:", len(r.monitor["step"]))"""]
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(one)
                                                   for one in cells])
        running = client(notebook)
        table = SCRATCH / "notebook" / "monitor.csv"

        def interrupt():
            for _ in range(600):
                if table.exists() and table.stat().st_size > 2000:
                    break
                time.sleep(0.05)
            os.kill(running.km.provisioner.pid, 2)  # to the kernel alone

        thread = threading.Thread(target=interrupt)
        thread.start()
        running.execute()
        thread.join()
        self.assertIn(f"stopped: Interrupted True {SCRATCH / 'notebook'}",
                      printed(notebook.cells[1]))
        self.assertIn("\r[", printed(notebook.cells[1]) + printed(notebook.cells[2]))
        self.assertIn("rows: 1201", printed(notebook.cells[2]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
