#!lua
-- admit_many: admit for many candidates of one sale at once (protocol.md 3.11).
--
-- KEYS  cfg seen bk pending dead total seat roster last, then level free soft of each level
-- ARGV  levels, their names, then of each request:
--       bid ch level# gen idk inh rv eh amount currency n k seat*k
-- answers: now_ms, hold_until_ms of whoever is admitted now, then one per request:
--   tokens (a string)  admitted, stage A, driver 1, and the public state did not change
--   code (an integer)  a refusal that says nothing more: see BARE
--   list               any other answer, as admit gives it
--
-- The rules and the order of checks are admit's, for each request in turn; what
-- earlier requests of the batch did counts for later ones. Counted admissions
-- are decided on numbers held here and written by flush, one command per key.
-- Whatever needs to see Redis as it is (a second request of a candidate, a
-- seated level, a soft hold to free) flushes first and then reads.
--
-- Safe to run twice, as admit is: for each bid.
local R = redis.call
local BARE = {BADARG = 1, GEN = 2, DEAD = 3, CORRUPT = 4, MISMATCH = 5, NOCODE = 6, EMAIL = 7, NOTALLOWED = 8, NOLEVEL = 9, LEVEL_FULL = 10, FULL = 11}
local RECORD = '^(%u)|(%d+)|(%d+)|(%d+)|([^|]*)|([^|]+)|([^|]+)|([^|]*)|([^|]*)|([^|]*)|(%d+)|(%d+)|([^|]*)|([^|]*)|([^|]+)|([^|]+)$'
local clock = R('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

-- read what every request needs, one command per key
local levels, at = tonumber(ARGV[1]), {}
local want = {'gen', 'open', 'opens_ms', 'closes_ms', 'cap', 'hold_ms', 'roster'}
for l = 1, levels do
  want[6 + 2 * l], want[7 + 2 * l] = 'cap:' .. ARGV[1 + l], 'kind:' .. ARGV[1 + l]
end
local cfg = R('HMGET', KEYS[1], unpack(want))
local bids, chs, keyed, asked = {}, {}, false, {}
local i = levels + 2
while i <= #ARGV do
  at[#at + 1], bids[#bids + 1], chs[#chs + 1] = i, ARGV[i], ARGV[i + 1]
  keyed = keyed or ARGV[i + 4] ~= ''
  local rv = ARGV[i + 6]
  if rv ~= '*' and (rv == '' or rv ~= cfg[7]) then asked[#asked + 1] = ARGV[i + 1] end
  i = i + 12 + tonumber(ARGV[i + 11])
end
local dead, seen = R('ZMSCORE', KEYS[5], unpack(bids)), R('HMGET', KEYS[2], unpack(chs))
local last = keyed and R('HMGET', KEYS[9], unpack(chs)) or {}
local row = {}
if #asked > 0 then
  for j, r in ipairs(R('HMGET', KEYS[8], unpack(asked))) do row[asked[j]] = r end
end
local from, till, open = tonumber(cfg[3]), tonumber(cfg[4]), cfg[2] == '1'
open = open and from and till and now >= from and now < till
local tcap, hold = tonumber(cfg[5]), tonumber(cfg[6])

-- numbers of the levels and of the sale, read once, kept up as we admit
local used, left, total = {}, {}, nil
local function numbers(l)
  if not used[l] then
    local key = 9 + 3 * (l - 1)
    used[l], left[l] = tonumber(R('GET', KEYS[key + 1]) or '0'), R('ZCARD', KEYS[key + 2])
  end
  total = total or tonumber(R('GET', KEYS[6]) or '0')
end

local out, taken, touched = {}, {}, {}   -- taken: admitted here, not yet written

-- flush writes what was admitted so far.
local function flush()
  if #taken == 0 then return end
  local sum, per, edges = 0, {}, 0
  for _, a in ipairs(taken) do
    sum, per[a.l] = sum + a.n, (per[a.l] or 0) + a.n
    if a.edge then edges = edges + 1 end
  end
  R('INCRBY', KEYS[6], sum)
  local popped, from = {}, {}
  for l = 1, levels do
    if per[l] then
      local key = 9 + 3 * (l - 1)
      R('INCRBY', KEYS[key + 1], per[l])
      popped[l], from[l] = R('ZPOPMIN', KEYS[key + 2], per[l]), 0
    end
  end
  local ver = edges > 0 and R('HINCRBY', KEYS[1], 'ver', edges) - edges or 0
  local owners, holders, records, pending = {}, {}, {}, {}
  for _, a in ipairs(taken) do
    local p, f, names, scores = popped[a.l], from[a.l], nil, nil
    if a.n == 1 then
      names, scores = p[f + 1], p[f + 2]
      owners[#owners + 1] = names
      owners[#owners + 1] = a.bid
    else
      local s, o = {}, {}
      for j = 1, a.n do
        s[j], o[j] = p[f + 2 * j - 1], p[f + 2 * j]
        owners[#owners + 1] = s[j]
        owners[#owners + 1] = a.bid
      end
      names, scores = table.concat(s, ','), table.concat(o, ',')
    end
    from[a.l] = f + 2 * a.n
    local level, q = ARGV[1 + a.l], a.q
    holders[#holders + 1] = a.ch
    holders[#holders + 1] = a.bid
    records[#records + 1] = a.bid
    records[#records + 1] = table.concat({'A', 1, now, now + hold, '', a.ch, level, ARGV[q + 4], ARGV[q + 5], ARGV[q + 7],
      now, ARGV[q + 8], ARGV[q + 9], ARGV[q + 3], names, scores}, '|')
    pending[#pending + 1] = a.ch
    pending[#pending + 1] = a.bid .. '|' .. level .. '|' .. now
    if a.edge then
      ver = ver + 1
      out[a.r] = {'OK', a.bid, names, 'A', 1, now, now + hold, ver}
    else
      out[a.r] = names
    end
  end
  for f = 1, #owners, 5000 do R('HSET', KEYS[7], unpack(owners, f, math.min(f + 4999, #owners))) end
  R('HSET', KEYS[2], unpack(holders))
  R('HSET', KEYS[3], unpack(records))
  R('HSET', KEYS[4], unpack(pending))
  taken = {}
end

-- drop releases b, a soft hold of level l past its deadline.
local function drop(b, l)
  local key = 9 + 3 * (l - 1)
  local raw = R('HGET', KEYS[3], b)
  R('ZREM', KEYS[key + 3], b)
  local f = raw and {string.match(raw, RECORD)}
  if not f or f[1] ~= 'S' then return end
  R('HDEL', KEYS[3], b)
  if R('HGET', KEYS[2], f[6]) == b then R('HDEL', KEYS[2], f[6]) end
  local score, c = string.gmatch(f[16], '[^,]+'), 0
  for s in string.gmatch(f[15], '[^,]+') do
    local o = score()
    if R('HGET', KEYS[7], s) == b then
      R('HDEL', KEYS[7], s)
      R('ZADD', KEYS[key + 2], o, s)
      c = c + 1
    end
  end
  R('DECRBY', KEYS[6], c)
  R('DECRBY', KEYS[key + 1], c)
  R('HINCRBY', KEYS[1], 'ver', 1)
  used[l], total, touched[f[6]] = nil, nil, true
end

-- owned answers a candidate who holds a booking, or nil if it was an expired
-- soft hold of its own and is gone now.
local function owned(cur, bid, ch, l, q)
  local raw = R('HGET', KEYS[3], cur)
  local f = raw and {string.match(raw, RECORD)}
  if not f or not f[1] then return 'CORRUPT' end
  local idk = ARGV[q + 4]
  if f[1] == 'S' and tonumber(f[4]) <= now and f[7] == ARGV[1 + l] and cur ~= bid then
    flush()
    drop(cur, l)
  elseif cur == bid and f[1] ~= 'S' then
    R('HINCRBY', KEYS[1], 'replays', 1)
    return {'REPLAY', bid, f[15], f[1], tonumber(f[2]), tonumber(f[11]), tonumber(f[4]), 0}
  elseif idk ~= '' and f[8] == idk then
    if f[9] ~= ARGV[q + 5] then return 'MISMATCH' end
    return {'SAME', cur, f[1], tonumber(f[4]), raw}
  else
    return {'DUP', cur, f[1], f[10] == ARGV[q + 7] and 1 or 0, tonumber(f[4]), f[7]}
  end
end

-- entitled answers what last, roster and times refuse.
local function entitled(r, q, ch, level)
  local idk, rv, eh = ARGV[q + 4], ARGV[q + 6], ARGV[q + 7]
  if idk ~= '' and last[r] then
    local b, key, x = string.match(last[r], '^([^|]*)|([^|]*)|([^|]*)$')
    if key == idk then
      if x ~= ARGV[q + 5] then return 'MISMATCH' end
      return {'RELEASED', b}
    end
  end
  if rv == '*' then return end
  if rv == '' or rv ~= cfg[7] then
    local entry = row[ch]
    if not entry then return 'NOCODE' end
    if eh ~= '' and string.sub(entry, 1, 16) ~= eh then return 'EMAIL' end
    local only = string.sub(entry, 17)
    if only ~= '' and not string.find(only, ',' .. level .. ',', 1, true) then return 'NOTALLOWED' end
  end
  if not open then return {'CLOSED', cfg[3]} end
end

-- named gives a seated level's named seats, or answers who has them.
local function named(r, q, bid, ch, l, k)
  local key, level, seats, scores, owners = 9 + 3 * (l - 1), ARGV[1 + l], {}, {}, {}
  for j = 1, k do
    local o = R('HGET', KEYS[7], ARGV[q + 11 + j])
    local deadline = o and tonumber(R('ZSCORE', KEYS[key + 3], o))
    if deadline and deadline <= now then drop(o, l) end
  end
  for _, o in ipairs(R('ZRANGEBYSCORE', KEYS[key + 3], '-inf', now, 'LIMIT', 0, 20)) do drop(o, l) end
  numbers(l)
  if used[l] + left[l] ~= tonumber(cfg[6 + 2 * l]) then return 'CORRUPT' end
  for j = 1, k do
    local s = ARGV[q + 11 + j]
    seats[j], scores[j] = s, R('ZSCORE', KEYS[key + 2], s)
    if not scores[j] then return {'TAKEN', s} end
    owners[2 * j - 1], owners[2 * j] = s, bid
  end
  if left[l] < k then return 'LEVEL_FULL' end
  if total + k > tcap then return 'FULL' end
  R('INCRBY', KEYS[6], k)
  R('INCRBY', KEYS[key + 1], k)
  R('ZREM', KEYS[key + 2], unpack(seats))
  R('HSET', KEYS[7], unpack(owners))
  R('HSET', KEYS[2], ch, bid)
  local names = table.concat(seats, ',')
  R('HSET', KEYS[3], bid, table.concat({'A', 1, now, now + hold, '', ch, level, ARGV[q + 4], ARGV[q + 5], ARGV[q + 7],
    now, ARGV[q + 8], ARGV[q + 9], ARGV[q + 3], names, table.concat(scores, ',')}, '|'))
  R('HSET', KEYS[4], ch, bid .. '|' .. level .. '|' .. now)
  used[l], left[l], total = used[l] + k, left[l] - k, total + k
  return {'OK', bid, names, 'A', 1, now, now + hold, R('HINCRBY', KEYS[1], 'ver', 1)}
end

local function decide(r)
  local q = at[r]
  local bid, ch, l, n, k = ARGV[q], ARGV[q + 1], tonumber(ARGV[q + 2]), tonumber(ARGV[q + 10]), tonumber(ARGV[q + 11])
  if k > 0 then n = k end
  if not n or n < 1 or n > 10 or n % 1 ~= 0 or bid == '' or ch == '' or not string.find(ARGV[q + 8], '^%d+$') then return 'BADARG' end
  for j = 2, k do
    for m = 1, j - 1 do
      if ARGV[q + 11 + j] == ARGV[q + 11 + m] then return 'BADARG' end
    end
  end
  if cfg[1] ~= ARGV[q + 3] then return 'GEN' end
  if dead[r] then return 'DEAD' end
  local cur = seen[r]
  if touched[ch] then
    flush()
    cur = R('HGET', KEYS[2], ch)
  end
  if cur then
    local answer = owned(cur, bid, ch, l, q)
    if answer then return answer end
  end
  local refusal = entitled(r, q, ch, ARGV[1 + l])
  if refusal then return refusal end
  local cap = tonumber(cfg[6 + 2 * l])
  if not tcap or not cap or not hold then return 'NOLEVEL' end
  if (cfg[7 + 2 * l] == 's') ~= (k > 0) then return 'BADARG' end
  if k > 0 then
    flush()
    touched[ch] = true
    return named(r, q, bid, ch, l, k)
  end
  numbers(l)
  if used[l] + left[l] ~= cap then return 'CORRUPT' end
  if left[l] < n then return 'LEVEL_FULL' end
  if total + n > tcap then return 'FULL' end
  taken[#taken + 1] = {r = r, q = q, bid = bid, ch = ch, l = l, n = n, edge = left[l] == n or total + n == tcap}
  used[l], left[l], total = used[l] + n, left[l] - n, total + n
  touched[ch] = true
end

for r = 1, #at do
  local answer = decide(r)
  if answer then out[r] = BARE[answer] or answer end
end
flush()
return {now, now + (hold or 0), unpack(out)}
