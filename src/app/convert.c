/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake convert`: beams and decks of other programs, by the Python package arcwake.convert. */
#include <stddef.h>

#include "src/base/command.h"
#include "src/base/log.h"
#include "src/output/python.h"

static aw_status run_command(int argc, char **argv)
{
    if (argc < 2)
        return aw_error(AW_ERR_ARG,
                        "convert: expected two files (arcwake convert IN OUT [OPTIONS])");
    /* main ends its list of arguments with NULL */
    return aw_python_command("python/arcwake/convert/__main__.py", (const char *const *)(argv + 1));
}

static const char help[] =
    "arcwake convert IN OUT [--format NAME] [OPTIONS]\n"
    "Makes what arcwake reads of a file of another program: of particles (elegant, ASTRA, GPT,\n"
    "IMPACT-T, Genesis 4, Ocelot, openPMD) a beam for beam.file, of a deck (elegant, MAD8, XSIF,\n"
    "MAD-X, Bmad, Ocelot) a lattice in PALS. docs/convert.md has formats and packages.\n"
    "\n"
    "  --format NAME       the format of IN, where its name does not show it\n"
    "  --force             write over OUT\n"
    "particles\n"
    "  --charge C          total charge [C], for files without it, or to scale theirs\n"
    "decks\n"
    "  --line NAME         beam line or sequence (default: the one that the deck uses)\n"
    "  --from NAME, --to NAME\n"
    "                      first and last element; NAME[2] is the second of this name\n"
    "  --energy EV         reference total energy [eV], where the deck has none\n"
    "  --plane x|y         plane of the bends; y: a vertical compressor, turned into the plane x\n"
    "  --rbend arc|chord   what L of an RBEND of MAD8 is\n"
    "  --as-drift NAME     take an element as a drift; NAME may have * and ?; repeatable\n";

const aw_command aw_convert_command = {
    .name = "convert",
    .usage = "convert IN OUT [OPTIONS]",
    .summary = "beams and decks of other programs (needs Python)",
    .help = help,
    .run = run_command,
};
