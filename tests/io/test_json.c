/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The writer of JSON: escapes, commas, nesting, and numbers that JSON does not have. */
#include <math.h>
#include <string.h>

#include "src/io/json.h"
#include "tests/assert_close.h"

/* The document is this text; frees it. */
static void assert_document(aw_json *json, const char *want)
{
    assert_ok(json->text.status);
    assert_string_equal(json->text.bytes, want);
    assert_int_equal(json->text.n, strlen(want));
    aw_json_free(json);
}

static void quotes_backslashes_and_control_characters_are_escaped(void **state)
{
    aw_json json = {.depth = 0};
    (void)state;
    aw_json_begin_object(&json, NULL);
    aw_json_string(&json, "a \"key\"\\", "say \"x\"\\y\n\t\x01\x1f /\xc3\xbc\x7f%s");
    aw_json_end_object(&json);
    assert_document(&json,
                    "{\n \"a \\\"key\\\"\\\\\": "
                    "\"say \\\"x\\\"\\\\y\\u000a\\u0009\\u0001\\u001f /\xc3\xbc\x7f%s\"\n}\n");
}

static void nan_and_infinity_are_null(void **state)
{
    aw_json json = {.depth = 0};
    (void)state;
    aw_json_begin_object(&json, NULL);
    aw_json_number(&json, "a", 1.5, 6);
    aw_json_number(&json, "b", (double)NAN, 6);
    aw_json_number(&json, "c", (double)INFINITY, 6);
    aw_json_number(&json, "d", (double)-INFINITY, 17);
    aw_json_end_object(&json);
    assert_document(&json, "{\n \"a\": 1.5,\n \"b\": null,\n \"c\": null,\n \"d\": null\n}\n");
}

static void numbers_have_the_digits_asked_for(void **state)
{
    aw_json json = {.depth = 0};
    (void)state;
    aw_json_begin_array(&json, NULL);
    aw_json_begin_array(&json, NULL);
    aw_json_number(&json, NULL, 1.0 / 3.0, 6);
    aw_json_number(&json, NULL, 1.0 / 3.0, 17);
    aw_json_number(&json, NULL, -2e-9, 4);
    aw_json_integer(&json, NULL, -9007199254740993);
    aw_json_boolean(&json, NULL, 1);
    aw_json_boolean(&json, NULL, 0);
    aw_json_end_array(&json);
    aw_json_end_array(&json);
    assert_document(&json, "[\n [0.333333, 0.33333333333333331, -2e-09, -9007199254740993, true, "
                           "false]\n]\n");
}

static void commas_stand_between_items_at_every_depth_and_nowhere_else(void **state)
{
    aw_json json = {.depth = 0};
    (void)state;
    aw_json_begin_object(&json, NULL);
    aw_json_begin_array(&json, "empty");
    aw_json_end_array(&json);
    aw_json_begin_object(&json, "object");
    aw_json_integer(&json, "x", 1);
    aw_json_begin_object(&json, "y");
    aw_json_end_object(&json);
    aw_json_integer(&json, "z", 2);
    aw_json_end_object(&json);
    aw_json_begin_array(&json, "rows");
    for (int i = 0; i < 2; ++i) {
        aw_json_begin_array(&json, NULL);
        aw_json_integer(&json, NULL, i);
        aw_json_integer(&json, NULL, i);
        aw_json_end_array(&json);
    }
    aw_json_end_array(&json);
    aw_json_string(&json, "last", "");
    aw_json_end_object(&json);
    assert_document(&json, "{\n \"empty\": [],\n \"object\": {\"x\": 1, \"y\": {}, \"z\": 2},\n "
                           "\"rows\": [\n  [0, 0],\n  [1, 1]],\n \"last\": \"\"\n}\n");
}

static void list_without_elements_is_still_a_list(void **state)
{
    aw_json json = {.depth = 0};
    (void)state;
    aw_json_begin_array(&json, NULL);
    aw_json_end_array(&json);
    assert_document(&json, "[\n]\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotes_backslashes_and_control_characters_are_escaped),
        cmocka_unit_test(nan_and_infinity_are_null),
        cmocka_unit_test(numbers_have_the_digits_asked_for),
        cmocka_unit_test(commas_stand_between_items_at_every_depth_and_nowhere_else),
        cmocka_unit_test(list_without_elements_is_still_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
