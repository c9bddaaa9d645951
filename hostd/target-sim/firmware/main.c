/* A demo application for the simulated target: it says hello, reads a sensor and takes commands.
 *
 * On the boards that it imitates, a second controller holds the chip in reset for the first two seconds
 * of power; here the application itself waits that long, only after power-on. */
#include "bmp280.h"
#include "chip.h"
#include "console.h"
#include "i2c.h"
#include "serial.h"

#define POWER_ON_MS 2100u
/* Quiet time in which a debugger can attach. */
#define START_MS 200u
#define BLINK_MS 500u
#define LAMP 5u
#define DISTANCE_SENSOR 0x29
#define DISTANCE_SENSOR_TRIES 25u

#define CSR_REMOVE_FLAGS (1u << 24)
#define CSR_POWER_ON (1u << 27)
#define CSR_SOFTWARE (1u << 28)

volatile uint32_t ticks_ms;

void systick_handler(void)
{
    ticks_ms++;
    if (ticks_ms % BLINK_MS == 0)
        GPIO_BSRR(GPIOA) = GPIO_ODR(GPIOA) & 1u << LAMP ? 1u << (LAMP + 16) : 1u << LAMP;
}

void delay_ms(uint32_t duration_ms)
{
    uint32_t since_ms = ticks_ms;
    while (ticks_ms - since_ms < duration_ms)
        __asm__ volatile("wfi");
}

static void set_up_clock(void)
{
    chip_set_up_clock();
    SYSTICK_RVR = CORE_HZ / 1000 - 1;
    SYSTICK_CVR = 0;
    SYSTICK_CSR = 7;
}

static void set_up_pins(void)
{
    PORT_CLOCKS |= PORT_CLOCKS_ABC;
    GPIO_MODER(GPIOA) |= 1u << (2 * LAMP);
    GPIO_MODER(GPIOC) |= 5u << 20;
}

static void look_for_distance_sensor(void)
{
    put_line("");
    put_line("distance sensor start-up");
    uint32_t answers = 0;
    for (uint32_t tries = 0; tries < DISTANCE_SENSOR_TRIES; tries++)
        answers += i2c_probe(DISTANCE_SENSOR) == I2C_OK;
    put_line(answers ? "distance sensor found, not used" : "distance sensor init failed");
}

int main(void)
{
    set_up_clock();
    uint32_t cause = RCC_CSR;
    RCC_CSR |= CSR_REMOVE_FLAGS;
    if (cause & CSR_POWER_ON && !(cause & CSR_SOFTWARE))
        delay_ms(POWER_ON_MS);
    delay_ms(START_MS);
    set_up_pins();
    serial_start();
    i2c_start_up();
    put_line("I2C1 status=0 error=0 state=ready");
    put_line("I2C1 init OK");
    bmp280_start();
    look_for_distance_sensor();
    delay_ms(50);
    put_line("");
    put_line("SCENARIO: bench demo application");
    put_line("SCENARIO: simulated " CHIP_NAME);
    put_line("SCENARIO: CPU clock 16000000 Hz");
    put_line("SCENARIO: USART1 115200 8N1, I2C1 100 kHz");
    put_line("APP_OK");
    console_start();
    for (;;) {
        console_poll();
        __asm__ volatile("wfi");
    }
}
