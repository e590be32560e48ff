#!lua
-- execute_acquire: one caller per payment id (protocol.md 2.2.4).
--
-- KEYS  guard
-- ARGV  holder caller ttl_ms
-- answers: 1 the guard is this caller's, 0 it is another's.
--
-- Safe to run twice: the same caller finds itself. Another call of the same
-- holder is refused.
local R = redis.call
local value, held = ARGV[1] .. ' ' .. ARGV[2], R('GET', KEYS[1])
if held and held ~= value then return 0 end
R('SET', KEYS[1], value, 'PX', ARGV[3])
return 1
