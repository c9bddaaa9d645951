/* Vector table, and the work before main: copies initialised data from flash and zeroes the rest. */
#include "chip.h"

extern uint32_t data_load, data_start, data_end, bss_start, bss_end, stack_top;

int main(void);
void reset_handler(void);
void systick_handler(void);
void usart1_handler(void);

static void unexpected(void)
{
    for (;;) {
    }
}

void reset_handler(void)
{
    chip_start();
    const uint32_t *from = &data_load;
    for (uint32_t *to = &data_start; to < &data_end;)
        *to++ = *from++;
    for (uint32_t *to = &bss_start; to < &bss_end;)
        *to++ = 0;
    main();
    unexpected();
}

__attribute__((section(".vectors"), used)) static const void *const vectors[16 + INTERRUPTS] = {
    [0] = &stack_top,
    [1] = reset_handler,
    [2] = unexpected,
    [3] = unexpected,
    [11] = unexpected,
    [14] = unexpected,
    [15] = systick_handler,
    [16 + USART1_INTERRUPT] = usart1_handler,
};
