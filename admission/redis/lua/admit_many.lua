#!lua
-- admit_many: admit for many candidates of one sale at once (protocol.md 3.11).
--
-- KEYS  cfg seen bk pending dead total seat roster last, then level free soft owner of each level
-- ARGV  one argument, a MessagePack array of arrays, columns of a table so that no
--       request has to be taken apart:
--       names of the levels; specs: level# gen rv amount currency n k of each;
--       then of the requests in turn: spec#; bid; ch; idk|inh|eh; seat*k
--       n, k and what has a # are numbers, the rest are strings
-- answers: now_ms, hold_until_ms of whoever is admitted now, then one string with
-- the tokens of each request in turn, separated by ';': admitted, stage A, driver 1,
-- and the public state did not change. For those without tokens there follow
--   code (an integer)  a refusal that says nothing more: see BARE
--   list               any other answer, as admit gives it
--
-- The rules and the order of checks are admit's, for each request in turn; what
-- earlier requests of the batch did counts for later ones. Counted admissions
-- are decided on numbers held here and written by flush, one command per key or less.
-- Whatever needs to see Redis as it is (a second request of a candidate, a
-- seated level, a soft hold to free) flushes first and then reads.
--
-- This is the script that the first second waits for. Each argument, each table
-- and each string operation per request shows in it, so all of them come packed in
-- one argument, and what requests have in common comes once, as a spec.
--
-- Safe to run twice, as admit is: for each bid.
local R, KEYS = redis.call, KEYS
local names, given, of, bids, chs, inputs, wanted = unpack(cmsgpack.unpack(ARGV[1]))
local BARE = {BADARG = 1, GEN = 2, DEAD = 3, CORRUPT = 4, MISMATCH = 5, NOCODE = 6, EMAIL = 7, NOTALLOWED = 8, NOLEVEL = 9, LEVEL_FULL = 10, FULL = 11}
local RECORD = '^(%u)|(%d+)|(%d+)|(%d+)|([^|]*)|([^|]+)|([^|]+)|([^|]*)|([^|]*)|([^|]*)|(%d+)|(%d+)|([^|]*)|([^|]*)|([^|]+)|([^|]+)$'
local SLOT = 40                                -- bytes of a booking id in an owner table, padded with zeros
local INPUT = '^([^|]*)|([^|]*)|([^|]*)$'
local clock = R('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

-- read what every request needs, one command per key
local lvs = {}
local want = {'gen', 'open', 'opens_ms', 'closes_ms', 'cap', 'hold_ms', 'roster'}
for l, name in ipairs(names) do
  want[6 + 2 * l], want[7 + 2 * l] = 'cap:' .. name, 'kind:' .. name
end
local cfg = R('HMGET', KEYS[1], unpack(want))
local from, till = tonumber(cfg[3]), tonumber(cfg[4])
local open = cfg[2] == '1' and from and till and now >= from and now < till
local tcap, hold = tonumber(cfg[5]), tonumber(cfg[6])
for l, name in ipairs(names) do                -- used and left: read once, kept up as we admit; take: admitted here, not yet written
  local key = 9 + 4 * (l - 1)
  lvs[l] = {name = name, cap = tonumber(cfg[6 + 2 * l]), seated = cfg[7 + 2 * l] == 's',
    count = KEYS[key + 1], free = KEYS[key + 2], soft = KEYS[key + 3], owner = KEYS[key + 4], used = nil, left = nil, take = 0}
end

-- What requests have in common is judged once: first comes before what a request
-- is asked by itself, later behind it.
local specs = {}
for i = 1, #given, 7 do
  local l, gen, rv, amount, currency, n, k = unpack(given, i, i + 6)
  if k > 0 then n = k end
  local lv = lvs[l]
  specs[#specs + 1] = {
    lv = lv, n = n, k = k, ask = rv ~= '*' and (rv == '' or rv ~= cfg[7]),
    first = (n < 1 or n > 10 or not string.find(amount, '^%d+$')) and 'BADARG' or cfg[1] ~= gen and 'GEN',
    later = rv ~= '*' and not open and {'CLOSED', cfg[3]} or not (tcap and lv.cap and hold) and 'NOLEVEL'
      or lv.seated ~= (k > 0) and 'BADARG',
    mid = '|' .. lv.name .. '|', tail = '|' .. now .. '|' .. amount .. '|' .. currency .. '|' .. gen .. '|',
  }
end
local m, asked, seats, at = #bids, {}, 0, {}   -- at: where a request's seats begin
for r = 1, m do
  local spec = specs[of[r]]
  of[r] = spec
  if spec.ask then asked[#asked + 1] = chs[r] end
  if spec.k > 0 then at[r], seats = seats, seats + spec.k end
end
local seen = R('HMGET', KEYS[2], unpack(chs))
local dead = R('EXISTS', KEYS[5]) == 1 and R('ZMSCORE', KEYS[5], unpack(bids)) or {}
local last = R('EXISTS', KEYS[9]) == 1 and R('HMGET', KEYS[9], unpack(chs)) or {}
local row = {}
if #asked > 0 then
  for j, r in ipairs(R('HMGET', KEYS[8], unpack(asked))) do row[asked[j]] = r end
end

local total                                    -- of the sale, as used of a level
local function numbers(lv)
  if not lv.used then lv.used, lv.left = tonumber(R('GET', lv.count) or '0'), R('ZCARD', lv.free) end
  total = total or tonumber(R('GET', KEYS[6]) or '0')
end

local out, plain, touched = {}, {}, {}         -- plain: the tokens of those who are told nothing else
local taken, sum, edge, edges = {}, 0, {}, 0   -- requests admitted here, not yet written; their seats; whose changed the public state
local admitted = 'A|1|' .. now .. '|' .. now + (hold or 0) .. '||'

-- own writes who has the popped tokens of a counted level: ids are the owners, in
-- the order of the tokens, whose scores are their numbers. Owners of consecutive
-- numbers, with ids of one length, go in one write; of a crowd it is most often all.
local function own(key, popped, ids)
  local n, from = #ids, 1
  local whole = tonumber(popped[2 * n]) - tonumber(popped[2]) == n - 1
  for j = 2, n do whole = whole and #ids[j] == #ids[1] end
  while from <= n do
    local first, size, to = tonumber(popped[2 * from]), #ids[from], whole and n or from
    while to < n and tonumber(popped[2 * to + 2]) == first + to + 1 - from and #ids[to + 1] == size do to = to + 1 end
    local pad = string.rep('\0', SLOT - size)
    R('SETRANGE', key, first * SLOT, table.concat(ids, pad, from, to) .. pad)
    from = to + 1
  end
end

-- flush writes what was admitted so far.
local function flush()
  if #taken == 0 then return end
  R('INCRBY', KEYS[6], sum)
  for _, lv in ipairs(lvs) do
    if lv.take > 0 then
      R('INCRBY', lv.count, lv.take)
      lv.popped, lv.at, lv.ids, lv.take = R('ZPOPMIN', lv.free, lv.take), 0, {}, 0
    end
  end
  local ver = edges > 0 and R('HINCRBY', KEYS[1], 'ver', edges) - edges or 0
  local holders, records = {unpack(chs)}, {unpack(chs)}   -- as long as they will be, nearly
  for x, r in ipairs(taken) do
    local spec, bid, ch = of[r], bids[r], chs[r]
    local lv, n, tokens, scores = spec.lv, spec.n, nil, nil
    local popped, f, ids = lv.popped, lv.at, lv.ids
    if n == 1 then
      tokens, scores = popped[f + 1], popped[f + 2]
      ids[f / 2 + 1] = bid
    else
      local s, c = {}, {}
      for j = 1, n do
        s[j], c[j] = popped[f + 2 * j - 1], popped[f + 2 * j]
        ids[f / 2 + j] = bid
      end
      tokens, scores = table.concat(s, ','), table.concat(c, ',')
    end
    lv.at = f + 2 * n
    local y = 2 * x
    holders[y - 1], holders[y] = ch, bid
    records[y - 1], records[y] = bid, admitted .. ch .. spec.mid .. inputs[r] .. spec.tail .. tokens .. '|' .. scores
    if edge[r] then
      ver = ver + 1
      out[r] = {'OK', bid, tokens, 'A', 1, now, now + hold, ver}
    else
      plain[r] = tokens
    end
  end
  for _, lv in ipairs(lvs) do
    if lv.ids then own(lv.owner, lv.popped, lv.ids) end
    lv.ids = nil
  end
  R('HSET', KEYS[2], unpack(holders, 1, 2 * #taken))
  R('HSET', KEYS[4], unpack(records, 1, 2 * #taken))
  taken, sum, edges = {}, 0, 0
end

-- drop releases b, a soft hold of the level past its deadline.
local function drop(b, lv)
  local raw = R('HGET', KEYS[3], b)
  R('ZREM', lv.soft, b)
  local f = raw and {string.match(raw, RECORD)}
  if not f or f[1] ~= 'S' then return end
  R('HDEL', KEYS[3], b)
  if R('HGET', KEYS[2], f[6]) == b then R('HDEL', KEYS[2], f[6]) end
  local score, c = string.gmatch(f[16], '[^,]+'), 0
  for s in string.gmatch(f[15], '[^,]+') do
    local o = score()
    if R('HGET', KEYS[7], s) == b then
      R('HDEL', KEYS[7], s)
      R('ZADD', lv.free, o, s)
      c = c + 1
    end
  end
  R('DECRBY', KEYS[6], c)
  R('DECRBY', lv.count, c)
  R('HINCRBY', KEYS[1], 'ver', 1)
  lv.used, total, touched[f[6]] = nil, nil, true
end

-- owned answers a candidate who holds a booking, or nil if it was an expired
-- soft hold of its own and is gone now.
local function owned(cur, r)
  local raw = R('HGET', KEYS[4], cur) or R('HGET', KEYS[3], cur)
  local f = raw and {string.match(raw, RECORD)}
  if not f or not f[1] then return 'CORRUPT' end
  local spec, bid = of[r], bids[r]
  local idk, inh, eh = string.match(inputs[r], INPUT)
  if f[1] == 'S' and tonumber(f[4]) <= now and f[7] == spec.lv.name and cur ~= bid then
    flush()
    drop(cur, spec.lv)
  elseif cur == bid and f[1] ~= 'S' then
    R('HINCRBY', KEYS[1], 'replays', 1)
    return {'REPLAY', bid, f[15], f[1], tonumber(f[2]), tonumber(f[11]), tonumber(f[4]), 0}
  elseif idk ~= '' and f[8] == idk then
    if f[9] ~= inh then return 'MISMATCH' end
    return {'SAME', cur, f[1], tonumber(f[4]), raw}
  else
    return {'DUP', cur, f[1], f[10] == eh and 1 or 0, tonumber(f[4]), f[7]}
  end
end

-- released answers the key of the candidate's last booking, which was released.
local function released(r)
  local idk, inh = string.match(inputs[r], INPUT)
  local b, key, x = string.match(last[r], INPUT)
  if idk == '' or key ~= idk then return end
  if x ~= inh then return 'MISMATCH' end
  return {'RELEASED', b}
end

-- unlisted answers what the roster refuses.
local function unlisted(r, spec, ch)
  local entry = row[ch]
  if not entry then return 'NOCODE' end
  local _, _, eh = string.match(inputs[r], INPUT)
  if eh ~= '' and string.sub(entry, 1, 16) ~= eh then return 'EMAIL' end
  local only = string.sub(entry, 17)
  if only ~= '' and not string.find(only, ',' .. spec.lv.name .. ',', 1, true) then return 'NOTALLOWED' end
end

-- named gives a seated level's named seats, or answers who has them.
local function named(r, spec, bid, ch)
  local q, k, lv = at[r], spec.k, spec.lv
  local seats, scores, owners = {}, {}, {}
  for j = 1, k do
    local o = R('HGET', KEYS[7], wanted[q + j])
    local deadline = o and tonumber(R('ZSCORE', lv.soft, o))
    if deadline and deadline <= now then drop(o, lv) end
  end
  for _, o in ipairs(R('ZRANGEBYSCORE', lv.soft, '-inf', now, 'LIMIT', 0, 20)) do drop(o, lv) end
  numbers(lv)
  if lv.used + lv.left ~= lv.cap then return 'CORRUPT' end
  for j = 1, k do
    local s = wanted[q + j]
    seats[j], scores[j] = s, R('ZSCORE', lv.free, s)
    if not scores[j] then return {'TAKEN', s} end
    owners[2 * j - 1], owners[2 * j] = s, bid
  end
  if lv.left < k then return 'LEVEL_FULL' end
  if total + k > tcap then return 'FULL' end
  R('INCRBY', KEYS[6], k)
  R('INCRBY', lv.count, k)
  R('ZREM', lv.free, unpack(seats))
  R('HSET', KEYS[7], unpack(owners))
  R('HSET', KEYS[2], ch, bid)
  local tokens = table.concat(seats, ',')
  R('HSET', KEYS[4], bid, admitted .. ch .. spec.mid .. inputs[r] .. spec.tail .. tokens .. '|' .. table.concat(scores, ','))
  lv.used, lv.left, total = lv.used + k, lv.left - k, total + k
  return {'OK', bid, tokens, 'A', 1, now, now + hold, R('HINCRBY', KEYS[1], 'ver', 1)}
end

local function twice(q, k)
  for j = 2, k do
    for x = 1, j - 1 do
      if wanted[q + j] == wanted[q + x] then return true end
    end
  end
end

local function decide(r)
  local spec, bid, ch = of[r], bids[r], chs[r]
  local n, k = spec.n, spec.k
  if spec.first == 'BADARG' or bid == '' or ch == '' or k > 1 and twice(at[r], k) then return 'BADARG' end
  if spec.first then return spec.first end
  if dead[r] then return 'DEAD' end
  local cur = seen[r]
  if touched[ch] then
    flush()
    cur = R('HGET', KEYS[2], ch)
  end
  local refusal = cur and owned(cur, r) or last[r] and released(r) or spec.ask and unlisted(r, spec, ch) or spec.later
  if refusal then return refusal end
  if k > 0 then
    flush()
    touched[ch] = true
    return named(r, spec, bid, ch)
  end
  local lv = spec.lv
  if not lv.used or not total then numbers(lv) end
  local u, f = lv.used, lv.left
  if u + f ~= lv.cap then return 'CORRUPT' end
  if f < n then return 'LEVEL_FULL' end
  if total + n > tcap then return 'FULL' end
  if f == n or total + n == tcap then edge[r], edges = true, edges + 1 end
  taken[#taken + 1], touched[ch] = r, true
  lv.used, lv.left, lv.take, total, sum = u + n, f - n, lv.take + n, total + n, sum + n
end

for r = 1, m do
  local answer = decide(r)
  if answer then out[r] = BARE[answer] or answer end
end
flush()
local rest = {}
for r = 1, m do
  if not plain[r] then
    plain[r], rest[#rest + 1] = '', out[r]
  end
end
return {now, now + (hold or 0), table.concat(plain, ';'), unpack(rest)}
