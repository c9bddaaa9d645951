#include "i2c.h"

#define SCL (1u << 8)
#define SDA (1u << 9)
#define BUS_FREE_MS_MAX 25u
#define STRETCH_MS_MAX 100u
/* Iterations of four cycles that, with the rest of the code, make half a bit 5 us long. */
#define HALF_BIT_ROUNDS 10u

static enum i2c_result failure;

static void half_bit(void)
{
    uint32_t rounds = HALF_BIT_ROUNDS;
    __asm__ volatile("1: sub %0, #1\n bne 1b" : "+l"(rounds) : : "cc");
}

static inline void release(uint32_t line)
{
    GPIO_BSRR(GPIOB) = line;
}

static inline void pull(uint32_t line)
{
    GPIO_BSRR(GPIOB) = line << 16;
}

/* Waits until all of these lines are high. */
static bool is_high(uint32_t lines, uint32_t wait_ms_max)
{
    if ((GPIO_IDR(GPIOB) & lines) == lines)
        return true;
    uint32_t since_ms = ticks_ms;
    while ((GPIO_IDR(GPIOB) & lines) != lines)
        if (ticks_ms - since_ms > wait_ms_max)
            return false;
    return true;
}

static void clock_up(void)
{
    release(SCL);
    if (!is_high(SCL, STRETCH_MS_MAX))
        failure = I2C_TIMEOUT;
    half_bit();
}

static void clock_down(void)
{
    pull(SCL);
    half_bit();
}

static bool start(void)
{
    failure = I2C_OK;
    if (!is_high(SCL | SDA, BUS_FREE_MS_MAX)) {
        failure = I2C_BUSY;
        return false;
    }
    pull(SDA);
    half_bit();
    pull(SCL);
    return true;
}

static void repeat_start(void)
{
    release(SDA);
    half_bit();
    clock_up();
    pull(SDA);
    half_bit();
    pull(SCL);
}

static void stop(void)
{
    pull(SDA);
    half_bit();
    clock_up();
    release(SDA);
    half_bit();
}

static void put_bit(bool bit)
{
    if (bit)
        release(SDA);
    else
        pull(SDA);
    half_bit();
    clock_up();
    pull(SCL);
}

static bool get_bit(void)
{
    release(SDA);
    half_bit();
    clock_up();
    bool bit = GPIO_IDR(GPIOB) & SDA;
    pull(SCL);
    return bit;
}

/* Returns true if the byte was acknowledged. */
static bool put_byte(uint8_t byte)
{
    for (uint32_t place = 8; place--;)
        put_bit(byte >> place & 1);
    if (get_bit() && failure == I2C_OK)
        failure = I2C_NO_ACKNOWLEDGE;
    return failure == I2C_OK;
}

static uint8_t get_byte(bool is_last)
{
    uint8_t byte = 0;
    for (uint32_t place = 8; place--;)
        byte = (uint8_t)(byte << 1 | get_bit());
    put_bit(is_last);
    return byte;
}

void i2c_start_up(void)
{
    release(SCL | SDA);
    GPIO_OTYPER(GPIOB) |= SCL | SDA;
    GPIO_MODER(GPIOB) = (GPIO_MODER(GPIOB) & ~(0xfu << 16)) | 5u << 16;
}

enum i2c_result i2c_read(uint8_t address, uint8_t first_register, uint8_t *data, uint32_t count)
{
    if (!start())
        return failure;
    if (put_byte((uint8_t)(address << 1)) && put_byte(first_register)) {
        repeat_start();
        if (put_byte((uint8_t)(address << 1 | 1)))
            while (count--)
                *data++ = get_byte(count == 0);
    }
    clock_down();
    stop();
    return failure;
}

enum i2c_result i2c_write(uint8_t address, uint8_t target_register, uint8_t value)
{
    if (!start())
        return failure;
    if (put_byte((uint8_t)(address << 1)) && put_byte(target_register))
        put_byte(value);
    clock_down();
    stop();
    return failure;
}

enum i2c_result i2c_probe(uint8_t address)
{
    if (!start())
        return failure;
    put_byte((uint8_t)(address << 1));
    clock_down();
    stop();
    return failure;
}
