/* Tests of worker/device_host with its streams and data. The library that runs on it has its own. */
#include "worker/device.h"
#include "worker/host_data.h"
#include "worker/host_stream.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB ((size_t)1 << 20)

extern const struct lp_device_ops lp_device_host;

static const struct lp_device_ops *const ops = &lp_device_host;
static struct lp_device *device;
static struct lp_stream *stream;
static struct lp_reason why;

static int set_up(void **state)
{
    (void)state;
    return ops->open(5, &device, &why) != LP_OK || ops->stream_create(device, &stream, &why) != LP_OK;
}

static int tear_down(void **state)
{
    (void)state;
    ops->stream_free(stream);
    ops->close(device);
    return 0;
}

static struct lp_buffer allocate(size_t bytes)
{
    struct lp_buffer buffer;

    assert_int_equal(ops->alloc(device, bytes, &buffer, &why), LP_OK);
    return buffer;
}

/* Element i of the type in memory, as a number; NaN and the like as they come. */
static double number(const void *ptr, enum lp_dtype dtype, size_t i)
{
    uint16_t bits;

    switch (dtype) {
    case LP_FLOAT:
        return (double)((const float *)ptr)[i];
    case LP_DOUBLE:
        return ((const double *)ptr)[i];
    case LP_INT32:
        return ((const int32_t *)ptr)[i];
    case LP_HALF: /* whole numbers only: no subnormals */
        bits = ((const uint16_t *)ptr)[i];
        return (bits & 0x7fff) == 0 ? 0 : (1 + (bits & 0x3ff) / 1024.0) * (double)(1u << (bits >> 10 & 31)) / 32768;
    default:
        bits = ((const uint16_t *)ptr)[i];
        return (bits & 0x7fff) == 0 ? 0 : (1 + (bits & 0x7f) / 128.0) * (double)(UINT64_C(1) << ((bits >> 7 & 255) - 127));
    }
}

static void the_basics_answer(void **state)
{
    struct lp_device_info info;
    char driver[8] = "x", runtime[8] = "x";
    size_t available, total;
    bool yes = false;
    int n;

    (void)state;
    assert_string_equal(ops->name, "host");
    assert_int_equal(ops->count(&n, &why), LP_OK);
    assert_int_equal(n, 1);
    assert_int_equal(ops->select(device, &why), LP_OK);
    assert_int_equal(ops->can_access(0, 3, &yes, &why), LP_OK);
    assert_true(yes);
    assert_int_equal(ops->enable_access(device, 3, &why), LP_OK);
    assert_int_equal(ops->memory(device, &available, &total, &why), LP_OK);
    assert_true(available > 0 && available <= total);
    assert_int_equal(ops->describe(0, &info, &why), LP_OK);
    assert_int_equal(info.memory_bytes, total);
    assert_true(isnan(info.memory_gbps));
    ops->versions(driver, sizeof(driver), runtime, sizeof(runtime));
    assert_string_equal(driver, "");
    assert_string_equal(runtime, "");
    assert_null(ops->kernel_copy);
    assert_null(ops->gate_create);
}

static void fill_follows_the_pattern(void **state)
{
    static const size_t counts[] = {1, 3, 1000, LP_PATTERN_PERIOD - 1, LP_PATTERN_PERIOD, LP_PATTERN_PERIOD + 1, 200003};
    struct lp_buffer buffer = allocate(2 * MIB);

    (void)state;
    for (int dtype = 0; dtype < LP_NDTYPES; dtype++)
        for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
            struct lp_pattern pattern = lp_pattern_make((enum lp_dtype)dtype, LP_SUM, 4, (uint32_t)c);
            size_t bytes = counts[c] * lp_dtype_size((enum lp_dtype)dtype);

            memset(buffer.ptr, 0xee, buffer.bytes);
            assert_int_equal(ops->fill(device, stream, buffer.ptr, (enum lp_dtype)dtype, counts[c], pattern, 3, &why), LP_OK);
            for (size_t i = 0; i < counts[c]; i += i < 100 ? 1 : 61)
                assert_true(number(buffer.ptr, (enum lp_dtype)dtype, i) == lp_pattern_input(pattern, 3, i));
            assert_int_equal(((unsigned char *)buffer.ptr)[bytes], 0xee); /* not one byte more */
        }
    ops->free(device, &buffer);
    assert_null(buffer.ptr);
}

/* Two stretches, the second before the first in memory, with sources of their own. */
static const struct lp_segment two[] = {
    {.out_off = 70100, .count = 70001, .src_off = 17, .src_rank = LP_RANK_ALL},
    {.out_off = 100, .count = 70000, .src_off = 65530, .src_rank = 1},
};

static void store(void *ptr, enum lp_dtype dtype, size_t i, uint32_t value)
{
    static const struct lp_pattern none = {.range = 1, .nranks = 1};
    uint16_t one, sum = 0;

    if (dtype == LP_FLOAT)
        ((float *)ptr)[i] = (float)value;
    else if (dtype == LP_DOUBLE)
        ((double *)ptr)[i] = (double)value;
    else if (dtype == LP_INT32)
        ((int32_t *)ptr)[i] = (int32_t)value;
    else { /* by adding ones: the arithmetic is tested on its own */
        assert_int_equal(lp_host_fill(&one, dtype, 1, none, 0, NULL), LP_OK);
        assert_int_equal(one, 0);
        one = dtype == LP_HALF ? 0x3c00 : 0x3f80;
        for (uint32_t v = 0; v < value; v++)
            lp_host_reduce(&sum, &sum, &one, 1, dtype, LP_SUM);
        ((uint16_t *)ptr)[i] = sum;
    }
}

static void fill_expected(void *ptr, enum lp_dtype dtype, struct lp_pattern pattern)
{
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < two[s].count; i++)
            store(ptr, dtype, two[s].out_off + i, lp_pattern_value(pattern, two[s].src_rank, two[s].src_off + i));
}

static struct lp_mismatch verify_two(const void *ptr, enum lp_dtype dtype, struct lp_pattern pattern)
{
    struct lp_mismatch found = {0};

    assert_int_equal(ops->verify(device, stream, ptr, dtype, pattern, two, 2, &found, &why), LP_OK);
    return found;
}

static void verify_finds_every_place(void **state)
{
    static const size_t places[] = {100, 101, 33333, 65620, 65621, 70099, 70100, 135620, 135621, 140100};
    struct lp_buffer buffer = allocate(2 * MIB);

    (void)state;
    for (int t = 0; t < LP_NDTYPES; t++) {
        enum lp_dtype dtype = (enum lp_dtype)t;
        struct lp_pattern pattern = lp_pattern_make(dtype, LP_MAX, 3, 9);
        size_t size = lp_dtype_size(dtype);

        pattern.range = pattern.range < 50 ? pattern.range : 50; /* store() counts */
        memset(buffer.ptr, 0xff, buffer.bytes);
        fill_expected(buffer.ptr, dtype, pattern);
        assert_int_equal(verify_two(buffer.ptr, dtype, pattern).elements, 0);
        for (size_t p = 0; p < sizeof(places) / sizeof(places[0]); p++) {
            unsigned char *byte = (unsigned char *)buffer.ptr + places[p] * size + p % size;
            struct lp_mismatch found;

            *byte ^= 0x10;
            found = verify_two(buffer.ptr, dtype, pattern);
            assert_int_equal(found.elements, 1);
            assert_int_equal(found.first_offset, places[p]);
            *byte ^= 0x10;
        }
        assert_int_equal(verify_two(buffer.ptr, dtype, pattern).elements, 0);
    }
    ops->free(device, &buffer);
}

static void verify_adds_up(void **state)
{
    struct lp_pattern pattern = lp_pattern_make(LP_INT32, LP_SUM, 1, 0);
    struct lp_segment all = {.count = 1000};
    struct lp_mismatch found = {.elements = 4, .first_offset = 500};
    int32_t data[1000];

    (void)state;
    assert_int_equal(ops->fill(device, NULL, data, LP_INT32, 1000, pattern, 0, &why), LP_OK);
    data[700] ^= 1;
    assert_int_equal(ops->verify(device, NULL, data, LP_INT32, pattern, &all, 1, &found, &why), LP_OK);
    assert_int_equal(found.elements, 5);
    assert_int_equal(found.first_offset, 500); /* the smaller one stays */
    data[3] ^= 1;
    assert_int_equal(ops->verify(device, NULL, data, LP_INT32, pattern, &all, 1, &found, &why), LP_OK);
    assert_int_equal(found.elements, 7);
    assert_int_equal(found.first_offset, 3);
    all.count = 0;
    assert_int_equal(ops->verify(device, NULL, data, LP_INT32, pattern, &all, 1, &found, &why), LP_OK);
    assert_int_equal(found.elements, 7);
}

static void poison_and_stale_data_are_wrong_everywhere(void **state)
{
    struct lp_buffer buffer = allocate(MIB);

    (void)state;
    for (int t = 0; t < LP_NDTYPES; t++) {
        enum lp_dtype dtype = (enum lp_dtype)t;
        struct lp_pattern old = lp_pattern_make(dtype, LP_SUM, 8, 3), now = lp_pattern_make(dtype, LP_SUM, 8, 4);
        struct lp_segment all = {.count = MIB / lp_dtype_size(dtype)};
        struct lp_mismatch found = {0};

        assert_int_equal(ops->poison(device, stream, buffer.ptr, MIB, &why), LP_OK);
        assert_int_equal(ops->verify(device, stream, buffer.ptr, dtype, now, &all, 1, &found, &why), LP_OK);
        assert_int_equal(found.elements, all.count);
        assert_int_equal(found.first_offset, 0);
        found.elements = 0;
        assert_int_equal(ops->fill(device, stream, buffer.ptr, dtype, all.count, old, 0, &why), LP_OK);
        assert_int_equal(ops->verify(device, stream, buffer.ptr, dtype, now, &all, 1, &found, &why), LP_OK);
        assert_int_equal(found.elements, all.count);
    }
    ops->free(device, &buffer);
}

static void half_and_bfloat16_round_to_even(void **state)
{
    static const struct {
        enum lp_dtype dtype;
        uint16_t a, b, sum, min, max;
    } cases[] = {
        {LP_HALF, 0x3c00, 0x4000, 0x4200, 0x3c00, 0x4000},     /* 1 + 2 */
        {LP_HALF, 0x6800, 0x3c00, 0x6800, 0x3c00, 0x6800},     /* 2048 + 1: tie, down to even */
        {LP_HALF, 0x6801, 0x3c00, 0x6802, 0x3c00, 0x6801},     /* 2050 + 1: tie, up to even */
        {LP_HALF, 0x6800, 0x3c01, 0x6801, 0x3c01, 0x6800},     /* just above the tie */
        {LP_HALF, 0x7bff, 0x7bff, 0x7c00, 0x7bff, 0x7bff},     /* overflow */
        {LP_HALF, 0x7bff, 0x4c00, 0x7c00, 0x4c00, 0x7bff},     /* 65504 + 16 = 65520: tie, up to infinity */
        {LP_HALF, 0x7bff, 0x4bff, 0x7bff, 0x4bff, 0x7bff},     /* just below */
        {LP_HALF, 0x0001, 0x0001, 0x0002, 0x0001, 0x0001},     /* subnormal */
        {LP_HALF, 0x03ff, 0x0001, 0x0400, 0x0001, 0x03ff},     /* subnormal to normal */
        {LP_HALF, 0x0401, 0x8400, 0x0001, 0x8400, 0x0401},     /* and back */
        {LP_HALF, 0xbc00, 0x4000, 0x3c00, 0xbc00, 0x4000},     /* -1 + 2 */
        {LP_HALF, 0x7c00, 0xfc00, 0xfe00, 0xfc00, 0x7c00},     /* infinity - infinity: NaN, as x86 signs it */
        {LP_BFLOAT16, 0x3f80, 0x4000, 0x4040, 0x3f80, 0x4000}, /* 1 + 2 */
        {LP_BFLOAT16, 0x4380, 0x3f80, 0x4380, 0x3f80, 0x4380}, /* 256 + 1: tie, down to even */
        {LP_BFLOAT16, 0x4381, 0x3f80, 0x4382, 0x3f80, 0x4381}, /* 258 + 1: tie, up to even */
        {LP_BFLOAT16, 0x7f7f, 0x7f7f, 0x7f80, 0x7f7f, 0x7f7f}, /* overflow */
        {LP_BFLOAT16, 0xbf80, 0x3f80, 0x0000, 0xbf80, 0x3f80},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const uint16_t want[LP_NREDOPS] = {[LP_SUM] = cases[i].sum, [LP_MIN] = cases[i].min, [LP_MAX] = cases[i].max};

        for (int op = 0; op < LP_NREDOPS; op++) {
            uint16_t got[2] = {0, 0xabcd}, nan = cases[i].dtype == LP_HALF ? 0x7c00 : 0x7f80;

            lp_host_reduce(got, &cases[i].a, &cases[i].b, 1, cases[i].dtype, (enum lp_redop)op);
            if ((want[op] & 0x7fff) > nan)
                assert_true((got[0] & 0x7fff) > nan); /* the sign of a NaN is the processor's */
            else
                assert_int_equal(got[0], want[op]);
            assert_int_equal(got[1], 0xabcd);
        }
    }
}

static void wide_types_reduce(void **state)
{
    float f[2] = {1.5f, -2}, fb[2] = {2, 4}, fout[2];
    double d[2] = {1e300, 3}, db[2] = {1, -3};
    int32_t k[2] = {INT32_MAX, -5}, kb[2] = {1, 7}, kout[2];

    (void)state;
    lp_host_reduce(fout, f, fb, 2, LP_FLOAT, LP_SUM);
    assert_true(fout[0] == 3.5f && fout[1] == 2);
    lp_host_reduce(fout, f, fb, 2, LP_FLOAT, LP_MIN);
    assert_true(fout[0] == 1.5f && fout[1] == -2);
    lp_host_reduce(d, d, db, 2, LP_DOUBLE, LP_MAX); /* out may be a */
    assert_true(d[0] == 1e300 && d[1] == 3);
    lp_host_reduce(db, d, db, 2, LP_DOUBLE, LP_SUM); /* or b */
    assert_true(db[0] == 1e300 && db[1] == 0);
    lp_host_reduce(kout, k, kb, 2, LP_INT32, LP_SUM);
    assert_int_equal(kout[0], INT32_MIN); /* wraps */
    assert_int_equal(kout[1], 2);
    lp_host_reduce(kout, k, kb, 2, LP_INT32, LP_MAX);
    assert_int_equal(kout[0], INT32_MAX);
    assert_int_equal(kout[1], 7);
}

static void peer_writes_into_exported_memory(void **state)
{
    struct lp_buffer buffer = allocate(MIB), import;
    char handle[LP_HANDLE_MAX];
    int status;
    pid_t pid;

    (void)state;
    assert_int_equal(buffer.device, 5);
    assert_int_equal(ops->export_buffer(device, &buffer, handle, &why), LP_OK);
    pid = fork();
    if (pid == 0) {
        if (ops->import_buffer(device, handle, MIB, &import, NULL) != LP_OK || import.device != -1)
            _exit(1);
        ((char *)import.ptr)[MIB - 1] = 42;
        if (ops->export_buffer(device, &import, handle, NULL) != LP_ERR_ARG) /* not this process's to give */
            _exit(2);
        ops->drop_import(device, &import);
        _exit(import.ptr ? 3 : 0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(((char *)buffer.ptr)[MIB - 1], 42);
    assert_int_equal(ops->import_buffer(device, handle, 2 * MIB, &import, &why), LP_ERR_IO);
    assert_int_equal(ops->import_buffer(device, "/nowhere", MIB, &import, &why), LP_ERR_IO);
    assert_int_equal(ops->alloc(device, SIZE_MAX / 2 + 2, &import, &why), LP_ERR_MEMORY);
    ops->free(device, &buffer);
}

static void copy_stays_inside(void **state)
{
    static const struct {
        size_t dst_off, src_off, bytes;
        enum lp_status st;
    } cases[] = {{0, 0, 4096, LP_OK},          {4095, 1, 1, LP_OK},          {0, 4096, 0, LP_OK},
                 {0, 0, 4097, LP_ERR_ARG},     {1, 0, 4096, LP_ERR_ARG},     {0, 1, 4096, LP_ERR_ARG},
                 {SIZE_MAX, 0, 2, LP_ERR_ARG}, {0, SIZE_MAX, 1, LP_ERR_ARG}, {0, 0, SIZE_MAX, LP_ERR_ARG}};
    struct lp_buffer dst = allocate(4096), src = allocate(4096);

    (void)state;
    memset(src.ptr, 7, 4096);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        memset(dst.ptr, 0, 4096);
        assert_int_equal(ops->copy(device, stream, dst, cases[i].dst_off, src, cases[i].src_off, cases[i].bytes, &why),
                         cases[i].st);
        if (cases[i].st == LP_OK && cases[i].bytes > 0)
            assert_int_equal(((char *)dst.ptr)[cases[i].dst_off + cases[i].bytes - 1], 7);
    }
    ops->free(device, &dst);
    ops->free(device, &src);
}

/* A task that appends its number to a log, and fails when it is 0. */
struct note {
    char *log;
    int number;
};

static enum lp_status take_note(const void *args, struct lp_reason *reason)
{
    const struct note *note = args;

    if (note->number == 0)
        return lp_because(reason, LP_ERR_FAILED, "nought");
    snprintf(note->log + strlen(note->log), 8, "%d", note->number);
    return LP_OK;
}

static enum lp_status submit_note(struct lp_stream *to, char *log, int n)
{
    struct note note = {log, n};

    return lp_host_stream_submit(to, take_note, &note, sizeof(note), &why);
}

static void graph_replays_in_order(void **state)
{
    struct lp_graph *graph;
    char log[64] = "";

    (void)state;
    assert_int_equal(submit_note(stream, log, 1), LP_OK);
    assert_int_equal(submit_note(NULL, log, 2), LP_OK);
    assert_string_equal(log, "12");
    assert_int_equal(ops->capture_begin(stream, &why), LP_OK);
    for (int i = 3; i < 7; i++)
        assert_int_equal(submit_note(stream, log, i), LP_OK);
    assert_int_equal(submit_note(NULL, log, 9), LP_OK);
    assert_int_equal(ops->capture_end(stream, &graph, &why), LP_OK);
    assert_string_equal(log, "129");
    assert_int_equal(ops->graph_launch(graph, stream, &why), LP_OK);
    assert_int_equal(ops->graph_launch(graph, stream, &why), LP_OK);
    assert_string_equal(log, "12934563456");
    ops->graph_free(graph);
    assert_int_equal(ops->stream_sync(stream, &why), LP_OK);
}

static void failures_come_from_the_launch(void **state)
{
    struct lp_graph *graph;
    char log[64] = "";

    (void)state;
    assert_int_equal(submit_note(stream, log, 0), LP_ERR_FAILED);
    assert_int_equal(ops->capture_begin(stream, &why), LP_OK);
    assert_int_equal(submit_note(stream, log, 1), LP_OK);
    assert_int_equal(submit_note(stream, log, 0), LP_OK);
    assert_int_equal(submit_note(stream, log, 2), LP_OK);
    assert_int_equal(ops->capture_end(stream, &graph, &why), LP_OK);
    why.text[0] = '\0';
    assert_int_equal(ops->graph_launch(graph, stream, &why), LP_ERR_FAILED);
    assert_string_equal(why.text, "nought");
    assert_string_equal(log, "1");
    ops->graph_free(graph);
}

static void what_waits_cannot_be_captured(void **state)
{
    struct lp_graph *graph = (struct lp_graph *)&why, *empty;
    struct lp_pattern pattern = {.range = 2, .nranks = 1};
    struct lp_mismatch found = {0};
    struct lp_stream *left;

    (void)state;
    assert_int_equal(ops->capture_end(stream, &graph, &why), LP_ERR_ARG);
    assert_null(graph);
    assert_int_equal(ops->capture_begin(stream, &why), LP_OK);
    assert_int_equal(ops->capture_end(stream, &empty, &why), LP_OK);
    assert_int_equal(ops->capture_begin(stream, &why), LP_OK);
    assert_int_equal(ops->capture_begin(stream, &why), LP_ERR_ARG);
    assert_int_equal(ops->stream_sync(stream, &why), LP_ERR_ARG);
    assert_int_equal(ops->graph_launch(empty, stream, &why), LP_ERR_ARG);
    assert_int_equal(ops->verify(device, stream, NULL, LP_FLOAT, pattern, NULL, 0, &found, &why), LP_ERR_ARG);
    assert_int_equal(ops->capture_end(stream, &graph, &why), LP_OK);
    ops->graph_free(graph);
    assert_int_equal(ops->graph_launch(empty, stream, &why), LP_OK);
    ops->graph_free(empty);
    ops->graph_free(NULL);
    assert_int_equal(ops->stream_create(device, &left, &why), LP_OK);
    assert_int_equal(ops->capture_begin(left, &why), LP_OK);
    assert_int_equal(submit_note(left, why.text, 1), LP_OK);
    ops->stream_free(left); /* with what it recorded */
}

static void data_calls_are_captured(void **state)
{
    struct lp_pattern pattern = lp_pattern_make(LP_FLOAT, LP_SUM, 1, 1);
    struct lp_buffer a = allocate(4096), b = allocate(4096);
    struct lp_segment all = {.count = 1024};
    struct lp_mismatch found = {0};
    struct lp_graph *graph;

    (void)state;
    assert_int_equal(ops->capture_begin(stream, &why), LP_OK);
    assert_int_equal(ops->poison(device, stream, b.ptr, 4096, &why), LP_OK);
    assert_int_equal(ops->fill(device, stream, a.ptr, LP_FLOAT, 1024, pattern, 0, &why), LP_OK);
    assert_int_equal(ops->copy(device, stream, b, 0, a, 0, 4096, &why), LP_OK);
    assert_int_equal(ops->capture_end(stream, &graph, &why), LP_OK);
    assert_int_equal(((char *)b.ptr)[0], 0);
    assert_int_equal(ops->graph_launch(graph, stream, &why), LP_OK);
    assert_int_equal(ops->verify(device, stream, b.ptr, LP_FLOAT, pattern, &all, 1, &found, &why), LP_OK);
    assert_int_equal(found.elements, 0);
    ops->graph_free(graph);
    ops->free(device, &a);
    ops->free(device, &b);
}

static void marks_tell_the_time_between(void **state)
{
    struct lp_event_mark *start, *stop;
    struct lp_graph *graph;
    double us = -1, again;

    (void)state;
    assert_int_equal(ops->mark_create(device, &start, &why), LP_OK);
    assert_int_equal(ops->mark_create(device, &stop, &why), LP_OK);
    assert_int_equal(ops->mark_elapsed(start, stop, &us, &why), LP_ERR_ARG);
    assert_int_equal(ops->mark_record(start, stream, &why), LP_OK);
    assert_int_equal(ops->mark_elapsed(start, stop, &us, &why), LP_ERR_ARG);
    usleep(3000);
    assert_int_equal(ops->mark_record(stop, stream, &why), LP_OK);
    assert_int_equal(ops->mark_elapsed(start, stop, &us, &why), LP_OK);
    assert_true(us >= 3000 && us < 3e6);
    assert_int_equal(ops->capture_begin(stream, &why), LP_OK);
    assert_int_equal(ops->mark_record(stop, stream, &why), LP_OK);
    assert_int_equal(ops->capture_end(stream, &graph, &why), LP_OK);
    assert_int_equal(ops->mark_elapsed(start, stop, &again, &why), LP_OK);
    assert_true(again == us);
    assert_int_equal(ops->graph_launch(graph, stream, &why), LP_OK);
    assert_int_equal(ops->mark_elapsed(start, stop, &again, &why), LP_OK);
    assert_true(again > us);
    ops->graph_free(graph);
    ops->mark_free(start);
    ops->mark_free(stop);
}

static double now_s(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* A check of 16 MiB must not take longer than what it checks. The bound leaves room for sanitizers and slow machines. */
static void checks_are_quick(void **state)
{
    struct lp_buffer buffer = allocate(16 * MIB);

    (void)state;
    memset(buffer.ptr, 0, buffer.bytes);
    for (int t = 0; t < LP_NDTYPES; t++) {
        enum lp_dtype dtype = (enum lp_dtype)t;
        struct lp_pattern pattern = lp_pattern_make(dtype, LP_SUM, 8, 1);
        struct lp_segment all = {.count = buffer.bytes / lp_dtype_size(dtype)};
        struct lp_mismatch found = {0};
        double start = now_s();

        assert_int_equal(ops->fill(device, stream, buffer.ptr, dtype, all.count, pattern, 0, &why), LP_OK);
        assert_int_equal(ops->verify(device, stream, buffer.ptr, dtype, pattern, &all, 1, &found, &why), LP_OK);
        assert_int_equal(found.elements, 0);
        all.src_rank = LP_RANK_ALL;
        assert_int_equal(ops->verify(device, stream, buffer.ptr, dtype, pattern, &all, 1, &found, &why), LP_OK);
        assert_true(found.elements > all.count / 2);
        assert_true(now_s() - start < 0.5);
        print_message("%s: %.4f s\n", lp_dtype_name(dtype), now_s() - start);
    }
    ops->free(device, &buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_basics_answer),
        cmocka_unit_test(fill_follows_the_pattern),
        cmocka_unit_test(verify_finds_every_place),
        cmocka_unit_test(verify_adds_up),
        cmocka_unit_test(poison_and_stale_data_are_wrong_everywhere),
        cmocka_unit_test(half_and_bfloat16_round_to_even),
        cmocka_unit_test(wide_types_reduce),
        cmocka_unit_test(peer_writes_into_exported_memory),
        cmocka_unit_test(copy_stays_inside),
        cmocka_unit_test(graph_replays_in_order),
        cmocka_unit_test(failures_come_from_the_launch),
        cmocka_unit_test(what_waits_cannot_be_captured),
        cmocka_unit_test(data_calls_are_captured),
        cmocka_unit_test(marks_tell_the_time_between),
        cmocka_unit_test(checks_are_quick),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
