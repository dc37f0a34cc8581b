/* PCI ids, and what PCI Express can carry. Arithmetic only: what a machine has is NVML's and sysfs's to say. */
#ifndef LP_MACHINE_PCI_H
#define LP_MACHINE_PCI_H

#include <stdbool.h>

/* Do two ids name one device? CUDA writes 4 digits of the domain and NVML 8, either may use capitals. false for what is no id. */
bool lp_pci_same(const char *a, const char *b);

/* Line rate of PCI Express per direction in GB/s; NaN for what is not known. */
double lp_pcie_gbps(int generation, int width);

#endif
