/* The same as i2c.c with the controller I2C1 of the STM32F446. */
#include "i2c.h"

#define BUS_FREE_MS_MAX 25u
#define STEP_MS_MAX 100u
#define BUS_MHZ 16u

#define CR1_ENABLE (1u << 0)
#define CR1_START (1u << 8)
#define CR1_STOP (1u << 9)
#define CR1_ACKNOWLEDGE (1u << 10)
#define SR1_STARTED (1u << 0)
#define SR1_ADDRESSED (1u << 1)
#define SR1_FINISHED (1u << 2)
#define SR1_RECEIVED (1u << 6)
#define SR1_NOT_ACKNOWLEDGED (1u << 10)
#define SR2_BUSY (1u << 1)

static enum i2c_result failure;

/* Waits for a flag of the controller. */
static bool wait_for(uint32_t flag)
{
    uint32_t since_ms = ticks_ms;
    for (;;) {
        uint32_t status = I2C1_SR1;
        if (status & SR1_NOT_ACKNOWLEDGED) {
            I2C1_SR1 = ~SR1_NOT_ACKNOWLEDGED;
            failure = I2C_NO_ACKNOWLEDGE;
            return false;
        }
        if (status & flag)
            return true;
        if (ticks_ms - since_ms > STEP_MS_MAX) {
            failure = I2C_TIMEOUT;
            return false;
        }
    }
}

static bool start(uint8_t address)
{
    I2C1_CR1 |= CR1_START;
    if (!wait_for(SR1_STARTED))
        return false;
    I2C1_DR = address;
    return wait_for(SR1_ADDRESSED);
}

static bool is_free(void)
{
    failure = I2C_OK;
    uint32_t since_ms = ticks_ms;
    while (I2C1_SR2 & SR2_BUSY)
        if (ticks_ms - since_ms > BUS_FREE_MS_MAX) {
            failure = I2C_BUSY;
            return false;
        }
    return true;
}

/* The target answers: the address flag goes off, and the transfer goes on. */
static void go_on(void)
{
    (void)I2C1_SR1;
    (void)I2C1_SR2;
}

static bool put_byte(uint8_t byte)
{
    I2C1_DR = byte;
    return wait_for(SR1_FINISHED);
}

static enum i2c_result stop(void)
{
    I2C1_CR1 |= CR1_STOP;
    uint32_t since_ms = ticks_ms;
    while (I2C1_CR1 & CR1_STOP)
        if (ticks_ms - since_ms > STEP_MS_MAX)
            break;
    return failure;
}

void i2c_start_up(void)
{
    RCC_APB1ENR |= 1u << 21;
    GPIO_OTYPER(GPIOB) |= 3u << 8;
    GPIO_AFRH(GPIOB) = (GPIO_AFRH(GPIOB) & ~0xffu) | 0x44u;
    GPIO_MODER(GPIOB) = (GPIO_MODER(GPIOB) & ~(0xfu << 16)) | 0xau << 16;
    I2C1_CR2 = BUS_MHZ;
    I2C1_CCR = BUS_MHZ * 10 / 2;
    I2C1_TRISE = BUS_MHZ + 1;
    I2C1_CR1 = CR1_ENABLE;
}

enum i2c_result i2c_read(uint8_t address, uint8_t first_register, uint8_t *data, uint32_t count)
{
    if (!is_free())
        return failure;
    if (!start((uint8_t)(address << 1)))
        return stop();
    go_on();
    if (!put_byte(first_register))
        return stop();
    I2C1_CR1 |= CR1_ACKNOWLEDGE;
    if (!start((uint8_t)(address << 1 | 1)))
        return stop();
    if (count == 1)
        I2C1_CR1 &= ~CR1_ACKNOWLEDGE;
    go_on();
    while (count--) {
        /* The last byte is not acknowledged; that is decided while the one before it is still unread. */
        if (!wait_for(SR1_RECEIVED))
            return stop();
        if (count == 1)
            I2C1_CR1 &= ~CR1_ACKNOWLEDGE;
        *data++ = (uint8_t)I2C1_DR;
    }
    return stop();
}

enum i2c_result i2c_write(uint8_t address, uint8_t target_register, uint8_t value)
{
    if (!is_free())
        return failure;
    if (start((uint8_t)(address << 1))) {
        go_on();
        if (put_byte(target_register))
            put_byte(value);
    }
    return stop();
}

enum i2c_result i2c_probe(uint8_t address)
{
    if (!is_free())
        return failure;
    if (start((uint8_t)(address << 1)))
        go_on();
    return stop();
}
