/* The chip that this firmware is built for, what all of them have, and the time base. */
#ifndef CHIP_H
#define CHIP_H

#include <stdbool.h>
#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))

#ifdef STM32F446
#include "stm32f446.h"
#else
#include "stm32f030.h"
#endif

#define SYSTICK_CSR REGISTER(0xe000e010)
#define SYSTICK_RVR REGISTER(0xe000e014)
#define SYSTICK_CVR REGISTER(0xe000e018)
#define NVIC_ISER(interrupt) REGISTER(0xe000e100 + (interrupt) / 32 * 4)
#define SCB_AIRCR REGISTER(0xe000ed0c)

#define CORE_HZ 16000000u

/* Milliseconds since the clock was set up. */
extern volatile uint32_t ticks_ms;

/* Sleeps between ticks. */
void delay_ms(uint32_t duration_ms);

#endif
