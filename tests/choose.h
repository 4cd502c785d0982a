/* choose.h - main() of a test, which choose.c calls by another name. */
#ifndef TAMIS_TESTS_CHOOSE_H
#define TAMIS_TESTS_CHOOSE_H

int main(int argc, char **argv);

#endif
