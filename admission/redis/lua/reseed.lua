#!lua
-- reseed: puts a live booking of the ledger back (protocol.md 3.4, S4; 3.8 5b).
--
-- KEYS  cfg seen bk pending dead total level free seat roster last soft
-- ARGV  bid ch level record n [seat score]*n
-- answers:
--   DEAD               it was undone
--   HAVE               it is there
--   CAND bid           the candidate holds bid
--   CORRUPT            used + free is not the cap
--   SEAT bid           a token is bid's
--   NOFREE             fewer free tokens than seats
--   OK retired ver     retired: highest free tokens given up for tokens that were nowhere
--
-- Safe to run twice: the second answers HAVE.
local R = redis.call
local bid, ch, n = ARGV[1], ARGV[2], tonumber(ARGV[5])
if R('ZSCORE', KEYS[5], bid) then return {'DEAD'} end
if R('HEXISTS', KEYS[3], bid) == 1 then return {'HAVE'} end
local cur = R('HGET', KEYS[2], ch)
if cur then return {'CAND', cur} end
local used, left = tonumber(R('GET', KEYS[7]) or '0'), R('ZCARD', KEYS[8])
if used + left ~= tonumber(R('HGET', KEYS[1], 'cap:' .. ARGV[3]) or '-1') then return {'CORRUPT'} end
local free, nowhere, owners = {}, 0, {}
for i = 6, 5 + 2 * n, 2 do
  local o = R('HGET', KEYS[9], ARGV[i])
  if o then return {'SEAT', o} end
  if R('ZSCORE', KEYS[8], ARGV[i]) then free[#free + 1] = ARGV[i] else nowhere = nowhere + 1 end
  owners[#owners + 1] = ARGV[i]
  owners[#owners + 1] = bid
end
if left < n then return {'NOFREE'} end         -- an alarm: used + free = cap is never broken
if #free > 0 then R('ZREM', KEYS[8], unpack(free)) end
if nowhere > 0 then R('ZPOPMAX', KEYS[8], nowhere) end
R('INCRBY', KEYS[6], n)
R('INCRBY', KEYS[7], n)
R('HSET', KEYS[9], unpack(owners))
R('HSET', KEYS[2], ch, bid)
R('HSET', KEYS[3], bid, ARGV[4])
if string.sub(ARGV[4], 1, 1) == 'P' then
  R('HINCRBY', KEYS[1], 'paid:' .. ARGV[3], n)
  R('HINCRBY', KEYS[1], 'paid', n)
end
return {'OK', nowhere, R('HINCRBY', KEYS[1], 'ver', 1)}
