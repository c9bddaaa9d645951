/* The registers of the STM32F446 that this firmware uses. */
#ifndef STM32F446_H
#define STM32F446_H

#define CHIP_NAME "STM32F446"
#define INTERRUPTS 97

#define RCC_AHB1ENR REGISTER(0x40023830)
#define RCC_APB1ENR REGISTER(0x40023840)
#define RCC_APB2ENR REGISTER(0x40023844)
#define RCC_CSR REGISTER(0x40023874)

#define GPIOA 0x40020000
#define GPIOB 0x40020400
#define GPIOC 0x40020800
#define GPIO_MODER(port) REGISTER((port) + 0x00)
#define GPIO_OTYPER(port) REGISTER((port) + 0x04)
#define GPIO_PUPDR(port) REGISTER((port) + 0x0c)
#define GPIO_IDR(port) REGISTER((port) + 0x10)
#define GPIO_ODR(port) REGISTER((port) + 0x14)
#define GPIO_BSRR(port) REGISTER((port) + 0x18)
#define GPIO_AFRH(port) REGISTER((port) + 0x24)

#define USART1_ISR REGISTER(0x40011000)
#define USART1_RDR REGISTER(0x40011004)
#define USART1_TDR REGISTER(0x40011004)
#define USART1_BRR REGISTER(0x40011008)
#define USART1_CR1 REGISTER(0x4001100c)
#define USART1_INTERRUPT 37
#define USART1_CLOCK (1u << 4)
#define USART1_FUNCTIONS 0x770u
#define USART1_ENABLE (1u << 13)

#define I2C1_CR1 REGISTER(0x40005400)
#define I2C1_CR2 REGISTER(0x40005404)
#define I2C1_DR REGISTER(0x40005410)
#define I2C1_SR1 REGISTER(0x40005414)
#define I2C1_SR2 REGISTER(0x40005418)
#define I2C1_CCR REGISTER(0x4000541c)
#define I2C1_TRISE REGISTER(0x40005420)

#define SCB_CPACR REGISTER(0xe000ed88)

#define PORT_CLOCKS RCC_AHB1ENR
#define PORT_CLOCKS_ABC 7u

/* The internal oscillator, with which the chip starts, is right. */
static inline void chip_set_up_clock(void)
{
}

/* Reading the status and then the data has done it. */
static inline void serial_clear_overrun(void)
{
}

/* The compiler may use the floating-point unit anywhere. */
static inline void chip_start(void)
{
    SCB_CPACR |= 0xfu << 20;
    __asm__ volatile("dsb\n isb");
}

#endif
