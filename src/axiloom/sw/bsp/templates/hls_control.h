#define @upper@_AT(InstancePtr, Register) ((InstancePtr)->Control_BaseAddress + @upper@_CONTROL_ADDR_##Register)
static inline void @camel@_Start(@camel@ *InstancePtr) {
    Xil_Out32(@upper@_AT(InstancePtr, AP_CTRL), (Xil_In32(@upper@_AT(InstancePtr, AP_CTRL)) & 0x80) | 0x01);
}
static inline u32 @camel@_IsDone(@camel@ *InstancePtr) { return Xil_In32(@upper@_AT(InstancePtr, AP_CTRL)) >> 1 & 1; }
static inline u32 @camel@_IsIdle(@camel@ *InstancePtr) { return Xil_In32(@upper@_AT(InstancePtr, AP_CTRL)) >> 2 & 1; }
static inline u32 @camel@_IsReady(@camel@ *InstancePtr) { return !(Xil_In32(@upper@_AT(InstancePtr, AP_CTRL)) & 1); }
static inline void @camel@_EnableAutoRestart(@camel@ *InstancePtr) { Xil_Out32(@upper@_AT(InstancePtr, AP_CTRL), 0x80); }
static inline void @camel@_DisableAutoRestart(@camel@ *InstancePtr) { Xil_Out32(@upper@_AT(InstancePtr, AP_CTRL), 0); }
static inline void @camel@_InterruptGlobalEnable(@camel@ *InstancePtr) { Xil_Out32(@upper@_AT(InstancePtr, GIE), 1); }
static inline void @camel@_InterruptGlobalDisable(@camel@ *InstancePtr) { Xil_Out32(@upper@_AT(InstancePtr, GIE), 0); }
static inline void @camel@_InterruptEnable(@camel@ *InstancePtr, u32 Mask) {
    Xil_Out32(@upper@_AT(InstancePtr, IER), Xil_In32(@upper@_AT(InstancePtr, IER)) | Mask);
}
static inline void @camel@_InterruptDisable(@camel@ *InstancePtr, u32 Mask) {
    Xil_Out32(@upper@_AT(InstancePtr, IER), Xil_In32(@upper@_AT(InstancePtr, IER)) & ~Mask);
}
static inline void @camel@_InterruptClear(@camel@ *InstancePtr, u32 Mask) { Xil_Out32(@upper@_AT(InstancePtr, ISR), Mask); }
static inline u32 @camel@_InterruptGetEnabled(@camel@ *InstancePtr) { return Xil_In32(@upper@_AT(InstancePtr, IER)); }
static inline u32 @camel@_InterruptGetStatus(@camel@ *InstancePtr) { return Xil_In32(@upper@_AT(InstancePtr, ISR)); }
