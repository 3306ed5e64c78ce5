/* The DMA's registers and memory in a Linux process: UIO and u-dma-buf, or /dev/mem where they are not there.
 *
 * A DMA is the UIO device whose first map is at its address. Memory is /dev/udmabuf0 (github.com/ikwzm/udmabuf), a
 * region without gaps for rings of descriptors, windows and arrays; it is mapped where link.ld has it, and if the
 * kernel gave it other physical addresses, axl_bus_offset is the difference. Only the calls of the kernel that
 * docs/boards.md names are used, so that the same program runs on the simulated SoC. */
#define _GNU_SOURCE
#include "devices.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096u
#define UIO_DEVICES 32u
#define UDMABUF "/sys/class/u-dma-buf/udmabuf0/"

/* What /dev/mem stands for where there is no udmabuf: the region of the overlay, at its own address. */
#define MEM_BYTES (64u << 20)

uintptr_t axl_bus_offset;
axl_region axl_memory = {.sync_device = -1, .sync_cpu = -1};

extern char axl_rings_start[], axl_rings_end[], axl_shared_start[], axl_shared_end[], axl_windows_start[], axl_windows_end[];

/* --- text --------------------------------------------------------------------------------------------------- */

static char *put_number(char *to, uint64_t value, uint32_t base, int digits) {
    char text[24];
    int n = 0;
    do {
        text[n++] = "0123456789ABCDEF"[value % base];
        value /= base;
    } while (value || n < digits);
    while (n)
        *to++ = text[--n];
    return to;
}

void axl_say(const char *format, ...) {
    char line[512], *to = line;
    va_list arguments;
    va_start(arguments, format);
    memcpy(to, "axiloom: ", 9);
    to += 9;
    for (; *format && to < line + sizeof line - 64; format++) {
        if (*format != '%') {
            *to++ = *format;
            continue;
        }
        format++;
        if (*format == 's') {
            const char *text = va_arg(arguments, const char *);
            while (*text && to < line + sizeof line - 64)
                *to++ = *text++;
        } else if (*format == 'u') {
            to = put_number(to, va_arg(arguments, uint32_t), 10, 1);
        } else {
            *to++ = '0', *to++ = 'x';
            to = put_number(to, va_arg(arguments, uint64_t), 16, 8);
        }
    }
    va_end(arguments);
    *to++ = '\n';
    for (const char *from = line; from < to;) {
        const ssize_t written = write(STDERR_FILENO, from, (size_t)(to - from));
        if (written <= 0)
            return;
        from += written;
    }
}

/* --- files -------------------------------------------------------------------------------------------------- */

#define TEXT_BYTES 32u

/* What a short file of sysfs holds; 0 if there is none. */
static ssize_t read_text(const char *path, char text[TEXT_BYTES]) {
    const int file = open(path, O_RDONLY);
    if (file < 0)
        return 0;
    const ssize_t n = read(file, text, TEXT_BYTES - 1);
    close(file);
    text[n > 0 ? n : 0] = 0;
    return n;
}

/* The same as a number, 0x... or decimal. */
static int read_number(const char *path, uint64_t *value) {
    char text[TEXT_BYTES];
    const ssize_t n = read_text(path, text);
    if (n <= 0)
        return 0;
    const char *at = text;
    uint32_t base = 10;
    if (n > 2 && at[0] == '0' && (at[1] | 0x20) == 'x')
        base = 16, at += 2;
    for (*value = 0;; at++) {
        const uint32_t c = (uint8_t)*at, digit = c - '0' < 10 ? c - '0' : (c | 0x20) - 'a' + 10;
        if (digit >= base)
            return 1;
        *value = *value * base + digit;
    }
}

static void *map(const char *path, int uncached, void *at, uint32_t bytes, uint64_t offset, int flags) {
    const int file = open(path, uncached ? O_RDWR | O_SYNC : O_RDWR);
    if (file < 0) {
        axl_say("%s: %s", path, errno == EACCES ? "no right to open it (run as root, or see docs/boards.md)" : "not there");
        return NULL;
    }
    void *mapped = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | flags, file, (off_t)offset);
    close(file);
    if (mapped != MAP_FAILED && (!at || mapped == at))
        return mapped;
    axl_say("%s: %u bytes from %x cannot be mapped at %x", path, bytes, offset, (uint64_t)(uintptr_t)at);
    return NULL;
}

/* --- registers ---------------------------------------------------------------------------------------------- */

static const char *uio_path(char *path, uint32_t number, const char *before, const char *behind) {
    char *to = path;
    while (*before)
        *to++ = *before++;
    to = put_number(to, number, 10, 1);
    while ((*to++ = *behind++))
        continue;
    return path;
}

/* Registers that are mapped already, so that dma_init may be called again. */
static struct {
    uint64_t physical;
    uintptr_t mapped;
} known[AXL_DMAS];

static uintptr_t find_registers(uint64_t physical) {
    char path[64], name[TEXT_BYTES];
    uint64_t address, other = 0;
    for (uint32_t i = 0; i < UIO_DEVICES; i++) {
        if (!read_number(uio_path(path, i, "/sys/class/uio/uio", "/maps/map0/addr"), &address))
            continue;
        if (address == physical)
            return (uintptr_t)map(uio_path(path, i, "/dev/uio", ""), 1, NULL, PAGE, 0, 0);
        if (read_text(uio_path(path, i, "/sys/class/uio/uio", "/name"), name) > 11 && !memcmp(name, "axiloom-dma", 11))
            other = address;
    }
    if (other) {
        axl_say("no UIO device has its registers at %x; there is a DMA at %x: the driver was compiled for another address map",
                physical, other);
        return 0;
    }
    axl_say("no UIO device has its registers at %x (is the overlay loaded?); trying /dev/mem", physical);
    return (uintptr_t)map("/dev/mem", 1, NULL, PAGE, physical, 0);
}

static uintptr_t map_registers(uint64_t physical) {
    uint32_t i = 0;
    while (i < AXL_DMAS && known[i].mapped && known[i].physical != physical)
        i++;
    if (i == AXL_DMAS)
        return find_registers(physical);
    if (!known[i].mapped)
        known[i].mapped = find_registers(physical), known[i].physical = physical;
    return known[i].mapped;
}

/* --- memory ------------------------------------------------------------------------------------------------- */

/* Bytes from `at` on, which link.ld or the specification placed in the region. */
static int map_memory(uintptr_t at, uintptr_t end, int cached, int flags) {
    const uintptr_t first = at & ~(uintptr_t)(PAGE - 1), bytes = (end - first + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
    const uint64_t place = first - AXL_REGION;
    if (at == end)
        return 1;
    if (first < AXL_REGION || place + bytes > axl_memory.size) {
        axl_say("%u bytes at %x are not in the reserved region of %u bytes from %x: make it larger in the device tree",
                (uint32_t)bytes, (uint64_t)first, (uint32_t)axl_memory.size, (uint64_t)AXL_REGION);
        return 0;
    }
    if (axl_memory.from_mem)
        return map("/dev/mem", 1, (void *)first, (uint32_t)bytes, axl_memory.physical + place, flags) != NULL;
    return map("/dev/udmabuf0", !cached, (void *)first, (uint32_t)bytes, place, flags) != NULL;
}

static int open_memory(void) {
    if (axl_memory.size)
        return 1;
    if (read_number(UDMABUF "phys_addr", &axl_memory.physical) && read_number(UDMABUF "size", &axl_memory.size)) {
        axl_memory.sync_device = open(UDMABUF "sync_for_device", O_WRONLY);
        axl_memory.sync_cpu = open(UDMABUF "sync_for_cpu", O_WRONLY);
    } else {
        axl_say("no /dev/udmabuf0 (is the overlay loaded, and the module u-dma-buf?); trying /dev/mem at %x", (uint64_t)AXL_REGION);
        axl_memory = (axl_region){AXL_REGION, MEM_BYTES, 1, -1, -1};
    }
    axl_bus_offset = (uintptr_t)(axl_memory.physical - AXL_REGION);
    /* Over the sections of the program itself. Arrays may be cached where something can maintain the caches. */
#ifdef __aarch64__
    const int maintained = 1;
#else
    const int maintained = axl_memory.sync_device >= 0 && axl_memory.sync_cpu >= 0;
#endif
    return map_memory((uintptr_t)axl_rings_start, (uintptr_t)axl_rings_end, AXL_DMA_COHERENT, MAP_FIXED) &&
           map_memory((uintptr_t)axl_shared_start, (uintptr_t)axl_shared_end, AXL_DMA_COHERENT || maintained, MAP_FIXED);
}

static uintptr_t mapped[2 * AXL_DMAS]; /* windows, so that dma_init may be called again */

static int map_window(uintptr_t at, uint32_t bytes) {
    for (uint32_t i = 0; i < 2 * AXL_DMAS; i++)
        if (mapped[i] == at)
            return 1;
    const int ours = at >= (uintptr_t)axl_windows_start && at + bytes <= (uintptr_t)axl_windows_end;
    if (!map_memory(at, at + bytes, AXL_DMA_CACHED || AXL_DMA_COHERENT, ours ? MAP_FIXED : MAP_FIXED_NOREPLACE))
        return 0;
    for (uint32_t i = 0; i < 2 * AXL_DMAS; i++)
        if (!mapped[i]) {
            mapped[i] = at;
            break;
        }
    return 1;
}

dma_status axl_open_dma(uintptr_t *registers, uintptr_t *in, uint32_t in_bytes, uintptr_t *out, uint32_t out_bytes) {
    if (!open_memory() || !map_window(*in, in_bytes) || !map_window(*out, out_bytes))
        return DMA_ERR_NOT_READY;
    *registers = map_registers(*registers);
    return *registers ? DMA_OK : DMA_ERR_NOT_READY;
}
