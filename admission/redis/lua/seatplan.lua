#!lua
-- seatplan: changes the seats of a seated level by name (protocol.md 4).
--
-- KEYS  cfg level free seat
-- ARGV  gen level op(check|missing|drop|add) serial, then tokens; for add: score token of each
-- answers:
--   GEN                cfg has another generation, or none
--   NOLEVEL            no such level, or a counted one
--   CORRUPT            used + free is not the cap
--   LATE               drop, add: an edit with a higher serial was made before; nothing was changed
--   HELD token...      check, drop: these are held or sold; nothing was changed
--   MISSING cap token...  missing: these are not there; nothing was changed
--   OK n cap ver       n seats were dropped or added, the level has cap now; ver > 0 if any
--
-- A free seat that is there gets its new place in the order.
--
-- Safe to run twice: a seat that is not there is not dropped, one that is there
-- is not added. used + free = cap holds after each call. Safe to run late: who
-- stalled while others edited finds a higher serial.
local R = redis.call
local level, op = ARGV[2], ARGV[3]
local cfg = R('HMGET', KEYS[1], 'gen', 'kind:' .. level, 'cap:' .. level, 'edit')
if cfg[1] ~= ARGV[1] then return {'GEN'} end
local cap = tonumber(cfg[3])
if cfg[2] ~= 's' or not cap then return {'NOLEVEL'} end
if tonumber(R('GET', KEYS[2]) or '0') + R('ZCARD', KEYS[3]) ~= cap then return {'CORRUPT'} end
if op == 'missing' then
  local missing = {'MISSING', cap}
  for i = 5, #ARGV do
    if R('HEXISTS', KEYS[4], ARGV[i]) == 0 and not R('ZSCORE', KEYS[3], ARGV[i]) then missing[#missing + 1] = ARGV[i] end
  end
  return missing
end
local serial, last, n = tonumber(ARGV[4]), tonumber(cfg[4] or '0'), 0
if op ~= 'check' and serial < last then return {'LATE'} end
if op == 'add' then
  local free = {}
  for i = 5, #ARGV, 2 do
    if R('HEXISTS', KEYS[4], ARGV[i + 1]) == 0 then
      free[#free + 1] = ARGV[i]
      free[#free + 1] = ARGV[i + 1]
    end
  end
  R('HSET', KEYS[1], 'edit', serial)
  if #free > 0 then n = R('ZADD', KEYS[3], unpack(free)) end  -- how many were not there
else
  local held, gone = {'HELD'}, {}
  for i = 5, #ARGV do
    if R('HEXISTS', KEYS[4], ARGV[i]) == 1 then held[#held + 1] = ARGV[i] else gone[#gone + 1] = ARGV[i] end
  end
  if #held > 1 then return held end
  if op == 'check' then return {'OK', 0, cap, 0} end
  R('HSET', KEYS[1], 'edit', serial)             -- a write: WAIT on this connection now covers an earlier run
  if #gone > 0 then n = -R('ZREM', KEYS[3], unpack(gone)) end
end
if n == 0 then return {'OK', 0, cap, 0} end
R('HINCRBY', KEYS[1], 'cap:' .. level, n)
return {'OK', math.abs(n), cap + n, R('HINCRBY', KEYS[1], 'ver', 1)}
