#!lua
-- install_begin: clears a sale's keys for a plan (protocol.md 3.9, full rebuild).
--
-- KEYS  cfg, then every other key of the sale that may hold old state
-- ARGV  gen owner
-- answers:
--   {HAVE gen}         installed with this generation or a later one: nothing done
--   {OK}               cfg is bare: no gen in it, so nothing is admitted
--
-- Safe to run twice: until install_finish the sale admits nobody. The version
-- stays, so that what the public sees never goes back.
local R = redis.call
local cfg = R('HMGET', KEYS[1], 'gen', 'ver', 'replays')
if cfg[1] and tonumber(cfg[1]) >= tonumber(ARGV[1]) then return {'HAVE', tonumber(cfg[1])} end
for i = 1, #KEYS do R('UNLINK', KEYS[i]) end
R('HSET', KEYS[1], 'installing', ARGV[2], 'ver', cfg[2] or '0', 'replays', cfg[3] or '0')
return {'OK'}
