#!lua
-- attach_many: attach for many bookings of one sale at once (protocol.md 3.11).
--
-- KEYS  pending bk cfg
-- ARGV  one argument, MessagePack strings one behind the other: columns of a table with
--       a row for each booking: bid; driver; pid; url; hold_until_ms; stash_ms
-- answers: one per booking:
--   h (a string)  attached
--   list          any other answer, as attach gives it, or CORRUPT
--
-- The rules are attach's, for each booking in turn. A broken record spoils only
-- its own answer. Safe to run twice, as attach is.
--
-- Times stay strings of digits, for turning a number into text costs as much as
-- the rest of a booking does; each stash_ms is added to the clock once.
local R, given = redis.call, {cmsgpack.unpack(ARGV[1])}
local m = #given / 6
local D, P, U, H, S = m, 2 * m, 3 * m, 4 * m, 5 * m   -- before the columns: drivers, payments, pages, holds, stashes
local clock = R('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local raws = R('HMGET', KEYS[1], unpack(given, 1, m))
local out, changed, ends = {unpack(given, 1, m)}, {}, {}   -- changed: by this batch, its second attach of a booking sees the first
local written, settled, w = {unpack(given, 1, 2 * m)}, {}, 0   -- as long as it will be, nearly
for j = 1, m do
  local bid = given[j]
  local raw = changed[bid] or raws[j]
  if not raws[j] then                          -- not pending: the ledger may know it already
    raw = changed[bid] or R('HGET', KEYS[2], bid)
  end
  -- only where the rest begins: a capture of it would be a copy to be copied again
  local g, d, v, h, p, rest = string.match(raw or '', '^(%u)|(%d+)|(%d+)|(%d+)|([^| ]*)[^|]*()|.')
  if not raw then
    out[j] = {'GONE'}
  elseif not g then
    out[j] = {'CORRUPT'}
  elseif g == 'E' or g == 'P' then
    out[j] = {'HAVE', p, g, tonumber(h)}
  elseif g ~= 'A' or d ~= given[D + j] then
    out[j] = {'SUPERSEDED'}
  else
    local hold, url, stash, till = given[H + j], given[U + j], given[S + j], ''
    if #hold > #h or #hold == #h and hold > h then h = hold end   -- never shorter
    if url ~= '' then
      till = ends[stash]
      if not till then
        till = string.format(' %.0f ', now + stash)
        ends[stash] = till
      end
    end
    raw = 'E|' .. d .. '|' .. v .. '|' .. h .. '|' .. given[P + j] .. till .. url .. string.sub(raw, rest)
    changed[bid], out[j] = raw, h
    if raws[j] then
      written[w + 1], written[w + 2], w = bid, raw, w + 2
    else
      settled[#settled + 1] = bid
      settled[#settled + 1] = raw
    end
  end
end
if w > 0 then R('HSET', KEYS[1], unpack(written, 1, w)) end
if #settled > 0 then R('HSET', KEYS[2], unpack(settled)) end
return out
