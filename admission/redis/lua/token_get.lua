#!lua flags=no-writes
-- token_get: the fleet's token, if it is still good by Redis TIME.
--
-- KEYS  token
-- answers: {token issued_ms}, or nil.
local R = redis.call
local t = R('HMGET', KEYS[1], 'token', 'issued_ms', 'expires_ms')
if not t[1] then return false end
local clock = R('TIME')
if clock[1] * 1000 + math.floor(clock[2] / 1000) >= tonumber(t[3]) then return false end
return {t[1], tonumber(t[2])}
