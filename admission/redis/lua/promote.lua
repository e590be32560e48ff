#!lua
-- promote: turns a soft hold into an admission (protocol.md 3.4, S8; 4).
--
-- KEYS  cfg seen bk pending dead seat roster last soft was
-- ARGV  bid hold ch level gen idk inh rv eh
-- answers, in the order of the checks:
--   BADARG                            refused before anything was read
--   GEN, DEAD, CORRUPT                as admit answers them, for bid
--   REPLAY record now                 the same bid again; a write, so that WAIT here covers it
--   MISMATCH, SAME, DUP, RELEASED     as admit answers them, for another booking of the candidate
--   GONE                              no such hold of this candidate
--   LEVEL level                       the hold is of another level: call again with its keys
--   GONE                              its deadline has passed: the seats are anybody's
--   EMAIL                             it was made with another e-mail
--   NOCODE, EMAIL, NOTALLOWED, CLOSED as admit answers them
--   NOLEVEL                           no hold time
--   OK record now ver                 the seats are the booking's
--
-- The booking has an id of its own, so that two requests with one hold are two
-- attempts (protocol.md R2): one is admitted, the other meets its booking. The
-- hold's id is dead from then on; nothing that knows only it can touch the
-- booking. No seat is free in between: only its owner changes. What the hold was
-- is kept until its deadline, for demote.
--
-- Safe to run twice: a repeated bid finds its own record. All reads and checks
-- come before the first write.
local R = redis.call
local bid, hold, ch, level, gen, idk, inh, rv, eh = unpack(ARGV, 1, 9)
if bid == '' or hold == '' or ch == '' or bid == hold then return {'BADARG'} end
local cfg = R('HMGET', KEYS[1], 'gen', 'open', 'opens_ms', 'closes_ms', 'hold_ms', 'roster')
if cfg[1] ~= gen then return {'GEN'} end
if R('ZSCORE', KEYS[5], bid) then return {'DEAD'} end
local clock = R('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local RECORD = '^(%u)|(%d+)|(%d+)|(%d+)|([^|]*)|([^|]+)|([^|]+)|([^|]*)|([^|]*)|([^|]*)|(%d+)|(%d+)|([^|]*)|([^|]*)|([^|]+)|([^|]+)$'

local cur = R('HGET', KEYS[2], ch)
local raw = cur and (R('HGET', KEYS[3], cur) or R('HGET', KEYS[4], cur))
local f = raw and {string.match(raw, RECORD)}
if cur and not (f and f[1]) then return {'CORRUPT'} end
if cur and f[1] ~= 'S' then
  if cur == bid then
    R('HINCRBY', KEYS[1], 'replays', 1)          -- a write: WAIT on this connection now covers us
    return {'REPLAY', raw, now}
  elseif idk ~= '' and f[8] == idk then
    if f[9] ~= inh then return {'MISMATCH'} end
    return {'SAME', cur, f[1], tonumber(f[4]), raw}
  end
  return {'DUP', cur, f[1], f[10] == eh and 1 or 0, tonumber(f[4]), f[7]}
end
if idk ~= '' then
  local last = R('HGET', KEYS[8], ch)
  if last then
    local b, i, x = string.match(last, '^([^|]*)|([^|]*)|([^|]*)$')
    if i == idk then
      if x ~= inh then return {'MISMATCH'} end
      return {'RELEASED', b}
    end
  end
end
if cur ~= hold then return {'GONE'} end
if f[7] ~= level then return {'LEVEL', f[7]} end
if tonumber(f[4]) <= now then return {'GONE'} end
if eh ~= f[10] then return {'EMAIL'} end
if rv == '' or rv ~= cfg[6] then
  local row = R('HGET', KEYS[7], ch)
  if not row then return {'NOCODE'} end
  if string.sub(row, 1, 16) ~= eh then return {'EMAIL'} end
  local only = string.sub(row, 17)
  if only ~= '' and not string.find(only, ',' .. level .. ',', 1, true) then return {'NOTALLOWED'} end
end
local from, till = tonumber(cfg[3]), tonumber(cfg[4])
if cfg[2] ~= '1' or not from or not till or now < from or now >= till then return {'CLOSED', cfg[3]} end
local life, owners = tonumber(cfg[5]), {}
if not life then return {'NOLEVEL'} end
for s in string.gmatch(f[15], '[^,]+') do
  if R('HGET', KEYS[6], s) ~= hold then return {'CORRUPT'} end
  owners[#owners + 1] = s
  owners[#owners + 1] = bid
end

-- only writes from here on
local record = table.concat({'A', 1, now, now + life, '', ch, level, idk, inh, eh, now, f[12], f[13], gen, f[15], f[16]}, '|')
R('HSET', KEYS[6], unpack(owners))
R('HSET', KEYS[2], ch, bid)
R('HSET', KEYS[4], bid, record)
R('HDEL', KEYS[3], hold)
R('ZREM', KEYS[9], hold)
R('SET', KEYS[10], hold .. ' ' .. raw, 'PX', tonumber(f[4]) - now)
R('ZADD', KEYS[5], now, hold)
R('ZREMRANGEBYSCORE', KEYS[5], '-inf', now - 600000)
return {'OK', record, now, R('HINCRBY', KEYS[1], 'ver', 1)}
