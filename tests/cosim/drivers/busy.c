/* Computes for ever, without touching the DMA. */
int main(void) {
    volatile unsigned n = 0;
    for (;;) n++;
}
