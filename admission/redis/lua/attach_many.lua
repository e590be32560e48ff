#!lua
-- attach_many: attach for many bookings of one sale at once (protocol.md 3.11).
--
-- KEYS  pending bk
-- ARGV  one argument, MessagePack strings one behind the other: bid driver pid url
--       hold_until_ms stash_ms of each booking
-- answers: one per booking:
--   h (an integer)  attached
--   list            any other answer, as attach gives it, or CORRUPT
--
-- The rules are attach's, for each booking in turn. A broken record spoils only
-- its own answer. Safe to run twice, as attach is.
local R, ARGV = redis.call, {cmsgpack.unpack(ARGV[1])}
local clock = R('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local bids, out = {}, {}
for i = 1, #ARGV, 6 do bids[#bids + 1] = ARGV[i] end
local raws = R('HMGET', KEYS[1], unpack(bids))
local written, settled, changed = {}, {}, {}   -- changed: by this batch, its second attach of a booking sees the first
for j, bid in ipairs(bids) do
  local q, raw, to = 6 * j - 5, changed[bid] or raws[j], written
  if not raws[j] then                          -- not pending: the ledger may know it already
    raw, to = changed[bid] or R('HGET', KEYS[2], bid), settled
  end
  -- only where the rest begins: a capture of it would be a copy to be copied again
  local g, d, v, h, p, rest = string.match(raw or '', '^(%u)|(%d+)|(%d+)|(%d+)|([^| ]*)[^|]*()|.')
  if not raw then
    out[j] = {'GONE'}
  elseif not g then
    out[j] = {'CORRUPT'}
  elseif g == 'E' or g == 'P' then
    out[j] = {'HAVE', p, g, tonumber(h)}
  elseif g ~= 'A' or d ~= ARGV[q + 1] then
    out[j] = {'SUPERSEDED'}
  else
    local pid, url = ARGV[q + 2], ARGV[q + 3]
    if url ~= '' then pid = pid .. ' ' .. now + ARGV[q + 5] .. ' ' .. url end
    h = math.max(tonumber(h), tonumber(ARGV[q + 4]))
    changed[bid] = 'E|' .. d .. '|' .. v .. '|' .. h .. '|' .. pid .. string.sub(raw, rest)
    to[#to + 1] = bid
    to[#to + 1] = changed[bid]
    out[j] = h
  end
end
if #written > 0 then R('HSET', KEYS[1], unpack(written)) end
if #settled > 0 then R('HSET', KEYS[2], unpack(settled)) end
return out
