/* Names that are none of NCCL's: misspelt, of another program, or new. And the names that a libnccl holds. */
#include "plan/lint_parts.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Who reads names that begin so. The longest that fits counts. */
static const struct {
    const char *prefix, *who;
} others[] = {
    {"UCX_", "UCX"},
    {"OMPI_", "Open MPI"},
    {"PMIX_", "PMIx"},
    {"PRTE_", "Open MPI's launcher"},
    {"PMI_", "PMI"},
    {"MPICH_", "MPICH"},
    {"I_MPI_", "Intel MPI"},
    {"HYDRA_", "MPICH's launcher"},
    {"FI_", "libfabric"},
    {"OFI_NCCL_", "the libfabric plug-in of NCCL"},
    {"SHARP_", "SHARP"},
    {"HCOLL_", "HCOLL"},
    {"IBV_", "libibverbs"},
    {"MLX5_", "libibverbs"},
    {"RDMAV_", "libibverbs"},
    {"CUDA_LAUNCH_BLOCKING", "CUDA, and NCCL too, which then launches differently"},
    {"CUDA_DEVICE_MAX_CONNECTIONS", "CUDA (how many queues its streams share)"},
    {"CUDA_VISIBLE_DEVICES", "CUDA; linkperf's workers see the same GPUs in every variant"},
    {"CUDA_", "CUDA"},
    {"CUBLAS_", "cuBLAS"},
    {"NVIDIA_", "the container runtime"},
    {"NVSHMEM_", "NVSHMEM"},
    {"TORCH_", "PyTorch"},
    {"PYTORCH_", "PyTorch"},
    {"NCCL_ASYNC_ERROR_HANDLING", "PyTorch (now TORCH_NCCL_ASYNC_ERROR_HANDLING)"},
    {"NCCL_BLOCKING_WAIT", "PyTorch (now TORCH_NCCL_BLOCKING_WAIT)"},
    {"NCCL_DESYNC_DEBUG", "PyTorch (now TORCH_NCCL_DESYNC_DEBUG)"},
    {"NCCL_TESTS_", "nccl-tests"},
    {"NCCL_INSPECTOR_", "NVIDIA's inspector plug-in"},
    {"NCCL_PROFILE_", "NVIDIA's example profiler"},
    {"NCCL_PROFILER_CE_", "NVIDIA's example profiler"},
    {"NCCL_FASTRAK_", "Google's network plug-in"},
    {"NCCL_GPUDIRECTTCPX_", "Google's network plug-in"},
    {"RCCL_", "RCCL"},
    {"HSA_", "ROCm"},
    {"OMP_", "OpenMP"},
    {"KMP_", "OpenMP"},
    {"VLLM_", "vLLM"},
    {"SGLANG_", "SGLang"},
    {"GLOO_", "Gloo"},
    {"SLURM_", "Slurm"},
    {"LD_", "the dynamic loader"},
    {"LINKPERF_", "linkperf"},
};

static const char *other_reader(const char *name)
{
    const char *who = NULL;
    size_t best = 0;

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        size_t len = strlen(others[i].prefix);

        if (len > best && strncmp(name, others[i].prefix, len) == 0) {
            best = len;
            who = others[i].who;
        }
    }
    return who;
}

void lp_lint_unknown_name(struct lp_lint *lint, const struct lp_env *env)
{
    const char *who = other_reader(env->name);
    const struct lp_nccl_var *near = who ? NULL : lp_nccl_var_nearest(env->name);
    struct lp_finding *finding;

    if (who) {
        lp_lint_say(lint, LP_LINT_NOTE, env, NULL, "read by %s", who);
    } else if (lint->context->library && lp_lint_names_has(lint->context->library, env->name)) {
        lp_lint_say(lint, LP_LINT_NOTE, env, NULL, "this libnccl holds the name; linkperf does not know what it means");
    } else if (near) {
        lp_lint_say(lint, LP_LINT_WARNING, env, NULL, "NCCL reads no such variable");
        finding = lint->out->n ? &lint->out->item[lint->out->n - 1] : NULL;
        if (finding && lint->st == LP_OK)
            snprintf(finding->fix, sizeof(finding->fix), "%s%s%.150s", near->name, env->value ? "=" : "",
                     env->value ? env->value : "");
    } else if (strncasecmp(env->name, "NCCL", 4) == 0) {
        lp_lint_say(lint, LP_LINT_WARNING, env, NULL, "NCCL reads no such variable%s",
                    lint->context->library ? ": the libnccl that is loaded does not hold the name" : ", as far as linkperf knows");
    } else {
        lp_lint_say(lint, LP_LINT_NOTE, env, NULL, "not a variable of NCCL");
    }
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool lp_lint_names_has(const struct lp_lint_names *names, const char *name)
{
    return names->n > 0 && bsearch(&name, names->item, names->n, sizeof(*names->item), by_name) != NULL;
}

void lp_lint_names_release(struct lp_lint_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->item[i]);
    free(names->item);
    memset(names, 0, sizeof(*names));
}

static bool is_name_char(char c)
{
    return isupper((unsigned char)c) || isdigit((unsigned char)c) || c == '_';
}

static enum lp_status add_name(struct lp_lint_names *names, const char *text, size_t len)
{
    char **grown, *copy;

    if (names->n % 64 == 0) {
        grown = realloc(names->item, (names->n + 64) * sizeof(*grown));
        if (!grown)
            return LP_ERR_MEMORY;
        names->item = grown;
    }
    copy = strndup(text, len);
    if (!copy)
        return LP_ERR_MEMORY;
    names->item[names->n++] = copy;
    return LP_OK;
}

/* "NCCL version 2.28.9+cuda13.0" at text. */
static int version_at(const char *text, size_t len)
{
    static const char intro[] = "NCCL version ";
    char copy[12] = "";
    size_t n = 0;

    if (len < sizeof(intro) || memcmp(text, intro, sizeof(intro) - 1) != 0)
        return 0;
    text += sizeof(intro) - 1;
    len -= sizeof(intro) - 1;
    while (n < len && n + 1 < sizeof(copy) && (isdigit((unsigned char)text[n]) || text[n] == '.')) {
        copy[n] = text[n];
        n++;
    }
    return lp_nccl_version_parse(copy);
}

static enum lp_status search(const char *data, size_t size, struct lp_lint_names *out)
{
    const char *end = data + size, *at = data;
    enum lp_status st = LP_OK;

    while (st == LP_OK && (at = memmem(at, (size_t)(end - at), "NCCL", 4)) != NULL) {
        size_t left = (size_t)(end - at), len = 4;

        while (len < left && is_name_char(at[len]))
            len++;
        if (len > 5 && len < left && at[4] == '_' && at[len] == '\0' && (at == data || !is_name_char(at[-1])))
            st = add_name(out, at, len);
        else if (out->version == 0)
            out->version = version_at(at, left);
        at += len;
    }
    qsort(out->item, out->n, sizeof(*out->item), by_name);
    return st;
}

enum lp_status lp_lint_names_in_library(const char *path, struct lp_lint_names *out, struct lp_reason *why)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    enum lp_status st;
    void *data;

    memset(out, 0, sizeof(*out));
    if (fd < 0 || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0) {
        st = lp_because(why, LP_ERR_IO, "%s: %s", path, fd < 0 ? strerror(errno) : "not a file with a library in it");
        if (fd >= 0)
            close(fd);
        return st;
    }
    data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (data == MAP_FAILED)
        return lp_because(why, LP_ERR_IO, "%s: %s", path, strerror(errno));
    st = search(data, (size_t)info.st_size, out);
    munmap(data, (size_t)info.st_size);
    return st == LP_OK ? st : lp_because(why, st, "out of memory");
}
