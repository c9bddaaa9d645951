/* A BMP280 pressure and temperature sensor, by its data sheet (registers and integer compensation). */
#ifndef BMP280_H
#define BMP280_H

#include "chip.h"

/* Finds, resets and sets up the sensor, and reports each step on the console. */
bool bmp280_start(void);

bool bmp280_is_detected(void);
uint8_t bmp280_address(void);
uint32_t bmp280_reads(void);
uint32_t bmp280_failures(void);

/* One fresh reading: hundredths of a degree Celsius, and pascals. */
bool bmp280_read(int32_t *temperature, uint32_t *pressure);

#endif
