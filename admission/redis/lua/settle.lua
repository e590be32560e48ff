#!lua flags=allow-oom
-- settle: the ledger knows the booking (protocol.md 3.4, S3).
--
-- KEYS  pending bk cfg
-- ARGV  bid paid(0|1)
-- answers: 1 if the booking was pending, else 0.
--
-- Its record moves from pending to bk. One that is paid needs its payment's page no
-- more.
--
-- Seats that become paid are counted in cfg, and ver rises if the public sees it:
-- they have names, or were the last unpaid ones of a full level or of the total.
--
-- Safe to run twice: the second finds no entry of this bid, and stage P is P.
-- Stage S is left alone: a soft hold is never in the ledger.
local R = redis.call
local bid, paid = ARGV[1], ARGV[2] == '1'
local pending = R('HGET', KEYS[1], bid)
local raw = pending or paid and R('HGET', KEYS[2], bid)
local fresh = paid and raw and string.find(raw, '^[AE]|')
if pending then R('HDEL', KEYS[1], bid) end
if pending or fresh then R('HSET', KEYS[2], bid, fresh and string.gsub(raw, '^%u(|%d+|%d+|%d+|[^| ]*)[^|]*', 'P%1') or raw) end
if fresh then
  local level, seats = string.match(raw, '^%u|%d+|%d+|%d+|[^|]*|[^|]+|([^|]+)|.*|([^|]+)|[^|]+$')
  if level then
    local _, commas = string.gsub(seats, ',', '')
    local now, all = R('HINCRBY', KEYS[3], 'paid:' .. level, commas + 1), R('HINCRBY', KEYS[3], 'paid', commas + 1)
    local cfg = R('HMGET', KEYS[3], 'kind:' .. level, 'cap:' .. level, 'cap')
    if cfg[1] == 's' or now == tonumber(cfg[2]) or all == tonumber(cfg[3]) then R('HINCRBY', KEYS[3], 'ver', 1) end
  end
end
return pending and 1 or 0
