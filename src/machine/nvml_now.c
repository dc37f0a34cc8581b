/* Readings of a GPU's state. Which functions NVML has was found out when it was opened. */
#include "machine/nvml_now.h"

#include "machine/nvml_parts.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>

/*
 * nvmlClocksEventReasons. The others say that clocks are as they were asked to be: 0x1 idle, 0x2 application clocks, 0x100
 * display clocks. NVML may report hardware slowdown for a moment while clocks change.
 */
static const struct {
    unsigned long long bit;
    const char *word;
} reasons[LP_NTHROTTLES] = {
    {0x04, "power cap"},          {0x08, "hardware slowdown"},  {0x10, "sync boost"},
    {0x20, "thermal (software)"}, {0x40, "thermal (hardware)"}, {0x80, "power brake"},
};

const char *lp_throttle_word(int i)
{
    return reasons[i].word;
}

static int ask_kind(int (*ask)(device_t, int, unsigned *), device_t device, int kind)
{
    unsigned value = 0;

    return ask && ask(device, kind, &value) == SUCCESS && value <= INT_MAX ? (int)value : -1;
}

static unsigned ask_throttle(const struct lp_nvml *nvml, device_t device)
{
    unsigned long long bits = 0;
    unsigned throttle = 0;

    if (!nvml->clock_reasons || nvml->clock_reasons(device, &bits) != SUCCESS)
        return 0;
    for (int i = 0; i < LP_NTHROTTLES; i++)
        if (bits & reasons[i].bit)
            throttle |= 1u << i;
    return throttle;
}

static void ask_processes(const struct lp_nvml *nvml, device_t device, struct lp_nvml_now *out)
{
    struct process_info found[LP_NVML_MAX_PROCESSES] = {{0}};
    unsigned n = LP_NVML_MAX_PROCESSES;

    if (!nvml->processes || nvml->processes(device, &n, found) != SUCCESS || n > LP_NVML_MAX_PROCESSES)
        return;
    out->nprocesses = (int)n;
    for (unsigned i = 0; i < n; i++) {
        out->process[i].pid = (long)found[i].pid;
        out->process[i].memory_bytes = found[i].used <= LLONG_MAX ? (long long)found[i].used : -1;
    }
}

static void ask_memory(const struct lp_nvml *nvml, device_t device, struct lp_nvml_now *out)
{
    struct memory_info memory = {0};

    if (!nvml->memory || nvml->memory(device, &memory) != SUCCESS)
        return;
    out->used_bytes = (long long)memory.used;
    out->total_bytes = (long long)memory.total;
}

static void ask_rest(const struct lp_nvml *nvml, device_t device, struct lp_nvml_now *out)
{
    struct utilisation busy = {0};
    unsigned long long errors = 0;
    unsigned milliwatts = 0;

    if (nvml->power && nvml->power(device, &milliwatts) == SUCCESS)
        out->power_w = milliwatts / 1e3;
    if (nvml->utilisation && nvml->utilisation(device, &busy) == SUCCESS)
        out->busy_percent = (int)busy.gpu;
    if (nvml->ecc_errors && nvml->ecc_errors(device, ECC_UNCORRECTED, ECC_VOLATILE, &errors) == SUCCESS)
        out->ecc_uncorrected = (long long)errors;
}

void lp_nvml_now(struct lp_nvml *nvml, const char *pci, struct lp_nvml_now *out)
{
    device_t device = NULL;

    *out = (struct lp_nvml_now){.sm_mhz = -1, .sm_max_mhz = -1, .mem_mhz = -1, .mem_max_mhz = -1, .temperature_c = -1};
    out->power_w = (double)NAN;
    out->busy_percent = out->nprocesses = -1;
    out->ecc_uncorrected = out->used_bytes = out->total_bytes = -1;
    if (!nvml || nvml->by_pci(pci, &device) != SUCCESS)
        return;
    out->sm_mhz = ask_kind(nvml->clock, device, CLOCK_SM);
    out->sm_max_mhz = ask_kind(nvml->max_clock, device, CLOCK_SM);
    out->mem_mhz = ask_kind(nvml->clock, device, CLOCK_MEMORY);
    out->mem_max_mhz = ask_kind(nvml->max_clock, device, CLOCK_MEMORY);
    out->temperature_c = ask_kind(nvml->temperature, device, SENSOR_GPU);
    out->throttle = ask_throttle(nvml, device);
    ask_rest(nvml, device, out);
    ask_memory(nvml, device, out);
    ask_processes(nvml, device, out);
}
