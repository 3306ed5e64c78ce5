# The cores again as Vivado itself would package them: not needed (component.xml is there already), but what Vivado
# finds in the Verilog can be compared with it, and the result has the checksums and the window of its release.
#
#   vivado -mode batch -source vivado/package_ip.tcl
#
# Leaves in build/ip/CORE/: component.xml, the Verilog and the window's layout.

set here [file dirname [file normalize [info script]]]
source [file join $here settings.tcl]

foreach core $cores {
  set target [file join $root build ip $core]
  file delete -force $target
  file mkdir $target
  file copy [file join $root ip $core hdl] [file join $target hdl]

  create_project -force package_$core [file join $root build package_$core] -part $part
  add_files -norecurse [lsort [glob [file join $target hdl *]]]
  set_property top $core [current_fileset]
  update_compile_order -fileset sources_1

  ipx::package_project -root_dir $target -vendor axiloom -library user -taxonomy /Axiloom -force
  set packaged [ipx::current_core]
  set_property name $core $packaged
  set_property version 1.0 $packaged
  set_property display_name "Axiloom $core" $packaged
  foreach bus [ipx::get_bus_interfaces -of_objects $packaged] {
    set bus_name [get_property NAME $bus]
    if {[string match {[sm]_axi*} $bus_name]} {
      ipx::associate_bus_interfaces -busif $bus_name -clock aclk $packaged
    }
  }
  ipx::create_xgui_files $packaged
  ipx::update_checksums $packaged
  if {[ipx::check_integrity -quiet $packaged] == 0} {
    puts "WARNING: Vivado finds faults in $core: run ipx::check_integrity on it"
  }
  ipx::save_core $packaged
  close_project
  puts "$core is packaged in $target"
}
