#!lua flags=allow-oom
-- settle_many: settle for many bookings of one sale at once (protocol.md 3.11).
--
-- KEYS  pending bk, then the stash of each booking
-- ARGV  bid ch paid(0|1) of each booking
-- answers: one per booking, as settle gives it.
--
-- Safe to run twice, as settle is.
local R = redis.call
local chs, bids = {}, {}
for i = 1, #ARGV, 3 do
  bids[#bids + 1], chs[#chs + 1] = ARGV[i], ARGV[i + 1]
end
local entries, raws = R('HMGET', KEYS[1], unpack(chs)), R('HMGET', KEYS[2], unpack(bids))
local out, gone, done, written, stashes = {}, {}, {}, {}, {}
for j, bid in ipairs(bids) do
  local ch, p, raw = chs[j], entries[j], raws[j]
  out[j] = 0
  if p and not done[ch] and string.sub(p, 1, #bid + 1) == bid .. '|' then
    out[j], done[ch], gone[#gone + 1] = 1, true, ch
  end
  if raw and ARGV[3 * j] == '1' then
    if string.find(raw, '^[AE]|') then
      written[#written + 1] = bid
      written[#written + 1] = 'P' .. string.sub(raw, 2)
    end
    stashes[#stashes + 1] = KEYS[2 + j]
  end
end
if #gone > 0 then R('HDEL', KEYS[1], unpack(gone)) end
if #written > 0 then R('HSET', KEYS[2], unpack(written)) end
if #stashes > 0 then R('DEL', unpack(stashes)) end
return out
