#!lua flags=allow-oom
-- lapse: releases soft holds of a level whose deadline has passed (protocol.md 4).
--
-- KEYS  cfg seen bk total seat level free soft
-- ARGV  limit
-- answers: n ver       n holds were released; ver > 0 if there were any
--
-- Nobody has to call it: whoever wants the seats of an expired hold gets them.
-- It gives the sale's total back to levels that see no soft holds, and keeps the
-- counts of the status true.
--
-- Safe to run twice: what is released has gone. allow-oom: a release must work
-- when memory is full.
local R = redis.call
local clock = R('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local RECORD = '^(%u)|(%d+)|(%d+)|(%d+)|([^|]*)|([^|]+)|([^|]+)|([^|]*)|([^|]*)|([^|]*)|(%d+)|(%d+)|([^|]*)|([^|]*)|([^|]+)|([^|]+)$'
local n = 0
for _, b in ipairs(R('ZRANGEBYSCORE', KEYS[8], '-inf', now, 'LIMIT', 0, tonumber(ARGV[1]))) do
  local raw = R('HGET', KEYS[3], b)
  R('ZREM', KEYS[8], b)
  local f = raw and {string.match(raw, RECORD)}
  if f and f[1] == 'S' then
    R('HDEL', KEYS[3], b)
    if R('HGET', KEYS[2], f[6]) == b then R('HDEL', KEYS[2], f[6]) end
    local score, c = string.gmatch(f[16], '[^,]+'), 0
    for s in string.gmatch(f[15], '[^,]+') do
      local o = score()
      if R('HGET', KEYS[5], s) == b then
        R('HDEL', KEYS[5], s)
        R('ZADD', KEYS[7], o, s)
        c = c + 1
      end
    end
    R('DECRBY', KEYS[4], c)
    R('DECRBY', KEYS[6], c)
    n = n + 1
  end
end
return {n, n > 0 and R('HINCRBY', KEYS[1], 'ver', 1) or 0}
