# From nothing to a bitstream:
#
#   vivado -mode batch -source vivado/build.tcl                     everything
#   vivado -mode batch -source vivado/build.tcl -tclargs design     stop after the block design
#   vivado -mode batch -source vivado/build.tcl -tclargs all 8      eight jobs at a time (default 4)
#
# Written for the releases 2022.1 to 2024.2. Leaves in build/: the bitstream and its description with the same stem
# (NAME.bit, NAME.hwh), the hardware platform (NAME.xsa), reports, and the project for Vivado's own window.

set here [file dirname [file normalize [info script]]]
source [file join $here settings.tcl]

set goal [expr {$argc > 0 ? [lindex $argv 0] : "all"}]
set jobs [expr {$argc > 1 ? [lindex $argv 1] : 4}]
if {$goal ni {design all}} {
  error "the goal must be design or all, not $goal"
}

set release [version -short]
if {![regexp {^(\d+)\.\d+} $release -> year] || $year < 2022 || $year > 2024} {
  puts "WARNING: these scripts were written for Vivado 2022.1 to 2024.2; this is $release"
}

# A project of its own, with our cores in the catalogue.
set output [file join $root build]
file mkdir $output
create_project -force $name [file join $output project] -part $part
if {$board_part ne ""} {
  set found [get_board_parts -quiet -latest_file_version $board_part]
  if {$found eq ""} {
    error "Vivado has no files of the board $board_part: install them (Tools, Vivado Store, Boards)"
  }
  set_property board_part $found [current_project]
}
if {[llength $board_connections] > 0} {
  set_property board_connections $board_connections [current_project]
}
set_property target_language Verilog [current_project]
set_property ip_repo_paths [list [file join $root ip]] [current_project]
update_ip_catalog -rebuild

set design system
source [file join $here block_design.tcl]
set bd [get_files $design.bd]
make_wrapper -files $bd -top -import
set_property top ${design}_wrapper [current_fileset]
add_files -fileset constrs_1 -norecurse [file join $root constraints board.xdc]
update_compile_order -fileset sources_1
if {$goal eq "design"} {
  puts "The block design is in [file join $output project $name.xpr]"
  return
}

# Synthesis, then placement and routing; a run that fails stops the script.
generate_target all $bd
foreach {run step} {synth_1 {} impl_1 write_bitstream} {
  if {$step eq ""} {
    launch_runs $run -jobs $jobs
  } else {
    launch_runs $run -to_step $step -jobs $jobs
  }
  wait_on_run $run
  if {[get_property PROGRESS [get_runs $run]] ne "100%"} {
    error "$run has failed: [get_property STATUS [get_runs $run]]; see [get_property DIRECTORY [get_runs $run]]/runme.log"
  }
}

# Reports, for people and for reports.py, which makes report.json of them.
open_run impl_1
report_utilization -file [file join $output utilization.rpt]
report_timing_summary -file [file join $output timing.rpt] -max_paths 10
report_power -file [file join $output power.rpt]

# The pair that PYNQ's Overlay loads has one stem; the .hwh is where the block design was generated.
file copy -force [file join [get_property DIRECTORY [get_runs impl_1]] ${design}_wrapper.bit] [file join $output $name.bit]
set described ""
foreach sub {gen srcs} {
  set candidate [file join $output project $name.$sub sources_1 bd $design hw_handoff $design.hwh]
  if {[file exists $candidate]} {
    set described $candidate
    break
  }
}
if {$described eq ""} {
  error "the block design's description, $design.hwh, is not below [file join $output project]"
}
file copy -force $described [file join $output $name.hwh]
write_hw_platform -fixed -include_bit -force [file join $output $name.xsa]

set slack [get_property SLACK [get_timing_paths -delay_type max]]
if {$slack < 0} {
  error "timing is not met: the slowest path is [expr {-$slack}] ns too long; see [file join $output timing.rpt]"
}
puts "Timing is met by $slack ns. The bitstream is [file join $output $name.bit]"
