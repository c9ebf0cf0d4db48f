/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/app/version.h"

#include <aw_built.h>
#include <aw_commit.h>
#include <aw_version.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

void aw_version_print(void)
{
    static const char *const row[][2] = {
        {"commit", AW_COMMIT},       {"compiler", AW_BUILT_COMPILER}, {"CUDA", AW_BUILT_CUDA},
        {"MPI", AW_BUILT_MPI},       {"OpenMP", AW_BUILT_OPENMP},     {"HDF5", AW_BUILT_HDF5},
        {"GSL", AW_BUILT_GSL},       {"FFTW", AW_BUILT_FFTW},         {"libyaml", AW_BUILT_YAML},
        {"SIMD", AW_BUILT_VARIANTS},
    };
    printf("arcwake %s\n", AW_VERSION);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; ++i)
        printf("%-9s %s\n", row[i][0], row[i][1]);
    puts("GNU General Public License, version 3 or later");
}

void aw_version_program(char text[AW_PROGRAM_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    struct stat info;
    const int n = snprintf(text, AW_PROGRAM_SIZE, "arcwake %s, commit %s", AW_VERSION, AW_COMMIT);
    const int is_commit = AW_COMMIT[strspn(AW_COMMIT, digits)] == '\0';
    if (!is_commit && stat("/proc/self/exe", &info) == 0)
        snprintf(text + n, AW_PROGRAM_SIZE - (size_t)n, ", of %lld", (long long)info.st_mtime);
}
