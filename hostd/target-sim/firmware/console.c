#include "console.h"

#include "bmp280.h"
#include "i2c.h"
#include "serial.h"

#define LINE_MAX 63u

static char line[LINE_MAX + 1];
static uint32_t length, commands;
static bool after_return;

static void prompt(void)
{
    put_text("> ");
}

static void put_temperature(int32_t hundredths)
{
    uint32_t size = (uint32_t)(hundredths < 0 ? -hundredths : hundredths);
    put_text("  temperature=");
    if (hundredths < 0)
        put_character('-');
    put_number(size / 100);
    put_character('.');
    put_digits(size % 100, 2);
    put_line(" C");
}

static void put_value(const char *key, uint32_t value)
{
    put_text(key);
    put_number(value);
    put_text("\r\n");
}

static void help(void)
{
    put_line("commands:");
    put_line("  help      this list");
    put_line("  status    what is known, with a fresh reading");
    put_line("  i2c scan  who answers on the bus");
    put_line("  rotors on, rotors off");
    put_line("  reset     start again");
}

static void status(void)
{
    int32_t temperature;
    uint32_t pressure;
    bool is_read = bmp280_read(&temperature, &pressure);
    put_line("status:");
    put_value("  step_pin=", GPIO_ODR(GPIOC) >> 10 & 1);
    put_value("  direction_pin=", GPIO_ODR(GPIOC) >> 11 & 1);
    put_text("  bmp280_detected=");
    put_line(bmp280_is_detected() ? "yes" : "no");
    if (bmp280_is_detected()) {
        put_text("  bmp280_address=");
        put_hex(bmp280_address());
        put_text("\r\n");
    }
    put_line("  distance_sensor=no");
    if (is_read) {
        put_temperature(temperature);
        put_value("  pressure_pa=", pressure);
    } else {
        put_line("  bmp280 read failed");
    }
    put_value("  reads=", bmp280_reads());
    put_value("  failures=", bmp280_failures());
    put_value("  received=", serial_received());
    put_value("  commands=", commands);
    put_value("  tick_ms=", ticks_ms);
}

static void scan(void)
{
    for (uint8_t address = 0x08; address <= 0x77; address++) {
        enum i2c_result result = i2c_probe(address);
        if (result == I2C_OK) {
            put_text("found ");
            put_hex(address);
            put_text("\r\n");
        } else if (result == I2C_BUSY) {
            put_line("the bus is not free");
            return;
        }
    }
    put_line("scan done");
}

static void reset(void)
{
    put_line("RESET: rebooting");
    serial_drain();
    delay_ms(20);
    SCB_AIRCR = 0x05fa0004;
    for (;;) {
    }
}

static void rotors(bool on)
{
    GPIO_BSRR(GPIOC) = on ? 3u << 10 : 3u << 26;
    put_line(on ? "rotors on" : "rotors off");
}

static bool is_command(const char *name)
{
    const char *typed = line;
    while (*name && *name == *typed) {
        name++;
        typed++;
    }
    return *name == *typed;
}

static void run(void)
{
    if (length == 0)
        return;
    commands++;
    if (is_command("help")) {
        help();
    } else if (is_command("status")) {
        status();
    } else if (is_command("reset") || is_command("reboot")) {
        reset();
    } else if (is_command("i2c scan")) {
        scan();
    } else if (is_command("rotors on")) {
        rotors(true);
    } else if (is_command("rotors off")) {
        rotors(false);
    } else {
        put_text("unknown command: ");
        put_line(line);
    }
}

static void take(char character)
{
    bool is_second_half = character == '\n' && after_return;
    after_return = character == '\r';
    if (is_second_half)
        return;
    if (character == '\r' || character == '\n') {
        put_text("\r\n");
        line[length] = 0;
        run();
        length = 0;
        prompt();
    } else if (character == '\b' || character == 127) {
        if (length) {
            length--;
            put_text("\b \b");
        }
    } else if (character >= 32 && character < 127 && length < LINE_MAX) {
        line[length++] = character;
        put_character(character);
    }
}

void console_start(void)
{
    put_line("type help for a list of commands");
    prompt();
}

void console_poll(void)
{
    int byte;
    while ((byte = serial_get()) >= 0)
        take((char)byte);
}
