# SPDX-License-Identifier: GPL-3.0-or-later
"""The HTML page: tables, pictures and what they show. It is made without a screen."""
import base64
import html
import io
import math
import os
import secrets
import string

import matplotlib

matplotlib.use("Agg")
import numpy as np  # noqa: E402 (after the choice of the back end)
from matplotlib import pyplot as plt  # noqa: E402

from . import Problem, beam, budget, pictures, radiation, read  # noqa: E402
from .pictures import prefix  # noqa: E402

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; color: #1c1c1c;
  background: #fff; max-width: 66rem; margin: 2.5rem auto; padding: 0 1.25rem; }}
h1 {{ font-size: 1.9rem; line-height: 1.2; margin: 0 0 .25rem; }}
h2 {{ font-size: 1.2rem; margin: 2.5rem 0 .5rem; border-bottom: 1px solid #d8d8d8; }}
p.about, figcaption {{ color: #555; }}
figure {{ margin: 1rem 0; }} figure img {{ width: 100%; height: auto; }}
figure.narrow img {{ max-width: 46rem; }}
figcaption {{ font-size: .9rem; max-width: 52rem; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .92rem; }}
th {{ text-align: left; font-weight: 600; }}
td, th {{ padding: .18rem 1.6rem .18rem 0; border-bottom: 1px solid #ececec;
  vertical-align: top; }}
td:last-child {{ overflow-wrap: anywhere; }}
.two {{ columns: 2 22rem; column-gap: 3rem; }} .two table {{ width: 100%; }}
.two tr {{ break-inside: avoid; }}
.none {{ color: #888; }}
@media print {{ h2 {{ break-after: avoid; }} figure {{ break-inside: avoid; }} }}
</style></head><body>
<h1>{title}</h1>
<p class="about">{about}</p>
{body}
</body></html>
"""
NONE = "not computed"


# ----------------------------------------------------------------------------------------- numbers


def in_words(value, unit):
    """A number with its unit, as text for the table."""
    if not math.isfinite(value):
        return NONE
    value = float(f"{value:.4g}")  # first, so that 999.99 pm is 1 nm
    factor, unit = prefix(value, unit)
    return f"{value * factor:.4g}\u2009{unit}"


def count(value):
    """A whole number in groups of three digits."""
    return f"{value:,.0f}".replace(",", "\u2009") if math.isfinite(value) else NONE


def relative(value):
    """A small number without a unit; never 0 for what is not."""
    return f"{value:.1e}" if math.isfinite(value) else NONE


# ------------------------------------------------------------------------------------------ tables


def as_table(pairs):
    rows = []
    for name, value in pairs:
        kind = ' class="none"' if value == NONE else ""
        rows.append(f"<tr><td>{html.escape(name)}</td><td{kind}>{html.escape(value)}</td></tr>")
    return f'<div class="two"><table>{"".join(rows)}</table></div>'


def as_columns(heads, rows):
    """A table with a line of headings."""
    lines = ["".join(f"<th>{html.escape(head)}</th>" for head in heads)]
    lines += ["".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in rows]
    return "<table>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>"


def peak_currents(run):
    """{step: peak current [A]}, of the particles or else of the charge on the grid."""
    out = {}
    for mesh in run.meshes:
        speed = beam.LIGHT * math.sqrt(1.0 - mesh.frame.gamma**-2)
        out[mesh.step] = float(mesh.line_charge()[1].max()) * speed
    for bunch in run.bunches:
        out[bunch.step] = float(beam.current(bunch)[1].max())
    return out


def bunch_rows(run):
    """Rows of the table of the bunch: name, at the start, at the end, and what it did."""
    monitor, rigid = run.monitor, run.motion == "rigid"
    rows = []

    def add(name, values, unit, ratio=True):
        first, last = float(values[0]), float(values[-1])
        known = ratio and math.isfinite(last) and math.isfinite(first) and first > 0.0
        rows.append((name, in_words(first, unit), in_words(last, unit),
                     f"× {last / first:.4g}" if known else ""))

    add("Arc length S of the reference particle", monitor["s_ref_m"], "m", False)
    add("Charge", monitor["charge_C"], "C", False)
    add("Bunch length, rms", monitor["sigma_s_m"], "m")
    add("Bunch width, rms", monitor["sigma_x_m"], "m")
    peaks = peak_currents(run)
    ends = [peaks.get(int(monitor["step"][i]), math.nan) for i in (0, -1)]
    if any(map(math.isfinite, ends)):
        add("Peak current", ends, "A")
        rows[-1] = tuple("no file" if cell == NONE else cell for cell in rows[-1])
    if rigid:
        return rows
    plain, free = monitor["emittance_x_m"], monitor["emittance_x_dispersion_free_m"]
    if run.gamma > 1.0:
        rows.append(("Mean energy", *(in_words(
            run.gamma * beam.REST_EV + float(beam.energy_change(monitor)[i]),
            "eV") for i in (0, -1)), ""))
        for name, values in zip(("Normalised emittance", "Normalised emittance, dispersion taken "
                                 "out"), beam.normalised(monitor, run.gamma)):
            add(name, values, "m rad")
    add("Geometric emittance", plain, "m rad")
    add("Geometric emittance, dispersion taken out", free, "m rad")
    if run.motion != "external":
        mean, rms = (float(monitor[f"energy_change_{word}_eV"][-1]) for word in ("mean", "rms"))
        share = ""
        if run.gamma > 1.0 and math.isfinite(mean):
            share = f"{100.0 * mean / (run.gamma * beam.REST_EV):.4f} %"
        rows.append(("Energy change by the self-field, mean", "", in_words(mean, "eV"), share))
        rows.append(("Energy change by the self-field, rms about the mean", "",
                     in_words(rms, "eV"), ""))
    return rows


def error_rows(monitor, requested):
    """The error of the potentials, and how it is known."""
    sampled, estimate = monitor["error_sampled"], monitor["error_estimate"]
    measured = np.isfinite(sampled).any()
    known = sampled if measured else estimate
    known = known[np.isfinite(known)]
    how = ("sampled: points computed again without approximation" if measured else
           "estimated by the quadrature at its worst point")
    if known.size == 0:
        return [("Error of the potentials, over their largest value", NONE)]
    wanted = f"; requested {requested}" if requested else ""
    return [("Error of the potentials, over their largest value",
             f"{relative(known[-1])} at the last step computed, {relative(known.max())} at the "
             f"worst ({how}{wanted})")]


def computation_rows(run):
    """Rows of the table of the numerics."""
    monitor, values = run.monitor, run.values
    rows = [("Steps", count(monitor["step"][-1]))]
    if run.is_line:
        rows.append(("Forces", f"of a line bunch, {values.get('line.model', '')}"))
    else:
        rows.append(("Steps with potentials", count(np.isfinite(monitor["evaluations"]).sum())))
    solver = () if run.is_line else (("numerics.solver", "Solver"),)
    for key, name in (*solver, ("numerics.grid", "Grid, points along × "
                                                      "across the bunch"),
                      ("numerics.step_m", "Step c\u2009dt [m]"),
                      ("beam.particles", "Macro-particles")):
        if key in values:
            rows.append((name, values[key].replace(", ", " × ")))
    if run.is_line:
        return rows
    rows += error_rows(monitor, values.get("numerics.tolerance"))
    left = int(np.nansum(monitor["fell_back"]))
    if left:
        rows.append(("Steps that `projection` left to `predictive`", count(left)))
    rows.append(("Evaluations of the retarded integrand, all steps",
                 count(np.nansum(monitor["evaluations"]))))
    return rows


def force_rows(monitor):
    """Forces over the particles at the last step that has them."""
    known = np.flatnonzero(np.isfinite(monitor["F_s_mean_eV_per_m"]))
    if known.size == 0:
        return []
    last = known[-1]
    rows = [("At S", in_words(monitor["s_ref_m"][last], "m"))]
    for letter, word in (("s", "Longitudinal"), ("x", "Transverse")):
        for kind, name in (("mean", "mean"), ("peak", "largest in magnitude")):
            rows.append((f"{word} force, {name}",
                         in_words(monitor[f"F_{letter}_{kind}_eV_per_m"][last], "eV/m")))
    return rows


# ---------------------------------------------------------------------------------------- sections


def save(figure, kind, **options):
    """The bytes of a picture."""
    engine = figure.get_layout_engine()
    if engine is not None:  # once: matplotlib draws twice, with two layouts, while there is one
        engine.execute(figure)
        figure.set_layout_engine("none")
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind, **options)
    return buffer.getvalue()


def as_figure(figure, text, kind=""):
    data = save(figure, "svg", metadata={"Date": None})
    plt.close(figure)
    picture = "data:image/svg+xml;base64," + base64.b64encode(data).decode()
    return (f'<figure class="{kind}"><img src="{picture}" alt="{html.escape(text)}">'
            f"<figcaption>{html.escape(text)}</figcaption></figure>")


def force_sections(run, directory, line=None):
    """Pictures of the meshes; also writes DIR/forces.png."""
    if not run.meshes:
        return []
    figure = pictures.draw_forces(run.meshes, line.meshes if line else ())
    replace(directory / "forces.png", save(figure, "png"))
    text = ("Collective force on one electron along the axis of the bunch, the straight line "
            "x(s) through its centre with the slope <xs>/<ss>. F_s is along the design orbit; "
            "where it is negative, the electron loses energy. Grey: current profile at the last "
            "of these places, not to scale.")
    if pictures.steady_reference(run.meshes):
        text += (" Dashed: a line bunch with this current profile on a circle for ever (steady "
                 "state: Derbenev et al. 1995, R. Li 2008); behind the edge of a magnet the force "
                 "has not reached it.")
    if line:
        text += (" Dashed, in the colour of the place: the same beam with the forces of the line "
                 f"model ({line.values.get('line.model', '')}), along the axis that it has there."
                 if line.meshes else
                 " The run with the line model has no mesh file at these places.")
    chosen = [run.meshes[i] for i in pictures.strongest(run.meshes)]
    which = ("Where F_s is largest of these places (rms over the bunch), and at the last one. "
             if len(chosen) > 1 else "")
    return ["<h2>Forces</h2>", as_figure(figure, text),
            "<h2>The bunch and its forces from above</h2>",
            as_figure(pictures.draw_maps(chosen), which +
                      "s is the arc length along the design orbit, ahead of the reference "
                      "particle, x the distance from the orbit; a dispersive section tilts the "
                      "bunch. Lines: density at exp(-1/2) and exp(-2) of its peak, one and two "
                      "sigma of a Gaussian. White: outside the computed region.")]


def bunch_sections(run):
    """Pictures of the particles."""
    if not run.bunches:
        return []
    out = ["<h2>Current and phase space</h2>",
           as_figure(pictures.draw_phase_space(run.bunches),
                     "From above: current, energy deviation δ from the reference energy, offset x; "
                     "all over the arc length s, head to the right. Colour: square root of the "
                     "density of particles.")]
    ends = run.bunches if len(run.bunches) == 1 else [run.bunches[0], run.bunches[-1]]
    if len(ends[-1].s) >= 5000:  # else too few in a slice
        out += ["<h2>Slices</h2>",
                as_figure(pictures.draw_slices(ends),
                          "Slices of equal length with at least 100 particles. From offset, slope "
                          "and energy the part linear in s within the slice is taken out, so that "
                          "a chirp or a tilt does not count.")]
    return out


def bunch_table(run, line=None):
    """The table of the bunch; beside it what it is at the end with the line model."""
    rows = bunch_rows(run)
    if not line:
        return as_columns(("", "first step", "last step", "change"), rows)
    other = {name: f"{last} {change}".strip() for name, _, last, change in bunch_rows(line)}
    return as_columns(("", "first step", "last step", "change", "line model, last step"),
                      [(*row, other.get(row[0], "")) for row in rows])


def budget_sections(run, sheet=None, free=None):
    """What each effect did to the mean energy; beside the runs without height and plates."""
    parts = budget.parts(run, sheet, free) if run.monitor else []
    if len(parts) < 2:  # the table of the bunch has it
        return []
    rows = [(part.name, in_words(part.change, "eV"),
             in_words(part.bar, "eV") if math.isfinite(part.bar) else "",
             in_words(part.rms, "eV") if math.isfinite(part.rms) else "",
             f"{100.0 * part.change / (run.gamma * beam.REST_EV):.3g} %" if run.gamma > 1.0 else "")
            for part in parts]
    text = ("Change of the mean energy of the bunch by each effect, from the start to the last "
            "step.")
    if any(part.kind == "part" for part in parts):
        text += (" Pale blue: the two parts of the self-field's. The effective force is what is "
                 "left when the potential energy is counted with the particle, the field carried "
                 "along is that energy.")
    if sheet or free:
        text += (" Green: the self-field's, less that of the run without height, or without "
                 "plates; it is in the self-field's already.")
    if any(math.isfinite(part.bar) for part in parts):
        text += " Lines: error bars for 95 % of arcwake certify."
    return ["<h2>Energy budget</h2>", as_figure(pictures.draw_budget(parts), text, "narrow"),
            as_columns(("", "mean", "± U (95 %)", "rms about it", "of the energy"), rows),
            *balance_words(run, parts)]


def balance_words(run, parts):
    """Whether the parts account for the change of the mean energy."""
    found = budget.balance(run, parts)
    if found is None:
        return []
    words = (f"The mean energy of the particles changed by {in_words(found.change, 'eV')}; the "
             f"parts add up to it within {in_words(abs(found.rest), 'eV')}.")
    taken = parts[0].change
    if parts[0].name == "self-field" and math.isfinite(found.force) and taken:
        words += (f" The mean self-force, summed over S by the trapezium rule, is "
                  f"{in_words(found.force, 'eV')}, "
                  f"{100.0 * abs(found.force / taken - 1.0):.2g} % from what the self-field did to "
                  "the particles.")
    return [f"<p>{html.escape(words)}</p>"]


def monitor_sections(run, line=None):
    """Sections made of monitor.csv: before the pictures of the bunch, and behind them."""
    monitor = run.monitor
    rigid = run.motion == "rigid"
    before = ["<h2>The bunch</h2>", bunch_table(run, line)]
    if rigid:
        before.append("<p>Rigid motion: the bunch moves along the design orbit without change; "
                      "it has neither emittance nor energy change.</p>")
    elif run.motion == "external":
        before.append("<p>External motion: no force of the bunch acts on it, so its energy stays "
                      "as it is.</p>")
    figure = pictures.draw_evolution(run, line)
    along = []
    if figure:
        words = ["Values over all particles."]
        if run.elements:
            words.append("Top and shaded: bends (up: towards -x) and quadrupoles (green).")
        if run.bands:
            words.append("Bands: error bars for 95 % of arcwake certify.")
        if not rigid:
            words.append("Within a bend and between bends the plain emittance holds the "
                         "dispersion; the other one has the part of x and x' linear in the energy "
                         "deviation taken out.")
        if line:
            words.append("Dashed: the same beam with the forces of the line model.")
        along = ["<h2>Along the machine</h2>", as_figure(figure, " ".join(words))]
    forces = force_rows(monitor)
    if forces:
        along += ["<h2>Forces over the particles</h2>", as_table(forces)]
    total = sum(float(np.nansum(monitor[f"seconds_{part}"])) for part in read.PARTS)
    return before, along, [
        "<h2>The computation</h2>", as_table(computation_rows(run)),
        as_figure(pictures.draw_time(monitor), f"{count(len(monitor['step']))} steps, "
                  f"{total:.4g} s in all.", "narrow")]


def certificate_sections(run):
    """The table of results with their error bars."""
    if not run.certificate:
        return []
    heads = ("", "value", "± U (95 %)", "grid", "step", "noise", "tolerance", "asymptotic")
    rows = []
    for one in run.certificate:
        words = [in_words(one[key], one["unit"])
                 for key in ("value", "U", "U_grid", "U_step", "U_noise", "U_quadrature")]
        rows.append((one["quantity"].rsplit("_" + one["unit"].replace("/", "_per_"), 1)[0], *words,
                     "yes" if one["asymptotic"] else "no"))
    return ["<h2>Error bars</h2>", as_columns(heads, rows),
            "<p>From this run and its neighbours, by arcwake certify: the exact solution of the "
            "model should lie within ± U in 95 of 100 cases. Peak forces are the largest of the "
            "run, the others are those of the last step.</p>"]


def _range(low, high):
    """Two frequencies in Hz, as text in THz."""
    return f"{1e-12 * low:.4g} to {1e-12 * high:.4g}\u2009THz"


def radiation_words(run, found):
    """The energies that the bunch radiates, and how far they are known."""
    held, number = found.table["frequency_Hz"][found.held], found.number
    words = []
    if len(held) > 1:
        words.append(f"Coherent energy: {in_words(number('coherent_energy_J'), 'J')} from "
                     f"{_range(held[0], held[-1])}")
        loss = math.nan if found.has_balance else radiation.loss(run, found)
        if math.isfinite(loss):
            words[-1] += (f", {100.0 * number('coherent_energy_J') / loss:.3g} % of the "
                          f"{in_words(loss, 'J')} that the self-field took from the bunch until "
                          "the end of the run (the difference is in the field that it carries "
                          "along, and outside this range)")
    if found.has_band:
        words.append(f"{in_words(number('band_energy_J'), 'J')} in the band from "
                     f"{_range(number('band_from_Hz'), number('band_to_Hz'))}")
    words.append("the grid resolves waves up to "
                 f"{1e-12 * number('frequency_resolved_Hz'):.4g}\u2009THz")
    noisy = int((found.held & ~found.clear).sum())
    if noisy:
        words.append(f"at {noisy} of {len(held)} frequencies the coherent part is below the noise")
    text = "; ".join(words) + "."
    text = text[:1].upper() + text[1:]
    text += energy_balance(found)
    other = radiation.difference(run, found)
    if other:
        text += f" The spectrum is not that of this run: {other}."
    return text


def energy_balance(found):
    """Where the energy went that the particles lost."""
    if not found.has_balance:
        return f" No energy balance: {found.balance_open}." if found.balance_open else ""
    number = found.number
    bound = number("bound_end_J") - number("bound_start_J")
    return (f" Energy balance: the particles lose {in_words(number('lost_J'), 'J')} until the end "
            f"and {in_words(number('missing_J'), 'J')} behind it, to a field that is not whole "
            f"yet; {in_words(number('radiated_J'), 'J')} are radiated, and the field that the "
            f"bunch carries along has {in_words(bound, 'J')} more. The balance closes to "
            f"{100.0 * abs(number('balance_gap')):.2g} % of the loss.")


def radiation_sections(run, found):
    """What the bunch radiates into the far field, from the files of arcwake spectrum."""
    if found is None:
        return []
    out = ["<h2>Radiation</h2>", f"<p>{html.escape(radiation_words(run, found))}</p>",
           as_figure(pictures.draw_spectrum(found),
                     "Energy per angular frequency, over the directions that were asked for. "
                     "Noise: what as many macro-particles at random places would add to the "
                     "coherent part.", "narrow")]
    figure = pictures.draw_directions(found)
    if figure:
        text = ("Coherent energy per solid angle, over the frequencies that the grid resolves; "
                "theta against the direction at the start, positive towards +x. It is the same "
                "above and below the plane.")
        if math.isfinite(found.number("aperture_rad")):
            text += " Dashed: the aperture, outside which nothing counts in the spectrum."
        out.append(as_figure(figure, text, "narrow"))
    return out


def about(run):
    """The line under the title."""
    words = [word for word in (run.software, run.date) if word]
    if run.gamma > 1.0:
        words.append(f"{in_words(run.gamma * beam.REST_EV, 'eV')}")
    if run.motion:
        words.append(f"{run.motion} motion")
    if run.is_short:
        words.append(f"not at the end: S = {run.monitor['s_ref_m'][-1]:.4g} m of "
                     f"{run.length:.4g} m")
    return " · ".join(words)


def make_page(directory, line_directory=None, sheet_directory=None, free_directory=None):
    """The HTML text of the page."""
    found = radiation.read_radiation(directory)
    run, line = read.read_run(directory, needed=found is None), None
    if found:
        radiation.complete(run, found)
    if line_directory:
        line = read.read_line_run(line_directory, [mesh.frame.s_ref for mesh in run.meshes])
    sheet = budget.read_sheet(sheet_directory, run) if sheet_directory else None
    free = budget.read_free(free_directory, run) if free_directory else None
    title = run.values.pop("title", "") or "A run of arcwake"
    beside = line if line and line.monitor else None
    before, along, computation = monitor_sections(run, beside) if run.monitor else ([], [], [])
    body = (before + budget_sections(run, sheet, free) + certificate_sections(run)
            + bunch_sections(run) + along + force_sections(run, directory, line)
            + radiation_sections(run, found) + computation)
    if run.lattice_note:
        body.append(f"<p>{html.escape(run.lattice_note[:1].upper() + run.lattice_note[1:])}</p>")
    if run.elements:
        bends = sum(bool(one.curvature) for one in run.elements)
        run.values.setdefault("lattice", f"in resolved.yaml: {len(run.elements)} elements, "
                              f"{bends} bends, {run.length:.6g} m")
    if run.values:
        body += ["<h2>Input, with all defaults</h2>", as_table(run.values.items())]
    return PAGE.format(title=html.escape(title), about=html.escape(about(run)),
                       body="\n".join(body))


def replace(path, data):
    """Replace a file atomically, by way of a new file as aw_file_temporary names it."""
    letters = "".join(secrets.choice(string.ascii_lowercase) for _ in range(6))
    temporary = path.with_name(f"{path.name}.{letters}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
        os.replace(temporary, path)
    except OSError as problem:
        temporary.unlink(missing_ok=True)
        raise Problem(f"{path}: cannot be written: {problem.strerror}") from problem


def write(directory, line=None, sheet=None, free=None):
    """Write DIR/report.html, and DIR/forces.png if there are forces.

    `line`, `sheet` and `free` are directories of runs of the same case: with the line model, to be
    drawn beside it; without height and without plates, for the energy budget.
    """
    for given in (directory, line, sheet, free):
        if given is not None and not given.is_dir():
            raise Problem(f"{given}: no such directory")
    with plt.rc_context(pictures.STYLE):
        page = make_page(directory, line, sheet, free)
    replace(directory / "report.html", page.encode())
