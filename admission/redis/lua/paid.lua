#!lua flags=allow-oom
-- paid: puts right how many seats are paid (protocol.md 3.13). The scripts keep
-- these numbers with the records; a process of an older build settled without.
--
-- KEYS  cfg
-- ARGV  gen have want (level have want)...    the first pair is the sale's total
-- answers:
--   {OK ver}     every number that was have is want; ver rose, for the public sees it
--   {MOVED}      one of them is not have any more: somebody counted meanwhile
--   {GEN}        the generation has moved on, or the sale is not installed
--
-- Safe to run twice: the second finds want in the place of have, and moves nothing.
local R = redis.call
local key = KEYS[1]
if R('HGET', key, 'gen') ~= ARGV[1] then return {'GEN'} end
local fields = {'paid'}
for i = 4, #ARGV, 3 do fields[#fields + 1] = 'paid:' .. ARGV[i] end
local now = R('HMGET', key, unpack(fields))
for i = 1, #fields do
  if (now[i] or '0') ~= ARGV[3 * i - 1] then return {'MOVED'} end
end
for i = 1, #fields do R('HSET', key, fields[i], ARGV[3 * i]) end
return {'OK', R('HINCRBY', key, 'ver', 1)}
