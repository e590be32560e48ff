#!lua
-- control: sets fields of cfg under the generation: open, times, hold, roster version.
--
-- KEYS  cfg
-- ARGV  gen public(0|1) field value [field value...]
-- answers:
--   {GEN}              the generation has moved on, or the sale is not installed
--   {OK ver}           ver > 0 if public: the version was raised
--
-- Safe to run twice: values are absolute; a repeat raises the version once more.
local R = redis.call
if R('HGET', KEYS[1], 'gen') ~= ARGV[1] then return {'GEN'} end
R('HSET', KEYS[1], unpack(ARGV, 3))
return {'OK', ARGV[2] == '1' and R('HINCRBY', KEYS[1], 'ver', 1) or 0}
