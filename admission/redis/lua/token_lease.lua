#!lua
-- token_lease: who may ask a gateway for a new token (protocol.md 2.1).
--
-- KEYS  token
-- ARGV  holder lease_ms budget window_ms
-- answers: granted(0|1) left    left: grants that the window still allows
--
-- Safe to run twice: the holder of a running lease gets it again and no grant
-- is counted. A grant counts when the lease is given, not when a token comes of
-- it: the gateway may have counted an attempt whose answer was lost.
local R = redis.call
local budget, window = tonumber(ARGV[3]), tonumber(ARGV[4])
local clock = R('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local t = R('HMGET', KEYS[1], 'holder', 'lease_until_ms', 'grants')
local recent = {}
for g in string.gmatch(t[3] or '', '%d+') do
  if tonumber(g) > now - window then recent[#recent + 1] = g end
end
local left = budget - #recent
if t[1] and tonumber(t[2]) > now then
  return {t[1] == ARGV[1] and 1 or 0, left}
end
if left <= 0 then return {0, 0} end
recent[#recent + 1] = string.format('%d', now)
R('HSET', KEYS[1], 'holder', ARGV[1], 'lease_until_ms', now + tonumber(ARGV[2]), 'grants', table.concat(recent, ','))
return {1, left - 1}
