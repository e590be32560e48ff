#!lua
-- reseed: puts a live booking of the ledger back (protocol.md 3.4, S4; 3.8 5b).
--
-- KEYS  cfg seen bk pending dead total level free seat roster last soft owner
-- ARGV  bid ch level record n [seat score]*n
-- answers:
--   DEAD               it was undone
--   HAVE               it is there
--   CAND bid           the candidate holds bid
--   CORRUPT            used + free is not the cap, or a token that this counted level can't have
--   SEAT bid           a token is bid's
--   NOFREE             fewer free tokens than seats
--   OK retired ver     retired: highest free tokens given up for tokens that were nowhere
--
-- Safe to run twice: the second answers HAVE.
local R = redis.call
local bid, ch, n = ARGV[1], ARGV[2], tonumber(ARGV[5])
if R('ZSCORE', KEYS[5], bid) then return {'DEAD'} end
if R('HEXISTS', KEYS[4], bid) == 1 or R('HEXISTS', KEYS[3], bid) == 1 then return {'HAVE'} end
local cur = R('HGET', KEYS[2], ch)
if cur then return {'CAND', cur} end
local used, left = tonumber(R('GET', KEYS[7]) or '0'), R('ZCARD', KEYS[8])
local cfg = R('HMGET', KEYS[1], 'cap:' .. ARGV[3], 'kind:' .. ARGV[3])
if used + left ~= tonumber(cfg[1] or '-1') then return {'CORRUPT'} end
local seated, free, nowhere, slots = cfg[2] == 's', {}, 0, {}
for i = 6, 5 + 2 * n, 2 do
  local o
  if seated then
    o = R('HGET', KEYS[9], ARGV[i])
  else                                         -- a counted token's owner has a slot of 40 bytes, at its number
    local name, number = string.match(ARGV[i], '^(.*)-(%d+)$')
    local at = (tonumber(number) or -1) * 40
    if name ~= ARGV[3] or at < 0 or at > 512 * 1048576 - 40 then return {'CORRUPT'} end
    slots[i] = at
    o = string.match(R('GETRANGE', KEYS[13], at, at + 39), '^[%w_-]+')
  end
  if o then return {'SEAT', o} end
  if R('ZSCORE', KEYS[8], ARGV[i]) then free[#free + 1] = ARGV[i] else nowhere = nowhere + 1 end
end
if left < n then return {'NOFREE'} end         -- an alarm: used + free = cap is never broken
if #free > 0 then R('ZREM', KEYS[8], unpack(free)) end
if nowhere > 0 then R('ZPOPMAX', KEYS[8], nowhere) end
R('INCRBY', KEYS[6], n)
R('INCRBY', KEYS[7], n)
for i = 6, 5 + 2 * n, 2 do
  if seated then
    R('HSET', KEYS[9], ARGV[i], bid)
  else
    R('SETRANGE', KEYS[13], slots[i], bid .. string.rep('\0', 40 - #bid))
  end
end
R('HSET', KEYS[2], ch, bid)
R('HSET', KEYS[3], bid, ARGV[4])
if string.sub(ARGV[4], 1, 1) == 'P' then
  R('HINCRBY', KEYS[1], 'paid:' .. ARGV[3], n)
  R('HINCRBY', KEYS[1], 'paid', n)
end
return {'OK', nowhere, R('HINCRBY', KEYS[1], 'ver', 1)}
