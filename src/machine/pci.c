/* PCI ids and PCI Express rates. Which devices there are, and at which generation and width, is nvml's. */
#include "machine/pci.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool lp_pci_same(const char *a, const char *b)
{
    unsigned x[4], y[4];

    return sscanf(a, "%x:%x:%x.%x", &x[0], &x[1], &x[2], &x[3]) == 4 && sscanf(b, "%x:%x:%x.%x", &y[0], &y[1], &y[2], &y[3]) == 4 &&
           memcmp(x, y, sizeof(x)) == 0;
}

/*
 * GT/s x width x encoding / 8 bits: one transfer carries a bit per lane; 8b/10b up to generation 2, 128b/130b from 3 to 5;
 * 6 has PAM4 and 242 of 256 bytes of a flit besides its checks.
 */
double lp_pcie_gbps(int generation, int width)
{
    static const double gigatransfers[] = {NAN, 2.5, 5, 8, 16, 32, 64};
    double encoding = generation <= 2 ? 8.0 / 10 : generation <= 5 ? 128.0 / 130 : 242.0 / 256;

    if (generation < 1 || generation > 6 || width < 1)
        return NAN;
    return gigatransfers[generation] * width * encoding / 8;
}
