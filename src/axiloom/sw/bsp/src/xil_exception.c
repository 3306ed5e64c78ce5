/* Who handles exceptions. start.S calls these. */
#include "xil_exception.h"

#include "xil_printf.h"

void axl_irq(void);
void axl_fiq(void);
void axl_exception(u32 id);

typedef struct {
    Xil_ExceptionHandler handler;
    void *data;
} entry;

/* Nobody handles it: the loop is where a debugger finds the program. */
static void unhandled(void *data) {
    (void)data;
    for (;;)
        __asm__ volatile("");
}

static entry handlers[XIL_EXCEPTION_ID_LAST + 1] = {
    {unhandled, 0}, {unhandled, 0}, {unhandled, 0}, {unhandled, 0}, {unhandled, 0}, {unhandled, 0}, {unhandled, 0},
};

static void call(u32 id) { handlers[id].handler(handlers[id].data); }

void axl_irq(void) { call(XIL_EXCEPTION_ID_IRQ_INT); }
void axl_fiq(void) { call(XIL_EXCEPTION_ID_FIQ_INT); }
void axl_exception(u32 id) { call(id); }

void Xil_ExceptionInit(void) {}

void Xil_ExceptionRegisterHandler(u32 Exception_id, Xil_ExceptionHandler Handler, void *Data) {
    if (Exception_id <= XIL_EXCEPTION_ID_LAST)
        handlers[Exception_id] = (entry){Handler, Data};
}

void Xil_ExceptionRemoveHandler(u32 Exception_id) { Xil_ExceptionRegisterHandler(Exception_id, unhandled, 0); }

void Xil_GetExceptionRegisterHandler(u32 Exception_id, Xil_ExceptionHandler *Handler, void **Data) {
    if (Exception_id <= XIL_EXCEPTION_ID_LAST) {
        *Handler = handlers[Exception_id].handler;
        *Data = handlers[Exception_id].data;
    }
}
