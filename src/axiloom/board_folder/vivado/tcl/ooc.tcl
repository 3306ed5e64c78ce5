# One core alone, out of context: what it takes and how fast it is, in minutes instead of a whole build.
#
#   vivado -mode batch -source vivado/ooc.tcl                   the first core
#   vivado -mode batch -source vivado/ooc.tcl -tclargs CORE     the core of that name (a folder of ip/)
#
# Leaves in build/ooc_CORE/: a checkpoint of the synthesised core and its reports.

set here [file dirname [file normalize [info script]]]
source [file join $here settings.tcl]

set core [expr {$argc > 0 ? [lindex $argv 0] : [lindex $cores 0]}]
if {$core ni $cores} {
  error "there is no core $core; there are [join $cores {, }]"
}
set output [file join $root build ooc_$core]
file mkdir $output

create_project -in_memory -part $part
foreach file [lsort [glob [file join $root ip $core hdl *]]] {
  if {[file extension $file] eq ".sv"} {
    read_verilog -sv $file
  } else {
    read_verilog $file
  }
}
read_xdc -mode out_of_context [file join $root constraints ooc.xdc]
synth_design -top $core -part $part -mode out_of_context
opt_design
place_design
route_design
write_checkpoint -force [file join $output $core.dcp]
report_utilization -file [file join $output utilization.rpt]
report_timing_summary -file [file join $output timing.rpt] -max_paths 10
puts "Reports of $core are in $output"
