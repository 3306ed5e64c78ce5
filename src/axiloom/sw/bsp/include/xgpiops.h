#error "xgpiops.h: the simulated system has no GPIO of the processing system in the model"
