/* SPDX-License-Identifier: BSD-3-Clause */
/* A driver of GPUs without any function: the vendor's runtime finds no device. */
int exhausted_no_driver(void);
int exhausted_no_driver(void) { return 0; }
