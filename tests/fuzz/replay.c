/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files of a directory, and the beginnings of each, through input.c: the fuzz target as a test
 * for every compiler. Those with "refused" in their name must be refused, the others accepted.
 * usage: fuzz_replay DIRECTORY|FILE... */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
extern unsigned long fuzz_accepted;

enum { BYTES_MAX = 65536, STRIDE = 5 };

static int replay_file(const char *path)
{
    static uint8_t data[BYTES_MAX];
    FILE *file = fopen(path, "rb");
    const size_t size = file ? fread(data, 1, sizeof data, file) : 0;
    if (file) fclose(file);
    if (size == 0 || size == sizeof data) {
        fprintf(stderr, "%s: cannot be read, is empty or has 65536 bytes or more\n", path);
        return 0;
    }
    printf("%s\n", path);
    fflush(stdout); /* the file is named if it crashes */
    const unsigned long before = fuzz_accepted;
    LLVMFuzzerTestOneInput(data, size);
    if ((fuzz_accepted == before) != (strstr(path, "refused") != NULL)) {
        fprintf(stderr, "%s: was %s\n", path, fuzz_accepted == before ? "refused" : "accepted");
        return 0;
    }
    for (size_t n = 1; n < size; n += STRIDE) {
        /* a copy of its own size, for the address sanitizer */
        uint8_t *part = malloc(n);
        if (!part) return 0;
        for (size_t i = 0; i < n; ++i) part[i] = data[i];
        LLVMFuzzerTestOneInput(part, n);
        free(part);
    }
    return 1;
}

/* @return the number of files, -1 if one could not be read */
static int replay_folder(const char *folder)
{
    int n = 0;
    DIR *list = opendir(folder);
    if (!list) return -1;
    for (const struct dirent *entry = readdir(list); entry && n >= 0; entry = readdir(list)) {
        char path[4096];
        if (entry->d_name[0] == '.') continue;
        if (snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= (int)sizeof path ||
            !replay_file(path))
            n = -1;
        else
            ++n;
    }
    closedir(list);
    return n;
}

int main(int argc, char **argv)
{
    int files = 0;
    for (int i = 1; i < argc; ++i) {
        struct stat info;
        int n = -1;
        if (stat(argv[i], &info) == 0)
            n = S_ISDIR(info.st_mode) ? replay_folder(argv[i]) : replay_file(argv[i]);
        if (n < 0) return 1;
        files += n;
    }
    printf("%d files\n", files);
    return files > 0 ? 0 : 1;
}
