# Runs a script with the vendor's commands replaced: each is sent to the program that started this one, which knows what
# they accept, and whose answer is the command's result.
#
#   tclsh harness.tcl COMMANDS SCRIPT [ARGUMENT...]      COMMANDS: a file with a name a line
#
# A request is a line: the word CALL, file and line of the command, its name and arguments, all in hexadecimal. The answer
# is a line: OK or ERROR, and a value in hexadecimal. What the script prints is sent as PRINT.

namespace eval harness {
  variable output stdout

  proc encode {text} { return x[binary encode hex [encoding convertto utf-8 $text]] }
  proc decode {text} { return [encoding convertfrom utf-8 [binary decode hex [string range $text 1 end]]] }

  # The innermost frame that stands in a file: the script's own command.
  proc place {} {
    for {set level [info frame]} {$level > 0} {incr level -1} {
      set frame [info frame $level]
      if {[dict exists $frame file] && [file tail [dict get $frame file]] ne "harness.tcl"} {
        return [list [dict get $frame file] [dict get $frame line]]
      }
    }
    return [list ? 0]
  }

  proc call {name args} {
    lassign [place] file line
    set words [list CALL [encode $file] $line]
    foreach word [list $name {*}$args] { lappend words [encode $word] }
    real_puts stdout [join $words " "]
    flush stdout
    if {[gets stdin answer] < 0} { real_exit 3 }
    lassign $answer kind value
    if {$kind eq "ERROR"} { return -code error [decode $value] }
    return [decode $value]
  }

  proc print {args} {
    # puts, puts -nonewline, and puts CHANNEL: only what goes to the terminal is ours.
    set words $args
    if {[lindex $words 0] eq "-nonewline"} { set words [lrange $words 1 end] }
    if {[llength $words] == 2 && [lindex $words 0] ni {stdout stderr}} { return [real_puts {*}$args] }
    real_puts stdout "PRINT [encode [lindex $words end]]"
    flush stdout
  }

  proc leave {{code 0}} { call exit $code; real_exit $code }
}

rename puts real_puts
rename exit real_exit
interp alias {} puts {} harness::print
interp alias {} exit {} harness::leave

set harness::file [open [lindex $argv 0]]
foreach harness::name [split [string trim [read $harness::file]] "\n"] {
  namespace eval [namespace qualifiers ::$harness::name] {}
  interp alias {} ::$harness::name {} harness::call $harness::name
}
close $harness::file

set harness::script [lindex $argv 1]
set argv [lrange $argv 2 end]
set argc [llength $argv]
if {[catch {uplevel #0 [list source $harness::script]} harness::message harness::options]} {
  real_puts stdout "FAILED [harness::encode $harness::message] [harness::encode [dict get $harness::options -errorinfo]]"
  flush stdout
  real_exit 1
}
real_puts stdout DONE
flush stdout
real_exit 0
