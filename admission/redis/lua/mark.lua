#!lua flags=allow-oom
-- mark: proves which history this primary has, and moves its mark on
-- (protocol.md 3.9, Redis lost).
--
-- KEYS  cfg
-- ARGV  gen known next      known: the last mark that the ledger knows, '' if none
-- answers:
--   {GEN}              the generation has moved on, or the sale is not installed
--   {OK mark}          mark is there: next, put in the place of known; or one that
--                      was put there after known and that nobody has noted yet
--   {NONE}             neither: not this history, or others have gone on
--
-- Safe to run twice: the second finds next in the place of known and leaves it.
-- Every answer comes with a write, so that a WAIT behind it says whether anybody
-- follows this primary. So at most one mark is
-- ahead of the ledger, and whoever has it knows which one it follows.
local R = redis.call
local cfg = R('HMGET', KEYS[1], 'gen', 'mark', 'marked')
if cfg[1] ~= ARGV[1] then return {'GEN'} end
local mark, before = cfg[2] or '', cfg[3] or ''
if mark == ARGV[2] then
  R('HSET', KEYS[1], 'mark', ARGV[3], 'marked', ARGV[2])
  return {'OK', ARGV[3]}
end
if before ~= ARGV[2] then
  R('HSET', KEYS[1], 'marked', before)
  return {'NONE'}
end
R('HSET', KEYS[1], 'mark', mark)
return {'OK', mark}
