"""Generated drivers and what chooses them: the cost model beside simulation, kernels, code by hand."""
