/* The command line on the console port. */
#ifndef CONSOLE_H
#define CONSOLE_H

void console_start(void);

/* Reads the received bytes and runs complete lines. */
void console_poll(void);

#endif
