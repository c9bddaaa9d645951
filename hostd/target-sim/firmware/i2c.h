/* An I2C controller: SCL on PB8, SDA on PB9, open drain without internal pulls, 100 kHz. In software, or where
 * the chip has one (i2c1.c), in hardware. */
#ifndef I2C_H
#define I2C_H

#include "chip.h"

enum i2c_result {
    I2C_OK = 0,
    /* The bus was not free for 25 ms. */
    I2C_BUSY = 2,
    I2C_NO_ACKNOWLEDGE = 4,
    /* The clock was held low for longer than 100 ms. */
    I2C_TIMEOUT = 8,
};

void i2c_start_up(void);

/* Writes the register number, then reads from there on after a repeated start. */
enum i2c_result i2c_read(uint8_t address, uint8_t first_register, uint8_t *data, uint32_t count);

enum i2c_result i2c_write(uint8_t address, uint8_t target_register, uint8_t value);

/* Sends only the address; tells whether a device answers. */
enum i2c_result i2c_probe(uint8_t address);

#endif
