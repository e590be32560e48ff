#!lua
-- admit_many: admit for many candidates of one sale at once (protocol.md 3.11).
--
-- KEYS  cfg seen bk pending dead total seat roster last, then level free soft owner of each level
-- ARGV  one argument, MessagePack values one behind the other: four arrays
--       names of the levels
--       specs: level# gen rv amount currency n k of each
--       spec# of each request, or nothing where there is one spec
--       seats, k of each request in turn
--       and columns of a table with a row for each request: bid; ch; idk|inh|eh
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
-- and each string operation per request shows in it: so the arguments come packed,
-- and what requests have in common comes once, as a spec. A table that grows is
-- copied at each power of two, so what has a place for each request is made in one
-- go, from values on the stack.
--
-- Safe to run twice, as admit is: for each bid.
local R, KEYS = redis.call, KEYS
local given = {cmsgpack.unpack(ARGV[1])}
local names, common, of, wanted = unpack(given, 1, 4)
local m = (#given - 4) / 3
local B, C, I = 4, 4 + m, 4 + 2 * m             -- before the columns: bids, candidates, inputs
local BARE = {BADARG = 1, GEN = 2, DEAD = 3, CORRUPT = 4, MISMATCH = 5, NOCODE = 6, EMAIL = 7, NOTALLOWED = 8, NOLEVEL = 9, LEVEL_FULL = 10, FULL = 11}
local RECORD = '^(%u)|(%d+)|(%d+)|(%d+)|([^|]*)|([^|]+)|([^|]+)|([^|]*)|([^|]*)|([^|]*)|(%d+)|(%d+)|([^|]*)|([^|]*)|([^|]+)|([^|]+)$'
local SLOT = 40                                -- bytes of a booking id in an owner table, padded with zeros
local INPUT = '^([^|]*)|([^|]*)|([^|]*)$'
local clock = R('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local stamp = string.format('%.0f', now)       -- a number is turned into text anew wherever it is joined to one

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
for l, name in ipairs(names) do                -- left: seats, read once and kept up as we admit; nil: not known
  local key = 9 + 4 * (l - 1)
  lvs[l] = {name = name, digits = #name + 2, cap = tonumber(cfg[6 + 2 * l]), seated = cfg[7 + 2 * l] == 's', wish = 0, left = nil,
    count = KEYS[key + 1], free = KEYS[key + 2], soft = KEYS[key + 3], owner = KEYS[key + 4],
    tokens = nil, ids = nil, at = 0, done = 0} -- the lowest free tokens; the owners of the first at of them, of which done are written
end

-- What requests have in common is judged once: first comes before what a request
-- is asked by itself, later behind it. plain: only its candidate, the roster where it
-- is to be asked, and the numbers are left.
local specs = {}
for i = 1, #common, 7 do
  local l, gen, rv, amount, currency, n, k = unpack(common, i, i + 6)
  if k > 0 then n = k end
  local lv = lvs[l]
  local spec = {
    lv = lv, n = n, k = k, ask = rv ~= '*' and (rv == '' or rv ~= cfg[7]), plain = false,
    first = (n < 1 or n > 10 or not string.find(amount, '^%d+$')) and 'BADARG' or cfg[1] ~= gen and 'GEN',
    later = rv ~= '*' and not open and {'CLOSED', cfg[3]} or not (tcap and lv.cap and hold) and 'NOLEVEL'
      or lv.seated ~= (k > 0) and 'BADARG',
    mid = '|' .. lv.name .. '|', tail = '|' .. stamp .. '|' .. amount .. '|' .. currency .. '|' .. gen .. '|',
  }
  spec.plain = k == 0 and not (spec.first or spec.later)
  specs[#specs + 1] = spec
end
local only = #of == 0 and specs[1]
local asked, who, seats, at = {}, {}, 0, {}    -- asked: of the roster, by who; at: where a request's seats begin
if only and only.plain then
  only.lv.wish = m * only.n
else
  for r = 1, m do
    local spec = only or specs[of[r]]
    if spec.ask then asked[#asked + 1], who[#who + 1] = given[C + r], r end
    if spec.k > 0 then at[r], seats = seats, seats + spec.k end
    spec.lv.wish = spec.lv.wish + math.min(spec.n, 10)
  end
end
local seen = R('HMGET', KEYS[2], unpack(given, C + 1, C + m))
local dead, last, row = {}, {}, {}
if R('EXISTS', KEYS[5], KEYS[9]) > 0 then
  dead = R('ZMSCORE', KEYS[5], unpack(given, B + 1, B + m))
  last = R('HMGET', KEYS[9], unpack(given, C + 1, C + m))
end
if only and only.plain and only.ask then
  row = R('HMGET', KEYS[8], unpack(given, C + 1, C + m))
elseif #asked > 0 then
  for j, entry in ipairs(R('HMGET', KEYS[8], unpack(asked))) do row[who[j]] = entry end
end

local total                                    -- seats taken of the sale; as left, but of all levels
-- numbers reads what is left, of a counted level the tokens too: as many as may be
-- wanted here. A token's number ends its name. dense: they are consecutive from first on.
local function numbers(lv)
  local counts = R('MGET', lv.count, KEYS[6])
  lv.left, total = R('ZCARD', lv.free), total or tonumber(counts[2] or '0')
  lv.whole = tonumber(counts[1] or '0') + lv.left == lv.cap
  if lv.seated or lv.left == 0 then return end
  local tokens, digits = R('ZRANGE', lv.free, '0', lv.wish - 1), lv.digits
  local n, first = #tokens, tonumber(string.sub(tokens[1], digits))
  lv.tokens, lv.at, lv.done, lv.first = tokens, 0, 0, first
  lv.dense = first and tonumber(string.sub(tokens[n], digits)) == first + n - 1
  lv.ids = {unpack(given, B + 1, B + n)}       -- as long as it will be
  if lv.dense then return end
  lv.number = {}
  for j, token in ipairs(tokens) do
    lv.number[j] = tonumber(string.sub(token, digits))
    lv.whole = lv.whole and lv.number[j] ~= nil
  end
end

local out, plain, odd = {}, {unpack(given, B + 1, B + m)}, {}   -- plain: the tokens of those who are told nothing else; odd: the others
local holders, records, taken = {unpack(given, B + 1, B + 2 * m)}, {unpack(given, B + 1, B + 2 * m)}, 0   -- admitted here, not yet written
local edges, touched = {}, {}                  -- edges: those whose admission changed the public state
local admitted = 'A|1|' .. stamp .. '|' .. now + (hold or 0) .. '||'

-- own writes who has the tokens of a counted level that were taken since the last
-- time. Owners of consecutive numbers, with ids of one length, go in one write; of
-- a crowd it is most often all.
local function own(lv)
  local ids, number, from, n = lv.ids, lv.number, lv.done + 1, lv.at
  local whole = lv.dense
  for j = from + 1, n do whole = whole and #ids[j] == #ids[from] end
  while from <= n do
    local first, size, to = lv.dense and lv.first + from - 1 or number[from], #ids[from], whole and n or from
    while to < n and (lv.dense or number[to + 1] == number[to] + 1) and #ids[to + 1] == size do to = to + 1 end
    local pad = string.rep('\0', SLOT - size)
    R('SETRANGE', lv.owner, first * SLOT, table.concat(ids, pad, from, to) .. pad)
    from = to + 1
  end
end

-- flush writes what was admitted so far.
local function flush()
  if taken == 0 then return end
  local counts = {KEYS[6], total}
  for _, lv in ipairs(lvs) do
    if lv.at > lv.done then
      counts[#counts + 1], counts[#counts + 2] = lv.count, lv.cap - lv.left
      R('ZREMRANGEBYRANK', lv.free, '0', lv.at - lv.done - 1)
      own(lv)
      lv.done = lv.at
    end
  end
  R('MSET', unpack(counts))
  R('HSET', KEYS[2], unpack(holders, 1, 2 * taken))
  R('HSET', KEYS[4], unpack(records, 1, 2 * taken))
  if #edges > 0 then
    local ver = R('HINCRBY', KEYS[1], 'ver', #edges) - #edges
    for j, r in ipairs(edges) do out[r][8] = ver + j end
  end
  taken, edges = 0, {}
end

-- judging returns what judges a request of which more is to be asked than its
-- candidate and the numbers. Most batches have none, and a function costs when it is made.
local function judging()
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
    total, touched[f[6]] = nil, true
  end

  -- owned answers a candidate who holds a booking, or nil if it was an expired
  -- soft hold of its own and is gone now.
  local function owned(cur, r, spec, bid)
    local raw = R('HGET', KEYS[4], cur) or R('HGET', KEYS[3], cur)
    local f = raw and {string.match(raw, RECORD)}
    if not f or not f[1] then return 'CORRUPT' end
    local idk, inh, eh = string.match(given[I + r], INPUT)
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
    local idk, inh = string.match(given[I + r], INPUT)
    local b, key, x = string.match(last[r], INPUT)
    if idk == '' or key ~= idk then return end
    if x ~= inh then return 'MISMATCH' end
    return {'RELEASED', b}
  end

  -- unlisted answers what the roster refuses.
  local function unlisted(r, spec)
    local entry = row[r]
    if not entry then return 'NOCODE' end
    local _, _, eh = string.match(given[I + r], INPUT)
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
    if not lv.whole then return 'CORRUPT' end
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
    R('HSET', KEYS[4], bid, admitted .. ch .. spec.mid .. given[I + r] .. spec.tail .. tokens .. '|' .. table.concat(scores, ','))
    lv.left, total = lv.left - k, total + k
    return {'OK', bid, tokens, 'A', 1, now, now + hold, R('HINCRBY', KEYS[1], 'ver', 1)}
  end

  local function twice(q, k)
    for j = 2, k do
      for x = 1, j - 1 do
        if wanted[q + j] == wanted[q + x] then return true end
      end
    end
  end

  -- It answers whoever is refused before the numbers are asked, and whoever wants
  -- named seats; nil: it is up to the numbers.
  return function(r, spec, bid, ch)
    local k = spec.k
    if spec.first == 'BADARG' or bid == '' or ch == '' or k > 1 and twice(at[r], k) then return 'BADARG' end
    if spec.first then return spec.first end
    if dead[r] then return 'DEAD' end
    local cur = seen[r]
    if touched[ch] then
      flush()
      cur = R('HGET', KEYS[2], ch)
    end
    local refusal = cur and owned(cur, r, spec, bid) or last[r] and released(r) or spec.ask and unlisted(r, spec) or spec.later
    if refusal or k == 0 then return refusal end
    flush()
    touched[ch] = true
    return named(r, spec, bid, ch)
  end
end

local judge
for r = 1, m do
  local spec, bid, ch, answer = only or specs[of[r]], given[B + r], given[C + r], nil
  local lv, n = spec.lv, spec.n
  if seen[r] or dead[r] or last[r] or touched[ch] or not spec.plain or bid == '' or ch == ''
    or spec.ask and string.sub(given[I + r], -17) ~= '|' .. (row[r] or '') then   -- the usual row: an e-mail, and no levels
    judge = judge or judging()
    answer = judge(r, spec, bid, ch)
  end
  if not answer then
    if not lv.left or not total then numbers(lv) end
    local left, sum = lv.left - n, total + n
    if not lv.whole then
      answer = 'CORRUPT'
    elseif left < 0 then
      answer = 'LEVEL_FULL'
    elseif sum > tcap then
      answer = 'FULL'
    else
      local i, tokens = lv.at + 1, lv.tokens
      local token, number = tokens[i], nil
      lv.ids[i] = bid
      if n == 1 then
        number = string.sub(token, lv.digits)
      else
        local s = {}
        for j = 1, n do s[j], lv.ids[i + j - 1] = string.sub(tokens[i + j - 1], lv.digits), bid end
        token, number = table.concat(tokens, ',', i, i + n - 1), table.concat(s, ',')
      end
      local y = 2 * taken + 1
      holders[y], holders[y + 1] = ch, bid
      records[y], records[y + 1] = bid, admitted .. ch .. spec.mid .. given[I + r] .. spec.tail .. token .. '|' .. number
      lv.left, lv.at, total, taken, touched[ch] = left, lv.at + n, sum, taken + 1, true
      plain[r] = token
      if left == 0 or sum == tcap then         -- the answer that changes what the public sees carries the new version
        answer, edges[#edges + 1] = {'OK', bid, token, 'A', 1, now, now + hold}, r
      end
    end
  end
  if answer then plain[r], odd[#odd + 1], out[r] = '', r, BARE[answer] or answer end
end
flush()
for j, r in ipairs(odd) do odd[j] = out[r] end
return {now, now + (hold or 0), table.concat(plain, ';'), unpack(odd)}
