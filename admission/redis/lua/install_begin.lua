#!lua
-- install_begin: clears a sale's keys for a plan (protocol.md 3.9, full rebuild).
--
-- KEYS  cfg, then every other key of the sale that may hold old state
-- ARGV  gen owner layout
-- answers:
--   {HAVE gen}         installed with this generation or a later one: nothing done
--   {OK foreign}       cfg is bare: no gen in it, so nothing is admitted; foreign is 1
--                      if the keys were of another layout: there may be some that
--                      are not among KEYS, and install_level writes ours
--
-- Safe to run twice: until install_finish the sale admits nobody, and foreign is 1
-- again. The version stays, so that what the public sees never goes back.
local R = redis.call
local cfg = R('HMGET', KEYS[1], 'gen', 'ver', 'replays', 'layout')
if cfg[1] and tonumber(cfg[1]) >= tonumber(ARGV[1]) then return {'HAVE', tonumber(cfg[1])} end
local foreign = cfg[2] and cfg[4] ~= ARGV[3]
for i = 1, #KEYS do R('UNLINK', KEYS[i]) end
R('HSET', KEYS[1], 'installing', ARGV[2], 'ver', cfg[2] or '0', 'replays', cfg[3] or '0')
if not foreign then R('HSET', KEYS[1], 'layout', ARGV[3]) elseif cfg[4] then R('HSET', KEYS[1], 'layout', cfg[4]) end
return {'OK', foreign and 1 or 0}
