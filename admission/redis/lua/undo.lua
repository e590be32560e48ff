#!lua flags=allow-oom
-- undo: gives a booking's seats back (protocol.md 3.4, S2).
--
-- KEYS  cfg seen bk pending dead total level free seat roster last soft owner
-- ARGV  bid level mode(quick|abort|release) driver
-- answers:
--   LEVEL level        the record is of another level: call again with its keys
--   ARMED              quick: a payment is attached, the booking has gone on
--   SUPERSEDED         quick: another driver has taken over
--   GONE               nothing to give back; the bid is barred all the same
--   UNDONE n ver       n seats are free again; ver > 0 if the public state changed
--
-- Safe to run twice: the second finds no record and answers GONE. allow-oom: a
-- release must work when memory is full. Only what is this bid's is touched, so
-- a stale undo can't harm the candidate's next booking.
local R = redis.call
local bid, level, mode = ARGV[1], ARGV[2], ARGV[3]
local RECORD = '^(%u)|(%d+)|(%d+)|(%d+)|([^|]*)|([^|]+)|([^|]+)|([^|]*)|([^|]*)|([^|]*)|(%d+)|(%d+)|([^|]*)|([^|]*)|([^|]+)|([^|]+)$'
local raw, home = R('HGET', KEYS[4], bid), KEYS[4]
if not raw then raw, home = R('HGET', KEYS[3], bid), KEYS[3] end
local f = raw and {string.match(raw, RECORD)}
if f then
  if not f[1] then return redis.error_reply('CORRUPT record of ' .. bid) end
  if f[7] ~= level then return {'LEVEL', f[7]} end
  if mode == 'quick' and f[1] ~= 'S' then
    if f[1] ~= 'A' then return {'ARMED'} end
    if f[2] ~= ARGV[4] then return {'SUPERSEDED'} end
  end
end
local clock = R('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local cfg = R('HMGET', KEYS[1], 'cap', 'kind:' .. level)
local edge = cfg[2] == 's' or R('ZCARD', KEYS[8]) == 0 or R('GET', KEYS[6]) == cfg[1]

R('ZADD', KEYS[5], now, bid)                   -- bars a delayed copy of the admission
R('ZREMRANGEBYSCORE', KEYS[5], '-inf', now - 600000)
if not f then return {'GONE'} end
local ch = f[6]
R('HDEL', home, bid)
if R('HGET', KEYS[2], ch) == bid then R('HDEL', KEYS[2], ch) end
R('ZREM', KEYS[12], bid)
if mode == 'release' and f[8] ~= '' then R('HSET', KEYS[11], ch, bid .. '|' .. f[8] .. '|' .. f[9]) end
local score, n = string.gmatch(f[16], '[^,]+'), 0
for s in string.gmatch(f[15], '[^,]+') do
  local o = score()
  local ours
  if cfg[2] == 's' then
    ours = R('HGET', KEYS[9], s) == bid and R('HDEL', KEYS[9], s)
  else                                         -- a counted token's owner has a slot of 40 bytes, at its number
    o = string.match(s, '%d+$') or o
    ours = string.match(R('GETRANGE', KEYS[13], o * 40, o * 40 + 39), '^[%w_-]*') == bid
      and R('SETRANGE', KEYS[13], o * 40, string.rep('\0', 40))
  end
  if ours then
    R('ZADD', KEYS[8], o, s)
    n = n + 1
  end
end
R('DECRBY', KEYS[6], n)
R('DECRBY', KEYS[7], n)
if f[1] == 'P' then
  R('HINCRBY', KEYS[1], 'paid:' .. level, -n)
  R('HINCRBY', KEYS[1], 'paid', -n)
end
return {'UNDONE', n, edge and R('HINCRBY', KEYS[1], 'ver', 1) or 0}
