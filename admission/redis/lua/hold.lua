#!lua
-- hold: takes named seats for a candidate who is choosing, or changes the choice
-- (protocol.md 3.4, S6; 4). All of them or none.
--
-- KEYS  cfg seen bk dead total seat roster, then level free soft of the wanted
--       level, then level free soft of the level of the candidate's present hold,
--       then pending
-- ARGV  hold ch level gen idk inh eh amount currency ttl_ms max_ms change(0|1) present seat...
--       present names the level of the second three; max_ms counts from the first hold
-- answers, in the order of the checks:
--   BADARG                            refused before anything was read
--   GEN                               cfg has another generation, or none
--   DEAD                              this hold was released, replaced or promoted
--   CORRUPT                           seen without record, or used + free is not the cap
--   LEVEL level                       the present hold is of another level: call again with its keys
--   GONE                              change: the hold is not there any more, or its deadline has passed
--   MISMATCH                          a live hold of the candidate has this key, other input
--   SAME hold h record                it has this key and input
--   DUP bid stage same_email h level  the candidate has a booking
--   NOCODE, EMAIL, NOTALLOWED         the roster says no
--   CLOSED opens_ms                   not open
--   NOLEVEL                           no caps
--   BADARG                            a counted level
--   TAKEN seat...                     all that somebody else has; nothing was taken
--   FULL                              the sale's total cap
--   OK hold seats h t now ver         held until h; t is when the candidate's first hold began
--
-- A live hold of the candidate under another id is replaced: its seats that are
-- wanted still change hands here and are never free, the others go back, and its
-- id is dead, so that a late release of it frees nothing. A hold that has passed
-- its deadline refuses nobody: it is released on the way.
--
-- Safe to run twice: the second finds its own hold with the same seats. All reads
-- and checks come before the first write; releasing an expired hold is a complete
-- release of its own.
local R = redis.call
local hold, ch, level, gen, idk, inh, eh, amount, currency = unpack(ARGV, 1, 9)
local ttl, most, change, present, n = tonumber(ARGV[10]), tonumber(ARGV[11]), ARGV[12] == '1', ARGV[13], #ARGV - 13
if n < 1 or n > 10 or hold == '' or ch == '' or not ttl or not most or ttl < 1 or most < 1 or not string.find(amount, '^%d+$') then return {'BADARG'} end
local wanted = {}
for i = 14, #ARGV do
  if wanted[ARGV[i]] then return {'BADARG'} end
  wanted[ARGV[i]] = true
end

local cfg = R('HMGET', KEYS[1], 'gen', 'open', 'opens_ms', 'closes_ms', 'cap', 'cap:' .. level, 'kind:' .. level)
if cfg[1] ~= gen then return {'GEN'} end
if R('ZSCORE', KEYS[4], hold) then return {'DEAD'} end
local clock = R('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

-- stage driver v h pid ch level idk inh eh t amount currency gen seats scores
local RECORD = '^(%u)|(%d+)|(%d+)|(%d+)|([^|]*)|([^|]+)|([^|]+)|([^|]*)|([^|]*)|([^|]*)|(%d+)|(%d+)|([^|]*)|([^|]*)|([^|]+)|([^|]+)$'

-- drop releases b, a soft hold past its deadline, of the level whose keys begin at k.
local function drop(b, k)
  local raw = R('HGET', KEYS[3], b)
  R('ZREM', KEYS[k + 2], b)
  local f = raw and {string.match(raw, RECORD)}
  if not f or f[1] ~= 'S' then return end
  R('HDEL', KEYS[3], b)
  if R('HGET', KEYS[2], f[6]) == b then R('HDEL', KEYS[2], f[6]) end
  local score, c = string.gmatch(f[16], '[^,]+'), 0
  for s in string.gmatch(f[15], '[^,]+') do
    local o = score()
    if R('HGET', KEYS[6], s) == b then
      R('HDEL', KEYS[6], s)
      R('ZADD', KEYS[k + 1], o, s)
      c = c + 1
    end
  end
  R('DECRBY', KEYS[5], c)
  R('DECRBY', KEYS[k], c)
  R('HINCRBY', KEYS[1], 'ver', 1)
end

local cur, old = R('HGET', KEYS[2], ch), nil       -- old: the record of the candidate's live hold
if cur then
  local raw = R('HGET', KEYS[3], cur) or R('HGET', KEYS[14], cur)
  old = raw and {string.match(raw, RECORD)}
  if not old or not old[1] then return {'CORRUPT'} end
  if old[1] ~= 'S' then
    if change then return {'GONE'} end
    return {'DUP', cur, old[1], old[10] == eh and 1 or 0, tonumber(old[4]), old[7]}
  end
  if old[7] ~= present then return {'LEVEL', old[7]} end
  if change and cur ~= hold then return {'GONE'} end
  if tonumber(old[4]) <= now then
    drop(cur, 11)
    cur, old = nil, nil
  elseif cur ~= hold and idk ~= '' and old[8] == idk then
    if old[9] ~= inh then return {'MISMATCH'} end
    return {'SAME', cur, tonumber(old[4]), raw}
  end
end
if change and not cur then return {'GONE'} end

local row = R('HGET', KEYS[7], ch)
if not row then return {'NOCODE'} end
if string.sub(row, 1, 16) ~= eh then return {'EMAIL'} end
local only = string.sub(row, 17)
if only ~= '' and not string.find(only, ',' .. level .. ',', 1, true) then return {'NOTALLOWED'} end
local from, till = tonumber(cfg[3]), tonumber(cfg[4])
if cfg[2] ~= '1' or not from or not till or now < from or now >= till then return {'CLOSED', cfg[3]} end
local tcap, cap = tonumber(cfg[5]), tonumber(cfg[6])
if not tcap or not cap then return {'NOLEVEL'} end
if cfg[7] ~= 's' then return {'BADARG'} end

for s in pairs(wanted) do
  local o = R('HGET', KEYS[6], s)
  local deadline = o and o ~= cur and tonumber(R('ZSCORE', KEYS[10], o))
  if deadline and deadline <= now then drop(o, 8) end
end
for _, o in ipairs(R('ZRANGEBYSCORE', KEYS[10], '-inf', now, 'LIMIT', 0, 20)) do drop(o, 8) end
if tonumber(R('GET', KEYS[8]) or '0') + R('ZCARD', KEYS[9]) ~= cap then return {'CORRUPT'} end

-- what we have already, and what of it goes back
local have, back = {}, {}
if old then
  local score = string.gmatch(old[16], '[^,]+')
  for s in string.gmatch(old[15], '[^,]+') do
    local o = score()
    if R('HGET', KEYS[6], s) ~= cur then return {'CORRUPT'} end
    if old[7] == level and wanted[s] then have[s] = o else back[#back + 1] = {s, o} end
  end
end
local seats, scores, new, taken = {}, {}, {}, {'TAKEN'}
for i = 1, n do
  local s = ARGV[13 + i]
  seats[i], scores[i] = s, have[s]
  if not have[s] then
    scores[i] = R('ZSCORE', KEYS[9], s)
    new[#new + 1] = s
    if not scores[i] then taken[#taken + 1] = s end
  end
end
if #taken > 1 then return taken end
local function full() return #new > #back and tonumber(R('GET', KEYS[5]) or '0') + #new - #back > tcap end
if full() then                                     -- perhaps only by holds that have expired
  for _, o in ipairs(R('ZRANGEBYSCORE', KEYS[10], '-inf', now, 'LIMIT', 0, 200)) do drop(o, 8) end
  if full() then return {'FULL'} end
end
local first, h = now, now + ttl
if old then first, h = tonumber(old[11]), math.max(h, tonumber(old[4])) end
h = math.max(math.min(h, first + most), old and tonumber(old[4]) or 0)

-- only writes from here on
for _, b in ipairs(back) do
  R('HDEL', KEYS[6], b[1])
  R('ZADD', KEYS[12], b[2], b[1])
end
if #back > 0 then R('DECRBY', KEYS[11], #back) end
if #new > 0 then
  R('INCRBY', KEYS[8], #new)
  R('ZREM', KEYS[9], unpack(new))
end
if #new ~= #back then R('INCRBY', KEYS[5], #new - #back) end
local owners = {}
for i = 1, n do owners[2 * i - 1], owners[2 * i] = seats[i], hold end
R('HSET', KEYS[6], unpack(owners))
if cur then
  R('ZREM', KEYS[13], cur)
  if cur ~= hold then
    R('HDEL', KEYS[3], cur)
    R('ZADD', KEYS[4], now, cur)
    R('ZREMRANGEBYSCORE', KEYS[4], '-inf', now - 600000)
  end
end
local names = table.concat(seats, ',')
R('HSET', KEYS[2], ch, hold)
R('HSET', KEYS[3], hold, table.concat({'S', 1, now, h, '', ch, level, idk, inh, eh, first, amount, currency, gen, names, table.concat(scores, ',')}, '|'))
R('ZADD', KEYS[10], h, hold)
return {'OK', hold, names, h, first, now, R('HINCRBY', KEYS[1], 'ver', 1)}
