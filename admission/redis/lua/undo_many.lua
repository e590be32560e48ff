#!lua flags=allow-oom
-- undo_many: the quick undo of many bookings of one sale (protocol.md 3.11).
--
-- KEYS  cfg seen bk pending dead total seat, then level free soft owner of each level
-- ARGV  levels, their names, then bid level# driver of each booking
-- answers: one per booking, as undo with mode quick gives them, in a list.
--
-- Safe to run twice, as undo is.
local R = redis.call
local RECORD = '^(%u)|(%d+)|(%d+)|(%d+)|([^|]*)|([^|]+)|([^|]+)|([^|]*)|([^|]*)|([^|]*)|(%d+)|(%d+)|([^|]*)|([^|]*)|([^|]+)|([^|]+)$'
local levels = tonumber(ARGV[1])
local clock = R('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

local function undo(bid, at, driver)
  local level, key = ARGV[1 + at], 7 + 4 * (at - 1)
  local raw, home = R('HGET', KEYS[4], bid), KEYS[4]
  if not raw then raw, home = R('HGET', KEYS[3], bid), KEYS[3] end
  local f = raw and {string.match(raw, RECORD)}
  if f then
    if not f[1] then return {'CORRUPT'} end
    if f[7] ~= level then return {'LEVEL', f[7]} end
    if f[1] ~= 'S' then
      if f[1] ~= 'A' then return {'ARMED'} end
      if f[2] ~= driver then return {'SUPERSEDED'} end
    end
  end
  local cfg = R('HMGET', KEYS[1], 'cap', 'kind:' .. level)
  local edge = cfg[2] == 's' or R('ZCARD', KEYS[key + 2]) == 0 or R('GET', KEYS[6]) == cfg[1]
  R('ZADD', KEYS[5], now, bid)
  if not f then return {'GONE'} end
  local ch = f[6]
  R('HDEL', home, bid)
  if R('HGET', KEYS[2], ch) == bid then R('HDEL', KEYS[2], ch) end
  R('ZREM', KEYS[key + 3], bid)
  local score, n = string.gmatch(f[16], '[^,]+'), 0
  for s in string.gmatch(f[15], '[^,]+') do
    local o = score()
    local ours
    if cfg[2] == 's' then
      ours = R('HGET', KEYS[7], s) == bid and R('HDEL', KEYS[7], s)
    else                                       -- a counted token's owner has a slot of 40 bytes, at its number
      o = string.match(s, '%d+$') or o
      ours = string.match(R('GETRANGE', KEYS[key + 4], o * 40, o * 40 + 39), '^[%w_-]*') == bid
        and R('SETRANGE', KEYS[key + 4], o * 40, string.rep('\0', 40))
    end
    if ours then
      R('ZADD', KEYS[key + 2], o, s)
      n = n + 1
    end
  end
  R('DECRBY', KEYS[6], n)
  R('DECRBY', KEYS[key + 1], n)
  return {'UNDONE', n, edge and R('HINCRBY', KEYS[1], 'ver', 1) or 0}
end

local out = {}
for i = levels + 2, #ARGV, 3 do
  out[#out + 1] = undo(ARGV[i], tonumber(ARGV[i + 1]), ARGV[i + 2])
end
R('ZREMRANGEBYSCORE', KEYS[5], '-inf', now - 600000)
return out
