#!lua
-- extend: gives a soft hold more time (protocol.md 3.4, S7; 4).
--
-- KEYS  cfg bk soft
-- ARGV  hold level gen ttl_ms max_ms
-- answers:
--   GEN                cfg has another generation, or none
--   GONE               no such soft hold, or its deadline has passed
--   LEVEL level        the hold is of another level: call again with its keys
--   OK h t now record ver  held until h: never longer than max_ms from t, the first
--                      hold, and never shorter than it was; ver > 0 if it changed
--
-- Safe to run twice: the second extends from a moment later.
local R = redis.call
local cfg = R('HGET', KEYS[1], 'gen')
if cfg ~= ARGV[3] then return {'GEN'} end
local raw = R('HGET', KEYS[2], ARGV[1])
if not raw then return {'GONE'} end
local g, d, v, h, rest = string.match(raw, '^(%u)|(%d+)|(%d+)|(%d+)|(.+)$')
local level, t = string.match(rest or '', '^[^|]*|[^|]+|([^|]+)|[^|]*|[^|]*|[^|]*|(%d+)|')
if not t then return redis.error_reply('CORRUPT record of ' .. ARGV[1]) end
local clock = R('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
h, t = tonumber(h), tonumber(t)
if g ~= 'S' or h <= now then return {'GONE'} end
if level ~= ARGV[2] then return {'LEVEL', level} end
local until_ms = math.max(h, math.min(now + tonumber(ARGV[4]), t + tonumber(ARGV[5])))
if until_ms == h then return {'OK', h, t, now, raw, 0} end
local record = table.concat({g, d, v, until_ms, rest}, '|')
R('HSET', KEYS[2], ARGV[1], record)
R('ZADD', KEYS[3], until_ms, ARGV[1])
return {'OK', until_ms, t, now, record, R('HINCRBY', KEYS[1], 'ver', 1)}
