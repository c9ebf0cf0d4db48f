/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Read a YAML file into a tree: its bytes, its encoding, the events of libyaml. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

#include "src/yaml/yaml_tree.h"

#define KEY_MAX 256

typedef struct builder {
    yaml_parser_t parser;
    aw_yaml *doc;
    aw_input_errors *errors;
    const char *text;
    size_t length;
    int on_line;          /* 0: a value of --set, which has no line numbers */
    aw_yaml_node *parent; /* the list or mapping being read; NULL at the root */
    int depth, documents;
    const char *key; /* the key whose value comes next; NULL: none */
    int key_line, key_column;
} builder;

/* Length of the UTF-8 sequence at p, with n bytes left; 0 if it is not valid (RFC 3629). */
static size_t utf8_length(const unsigned char *p, size_t n)
{
    size_t want = p[0] < 0x80   ? 1
                  : p[0] < 0xc2 ? 0
                  : p[0] < 0xe0 ? 2
                  : p[0] < 0xf0 ? 3
                  : p[0] < 0xf5 ? 4
                                : 0;
    if (want > n) return 0;
    for (size_t i = 1; i < want; ++i)
        if ((p[i] & 0xc0) != 0x80) return 0;
    if (want == 3 && ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f))) return 0;
    if (want == 4 && ((p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))) return 0;
    return want;
}

/* Refuse invalid bytes, for which libyaml gives an offset but no line. */
static int bytes_good(const builder *b)
{
    int line = 1, column = 1;
    for (size_t i = 0; i < b->length;) {
        unsigned char c = (unsigned char)b->text[i];
        size_t step = utf8_length((const unsigned char *)b->text + i, b->length - i);
        const char *what = step == 0 ? "is not UTF-8"
                           : c == 0  ? "is a NUL byte"
                           : (c < 0x20 && !strchr("\t\n\r", c)) || c == 0x7f
                               ? "is a control character"
                               : NULL;
        if (what) {
            aw_input_add(b->errors, b->doc->name, b->on_line ? line : 0, column,
                         "byte 0x%02x %s (expected a text file in UTF-8)", c, what);
            return 0;
        }
        column = c == '\n' ? 1 : column + 1;
        if (c == '\n') ++line;
        i += step;
    }
    return 1;
}

static int indented_by_tab(const builder *b, size_t line)
{
    const char *p = b->text, *end = b->text + b->length;
    for (size_t i = 0; i < line && p; ++i) {
        p = memchr(p, '\n', (size_t)(end - p));
        if (p) ++p;
    }
    while (p && p < end && *p == ' ') ++p;
    return p && p < end && *p == '\t';
}

static aw_status refuse(builder *b, yaml_mark_t at, const char *problem)
{
    aw_input_add(b->errors, b->doc->name, b->on_line ? (int)at.line + 1 : 0, (int)at.column + 1,
                 "%s", problem);
    return AW_ERR_INPUT;
}

static aw_status syntax_error(builder *b)
{
    const yaml_parser_t *p = &b->parser;
    char text[400];
    if (p->error == YAML_MEMORY_ERROR) return AW_ERR_NOMEM;
    if (b->on_line && indented_by_tab(b, p->problem_mark.line))
        return refuse(b, p->problem_mark, "a tab in the indentation (expected spaces)");
    snprintf(text, sizeof text, "YAML: %s%s%s (expected valid YAML; see the %s)",
             p->problem ? p->problem : "cannot be read", p->context ? " " : "",
             p->context ? p->context : "",
             b->on_line ? "indentation, brackets, quotes and colons here and on the line before"
                        : "brackets and quotes");
    return refuse(b, p->problem_mark, text);
}

static int key_order(const void *a, const void *b)
{
    const aw_yaml_node *x = *(aw_yaml_node *const *)a, *y = *(aw_yaml_node *const *)b;
    int order = strcmp(x->key, y->key);
    if (order) return order;
    if (x->key_line != y->key_line) return x->key_line < y->key_line ? -1 : 1;
    return x->key_column < y->key_column ? -1 : x->key_column > y->key_column;
}

/* Sort the keys first: comparing all pairs of 10^5 keys would take minutes. */
static aw_status refuse_duplicates(builder *b, const aw_yaml_node *map)
{
    if (map->n < 2) return AW_OK;
    aw_yaml_node **list = malloc((size_t)map->n * sizeof *list);
    if (!list) return AW_ERR_NOMEM;
    size_t n = 0;
    for (aw_yaml_node *c = map->first; c; c = c->next) list[n++] = c;
    qsort(list, n, sizeof *list, key_order);
    for (size_t i = 1; i < n; ++i)
        if (strcmp(list[i]->key, list[i - 1]->key) == 0)
            aw_yaml_key_error(b->errors, list[i],
                              "this key was given before, at line %d, column %d (expected once)",
                              list[i - 1]->key_line, list[i - 1]->key_column);
    free(list);
    return AW_OK;
}

static aw_status open_node(builder *b, const yaml_event_t *event, aw_yaml_kind kind,
                           aw_yaml_node **out)
{
    aw_yaml_node *node = aw_yaml_alloc(b->doc, sizeof *node);
    if (!node) return AW_ERR_NOMEM;
    if (++b->doc->nodes > AW_YAML_NODES_MAX)
        return refuse(b, event->start_mark, "too many values (expected at most 2000000)");
    node->kind = kind;
    node->file = b->doc->name;
    node->line = b->on_line ? (int)event->start_mark.line + 1 : 0;
    node->column = (int)event->start_mark.column + 1;
    node->key = b->key;
    node->key_line = b->on_line ? b->key_line : 0;
    node->key_column = b->key_column;
    b->key = NULL;
    if (b->parent)
        aw_yaml_append(b->parent, node);
    else
        b->doc->root = node;
    *out = node;
    return AW_OK;
}

static aw_status on_scalar(builder *b, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    char *copy = aw_yaml_copy(b->doc, text, length);
    if (!copy) return AW_ERR_NOMEM;
    if (strlen(copy) != length) return refuse(b, event->start_mark, "a text with a NUL in it");
    if (b->parent && b->parent->kind == AW_YAML_MAP && !b->key) {
        if (length == 0 || length > KEY_MAX)
            return refuse(b, event->start_mark,
                          length ? "a key of more than 256 bytes"
                                 : "an empty key (expected a name)");
        b->key = copy;
        b->key_line = (int)event->start_mark.line + 1;
        b->key_column = (int)event->start_mark.column + 1;
        return AW_OK;
    }
    aw_yaml_node *node = NULL;
    aw_status status = open_node(b, event, AW_YAML_SCALAR, &node);
    if (status) return status;
    node->text = copy;
    node->length = length;
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    return AW_OK;
}

static aw_status on_open(builder *b, const yaml_event_t *event, aw_yaml_kind kind)
{
    aw_yaml_node *node = NULL;
    if (b->parent && b->parent->kind == AW_YAML_MAP && !b->key)
        return refuse(b, event->start_mark, "a list or mapping used as a key (expected a name)");
    if (++b->depth > AW_YAML_DEPTH_MAX)
        return refuse(b, event->start_mark, "nested too deeply (expected at most 64 levels)");
    aw_status status = open_node(b, event, kind, &node);
    if (status) return status;
    b->parent = node;
    return AW_OK;
}

static aw_status on_close(builder *b)
{
    const aw_yaml_node *node = b->parent;
    b->parent = node->parent;
    --b->depth;
    return node->kind == AW_YAML_MAP ? refuse_duplicates(b, node) : AW_OK;
}

static aw_status on_event(builder *b, const yaml_event_t *event)
{
    const unsigned char *anchor = NULL, *tag = NULL;
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (++b->documents > 1)
            return refuse(b, event->start_mark, "a second document (expected one in a file)");
        return AW_OK;
    case YAML_SCALAR_EVENT:
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
        break;
    case YAML_SEQUENCE_START_EVENT:
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
        break;
    case YAML_MAPPING_START_EVENT:
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
        break;
    case YAML_ALIAS_EVENT:
        return refuse(b, event->start_mark,
                      "an alias ('*') is not supported (expected the value "
                      "itself; in a lattice, use inherit)");
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: return on_close(b);
    default: return AW_OK;
    }
    if (anchor)
        return refuse(b, event->start_mark, "an anchor ('&') is not supported (expected a value)");
    if (tag) return refuse(b, event->start_mark, "a tag ('!') is not supported (expected a value)");
    if (event->type == YAML_SCALAR_EVENT) return on_scalar(b, event);
    return on_open(b, event, event->type == YAML_SEQUENCE_START_EVENT ? AW_YAML_LIST : AW_YAML_MAP);
}

static aw_status build(builder *b)
{
    yaml_event_t event;
    for (;;) {
        if (!yaml_parser_parse(&b->parser, &event)) return syntax_error(b);
        yaml_event_type_t type = event.type;
        aw_status status = on_event(b, &event);
        yaml_event_delete(&event);
        if (status) return status;
        if (type == YAML_STREAM_END_EVENT) return AW_OK;
    }
}

/* A document without any value: a file of comments is refused, `--set key=` gives an empty
 * value. */
static aw_status need_root(builder *b)
{
    if (b->doc->root) return AW_OK;
    if (b->on_line) {
        aw_input_add(b->errors, b->doc->name, 0, 0, "is empty (expected a YAML mapping)");
        return AW_ERR_INPUT;
    }
    aw_yaml_node *node = aw_yaml_alloc(b->doc, sizeof *node);
    if (!node) return AW_ERR_NOMEM;
    node->file = b->doc->name;
    node->text = "";
    b->doc->root = node;
    return AW_OK;
}

aw_status aw_yaml_parse(const char *name, const char *text, size_t length, aw_input_errors *errors,
                        aw_yaml **out)
{
    aw_status status = AW_OK;
    builder b = {.errors = errors, .text = text, .length = length};
    *out = NULL;
    size_t before = aw_input_count(errors);
    b.on_line = strcmp(name, AW_INPUT_SET) != 0;
    b.doc = calloc(1, sizeof *b.doc);
    if (!b.doc) return AW_ERR_NOMEM;
    if (!yaml_parser_initialize(&b.parser)) {
        free(b.doc);
        return AW_ERR_NOMEM;
    }
    b.doc->name = aw_yaml_copy(b.doc, name, strlen(name));
    AW_TRY(b.doc->name ? AW_OK : AW_ERR_NOMEM);
    AW_TRY(bytes_good(&b) ? AW_OK : AW_ERR_INPUT);
    yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&b.parser, (const unsigned char *)text, length);
    AW_TRY(build(&b));
    AW_TRY(need_root(&b));
    *out = b.doc;
    b.doc = NULL;
    if (aw_input_count(errors) > before) status = AW_ERR_INPUT;
done:
    yaml_parser_delete(&b.parser);
    aw_yaml_free(b.doc);
    return status;
}

static aw_status cannot_open(const char *path, const aw_yaml_node *from, const char *why,
                             aw_input_errors *errors)
{
    if (from)
        aw_yaml_error(errors, from, "%s: %s (expected a file in YAML)", path, why);
    else
        aw_input_add(errors, path, 0, 0, "%s (expected a file in YAML)", why);
    return AW_ERR_INPUT;
}

static const char too_large[] = "is larger than 32 MiB";
_Static_assert(AW_YAML_BYTES_MAX == 32 << 20, "the message names the bound");

/* Why an open file is not read; NULL: it is a regular file of *size <= AW_YAML_BYTES_MAX bytes. */
static const char *unreadable(int fd, size_t *size)
{
    struct stat info;
    if (fstat(fd, &info) != 0) return strerror(errno);
    *size = (size_t)info.st_size;
    if (S_ISDIR(info.st_mode)) return "is a directory";
    if (S_ISFIFO(info.st_mode)) return "is a pipe";
    if (!S_ISREG(info.st_mode)) return "is not a regular file";
    return info.st_size > (off_t)AW_YAML_BYTES_MAX ? too_large : NULL;
}

aw_status aw_yaml_read(const char *path, const aw_yaml_node *from, aw_input_errors *errors,
                       aw_yaml **out)
{
    aw_status status = AW_OK;
    char *text = NULL;
    size_t size = 0;
    *out = NULL;
    /* without O_NONBLOCK a pipe that nobody writes to would never open */
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    FILE *file = fd >= 0 ? fdopen(fd, "rb") : NULL;
    const char *why = file ? unreadable(fd, &size) : strerror(errno);
    if (why) {
        status = cannot_open(path, from, why, errors);
        goto done;
    }
    text = malloc(size + 1);
    AW_TRY(text ? AW_OK : AW_ERR_NOMEM);
    size_t length = fread(text, 1, size + 1, file);
    if (ferror(file))
        status = cannot_open(path, from, strerror(errno), errors);
    else if (length > size)
        status = cannot_open(path, from, "is being written", errors);
    AW_TRY(status);
    status = aw_yaml_parse(path, text, length, errors, out);
done:
    free(text);
    if (file)
        fclose(file);
    else if (fd >= 0)
        close(fd);
    return status;
}
