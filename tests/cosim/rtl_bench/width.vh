`define WIDTH 16
