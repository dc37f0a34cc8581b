/*
 * The cuda device on real GPUs: data, copies, graphs, the gate, sharing between processes, NVML. Plain C with a line a check,
 * as GPU machines have no cmocka; 77 (skipped) with fewer than 2 GPUs. Its rates are printed for people, not judged.
 */
#include "machine/nvml.h"
#include "worker/device.h"

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

extern const struct lp_device_ops lp_device_cuda;
extern char **environ;
static const struct lp_device_ops *const ops = &lp_device_cuda;

static struct lp_reason why; /* of the call that just failed */

static void check(bool good, const char *what)
{
    printf("%s %s%s%s\n", good ? "ok  " : "FAIL", what, good || !why.text[0] ? "" : ": ", good ? "" : why.text);
    fflush(stdout);
    if (!good)
        exit(1);
}

/* For steps that a check needs; only failures are worth a line. */
static void must(enum lp_status st, const char *what)
{
    if (st != LP_OK)
        check(false, what);
}

struct gpu {
    struct lp_device *device;
    struct lp_stream *stream;
    struct lp_event_mark *start, *stop;
};

static void open_gpu(int index, struct gpu *out)
{
    must(ops->open(index, &out->device, &why), "open");
    must(ops->stream_create(out->device, &out->stream, &why), "stream_create");
    must(ops->mark_create(out->device, &out->start, &why), "mark_create");
    must(ops->mark_create(out->device, &out->stop, &why), "mark_create");
}

static void close_gpu(struct gpu *gpu)
{
    ops->mark_free(gpu->stop);
    ops->mark_free(gpu->start);
    ops->stream_free(gpu->stream);
    ops->close(gpu->device);
}

static struct lp_mismatch verify(struct gpu *gpu, const void *ptr, enum lp_dtype dtype, struct lp_pattern pattern, uint64_t count,
                                 int src_rank)
{
    struct lp_segment segment = {.count = count, .src_rank = src_rank};
    struct lp_mismatch found = {0};

    must(ops->verify(gpu->device, gpu->stream, ptr, dtype, pattern, &segment, 1, &found, &why), "verify");
    return found;
}

static void fill(struct gpu *gpu, void *ptr, enum lp_dtype dtype, struct lp_pattern pattern, size_t count, int rank)
{
    must(ops->fill(gpu->device, gpu->stream, ptr, dtype, count, pattern, rank, &why), "fill");
}

static void poison(struct gpu *gpu, void *ptr, size_t bytes)
{
    must(ops->poison(gpu->device, gpu->stream, ptr, bytes, &why), "poison");
}

static void sync_gpu(struct gpu *gpu)
{
    must(ops->stream_sync(gpu->stream, &why), "stream_sync");
}

/* Right data passes; one spoilt element is found where it is, at both ends and in the middle. */
static void test_verify(struct gpu *gpu, char *ptr, enum lp_dtype dtype, size_t count)
{
    struct lp_pattern pattern = lp_pattern_make(dtype, LP_SUM, 2, 7);
    const size_t size = lp_dtype_size(dtype), places[] = {0, count / 2, count - 1};
    char line[160];

    poison(gpu, ptr, count * size);
    snprintf(line, sizeof(line), "verify %s: poison is wrong everywhere (%zu elements)", lp_dtype_name(dtype), count);
    check(verify(gpu, ptr, dtype, pattern, count, 1).elements == count, line);
    fill(gpu, ptr, dtype, pattern, count, 1);
    snprintf(line, sizeof(line), "verify %s: filled is right", lp_dtype_name(dtype));
    check(verify(gpu, ptr, dtype, pattern, count, 1).elements == 0, line);
    for (size_t i = 0; i < 3; i++) {
        struct lp_mismatch found;

        fill(gpu, ptr, dtype, pattern, count, 1);
        poison(gpu, ptr + places[i] * size, size);
        found = verify(gpu, ptr, dtype, pattern, count, 1);
        snprintf(line, sizeof(line), "verify %s: one spoilt element at %zu is found there", lp_dtype_name(dtype), places[i]);
        check(found.elements == 1 && found.first_offset == places[i], line);
    }
}

/* The next iteration and another rank differ; sums over ranks are what the types hold exactly, and segments have offsets. */
static void test_pattern(struct gpu *gpu, char *ptr)
{
    const size_t count = 100003;
    struct lp_pattern first = lp_pattern_make(LP_FLOAT, LP_SUM, 2, 1), next = lp_pattern_make(LP_FLOAT, LP_SUM, 2, 2);
    struct lp_segment halves[] = {
        {.out_off = 0, .count = count, .src_rank = 0, .src_off = 0},
        {.out_off = count, .count = count, .src_rank = 1, .src_off = 0},
    };
    struct lp_mismatch found = {0};

    fill(gpu, ptr, LP_FLOAT, first, count, 0);
    fill(gpu, ptr + count * sizeof(float), LP_FLOAT, first, count, 1);
    check(verify(gpu, ptr, LP_FLOAT, next, count, 0).elements == count, "verify: stale data is wrong in every element");
    must(ops->verify(gpu->device, gpu->stream, ptr, LP_FLOAT, first, halves, 2, &found, &why), "verify");
    check(found.elements == 0, "verify: two segments of two ranks");
    halves[1].src_rank = 0;
    must(ops->verify(gpu->device, gpu->stream, ptr, LP_FLOAT, first, halves, 2, &found, &why), "verify");
    check(found.elements > 0 && found.first_offset >= count, "verify: a segment of the wrong rank is found, with its offset");
}

static void test_above_4gib(struct gpu *gpu)
{
    struct lp_buffer big;
    size_t free_bytes, total_bytes;

    must(ops->memory(gpu->device, &free_bytes, &total_bytes, &why), "memory");
    printf("     memory: %zu of %zu MiB free\n", free_bytes / MIB, total_bytes / MIB);
    if (free_bytes < 6144 * MIB) {
        printf("skip above 4 GiB: not enough memory\n");
        return;
    }
    must(ops->alloc(gpu->device, 5120 * MIB, &big, &why), "alloc");
    test_verify(gpu, big.ptr, LP_HALF, 5120 * MIB / 2); /* more than 2^31 elements too */
    ops->free(gpu->device, &big);
    check(ops->alloc(gpu->device, (size_t)1 << 50, &big, &why) == LP_ERR_MEMORY && big.ptr == NULL, "alloc beyond memory");
    printf("     reason: %s\n", why.text);
}

enum how { BY_KERNEL, BY_ENGINE };

static void enqueue(enum how how, struct gpu *by, struct lp_buffer dst, struct lp_buffer src, size_t bytes)
{
    if (how == BY_KERNEL)
        must(ops->kernel_copy(by->device, by->stream, dst.ptr, src.ptr, bytes, &why), "kernel_copy");
    else
        must(ops->copy(by->device, by->stream, dst, 0, src, 0, bytes, &why), "copy");
}

/* Writes and reads of sizes around a vector, a block, and a whole round of the kernel; nothing is written past the end. */
static void test_copy(enum how how, struct gpu *from, struct gpu *to, struct lp_buffer src, struct lp_buffer dst)
{
    static const size_t sizes[] = {1, 4, 15, 16, 17, 4095, 8192, 1048577, 13 * 1048576 + 5, 256 * 1048576};
    struct lp_pattern pattern = lp_pattern_make(LP_BFLOAT16, LP_SUM, 2, 3);
    bool good = true;

    for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
        size_t bytes = sizes[i / 2], whole = bytes / 2;
        struct gpu *by = i % 2 ? to : from; /* write, then read */

        fill(from, src.ptr, LP_BFLOAT16, pattern, (bytes + 1) / 2, 0);
        poison(to, dst.ptr, bytes + 64 <= dst.bytes ? bytes + 64 : bytes);
        sync_gpu(from);
        sync_gpu(to);
        enqueue(how, by, dst, src, bytes);
        sync_gpu(by);
        good = good && verify(to, dst.ptr, LP_BFLOAT16, pattern, whole, 0).elements == 0;
        if (bytes + 64 <= dst.bytes) /* an odd last byte spoils the element after whole; all the rest is still poison */
            good = good && verify(to, (char *)dst.ptr + 2 * ((bytes + 1) / 2), LP_BFLOAT16, pattern, 31, 0).elements == 31;
        if (!good) {
            snprintf(why.text, sizeof(why.text), "%zu bytes, %s", bytes, i % 2 ? "read" : "write");
            break;
        }
        pattern.iteration++;
    }
    check(good, how == BY_KERNEL ? "kernel copy between GPUs, write and read" : "engine copy between GPUs, write and read");
}

static void test_graph(struct gpu *gpu, struct lp_buffer src, struct lp_buffer dst)
{
    struct lp_pattern pattern = lp_pattern_make(LP_FLOAT, LP_SUM, 2, 5);
    const size_t count = 1 << 20;
    struct lp_graph *graph;

    poison(gpu, dst.ptr, count * 4);
    fill(gpu, src.ptr, LP_FLOAT, pattern, count, 0);
    must(ops->capture_begin(gpu->stream, &why), "capture_begin");
    enqueue(BY_KERNEL, gpu, dst, src, count * 4);
    must(ops->capture_end(gpu->stream, &graph, &why), "capture_end");
    check(verify(gpu, dst.ptr, LP_FLOAT, pattern, count, 0).elements == count, "graph: capturing runs nothing");
    for (int i = 0; i < 2; i++) {
        pattern.iteration++;
        fill(gpu, src.ptr, LP_FLOAT, pattern, count, 0);
        must(ops->graph_launch(graph, gpu->stream, &why), "graph_launch");
        check(verify(gpu, dst.ptr, LP_FLOAT, pattern, count, 0).elements == 0, "graph: a replay copies what is there then");
    }
    ops->graph_free(graph);
}

/* A call that a capture forbids spoils it; the stream must work again after capture_end. */
static void test_broken_capture(struct gpu *gpu, struct lp_buffer buffer)
{
    struct lp_pattern pattern = lp_pattern_make(LP_INT32, LP_SUM, 2, 5);
    struct lp_graph *graph;

    must(ops->capture_begin(gpu->stream, &why), "capture_begin");
    check(ops->stream_sync(gpu->stream, &why) != LP_OK, "broken capture: waiting inside is refused");
    printf("     reason: %s\n", why.text);
    check(ops->capture_end(gpu->stream, &graph, &why) != LP_OK && graph == NULL, "broken capture: no graph");
    printf("     reason: %s\n", why.text);
    fill(gpu, buffer.ptr, LP_INT32, pattern, 1000, 0);
    check(verify(gpu, buffer.ptr, LP_INT32, pattern, 1000, 0).elements == 0, "broken capture: the stream works again");
}

/* Holds both GPUs; sleep_us with the gate closed. Returns the time from start to stop of the first one. */
static double through_gate(struct lp_gate *gate, struct gpu gpus[2], useconds_t sleep_us, bool *late)
{
    double us = 0;

    must(ops->gate_close(gate, &why), "gate_close");
    for (int i = 0; i < 2; i++) {
        must(ops->mark_record(gpus[i].start, gpus[i].stream, &why), "mark_record");
        must(ops->gate_hold(gate, gpus[i].device, gpus[i].stream, &why), "gate_hold");
        must(ops->mark_record(gpus[i].stop, gpus[i].stream, &why), "mark_record");
    }
    usleep(sleep_us);
    must(ops->gate_open(gate, &why), "gate_open");
    for (int i = 0; i < 2; i++)
        sync_gpu(&gpus[i]);
    must(ops->gate_was_late(gate, late, &why), "gate_was_late");
    must(ops->mark_elapsed(gpus[0].start, gpus[0].stop, &us, &why), "mark_elapsed");
    return us;
}

static void test_gate(struct gpu gpus[2])
{
    struct lp_gate *gate;
    char line[128];
    bool late;
    double us;

    must(ops->gate_create(gpus[0].device, &gate, &why), "gate_create");
    for (int round = 0; round < 3; round++) {
        us = through_gate(gate, gpus, 20000, &late);
        snprintf(line, sizeof(line), "gate: holds until opened after 20 ms (%.0f us), not late", us);
        check(!late && us > 15000 && us < 60000, line);
        us = through_gate(gate, gpus, 300000, &late);
        snprintf(line, sizeof(line), "gate: releases itself after 100 ms (%.0f us) and says late", us);
        check(late && us > 95000 && us < 150000, line);
    }
    ops->gate_free(gate);
}

/* One way, 256 MiB, 8 copies behind the gate; the best of 5. */
static void print_rate(enum how how, struct gpu gpus[2], struct lp_buffer src, struct lp_buffer dst)
{
    const int copies = 8, rounds = 5;
    double best_us = 0;
    struct lp_gate *gate;

    must(ops->gate_create(gpus[0].device, &gate, &why), "gate_create");
    for (int round = 0; round < rounds; round++) {
        bool late;
        double us;

        must(ops->gate_close(gate, &why), "gate_close");
        must(ops->gate_hold(gate, gpus[0].device, gpus[0].stream, &why), "gate_hold");
        must(ops->mark_record(gpus[0].start, gpus[0].stream, &why), "mark_record");
        for (int i = 0; i < copies; i++)
            enqueue(how, &gpus[0], dst, src, 256 * MIB);
        must(ops->mark_record(gpus[0].stop, gpus[0].stream, &why), "mark_record");
        must(ops->gate_open(gate, &why), "gate_open");
        sync_gpu(&gpus[0]);
        must(ops->gate_was_late(gate, &late, &why), "gate_was_late");
        must(ops->mark_elapsed(gpus[0].start, gpus[0].stop, &us, &why), "mark_elapsed");
        check(!late, "rate: queued within the gate's time");
        if (round > 0 && (best_us == 0 || us < best_us)) /* the first one warms up */
            best_us = us;
    }
    ops->gate_free(gate);
    printf("     %s one way, 256 MiB: %.1f GB/s\n", how == BY_KERNEL ? "SM write" : "copy engine write",
           (double)copies * 256 * MIB / best_us / 1e3);
}

/* Another process reads what this one filled. */
static void test_ipc(struct gpu *gpu, const char *self)
{
    struct lp_pattern pattern = lp_pattern_make(LP_FLOAT, LP_SUM, 2, 9);
    char handle[LP_HANDLE_MAX];
    char *argv[] = {(char *)self, "import", handle, NULL};
    struct lp_buffer buffer;
    int status = -1;
    pid_t pid;

    must(ops->alloc(gpu->device, 1000 * sizeof(float), &buffer, &why), "alloc");
    fill(gpu, buffer.ptr, LP_FLOAT, pattern, 1000, 0);
    sync_gpu(gpu);
    must(ops->export_buffer(gpu->device, &buffer, handle, &why), "export_buffer");
    check(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ) == 0 && waitpid(pid, &status, 0) == pid && status == 0,
          "ipc: another process on the other GPU verified a small exported buffer");
    ops->free(gpu->device, &buffer);
}

static int import_and_verify(const char *handle)
{
    struct lp_pattern pattern = lp_pattern_make(LP_FLOAT, LP_SUM, 2, 9);
    struct lp_buffer buffer;
    struct gpu gpu;

    open_gpu(1, &gpu);
    check(ops->import_buffer(gpu.device, handle, 4001, &buffer, &why) == LP_ERR_ARG, "ipc: more than was exported is refused");
    must(ops->import_buffer(gpu.device, handle, 4000, &buffer, &why), "import_buffer");
    check(verify(&gpu, buffer.ptr, LP_FLOAT, pattern, 1000, 0).elements == 0, "ipc: the imported buffer holds the data");
    ops->drop_import(gpu.device, &buffer);
    close_gpu(&gpu);
    return 0;
}

static void print_nvml(int index)
{
    struct lp_device_info info;
    struct lp_nvml_gpu gpu;
    struct lp_nvml *nvml;

    must(ops->describe(index, &info, &why), "describe");
    printf("     GPU %d: %s, sm_%d%d, %zu MiB at %.0f GB/s, %s, %s\n", index, info.name, info.cc_major, info.cc_minor,
           info.memory_bytes / MIB, info.memory_gbps, info.pci, info.uuid);
    if (lp_nvml_open(&nvml, &why) != LP_OK) {
        printf("skip nvml: %s\n", why.text);
        return;
    }
    check(lp_nvml_gpu(nvml, info.pci, &gpu, &why) == LP_OK, "nvml: finds the GPU by CUDA's PCI id");
    check(strcmp(gpu.uuid, info.uuid) == 0, "nvml: has the same uuid as CUDA");
    printf("     driver %s, vbios %s, %d links, %.1f GB/s in all\n", lp_nvml_driver(nvml), gpu.vbios, gpu.nlinks,
           lp_nvml_nvlink_gbps(&gpu));
    if (gpu.nlinks > 0)
        printf("     first link: %.3f GB/s, remote kind %d at '%s'\n", gpu.link[0].gbps, (int)gpu.link[0].remote,
               gpu.link[0].remote_pci);
    must(ops->describe(!index, &info, &why), "describe");
    printf("     links to GPU %d: %d; PCIe now %d x%d %.1f GB/s, at most %d x%d %.1f GB/s\n", !index,
           lp_nvml_links_to(&gpu, info.pci), gpu.pcie_gen, gpu.pcie_width, gpu.pcie_gbps, gpu.pcie_max_gen, gpu.pcie_max_width,
           gpu.pcie_max_gbps);
    lp_nvml_close(nvml);
}

/* Everything that needs the two to reach each other. Staged copies come first: access cannot be taken back here. */
static void test_between(struct gpu gpus[2], struct lp_buffer src, struct lp_buffer dst)
{
    bool yes = false;

    test_copy(BY_ENGINE, &gpus[0], &gpus[1], src, dst);
    must(ops->can_access(0, 1, &yes, &why), "can_access");
    if (!yes) {
        printf("skip peer access: the driver says no\n");
        return;
    }
    must(ops->enable_access(gpus[0].device, 1, &why), "enable_access");
    must(ops->enable_access(gpus[1].device, 0, &why), "enable_access");
    check(ops->enable_access(gpus[0].device, 1, &why) == LP_OK, "enabling access twice is fine");
    test_copy(BY_ENGINE, &gpus[0], &gpus[1], src, dst);
    test_copy(BY_KERNEL, &gpus[0], &gpus[1], src, dst);
    test_graph(&gpus[0], src, (struct lp_buffer){.ptr = (char *)src.ptr + src.bytes / 2, .bytes = src.bytes / 2, .device = 0});
    check(ops->kernel_copy(gpus[0].device, gpus[0].stream, (char *)dst.ptr + 4, src.ptr, 64, &why) == LP_ERR_ARG,
          "kernel copy refuses an address that is no multiple of 16");
    print_rate(BY_KERNEL, gpus, src, dst);
    print_rate(BY_ENGINE, gpus, src, dst);
}

int main(int argc, char **argv)
{
    struct lp_buffer src, dst;
    struct gpu gpus[2];
    char driver[32], runtime[32];
    int n = 0;

    if (argc == 3 && strcmp(argv[1], "import") == 0)
        return import_and_verify(argv[2]);
    must(ops->count(&n, &why), "count");
    ops->versions(driver, sizeof(driver), runtime, sizeof(runtime));
    printf("     %d GPUs, CUDA of the driver '%s', of the runtime '%s'\n", n, driver, runtime);
    if (n < 2) {
        printf("skip all: needs 2 GPUs\n");
        return 77;
    }
    for (int i = 0; i < 2; i++) {
        print_nvml(i);
        open_gpu(i, &gpus[i]);
    }
    must(ops->alloc(gpus[0].device, 256 * MIB, &src, &why), "alloc");
    must(ops->alloc(gpus[1].device, 256 * MIB, &dst, &why), "alloc");
    for (int dtype = 0; dtype < LP_NDTYPES; dtype++)
        test_verify(&gpus[0], src.ptr, (enum lp_dtype)dtype, 1000003);
    test_pattern(&gpus[0], src.ptr);
    test_above_4gib(&gpus[0]);
    test_gate(gpus);
    test_between(gpus, src, dst);
    test_broken_capture(&gpus[0], src);
    test_ipc(&gpus[0], argv[0]);
    ops->free(gpus[1].device, &dst);
    ops->free(gpus[0].device, &src);
    for (int i = 0; i < 2; i++)
        close_gpu(&gpus[i]);
    return 0;
}
