# SPDX-License-Identifier: GPL-3.0-or-later
"""The particles, in the units of the file that is written."""
from dataclasses import dataclass, field

from ..problems import ConvertError

C = 299792458.0      # [m/s]
E = 1.602176634e-19  # [C]
# Rest energy of the electron [eV], as in the program: what files give as beta gamma stays beta
# gamma there to the last bit but one.
M_E = 510998.95


@dataclass
class Beam:
    """x, y, z [m], px, py, pz [eV/c], t [s], charge of each particle [C]; status 1: alive.

    Arrays of one length, or numbers where all particles have the same z or t.
    """
    x: object
    y: object
    z: object
    px: object
    py: object
    pz: object
    t: object
    charge: object
    status: object = None
    id: object = None
    notes: list = field(default_factory=list)

    def check(self, source):
        """Raises ConvertError unless all that is alive is finite, flies forward and is charged."""
        import numpy as np
        n = len(self.x)
        for name in ("y", "z", "px", "py", "pz", "t", "charge", "status", "id"):
            value = getattr(self, name)
            if value is not None and np.ndim(value) and len(value) != n:
                raise ConvertError(f"{source}: {n} particles have {len(value)} values of {name}")
        alive = np.full(n, True) if self.status is None else np.asarray(self.status) == 1
        if not alive.any():
            raise ConvertError(f"{source}: no particle is alive (of {n})")
        for name in ("x", "y", "z", "px", "py", "pz", "t", "charge"):
            value = np.broadcast_to(getattr(self, name), n)[alive]
            if not np.isfinite(value).all():
                raise ConvertError(f"{source}: {name} of {np.count_nonzero(~np.isfinite(value))} "
                                   "particles is not finite")
        if not (np.broadcast_to(self.pz, n)[alive] > 0.0).all():
            raise ConvertError(f"{source}: pz is not positive everywhere (expected a beam along z)")
        if not (np.broadcast_to(self.charge, n)[alive] >= 0.0).all():
            raise ConvertError(f"{source}: charges have both signs")
        if not self.total() > 0.0:
            raise ConvertError(f"{source}: the charge is 0 (expected --charge C)")

    def alive(self):
        import numpy as np
        return slice(None) if self.status is None else np.asarray(self.status) == 1

    def total(self):
        """Charge of the living [C]."""
        import numpy as np
        return float(np.sum(np.broadcast_to(self.charge, len(self.x))[self.alive()]))

    def scale(self, charge):
        self.charge = self.charge * (charge / self.total())

    def summary(self):
        import numpy as np
        n = len(self.x)
        weight = np.broadcast_to(self.charge, n)[self.alive()]
        mean = np.average(np.broadcast_to(self.pz, n)[self.alive()], weights=weight)
        lost = n - len(weight)
        return (f"{len(weight)} particles" + (f" ({lost} more are lost)" if lost else "") +
                f", {self.total():.8g} C, mean pz {mean:.8g} eV/c")


def electrons(source, charge, mass, unit_mass):
    """Raises ConvertError unless the particles are electrons, by charge/e and mass."""
    import numpy as np
    charge, mass = np.asarray(charge), np.asarray(mass)
    # masses differ by 1e-7 between editions of CODATA
    if not ((charge < 0.0).all() and (np.abs(mass / unit_mass - 1.0) < 1e-3).all()):
        raise ConvertError(f"{source}: the particles are not electrons")


def momenta(px_over_pz, py_over_pz, p):
    """px, py, pz of slopes and the total momentum."""
    import numpy as np
    pz = p / np.sqrt(1.0 + px_over_pz ** 2 + py_over_pz ** 2)
    return px_over_pz * pz, py_over_pz * pz, pz
