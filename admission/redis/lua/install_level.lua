#!lua
-- install_level: adds free tokens to a level that is being installed.
--
-- KEYS  cfg free
-- ARGV  owner layout level kind cap next [score token]...
-- answers:
--   {LOST}             somebody else has begun an install
--   {OK}
--
-- Safe to run twice: the same tokens are the same members.
local R = redis.call
if R('HGET', KEYS[1], 'installing') ~= ARGV[1] then return {'LOST'} end
local level = ARGV[3]
if #ARGV > 6 then R('ZADD', KEYS[2], unpack(ARGV, 7)) end
R('HSET', KEYS[1], 'layout', ARGV[2], 'kind:' .. level, ARGV[4], 'cap:' .. level, ARGV[5], 'next:' .. level, ARGV[6])
return {'OK'}
