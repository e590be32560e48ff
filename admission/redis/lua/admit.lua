#!lua
-- admit: takes seats for one candidate (protocol.md 3.4, S1).
--
-- KEYS  cfg seen bk pending dead total level free seat roster last soft owner
-- ARGV  bid ch level gen idk inh rv eh amount currency n [seat...]
--       level names the KEYS level, free, soft and owner; with seats n is ignored
-- answers, in the order of the checks:
--   BADARG                            refused before anything was read
--   GEN                               cfg has another generation, or none
--   DEAD                              this bid was undone
--   CORRUPT                           seen without record, or used + free is not the cap
--   REPLAY bid seats stage driver t h 0   the same bid again; a write, so that WAIT here covers it
--   MISMATCH                          the candidate's booking, or last released one, has this key, other input
--   SAME bid stage h record           the candidate's booking has this key and input
--   DUP bid stage same_email h level  the candidate holds another booking
--   RELEASED bid                      the candidate's last booking had this key and input, and was released
--   NOCODE, EMAIL, NOTALLOWED         the roster says no
--   CLOSED opens_ms                   not open
--   NOLEVEL                           no caps
--   BADARG                            a seated level without names, a counted one with names
--   TAKEN seat                        all or nothing
--   LEVEL_FULL, FULL
--   OK bid seats A 1 t h ver          admitted; ver > 0 if the public state changed
--
-- Safe to run twice: a repeated bid finds its own record and changes a counter
-- of replays only. All reads and checks come before the first write; freeing an
-- expired soft hold is a complete release of its own.
local R = redis.call
local bid, ch, level, gen, idk, inh, rv, eh, amount, currency = unpack(ARGV, 1, 10)
local n, k = tonumber(ARGV[11]), #ARGV - 11
if k > 0 then n = k end
if not n or n < 1 or n > 10 or n % 1 ~= 0 or bid == '' or ch == '' or not string.find(amount, '^%d+$') then return {'BADARG'} end
local twice = {}
for i = 12, #ARGV do
  if twice[ARGV[i]] then return {'BADARG'} end
  twice[ARGV[i]] = true
end

local cfg = R('HMGET', KEYS[1], 'gen', 'open', 'opens_ms', 'closes_ms', 'cap', 'cap:' .. level, 'kind:' .. level, 'hold_ms', 'roster')
if cfg[1] ~= gen then return {'GEN'} end
if R('ZSCORE', KEYS[5], bid) then return {'DEAD'} end
local clock = R('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

-- stage driver v h pid ch level idk inh eh t amount currency gen seats scores
local RECORD = '^(%u)|(%d+)|(%d+)|(%d+)|([^|]*)|([^|]+)|([^|]+)|([^|]*)|([^|]*)|([^|]*)|(%d+)|(%d+)|([^|]*)|([^|]*)|([^|]+)|([^|]+)$'

-- drop releases b, a soft hold of this level past its deadline.
local function drop(b)
  local raw = R('HGET', KEYS[3], b)
  R('ZREM', KEYS[12], b)
  local f = raw and {string.match(raw, RECORD)}
  if not f or f[1] ~= 'S' then return end
  R('HDEL', KEYS[3], b)
  if R('HGET', KEYS[2], f[6]) == b then R('HDEL', KEYS[2], f[6]) end
  local score, c = string.gmatch(f[16], '[^,]+'), 0
  for s in string.gmatch(f[15], '[^,]+') do
    local o = score()
    if R('HGET', KEYS[9], s) == b then
      R('HDEL', KEYS[9], s)
      R('ZADD', KEYS[8], o, s)
      c = c + 1
    end
  end
  R('DECRBY', KEYS[6], c)
  R('DECRBY', KEYS[7], c)
  R('HINCRBY', KEYS[1], 'ver', 1)
end

local cur = R('HGET', KEYS[2], ch)
if cur then
  local raw = R('HGET', KEYS[4], cur) or R('HGET', KEYS[3], cur)
  local f = raw and {string.match(raw, RECORD)}
  if not f or not f[1] then return {'CORRUPT'} end
  if f[1] == 'S' and tonumber(f[4]) <= now and f[7] == level and cur ~= bid then
    drop(cur)                                  -- one's own expired soft hold refuses nobody
  elseif cur == bid and f[1] ~= 'S' then
    R('HINCRBY', KEYS[1], 'replays', 1)        -- a write: WAIT on this connection now covers us
    return {'REPLAY', bid, f[15], f[1], tonumber(f[2]), tonumber(f[11]), tonumber(f[4]), 0}
  elseif idk ~= '' and f[8] == idk then
    if f[9] ~= inh then return {'MISMATCH'} end
    return {'SAME', cur, f[1], tonumber(f[4]), raw}
  else
    return {'DUP', cur, f[1], f[10] == eh and 1 or 0, tonumber(f[4]), f[7]}
  end
end
if idk ~= '' then
  local last = R('HGET', KEYS[11], ch)
  if last then
    local b, i, x = string.match(last, '^([^|]*)|([^|]*)|([^|]*)$')
    if i == idk then
      if x ~= inh then return {'MISMATCH'} end
      return {'RELEASED', b}
    end
  end
end
if rv ~= '*' then                              -- '*': an admission that its own event proves (protocol.md 3.6)
  if rv == '' or rv ~= cfg[9] then
    local row = R('HGET', KEYS[10], ch)
    if not row then return {'NOCODE'} end
    if eh ~= '' and string.sub(row, 1, 16) ~= eh then return {'EMAIL'} end
    local only = string.sub(row, 17)
    if only ~= '' and not string.find(only, ',' .. level .. ',', 1, true) then return {'NOTALLOWED'} end
  end
  local from, till = tonumber(cfg[3]), tonumber(cfg[4])
  if cfg[2] ~= '1' or not from or not till or now < from or now >= till then return {'CLOSED', cfg[3]} end
end

local tcap, cap, hold = tonumber(cfg[5]), tonumber(cfg[6]), tonumber(cfg[8])
if not tcap or not cap or not hold then return {'NOLEVEL'} end
if (cfg[7] == 's') ~= (k > 0) then return {'BADARG'} end
if k > 0 then
  for i = 12, #ARGV do
    local o = R('HGET', KEYS[9], ARGV[i])
    local deadline = o and tonumber(R('ZSCORE', KEYS[12], o))
    if deadline and deadline <= now then drop(o) end
  end
  for _, o in ipairs(R('ZRANGEBYSCORE', KEYS[12], '-inf', now, 'LIMIT', 0, 20)) do drop(o) end
end
local used, left = tonumber(R('GET', KEYS[7]) or '0'), R('ZCARD', KEYS[8])
if used + left ~= cap then return {'CORRUPT'} end
local seats, scores = {}, {}
for i = 1, k do
  local s = ARGV[11 + i]
  seats[i], scores[i] = s, R('ZSCORE', KEYS[8], s)
  if not scores[i] then return {'TAKEN', s} end
end
if left < n then return {'LEVEL_FULL'} end
local total = tonumber(R('GET', KEYS[6]) or '0') + n
if total > tcap then return {'FULL'} end

-- only writes from here on
R('INCRBY', KEYS[6], n)
R('INCRBY', KEYS[7], n)
if k > 0 then
  R('ZREM', KEYS[8], unpack(seats))
else
  local popped = R('ZPOPMIN', KEYS[8], n)
  for i = 1, n do seats[i], scores[i] = popped[2 * i - 1], popped[2 * i] end
end
for i = 1, n do
  if k > 0 then
    R('HSET', KEYS[9], seats[i], bid)
  else                                         -- the owner's slot of 40 bytes, at the token's number, which is its score
    R('SETRANGE', KEYS[13], scores[i] * 40, bid .. string.rep('\0', 40 - #bid))
  end
end
R('HSET', KEYS[2], ch, bid)
local names = table.concat(seats, ',')
R('HSET', KEYS[4], bid, table.concat({'A', 1, now, now + hold, '', ch, level, idk, inh, eh, now, amount, currency, gen, names, table.concat(scores, ',')}, '|'))
local ver = 0                                  -- the answer that changes what the public sees carries the new version
if k > 0 or left == n or total == tcap then ver = R('HINCRBY', KEYS[1], 'ver', 1) end
return {'OK', bid, names, 'A', 1, now, now + hold, ver}
