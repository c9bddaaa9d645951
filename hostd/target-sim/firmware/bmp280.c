#include "bmp280.h"

#include "i2c.h"
#include "serial.h"

#define REGISTER_CALIBRATION 0x88
#define REGISTER_ID 0xd0
#define REGISTER_RESET 0xe0
#define REGISTER_STATUS 0xf3
#define REGISTER_CONTROL 0xf4
#define REGISTER_CONFIGURATION 0xf5
#define REGISTER_DATA 0xf7

#define CHIP_ID 0x58
#define RESET_COMMAND 0xb6
/* Both measurements once, normal mode. */
#define CONTROL_VALUE 0x27
#define STATUS_TRIES_MAX 20u
#define CALIBRATION_BYTES 24u

static uint8_t address;
static bool is_detected;
static uint8_t calibration[CALIBRATION_BYTES];
static uint32_t reads, failures;

static bool report(const char *what, enum i2c_result result)
{
    put_text("BMP280 ");
    put_text(what);
    put_text(": result=");
    put_number(result);
    put_text("\r\n");
    return result == I2C_OK;
}

static uint16_t unsigned_word(uint32_t place)
{
    return (uint16_t)(calibration[place] | calibration[place + 1] << 8);
}

static int32_t signed_word(uint32_t place)
{
    return (int16_t)unsigned_word(place);
}

static bool is_at(uint8_t tried)
{
    put_text("BMP280 trying address ");
    put_hex(tried);
    put_text("\r\n");
    uint8_t id = 0;
    address = tried;
    report("read of register 0xd0", i2c_read(address, REGISTER_ID, &id, 1));
    if (id == CHIP_ID) {
        put_text("BMP280 chip id match=0x58 at address ");
        put_hex(address);
        put_text("\r\n");
        return true;
    }
    put_text("BMP280 not here, chip id read as ");
    put_hex(id);
    put_text("\r\n");
    return false;
}

static bool wait_until_ready(void)
{
    uint8_t status = 1;
    for (uint32_t tries = 1; tries <= STATUS_TRIES_MAX; tries++) {
        if (!report("read of register 0xf3", i2c_read(address, REGISTER_STATUS, &status, 1)))
            return false;
        put_text("BMP280 status=");
        put_hex(status);
        put_text(" try ");
        put_number(tries);
        put_text("\r\n");
        delay_ms(2);
        if (!(status & 1))
            return true;
    }
    return false;
}

bool bmp280_start(void)
{
    put_line("BMP280 start-up");
    is_detected = is_at(0x76) || is_at(0x77);
    if (!is_detected) {
        put_line("BMP280 init FAILED");
        return false;
    }
    bool is_set_up = report("write of 0xb6 to 0xe0", i2c_write(address, REGISTER_RESET, RESET_COMMAND));
    delay_ms(5);
    is_set_up = is_set_up && wait_until_ready() &&
                report("read of calibration", i2c_read(address, REGISTER_CALIBRATION, calibration, CALIBRATION_BYTES)) &&
                report("write of 0x00 to 0xf5", i2c_write(address, REGISTER_CONFIGURATION, 0)) &&
                report("write of 0x27 to 0xf4", i2c_write(address, REGISTER_CONTROL, CONTROL_VALUE));
    is_detected = is_set_up;
    put_line(is_set_up ? "BMP280 init OK" : "BMP280 init FAILED");
    return is_set_up;
}

bool bmp280_is_detected(void)
{
    return is_detected;
}

uint8_t bmp280_address(void)
{
    return address;
}

uint32_t bmp280_reads(void)
{
    return reads;
}

uint32_t bmp280_failures(void)
{
    return failures;
}

/* The fine temperature that both compensations start from; section 8.2 of the data sheet. */
static int32_t fine_temperature(int32_t raw)
{
    int32_t t1 = unsigned_word(0), t2 = signed_word(2), t3 = signed_word(4);
    int32_t first = ((raw >> 3) - (t1 << 1)) * t2 >> 11;
    int32_t offset = (raw >> 4) - t1;
    int32_t second = ((offset * offset) >> 12) * t3 >> 14;
    return first + second;
}

/* Pressure in pascals, by the 32-bit formula of the same section. */
static uint32_t compensated_pressure(int32_t raw, int32_t fine)
{
    int32_t p1 = unsigned_word(6), p2 = signed_word(8), p3 = signed_word(10);
    int32_t p4 = signed_word(12), p5 = signed_word(14), p6 = signed_word(16);
    int32_t p7 = signed_word(18), p8 = signed_word(20), p9 = signed_word(22);
    int32_t a = (fine >> 1) - 64000;
    int32_t b = ((a >> 2) * (a >> 2) >> 11) * p6;
    b += a * p5 * 2;
    b = (b >> 2) + p4 * 65536;
    a = ((p3 * ((a >> 2) * (a >> 2) >> 13) >> 3) + (p2 * a >> 1)) >> 18;
    a = (32768 + a) * p1 >> 15;
    if (a == 0)
        return 0;
    uint32_t pressure = ((uint32_t)(1048576 - raw) - (uint32_t)(b >> 12)) * 3125;
    if (pressure < 0x80000000u)
        pressure = (pressure << 1) / (uint32_t)a;
    else
        pressure = pressure / (uint32_t)a * 2;
    int32_t c = p9 * (int32_t)((pressure >> 3) * (pressure >> 3) >> 13) >> 12;
    int32_t d = (int32_t)(pressure >> 2) * p8 >> 13;
    return (uint32_t)((int32_t)pressure + ((c + d + p7) >> 4));
}

bool bmp280_read(int32_t *temperature, uint32_t *pressure)
{
    uint8_t data[6];
    if (!is_detected)
        return false;
    reads++;
    if (i2c_read(address, REGISTER_DATA, data, sizeof data) != I2C_OK) {
        failures++;
        return false;
    }
    int32_t raw_pressure = data[0] << 12 | data[1] << 4 | data[2] >> 4;
    int32_t raw_temperature = data[3] << 12 | data[4] << 4 | data[5] >> 4;
    int32_t fine = fine_temperature(raw_temperature);
    *temperature = (fine * 5 + 128) >> 8;
    *pressure = compensated_pressure(raw_pressure, fine);
    return true;
}
