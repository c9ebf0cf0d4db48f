# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a run: reading (read, plain_yaml, lattice), physics (beam, budget,
radiation), pictures, page."""
from ..errors import ArcwakeError


class Problem(ArcwakeError):
    """A fault of the files for the user, in one line."""
