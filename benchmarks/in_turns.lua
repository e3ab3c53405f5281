-- Runs one of sysbench's own scripts in turns, on one connection, so that another client can have its turns between them:
--
--   SCRIPT=oltp_point_select sysbench in_turns.lua … --events=1000 --time=0 run
--
-- Each line of the standard input is the number of events of a turn; a line "turn done" follows each turn. With
-- TEXT_TRANSACTIONS=1 BEGIN and COMMIT, which the scripts prepare, are sent as text.

require(os.getenv("SCRIPT"))

if os.getenv("TEXT_TRANSACTIONS") then
   function begin()
      con:query("BEGIN")
   end

   function commit()
      con:query("COMMIT")
   end
end

local run_event, leave = event, thread_done
local left = nil

local function tell()
   io.stdout:write("turn done\n")
   io.stdout:flush()
end

function event(...)
   if left == 0 then
      tell()
   end
   if left == nil or left == 0 then
      left = assert(tonumber(io.stdin:read("*l")), "expected a line with the number of events")
   end
   left = left - 1
   return run_event(...)
end

function thread_done(...)
   tell()
   return leave(...)
end
