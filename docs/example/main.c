/* The program that the example pipeline builds. */
#include <stdio.h>

int main(void) {
    puts(GREETING);
    return 0;
}
