#!lua flags=allow-oom
-- demote: gives the seats of a booking back to the soft hold that it was made of,
-- until the deadline that the hold had (protocol.md 3.4, S8; 4).
--
-- KEYS  cfg seen bk pending dead seat soft was
-- ARGV  bid hold level driver
-- answers:
--   LEVEL level        the record is of another level: call again with its keys
--   ARMED, SUPERSEDED  as undo with mode quick answers them
--   NONE               no such booking, or no hold any more: an undo does the rest
--   BACK ver           the hold is there again, and the booking's id is barred
--
-- It is the quick undo and a hold by the same owner in one step, so that nobody
-- else gets the seats in between. Nothing was promised: the caller's admission was
-- not acknowledged, or has no payment.
--
-- Safe to run twice: the second finds no booking. allow-oom: it is a release.
local R = redis.call
local bid, hold, level = ARGV[1], ARGV[2], ARGV[3]
local RECORD = '^(%u)|(%d+)|(%d+)|(%d+)|([^|]*)|([^|]+)|([^|]+)|([^|]*)|([^|]*)|([^|]*)|(%d+)|(%d+)|([^|]*)|([^|]*)|([^|]+)|([^|]+)$'
local raw, home = R('HGET', KEYS[4], bid), KEYS[4]
if not raw then raw, home = R('HGET', KEYS[3], bid), KEYS[3] end
local f = raw and {string.match(raw, RECORD)}
if not f then return {'NONE'} end
if not f[1] then return redis.error_reply('CORRUPT record of ' .. bid) end
if f[7] ~= level then return {'LEVEL', f[7]} end
if f[1] ~= 'A' then return {'ARMED'} end
if f[2] ~= ARGV[4] then return {'SUPERSEDED'} end
local was = R('GET', KEYS[8])
if not was or string.sub(was, 1, #hold + 1) ~= hold .. ' ' then return {'NONE'} end
local old = string.sub(was, #hold + 2)
local o = {string.match(old, RECORD)}
local clock = R('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
if o[1] ~= 'S' or tonumber(o[4]) <= now or o[15] ~= f[15] or R('HGET', KEYS[2], f[6]) ~= bid then return {'NONE'} end
local owners = {}
for s in string.gmatch(f[15], '[^,]+') do
  if R('HGET', KEYS[6], s) ~= bid then return {'NONE'} end
  owners[#owners + 1] = s
  owners[#owners + 1] = hold
end

-- only writes from here on
R('ZADD', KEYS[5], now, bid)                     -- bars a delayed copy of the promotion
R('ZREM', KEYS[5], hold)
R('HSET', KEYS[6], unpack(owners))
R('HSET', KEYS[2], f[6], hold)
R('HDEL', home, bid)
R('HSET', KEYS[3], hold, old)
R('ZADD', KEYS[7], o[4], hold)
R('DEL', KEYS[8])
return {'BACK', R('HINCRBY', KEYS[1], 'ver', 1)}
