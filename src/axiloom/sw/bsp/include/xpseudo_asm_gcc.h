#include "xpseudo_asm.h"
