#!lua flags=allow-oom
-- settle: the ledger knows the booking (protocol.md 3.4, S3).
--
-- KEYS  pending bk stash
-- ARGV  bid ch paid(0|1)
-- answers: 1 if a pending entry of this bid went, else 0.
--
-- Safe to run twice: the second finds no entry of this bid, and stage P is P.
-- Stage S is left alone: a soft hold is never in the ledger.
local R = redis.call
local p, n = R('HGET', KEYS[1], ARGV[2]), 0
local raw = ARGV[3] == '1' and R('HGET', KEYS[2], ARGV[1])
if p and string.sub(p, 1, #ARGV[1] + 1) == ARGV[1] .. '|' then n = R('HDEL', KEYS[1], ARGV[2]) end
if raw and string.find(raw, '^[AE]|') then
  R('HSET', KEYS[2], ARGV[1], 'P' .. string.sub(raw, 2))
end
if raw then R('DEL', KEYS[3]) end
return n
