"""AXI GPIO by its driver, by its register map and by MMIO."""

from pynq import MMIO, Overlay
from pynq.lib import AxiGPIO

overlay = Overlay("fifo.bit")
leds = AxiGPIO(overlay.ip_dict["leds_gpio"]).channel1
leds.setdirection("out")
leds[0:4].write(0b1010)
assert overlay.leds_gpio.read(0) == 0b1010
leds[0].on()
assert int(overlay.leds_gpio.register_map.GPIO_DATA) == 0b1011
overlay.leds_gpio.write(0, 6)
assert MMIO(overlay.ip_dict["leds_gpio"]["phys_addr"], 16).read(0) == 6
print("right")
