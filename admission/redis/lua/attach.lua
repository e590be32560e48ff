#!lua
-- attach: binds a payment to an admitted booking (protocol.md 3.4, S5).
--
-- KEYS  pending bk cfg
-- ARGV  bid driver pid url hold_until_ms stash_ms
-- answers:
--   GONE               reaped or undone meanwhile
--   HAVE pid stage h   a payment is attached; its id counts
--   SUPERSEDED         another driver has taken over, or a soft hold
--   OK h               attached; h never less than before
--
-- The payment's page, if there is one, is kept for stash_ms beside its id.
--
-- Safe to run twice: the second answers HAVE with this pid.
local R = redis.call
local raw, home = R('HGET', KEYS[1], ARGV[1]), KEYS[1]
if not raw then raw, home = R('HGET', KEYS[2], ARGV[1]), KEYS[2] end
if not raw then return {'GONE'} end
local g, d, v, h, p, rest = string.match(raw, '^(%u)|(%d+)|(%d+)|(%d+)|([^| ]*)[^|]*|(.+)$')
if not g then return redis.error_reply('CORRUPT record of ' .. ARGV[1]) end
if g == 'E' or g == 'P' then return {'HAVE', p, g, tonumber(h)} end
if g ~= 'A' or d ~= ARGV[2] then return {'SUPERSEDED'} end
local pid, url = ARGV[3], ARGV[4]
if url ~= '' then
  local clock = R('TIME')
  local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
  pid = pid .. ' ' .. now + ARGV[6] .. ' ' .. url
end
h = math.max(tonumber(h), tonumber(ARGV[5]))
R('HSET', home, ARGV[1], table.concat({'E', d, v, h, pid, rest}, '|'))
return {'OK', h}
