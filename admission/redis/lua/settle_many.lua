#!lua flags=allow-oom
-- settle_many: settle for many bookings of one sale at once (protocol.md 3.11).
--
-- KEYS  pending bk cfg, then the stash of each booking
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
local out, gone, done, written, stashes, paid, counted = {}, {}, {}, {}, {}, {}, {}
for j, bid in ipairs(bids) do
  local ch, p, raw = chs[j], entries[j], raws[j]
  out[j] = 0
  if p and not done[ch] and string.sub(p, 1, #bid + 1) == bid .. '|' then
    out[j], done[ch], gone[#gone + 1] = 1, true, ch
  end
  if raw and ARGV[3 * j] == '1' then
    if not counted[bid] and string.find(raw, '^[AE]|') then
      counted[bid] = true
      written[#written + 1] = bid
      written[#written + 1] = 'P' .. string.sub(raw, 2)
      local level, seats = string.match(raw, '^%u|%d+|%d+|%d+|[^|]*|[^|]+|([^|]+)|.*|([^|]+)|[^|]+$')
      if level then
        local _, commas = string.gsub(seats, ',', '')
        paid[level] = (paid[level] or 0) + commas + 1
      end
    end
    stashes[#stashes + 1] = KEYS[3 + j]
  end
end
if #gone > 0 then R('HDEL', KEYS[1], unpack(gone)) end
if #written > 0 then R('HSET', KEYS[2], unpack(written)) end
if #stashes > 0 then R('DEL', unpack(stashes)) end
local seen = false                               -- does the public see it? see settle
for level, n in pairs(paid) do
  local now, all = R('HINCRBY', KEYS[3], 'paid:' .. level, n), R('HINCRBY', KEYS[3], 'paid', n)
  local cfg = R('HMGET', KEYS[3], 'kind:' .. level, 'cap:' .. level, 'cap')
  seen = seen or cfg[1] == 's' or now == tonumber(cfg[2]) or all == tonumber(cfg[3])
end
if seen then R('HINCRBY', KEYS[3], 'ver', 1) end
return out
