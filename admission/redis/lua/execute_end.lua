#!lua flags=allow-oom
-- execute_end: releases an execute guard, or gives it a new life.
--
-- KEYS  guard
-- ARGV  holder ttl_ms    ttl_ms 0 releases
-- answers: 1 done, 0 the guard is not this holder's (any more).
--
-- Safe to run twice.
local R = redis.call
local held = R('GET', KEYS[1])
if not held or string.sub(held, 1, #ARGV[1] + 1) ~= ARGV[1] .. ' ' then return 0 end
if ARGV[2] == '0' then R('DEL', KEYS[1]) else R('PEXPIRE', KEYS[1], ARGV[2]) end
return 1
