/* u-dma-buf's caches, by sync_offset, sync_size and a plain 1; the DMA is found by its name. */
#include "dma.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int put(const char *name, const char *text, int bytes) {
    char path[80];
    snprintf(path, sizeof path, "/sys/class/u-dma-buf/udmabuf0/%s", name);
    int file = open(path, O_WRONLY);
    int written = (int)write(file, text, (size_t)bytes);
    close(file);
    return written == bytes ? 0 : 1;
}

static int find(const char *wanted) {
    DIR *folder = opendir("/sys/class/uio");
    int number = -1;
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char path[300], name[32] = "";
        snprintf(path, sizeof path, "/sys/class/uio/%s/name", entry->d_name);
        FILE *file = fopen(path, "r");
        if (file && fgets(name, sizeof name, file) && !strcmp(name, wanted))
            number = atoi(entry->d_name + 3);
        if (file)
            fclose(file);
    }
    closedir(folder);
    return number;
}

int main(void) {
    char device[32];
    snprintf(device, sizeof device, "/dev/uio%d", find("axiloom-dma0\n"));
    volatile uint32_t *buffer = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, open("/dev/udmabuf0", O_RDWR), 0x400000);
    map_dma(open(device, O_RDWR), 0);
    if (put("sync_offset", "0x400000", 8) || put("sync_size", SIZE, sizeof SIZE - 1) || put("sync_direction", "0", 1))
        return 2;
    fill(buffer);
    if (put("sync_for_device", "1", 1))
        return 3;
    start((uint32_t)(uintptr_t)buffer, 1);
    while (!(REGISTER(S2MM_DMASR) & 2))
        continue;
    if (put("sync_for_cpu", "1", 1))
        return 4;
    return wrong(buffer) ? 5 : 0;
}
