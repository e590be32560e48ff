#!lua
-- caps: sets a level's cap, or the sale's total (protocol.md 3.4, S9).
--
-- KEYS  cfg total level free
-- ARGV  gen level newcap first serial    level '' is the sale's total
-- answers:
--   BADARG             no number, or the level has had as many tokens as an owner table can have
--   GEN
--   LATE               a change with a higher serial was made before, nothing changed
--   USED used cap      below the used seats, nothing changed
--   SEATED             a seat plan changes by name
--   NOLEVEL, CORRUPT
--   OK cap next ver    cap below newcap: call again, a call mints at most 1,000
--
-- Safe to run twice: the cap is absolute, and a raise mints only what is missing.
-- Safe to run late: whoever stalled while others finished his change and made
-- newer ones finds a higher serial.
-- Numbers are never reused: a raise begins at the greater of next and first.
local R = redis.call
local level, want = ARGV[2], tonumber(ARGV[3])
if not want or want < 0 or want % 1 ~= 0 then return {'BADARG'} end
local cfg = R('HMGET', KEYS[1], 'gen', 'cap', 'cap:' .. level, 'next:' .. level, 'kind:' .. level, 'change')
if cfg[1] ~= ARGV[1] then return {'GEN'} end
local serial, last = tonumber(ARGV[5]) or 0, tonumber(cfg[6] or '0')
if serial < last then return {'LATE'} end
if level == '' then
  local used = tonumber(R('GET', KEYS[2]) or '0')
  if want < used then return {'USED', used, tonumber(cfg[2])} end
  R('HSET', KEYS[1], 'cap', want)
  if serial > last then R('HSET', KEYS[1], 'change', serial) end
  return {'OK', want, 0, R('HINCRBY', KEYS[1], 'ver', 1)}
end
if cfg[5] == 's' then return {'SEATED'} end
local cap, nxt = tonumber(cfg[3]), tonumber(cfg[4])
if not cap or not nxt then return {'NOLEVEL'} end
local used, left = tonumber(R('GET', KEYS[3]) or '0'), R('ZCARD', KEYS[4])
if used + left ~= cap then return {'CORRUPT'} end
if want < used then return {'USED', used, cap} end
if want < cap then
  R('ZREMRANGEBYRANK', KEYS[4], want - cap, -1)  -- the highest free tokens, for good
  cap = want
elseif want > cap then
  local step, first, minted = math.min(want - cap, 1000), math.max(nxt, tonumber(ARGV[4]) or 1), {}
  if (first + step) * 40 > 512 * 1048576 then return {'BADARG'} end
  for i = first, first + step - 1 do
    minted[#minted + 1] = i
    minted[#minted + 1] = level .. '-' .. i
  end
  R('ZADD', KEYS[4], unpack(minted))
  cap, nxt = cap + step, first + step
end
R('HSET', KEYS[1], 'cap:' .. level, cap, 'next:' .. level, nxt)
if serial > last then R('HSET', KEYS[1], 'change', serial) end
return {'OK', cap, nxt, R('HINCRBY', KEYS[1], 'ver', 1)}
