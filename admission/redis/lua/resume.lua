#!lua
-- resume: takes over a silent driver (protocol.md 3.4, S10; 3.5).
--
-- KEYS  pending bk cfg
-- ARGV  bid idk inh silent_ms
-- answers:
--   GONE
--   MISMATCH           other key or other input
--   HAVE stage         a payment is attached, or a soft hold
--   BUSY               the driver is not silent long enough
--   OK driver record   the driver number is ours
--
-- Safe to run twice: the second answers BUSY, and nobody drives until the
-- silence has passed again.
local R = redis.call
local raw, home = R('HGET', KEYS[1], ARGV[1]), KEYS[1]
if not raw then raw, home = R('HGET', KEYS[2], ARGV[1]), KEYS[2] end
if not raw then return {'GONE'} end
local g, d, v, h, p, ch, level, idk, inh = string.match(raw, '^(%u)|(%d+)|(%d+)|(%d+)|([^|]*)|([^|]*)|([^|]*)|([^|]*)|([^|]*)|')
if not g then return redis.error_reply('CORRUPT record of ' .. ARGV[1]) end
if ARGV[2] == '' or idk ~= ARGV[2] or inh ~= ARGV[3] then return {'MISMATCH'} end
if g ~= 'A' then return {'HAVE', g} end
local clock = R('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
if now - tonumber(v) < tonumber(ARGV[4]) then return {'BUSY'} end
local rest = string.match(raw, '^%u|%d+|%d+|(.+)$')
local driver = tonumber(d) + 1
local record = table.concat({'A', driver, now, rest}, '|')
R('HSET', home, ARGV[1], record)
return {'OK', driver, record}
