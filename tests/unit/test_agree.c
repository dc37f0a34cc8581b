/* Whether the workers of a crew agree, and what is said when they do not. */
#include "control/agree.h"

#include <stdio.h>

#include "fixture.h"
#include "unit.h"

#define MAX_WORKERS 4
#define FACTS       "'NCCL version': '2.28.3', 'NCCL library': '/usr/lib/libnccl.so.2', 'CUDA driver': '13.0'"
#define SAME        "{" FACTS ", 'environment': {'NCCL_ALGO': 'Ring', 'NCCL_EMPTY': ''}}"
#define WITH(more)  "{" FACTS ", 'environment': {'NCCL_ALGO': 'Ring', 'NCCL_EMPTY': ''" more "}}"
#define ENV(list)   "{" FACTS ", 'environment': {" list "}}"

static bool agree(const char *const *texts, int n, struct lp_reason *why)
{
    json_t *identity[MAX_WORKERS] = {NULL};
    bool same;

    for (int i = 0; i < n; i++)
        identity[i] = json_of(texts[i]);
    same = lp_agree(identity, n, why);
    for (int i = 0; i < n; i++)
        json_decref(identity[i]);
    return same;
}

static void test_agreed(void **state)
{
    static const struct {
        const char *name;
        int n;
        const char *worker[MAX_WORKERS];
    } cases[] = {
        {"one", 1, {SAME}},
        {"one that says nothing", 1, {"{}"}},
        {"two", 2, {SAME, SAME}},
        {"four", 4, {SAME, SAME, SAME, SAME}},
        {"order", 2, {ENV("'NCCL_A': '1', 'NCCL_B': '2'"), ENV("'NCCL_B': '2', 'NCCL_A': '1'")}},
        {"no variables", 2, {ENV(""), ENV("")}},
        {"nothing said", 2, {"{}", "{}"}},
        {"GPUs differ", 2, {WITH(", 'CUDA_VISIBLE_DEVICES': '0'"), WITH(", 'CUDA_VISIBLE_DEVICES': '1'")}},
        {"only one has GPUs", 2, {SAME, WITH(", 'CUDA_VISIBLE_DEVICES': '1'")}},
        {"debug level", 2, {WITH(", 'NCCL_DEBUG': 'INFO'"), WITH(", 'NCCL_DEBUG': 'WARN'")}},
        {"debug file", 2, {WITH(", 'NCCL_DEBUG_FILE': '/tmp/0'"), WITH(", 'NCCL_DEBUG_FILE': '/tmp/1'")}},
        {"only one has debug", 2, {WITH(", 'NCCL_DEBUG_SUBSYS': 'ALL'"), SAME}},
        {"GPU models", 2, {"{'GPU': 'A', 'environment': {}}", "{'GPU': 'B', 'environment': {}}"}},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_reason why = {"untouched"};

        assert_case(cases[i].name, agree(cases[i].worker, cases[i].n, &why));
        assert_case(cases[i].name, strcmp(why.text, "untouched") == 0);
    }
}

static void test_differ(void **state)
{
    static const struct {
        int n;
        const char *worker[MAX_WORKERS], *text;
    } cases[] = {
        {2, {ENV("'NCCL_ALGO': 'Ring'"), ENV("'NCCL_ALGO': 'Tree'")}, "NCCL_ALGO: rank 0 has 'Ring', rank 1 has 'Tree'"},
        {2, {ENV("'NCCL_ALGO': 'Ring'"), ENV("'NCCL_ALGO': 'ring'")}, "NCCL_ALGO: rank 0 has 'Ring', rank 1 has 'ring'"},
        {2, {WITH(", 'NCCL_X': '1'"), SAME}, "NCCL_X: rank 0 has '1', rank 1 has none"},
        {2, {SAME, WITH(", 'NCCL_X': '1'")}, "NCCL_X: rank 0 has none, rank 1 has '1'"},
        {2, {ENV("'NCCL_X': ''"), ENV("")}, "NCCL_X: rank 0 has '', rank 1 has none"},
        {2, {"{}", ENV("'NCCL_X': '1'")}, "NCCL_X: rank 0 has none, rank 1 has '1'"},
        {2, {ENV("'NCCL_X': '1'"), "{}"}, "NCCL_X: rank 0 has '1', rank 1 has none"},
        {2, {ENV("'NCCL_X': ''"), ENV("'NCCL_X': '0'")}, "NCCL_X: rank 0 has '', rank 1 has '0'"},
        {2, {ENV("'CUDA_VISIBLE': '0'"), ENV("'CUDA_VISIBLE': '1'")}, "CUDA_VISIBLE: rank 0 has '0', rank 1 has '1'"},
        {2, {ENV("'NCCL_DEBU': '0'"), ENV("")}, "NCCL_DEBU: rank 0 has '0', rank 1 has none"},
        {2,
         {WITH(", 'NCCL_DEBUG': 'INFO', 'NCCL_X': '1'"), WITH(", 'NCCL_DEBUG': 'WARN', 'NCCL_X': '2'")},
         "NCCL_X: rank 0 has '1', rank 1 has '2'"},
        {4, {SAME, SAME, SAME, WITH(", 'NCCL_X': '1'")}, "NCCL_X: rank 0 has none, rank 3 has '1'"},
        {4, {WITH(", 'NCCL_X': '1'"), SAME, SAME, SAME}, "NCCL_X: rank 0 has '1', rank 1 has none"},
        {3, {SAME, WITH(", 'NCCL_X': '1'"), WITH(", 'NCCL_Y': '1'")}, "NCCL_X: rank 0 has none, rank 1 has '1'"},
        {2, {"{'NCCL version': '2.28.3'}", "{'NCCL version': '2.27.7'}"}, "NCCL version: rank 0 has '2.28.3', rank 1 has '2.27.7'"},
        {2, {"{'NCCL library': '/a/libnccl.so'}", "{'NCCL library': '/b/libnccl.so'}"}, "NCCL library: rank 0 has '/a/libnccl.so'"},
        {2, {"{'CUDA driver': '13.0'}", "{'CUDA driver': '12.8'}"}, "CUDA driver: rank 0 has '13.0', rank 1 has '12.8'"},
        {2, {"{'NCCL version': '2.28.3'}", "{'NCCL version': null}"}, "NCCL version: rank 0 has '2.28.3', rank 1 has none"},
        {3, {"{}", "{}", "{'NCCL version': '2.28.3'}"}, "NCCL version: rank 0 has none, rank 2 has '2.28.3'"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_reason why = {""};

        assert_case(cases[i].text, !agree(cases[i].worker, cases[i].n, &why));
        assert_says(why.text, "ranks differ in ");
        assert_says(why.text, cases[i].text);
    }
}

/* Neither value may push the other, or the rank, out of the line. */
static void test_long_values(void **state)
{
    char value[2001], text[2][sizeof(value) + 64];
    const char *const worker[] = {text[0], text[1]};
    struct lp_reason why = {""};

    (void)state;
    memset(value, 'x', sizeof(value) - 1);
    value[sizeof(value) - 1] = '\0';
    for (int i = 0; i < 2; i++)
        snprintf(text[i], sizeof(text[i]), "{'environment': {'NCCL_X': '%d%s'}}", i, value);
    assert_false(agree(worker, 2, &why));
    assert_says(why.text, "NCCL_X: rank 0 has '0xx");
    assert_says(why.text, ", rank 1 has '1xx");
    assert_int_equal(why.text[strlen(why.text) - 1], '\'');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agreed),
        cmocka_unit_test(test_differ),
        cmocka_unit_test(test_long_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
