#!lua flags=no-writes
-- status: one consistent reading of a sale (protocol.md 3.13).
--
-- KEYS  cfg total bk pending roster, then level free of each level
-- ARGV  the levels' names
-- answers:
--   nil                no cfg
--   now_ms, {gen ver open opens_ms closes_ms hold_ms cap roster}, total, bookings,
--   pending, roster size, paid, then kind cap used free paid of each level
--
-- Reads only.
local R = redis.call
local cfg = R('HMGET', KEYS[1], 'gen', 'ver', 'open', 'opens_ms', 'closes_ms', 'hold_ms', 'cap', 'roster')
if not cfg[1] then return false end
local clock = R('TIME')
local out = {clock[1] * 1000 + math.floor(clock[2] / 1000), cfg,
  tonumber(R('GET', KEYS[2]) or '0'), R('HLEN', KEYS[3]) + R('HLEN', KEYS[4]), R('HLEN', KEYS[4]), R('HLEN', KEYS[5]),
  tonumber(R('HGET', KEYS[1], 'paid') or '0')}
for i, level in ipairs(ARGV) do
  local c = R('HMGET', KEYS[1], 'kind:' .. level, 'cap:' .. level, 'paid:' .. level)
  out[#out + 1] = c[1] or ''
  out[#out + 1] = tonumber(c[2] or '0')
  out[#out + 1] = tonumber(R('GET', KEYS[4 + 2 * i]) or '0')
  out[#out + 1] = R('ZCARD', KEYS[5 + 2 * i])
  out[#out + 1] = tonumber(c[3] or '0')
end
return out
