/* The console port: USART1 on PA9 (out) and PA10 (in), 115200 8N1. */
#ifndef SERIAL_H
#define SERIAL_H

#include "chip.h"

void serial_start(void);

/* Sends at once; returns when the port takes the next character. */
void put_character(char character);
void put_text(const char *text);
void put_line(const char *text);
void put_number(uint32_t number);
/* At least this many digits, padded with leading zeros. */
void put_digits(uint32_t number, uint32_t digits);
void put_hex(uint8_t byte);

/* Returns when the last bit is on the wire. */
void serial_drain(void);

/* The next received byte, or -1. Bytes are collected by interrupt. */
int serial_get(void);
uint32_t serial_received(void);

#endif
