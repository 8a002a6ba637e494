"""What a function reads besides its arguments, which effects it has, and how to undo them.

bytecode       what the instructions of a function tell before it runs
ambient        state of the process and of the thread
classes        what the class of an object tells about it
constants      objects of libraries whose changes code can't observe
allowance      how much may be read for one recording
judge          whether a call may be repeated
listeners      call sites reported to a recording, and its answers
answers        the answers of a recording for clocks and for `id`
frames         what called the code that runs
loggers        loggers that log nothing
library_code   code of libraries that runs while a function is recorded
call_monitor   the calls that run while a function is recorded
observer       the code that runs while it isn't
monitoring     how Python 3.12 and later reports these calls
foreseen       which code a rehearsal may run, and what keeps older objects while it does
halting        stop a recording, whatever the program catches
quick_profile  a monitor in machine code, for older versions of Python
warned         warnings that a call gives, and that a replay gives again
places         kinds of places: how to look, compare and put back; how to add one
reading        one reading: `looks` notes each place and what was there
cached_functions  functions behind `lru_cache`: what they hold and have forgotten
value_reader   read numbers, arrays and containers
code_reader    read functions, classes and modules
instance_reader  read objects by their attributes
reader         read objects of every kind
state          what certain code reads, and whether it's unchanged (`State.holds`)
effects        what a call stores, and how a replay stores it
ends           what ends where a replay stores, and whether code hears of it
snapshot       what a rehearsal may touch, and how to undo it
"""
