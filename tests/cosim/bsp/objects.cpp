// C++ on the vendor's API: constructors before main, the library, exceptions.
#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "xaxidma.h"
#include "xil_printf.h"

struct Named {
    const char *name;
    explicit Named(const char *name) : name(name) { xil_printf("begins %s\r\n", name); }
    ~Named() { xil_printf("ends %s\r\n", name); }
};
static Named global("global");

int main() {
    std::vector<int> numbers{3, 1, 2};
    std::sort(numbers.begin(), numbers.end());
    std::string text = "sorted";
    for (int number : numbers)
        text += " " + std::to_string(number);
    std::cout << text << std::endl;
    try {
        Named local("local");
        throw 5;
    } catch (int value) {
        printf("caught %d\n", value);
    }
    return XAxiDma_LookupConfig(XPAR_AXIDMA_0_DEVICE_ID) ? 0 : 1;
}
