/* The registers of the STM32F030 that this firmware uses. */
#ifndef STM32F030_H
#define STM32F030_H

#define CHIP_NAME "STM32F030"
#define INTERRUPTS 32

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
#define USART1_CLOCK (1u << 14)
#define USART1_FUNCTIONS 0x110u
#define USART1_ENABLE (1u << 0)

#define PORT_CLOCKS RCC_AHBENR
#define PORT_CLOCKS_ABC (7u << 17)

/* The internal oscillator, divided by two, times four. */
static inline void chip_set_up_clock(void)
{
    RCC_CFGR = 2u << 18;
    RCC_CR |= 1u << 24;
    while (!(RCC_CR & 1u << 25)) {
    }
    RCC_CFGR |= 2;
    while ((RCC_CFGR >> 2 & 3) != 2) {
    }
}

/* Left set, an overrun would keep the interrupt active. */
static inline void serial_clear_overrun(void)
{
    USART1_ICR = 1u << 3;
}

static inline void chip_start(void)
{
}

#endif
