#include "common.h"

int main(void) {
    TRY(start());
    return *(volatile int *)0xE0000000;
}
