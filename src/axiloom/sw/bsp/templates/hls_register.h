static inline void @camel@_Set_@register@(@camel@ *InstancePtr, u32 Data) {
    Xil_Out32(InstancePtr->Control_BaseAddress + @offset@, Data);
}
static inline u32 @camel@_Get_@register@(@camel@ *InstancePtr) {
    return Xil_In32(InstancePtr->Control_BaseAddress + @offset@);
}
