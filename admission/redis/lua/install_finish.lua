#!lua
-- install_finish: the sale's last keys, its generation among them.
--
-- KEYS  cfg total, then level free of each level
-- ARGV  owner gen open opens_ms closes_ms hold_ms cap roster, then the levels' names
-- answers:
--   {LOST}             somebody else has begun an install
--   {LEVEL name used free cap}  the level's tokens do not add up
--   {TOTAL total used} the levels do not add up to the total
--   {OK ver}
--
-- Safe to run twice: the second finds its own generation and answers OK, with a
-- write, so that a WAIT behind it covers the first.
local R = redis.call
local cfg = R('HMGET', KEYS[1], 'installing', 'gen', 'installed', 'ver')
if cfg[2] == ARGV[2] and cfg[3] == ARGV[1] then
  R('HSET', KEYS[1], 'installed', ARGV[1])
  return {'OK', tonumber(cfg[4])}
end
if cfg[1] ~= ARGV[1] then return {'LOST'} end
local sum = 0
for i = 9, #ARGV do
  local at = 2 * (i - 9)
  local used, free = tonumber(R('GET', KEYS[3 + at]) or '0'), R('ZCARD', KEYS[4 + at])
  local cap = tonumber(R('HGET', KEYS[1], 'cap:' .. ARGV[i]) or '-1')
  if used + free ~= cap then return {'LEVEL', ARGV[i], used, free, cap} end
  sum = sum + used
end
local total = tonumber(R('GET', KEYS[2]) or '0')
if total ~= sum then return {'TOTAL', total, sum} end
R('HSET', KEYS[1], 'open', ARGV[3], 'opens_ms', ARGV[4], 'closes_ms', ARGV[5], 'hold_ms', ARGV[6],
  'cap', ARGV[7], 'roster', ARGV[8], 'gen', ARGV[2], 'installed', ARGV[1])
R('HDEL', KEYS[1], 'installing')
return {'OK', R('HINCRBY', KEYS[1], 'ver', 1)}
