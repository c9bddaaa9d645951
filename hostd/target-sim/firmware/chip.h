/* The registers of the STM32F030 that this firmware uses, and the time base. */
#ifndef CHIP_H
#define CHIP_H

#include <stdbool.h>
#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))

#define RCC_CR REGISTER(0x40021000)
#define RCC_CFGR REGISTER(0x40021004)
#define RCC_AHBENR REGISTER(0x40021014)
#define RCC_APB2ENR REGISTER(0x40021018)
#define RCC_CSR REGISTER(0x40021024)

#define GPIOA 0x48000000
#define GPIOB 0x48000400
#define GPIOC 0x48000800
#define GPIO_MODER(port) REGISTER((port) + 0x00)
#define GPIO_OTYPER(port) REGISTER((port) + 0x04)
#define GPIO_PUPDR(port) REGISTER((port) + 0x0c)
#define GPIO_IDR(port) REGISTER((port) + 0x10)
#define GPIO_ODR(port) REGISTER((port) + 0x14)
#define GPIO_BSRR(port) REGISTER((port) + 0x18)
#define GPIO_AFRH(port) REGISTER((port) + 0x24)

#define USART1_CR1 REGISTER(0x40013800)
#define USART1_BRR REGISTER(0x4001380c)
#define USART1_ISR REGISTER(0x4001381c)
#define USART1_ICR REGISTER(0x40013820)
#define USART1_RDR REGISTER(0x40013824)
#define USART1_TDR REGISTER(0x40013828)
#define USART1_INTERRUPT 27

#define SYSTICK_CSR REGISTER(0xe000e010)
#define SYSTICK_RVR REGISTER(0xe000e014)
#define SYSTICK_CVR REGISTER(0xe000e018)
#define NVIC_ISER REGISTER(0xe000e100)
#define SCB_AIRCR REGISTER(0xe000ed0c)

#define CORE_HZ 16000000u

/* Milliseconds since the clock was set up. */
extern volatile uint32_t ticks_ms;

/* Sleeps between ticks. */
void delay_ms(uint32_t duration_ms);

#endif
