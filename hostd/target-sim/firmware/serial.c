#include "serial.h"

#define BUFFER_BYTES 256u

static volatile uint8_t buffer[BUFFER_BYTES];
static volatile uint32_t written, taken;

void usart1_handler(void)
{
    if (USART1_ISR & 1u << 5) {
        uint8_t byte = (uint8_t)USART1_RDR;
        if (written - taken < BUFFER_BYTES)
            buffer[written++ % BUFFER_BYTES] = byte;
    }
    serial_clear_overrun();
}

void serial_start(void)
{
    RCC_APB2ENR |= USART1_CLOCK;
    GPIO_AFRH(GPIOA) = (GPIO_AFRH(GPIOA) & ~0xff0u) | USART1_FUNCTIONS;
    GPIO_PUPDR(GPIOA) = (GPIO_PUPDR(GPIOA) & ~(3u << 20)) | 1u << 20;
    GPIO_MODER(GPIOA) = (GPIO_MODER(GPIOA) & ~(0xfu << 18)) | 0xau << 18;
    USART1_BRR = 139;
    USART1_CR1 = USART1_ENABLE | 1u << 2 | 1u << 3 | 1u << 5;
    NVIC_ISER(USART1_INTERRUPT) = 1u << USART1_INTERRUPT % 32;
}

void put_character(char character)
{
    USART1_TDR = (uint8_t)character;
    while (!(USART1_ISR & 1u << 7)) {
    }
}

void put_text(const char *text)
{
    while (*text)
        put_character(*text++);
}

void put_line(const char *text)
{
    put_text(text);
    put_text("\r\n");
}

void put_digits(uint32_t number, uint32_t digits)
{
    char text[10];
    uint32_t count = 0;
    do {
        text[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number || count < digits);
    while (count)
        put_character(text[--count]);
}

void put_number(uint32_t number)
{
    put_digits(number, 1);
}

void put_hex(uint8_t byte)
{
    static const char digits[] = "0123456789abcdef";
    put_text("0x");
    put_character(digits[byte >> 4]);
    put_character(digits[byte & 15]);
}

void serial_drain(void)
{
    while (!(USART1_ISR & 1u << 6)) {
    }
}

int serial_get(void)
{
    if (written == taken)
        return -1;
    return buffer[taken++ % BUFFER_BYTES];
}

uint32_t serial_received(void)
{
    return written;
}
