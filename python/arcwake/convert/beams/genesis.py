# SPDX-License-Identifier: GPL-3.0-or-later
"""Genesis 4: a .par.h5 file of slices, read by openPMD-beamphysics (`interfaces.genesis`)."""
from ..problems import need
from .beam import M_E, Beam


def recognise(path, head):
    if not head.startswith(b"\x89HDF\r\n\x1a\n"):
        return False
    h5py = need("h5py", "h5py", "reading HDF5")
    with h5py.File(path) as file:
        return "slicespacing" in file and any(name.startswith("slice0") for name in file)


def read(path, scaled):
    import numpy as np
    genesis = need("beamphysics.interfaces.genesis", "openpmd-beamphysics",
                   "reading Genesis 4's particles")
    units = need("beamphysics.units", "openpmd-beamphysics", "reading Genesis 4's particles")
    data = genesis.genesis4_par_to_data(str(path))
    # The file has beta gamma; it stays what it is with the program's mass of the electron.
    momentum = (np.asarray(data[key]) * (M_E / units.mec2) for key in ("px", "py", "pz"))
    return Beam(data["x"], data["y"], data["z"], *momentum, 0.0, data["weight"])
