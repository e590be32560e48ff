#!lua flags=allow-oom
-- settle_many: settle for many bookings of one sale at once (protocol.md 3.11).
--
-- KEYS  pending bk cfg
-- ARGV  bid paid(0|1) of each booking
-- answers: one per booking, as settle gives it.
--
-- Safe to run twice, as settle is.
local R = redis.call
local bids = {}
for i = 1, #ARGV, 2 do bids[#bids + 1] = ARGV[i] end
local pending, settled = R('HMGET', KEYS[1], unpack(bids)), R('HMGET', KEYS[2], unpack(bids))
local out, gone, written, paid, now = {}, {}, {}, {}, {}   -- now: records by bid, as this batch leaves them
for j, bid in ipairs(bids) do
  local raw = now[bid] or pending[j] or settled[j]
  out[j] = 0
  if pending[j] and not now[bid] then
    out[j], gone[#gone + 1], now[bid] = 1, bid, raw
  end
  if raw and ARGV[2 * j] == '1' then
    if string.find(raw, '^[AE]|') then
      now[bid] = string.gsub(raw, '^%u(|%d+|%d+|%d+|[^| ]*)[^|]*', 'P%1')
      local level, seats = string.match(raw, '^%u|%d+|%d+|%d+|[^|]*|[^|]+|([^|]+)|.*|([^|]+)|[^|]+$')
      if level then
        local _, commas = string.gsub(seats, ',', '')
        paid[level] = (paid[level] or 0) + commas + 1
      end
    end
  end
end
if #gone > 0 then R('HDEL', KEYS[1], unpack(gone)) end
for bid, raw in pairs(now) do
  written[#written + 1] = bid
  written[#written + 1] = raw
end
if #written > 0 then R('HSET', KEYS[2], unpack(written)) end
local seen = false                               -- does the public see it? see settle
for level, n in pairs(paid) do
  local held, all = R('HINCRBY', KEYS[3], 'paid:' .. level, n), R('HINCRBY', KEYS[3], 'paid', n)
  local cfg = R('HMGET', KEYS[3], 'kind:' .. level, 'cap:' .. level, 'cap')
  seen = seen or cfg[1] == 's' or held == tonumber(cfg[2]) or all == tonumber(cfg[3])
end
if seen then R('HINCRBY', KEYS[3], 'ver', 1) end
return out
