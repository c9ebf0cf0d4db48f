/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/kernels/gpu_apart.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/assert_close.h"
#include "tests/kernels/gpu_bodies.h"

extern const aw_gpu_runtime aw_emulated_runtime;

/* ------------------------------------------------------------------------------ two memories */

/* Memory mapped at two addresses, one for the host and one for the device. Allocations are never
 * freed. */
typedef struct arena {
    char *host, *device;
    size_t used;
} arena;

enum { ARENA = 1 << 30, ALIGNMENT = 256 };

static arena own, pinned; /* memory of the device; pinned memory of the host */

static void arena_open(arena *a)
{
    const int file = memfd_create("arena", 0);
    assert_true(file >= 0 && ftruncate(file, ARENA) == 0);
    a->host = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    a->device = mmap(NULL, ARENA, PROT_NONE, MAP_SHARED, file, 0);
    assert_true(a->host != MAP_FAILED && a->device != MAP_FAILED);
    close(file);
}

/* @return the offset of uninitialized memory (filled with a pattern); ARENA: there is none left */
static size_t arena_alloc(arena *a, size_t bytes)
{
    const size_t at = a->used;
    if (bytes > ARENA - at) return ARENA;
    memset(a->host + at, 0xa5, bytes);
    a->used += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return at;
}

/* The host's address of an address on the device. */
static char *inside(const void *device) { return own.host + ((const char *)device - own.device); }

/* ------------------------------------------------------------------ operations of the streams */

enum { CALL_BYTES = 1024, QUEUED = 4096 };

typedef struct operation {
    enum { TO_DEVICE, TO_HOST, LAUNCH } what;
    void *to;
    const void *from;
    size_t bytes; /* of a launch: number of blocks */
    aw_gpu_kernel kernel;
    char call[CALL_BYTES];
} operation;

static operation *queued[AW_GPU_STREAMS]; /* [QUEUED] */
static size_t operations[AW_GPU_STREAMS];

static operation *enqueue(int stream)
{
    assert_true(operations[stream] < QUEUED);
    return &queued[stream][operations[stream]++];
}

static aw_status apart_to_device(void *context, int stream, void *device, const void *host,
                                 size_t bytes)
{
    (void)context;
    *enqueue(stream) = (operation){.what = TO_DEVICE, .to = device, .from = host, .bytes = bytes};
    return AW_OK;
}

static aw_status apart_to_host(void *context, int stream, void *host, const void *device,
                               size_t bytes)
{
    (void)context;
    *enqueue(stream) = (operation){.what = TO_HOST, .to = host, .from = device, .bytes = bytes};
    return AW_OK;
}

#define CALL_SIZE(name, arguments) sizeof(aw_gpu_##arguments),

static aw_status apart_launch(void *context, int stream, aw_gpu_kernel kernel, size_t blocks,
                              const void *arguments)
{
    static const size_t size[] = {AW_GPU_KERNELS(CALL_SIZE, CALL_SIZE)};
    operation *o = enqueue(stream);
    (void)context;
    assert_true(size[kernel] <= CALL_BYTES);
    o->what = LAUNCH;
    o->bytes = blocks;
    o->kernel = kernel;
    memcpy(o->call, arguments, size[kernel]);
    return AW_OK;
}

/* ------------------------------------------------------------------------------ the device */

static operation launched; /* static data, which stays readable */
static gpu_shared space;
static ucontext_t device_thread;
static char device_stack[1 << 18];
static _Thread_local int thread_local_data;

static void hide(char *begin, char *end)
{
    if (mprotect(begin, (size_t)(end - begin), PROT_NONE) != 0) _exit(3);
}

/* Whether a range of memory holds data that the device's process needs. */
static int is_needed(const char *begin, const char *end)
{
    const char *const keep[] = {(char *)&thread_local_data, (char *)&space, device_stack};
    for (size_t i = 0; i < sizeof keep / sizeof keep[0]; ++i)
        if (keep[i] >= begin && keep[i] < end) return 1;
    return 0;
}

/* Make the host's heap, stack and other allocations inaccessible, but not the static data of the
 * program and its libraries, which include anonymous memory right behind a file's data. */
static void hide_the_host(void)
{
    static char maps[1 << 16];
    const int file = open("/proc/self/maps", O_RDONLY);
    size_t n = 0;
    char *behind = NULL;
    for (ssize_t got; (got = read(file, maps + n, sizeof maps - 1 - n)) > 0;) n += (size_t)got;
    close(file);
    for (char *line = maps, *next; line < maps + n; line = next + 1) {
        char *at;
        next = memchr(line, '\n', (size_t)(maps + n - line));
        *next = '\0';
        char *const begin = (char *)strtoull(line, &at, 16);
        char *const end = (char *)strtoull(at + 1, &at, 16);
        const int private = strncmp(at + 1, "rw-p", 4) == 0, file_of = strchr(line, '/') != NULL;
        const int data = file_of || begin == behind;
        behind = data ? end : NULL;
        if (private && !data && !strstr(line, "[v") && !is_needed(begin, end)) hide(begin, end);
    }
    hide(own.host, own.host + ARENA);
    hide(pinned.host, pinned.host + ARENA);
}

static void do_blocks(void)
{
    hide_the_host();
    for (size_t b = 0; b < launched.bytes; ++b) {
        memset(&space, 0xa5, sizeof space);
        gpu_blocks[launched.kernel](launched.call, (int)b, &space);
    }
    _exit(0);
}

/* Run the blocks of a kernel in a process that can access the device's memory only. */
static aw_status run_kernel(const operation *o)
{
    int exited = 0;
    launched = *o;
    const pid_t child = fork();
    if (child == 0) {
        mprotect(own.device, ARENA, PROT_READ | PROT_WRITE);
        mprotect(pinned.device, ARENA, PROT_READ | PROT_WRITE);
        getcontext(&device_thread);
        device_thread.uc_stack.ss_sp = device_stack;
        device_thread.uc_stack.ss_size = sizeof device_stack;
        makecontext(&device_thread, do_blocks, 0);
        setcontext(&device_thread);
    }
    if (child < 0 || waitpid(child, &exited, 0) != child) return AW_ERR_IO;
    return WIFEXITED(exited) && WEXITSTATUS(exited) == 0 ? AW_OK : AW_ERR_BACKEND;
}

static aw_status apart_wait(void *context, int stream)
{
    aw_status status = AW_OK;
    (void)context;
    for (size_t i = 0; i < operations[stream] && status == AW_OK; ++i) {
        const operation *o = &queued[stream][i];
        if (o->what == TO_DEVICE) memcpy(inside(o->to), o->from, o->bytes);
        if (o->what == TO_HOST) memcpy(o->to, inside(o->from), o->bytes);
        if (o->what == LAUNCH) status = run_kernel(o);
        if (status != AW_OK) print_error("kernel %d did what a GPU cannot do\n", (int)o->kernel);
    }
    operations[stream] = 0;
    return status;
}

static aw_status apart_alloc(void *context, size_t bytes, void **address)
{
    const size_t at = arena_alloc(&own, bytes);
    (void)context;
    *address = at < ARENA ? own.device + at : NULL;
    return *address ? AW_OK : AW_ERR_NOMEM;
}

/* As in CUDA, freeing memory waits for the operations of all streams. */
static void apart_free(void *context, void *address)
{
    (void)address;
    for (int q = 0; q < AW_GPU_STREAMS; ++q) apart_wait(context, q);
}

static aw_status apart_alloc_host(void *context, size_t bytes, void **address, void **mapped)
{
    const size_t at = arena_alloc(&pinned, bytes);
    (void)context;
    *address = at < ARENA ? pinned.host + at : NULL;
    *mapped = at < ARENA ? pinned.device + at : NULL;
    return *address ? AW_OK : AW_ERR_NOMEM;
}

static size_t memory; /* that the device reports [bytes] */

static aw_status apart_open(int index, int threads, aw_gpu_info *info, void **context)
{
    const aw_status status = aw_emulated_runtime.open(index, threads, info, context);
    info->memory = memory;
    return status;
}

static void open_arenas(size_t bytes)
{
    memory = bytes;
    if (own.host) return;
    arena_open(&own);
    arena_open(&pinned);
    for (int q = 0; q < AW_GPU_STREAMS; ++q)
        assert_non_null(queued[q] = calloc(QUEUED, sizeof **queued));
}

aw_gpu_runtime gpu_apart(size_t bytes)
{
    aw_gpu_runtime r = aw_emulated_runtime;
    open_arenas(bytes);
    own.used = pinned.used = 0;
    r.open = apart_open;
    r.alloc = apart_alloc;
    r.free = apart_free;
    r.alloc_host = apart_alloc_host;
    r.free_host = apart_free;
    r.to_device = apart_to_device;
    r.to_host = apart_to_host;
    r.launch = apart_launch;
    r.wait = apart_wait;
    return r;
}
