#!lua flags=no-writes
-- holds: whether the candidate has anything that admit would answer with before
-- it looks at caps (protocol.md 3.12).
--
-- KEYS  seen last
-- ARGV  ch
-- answers: 1 a booking, or a released one whose key may be repeated; 0 nothing.
--
-- Reads only.
local R = redis.call
if R('HEXISTS', KEYS[1], ARGV[1]) == 1 then return 1 end
return R('HEXISTS', KEYS[2], ARGV[1])
