/* LookupConfig of a driver: by the device's number, with SDT by its address. */
#ifdef SDT
#define LOOKUP(Driver, Function, Base, Id, Count)                                                  \
    extern Driver##_Config Driver##_ConfigTable[];                                                 \
    Driver##_Config *Function(UINTPTR BaseAddress) {                                               \
        for (u32 i = 0; i < (Count); i++)                                                          \
            if (Driver##_ConfigTable[i].Base == BaseAddress || !BaseAddress)                       \
                return &Driver##_ConfigTable[i];                                                   \
        return NULL;                                                                               \
    }
#else
#define LOOKUP(Driver, Function, Base, Id, Count)                                                  \
    extern Driver##_Config Driver##_ConfigTable[];                                                 \
    Driver##_Config *Function(Id DeviceId) { return DeviceId < (Count) ? &Driver##_ConfigTable[DeviceId] : NULL; }
#endif
