#!lua flags=allow-oom
-- settle: the ledger knows the booking (protocol.md 3.4, S3).
--
-- KEYS  pending bk stash cfg
-- ARGV  bid ch paid(0|1)
-- answers: 1 if a pending entry of this bid went, else 0.
--
-- Seats that become paid are counted in cfg, and ver rises if the public sees it:
-- they have names, or were the last unpaid ones of a full level or of the total.
--
-- Safe to run twice: the second finds no entry of this bid, and stage P is P.
-- Stage S is left alone: a soft hold is never in the ledger.
local R = redis.call
local p, n = R('HGET', KEYS[1], ARGV[2]), 0
local raw = ARGV[3] == '1' and R('HGET', KEYS[2], ARGV[1])
if p and string.sub(p, 1, #ARGV[1] + 1) == ARGV[1] .. '|' then n = R('HDEL', KEYS[1], ARGV[2]) end
if raw and string.find(raw, '^[AE]|') then
  R('HSET', KEYS[2], ARGV[1], 'P' .. string.sub(raw, 2))
  local level, seats = string.match(raw, '^%u|%d+|%d+|%d+|[^|]*|[^|]+|([^|]+)|.*|([^|]+)|[^|]+$')
  if level then
    local _, commas = string.gsub(seats, ',', '')
    local paid, all = R('HINCRBY', KEYS[4], 'paid:' .. level, commas + 1), R('HINCRBY', KEYS[4], 'paid', commas + 1)
    local cfg = R('HMGET', KEYS[4], 'kind:' .. level, 'cap:' .. level, 'cap')
    if cfg[1] == 's' or paid == tonumber(cfg[2]) or all == tonumber(cfg[3]) then R('HINCRBY', KEYS[4], 'ver', 1) end
  end
end
if raw then R('DEL', KEYS[3]) end
return n
