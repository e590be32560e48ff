#!lua
-- attach_many: attach for many bookings of one sale at once (protocol.md 3.11).
--
-- KEYS  pending bk, then the stash of each booking
-- ARGV  bid driver pid url hold_until_ms stash_ms of each booking
-- answers: one per booking:
--   h (an integer)  attached
--   list            any other answer, as attach gives it, or CORRUPT
--
-- The rules are attach's, for each booking in turn. A broken record spoils only
-- its own answer. Safe to run twice, as attach is.
local R = redis.call
local bids, fresh, out = {}, {}, {}
for i = 1, #ARGV, 6 do bids[#bids + 1] = ARGV[i] end
local raws = R('HMGET', KEYS[1], unpack(bids))
local written, settled, changed = {}, {}, {}   -- changed: by this batch, its second attach of a booking sees the first
for j, bid in ipairs(bids) do
  local q, raw, to = 6 * j - 5, changed[bid] or raws[j], written
  if not raws[j] then                          -- not pending: the ledger may know it already
    raw, to = changed[bid] or R('HGET', KEYS[2], bid), settled
  end
  -- only where the rest begins: a capture of it would be matched character by character
  local g, d, v, h, p, rest = string.match(raw or '', '^(%u)|(%d+)|(%d+)|(%d+)|([^|]*)()|.')
  if not raw then
    out[j] = {'GONE'}
  elseif not g then
    out[j] = {'CORRUPT'}
  elseif g == 'E' or g == 'P' then
    out[j] = {'HAVE', p, g, tonumber(h)}
  elseif g ~= 'A' or d ~= ARGV[q + 1] then
    out[j] = {'SUPERSEDED'}
  else
    h = math.max(tonumber(h), tonumber(ARGV[q + 4]))
    changed[bid] = 'E|' .. d .. '|' .. v .. '|' .. h .. '|' .. ARGV[q + 2] .. string.sub(raw, rest)
    to[#to + 1] = bid
    to[#to + 1] = changed[bid]
    fresh[#fresh + 1] = j
    out[j] = h
  end
end
if #written > 0 then R('HSET', KEYS[1], unpack(written)) end
if #settled > 0 then R('HSET', KEYS[2], unpack(settled)) end
for _, j in ipairs(fresh) do
  local q = 6 * j - 5
  R('SET', KEYS[2 + j], ARGV[q] .. ' ' .. ARGV[q + 3], 'PX', ARGV[q + 5])
end
return out
