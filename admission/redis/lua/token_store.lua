#!lua
-- token_store: the lease holder's new token, for the whole fleet.
--
-- KEYS  token
-- ARGV  holder token ttl_ms
-- answers: 1 stored and the lease given back, 0 the lease is not this holder's.
--
-- Safe to run twice: a repeat of the stored token answers 1 and changes nothing.
local R = redis.call
local clock = R('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local t = R('HMGET', KEYS[1], 'holder', 'token', 'stored_by')
if t[1] ~= ARGV[1] then
  return t[2] == ARGV[2] and t[3] == ARGV[1] and 1 or 0
end
R('HSET', KEYS[1], 'token', ARGV[2], 'issued_ms', now, 'expires_ms', now + tonumber(ARGV[3]), 'stored_by', ARGV[1])
R('HDEL', KEYS[1], 'holder', 'lease_until_ms')
return 1
