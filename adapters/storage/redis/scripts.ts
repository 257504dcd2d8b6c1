/*
 * All Redis data has one hash tag. `k:<name>` is an entry: its version, a space, and its value. The name is the key, escaped for Redis's order. `i`
 * contains all names in order; `x`, the names of expiring entries, by time. `s` is a stream of changes. `o:<id>` is an operation's result, in case a
 * client sends the operation again.
 */

/**
 * Reads a page of entries. KEYS: `i`, `k:`. ARGV: the bounds of the names, and the largest number of entries. Returns the server's time, the names,
 * and the values stored under them.
 */
export const LIST_SCRIPT = `
local names = redis.call('ZRANGEBYLEX', KEYS[1], ARGV[1], ARGV[2], 'LIMIT', 0, ARGV[3])
local keys = {}
for at, name in ipairs(names) do keys[at] = KEYS[2] .. name end
local time = redis.call('TIME')
return { time[1] * 1000 + time[2] / 1000, names, names[1] and redis.call('MGET', unpack(keys)) or {} }`

/**
 * Applies one write. KEYS: entry, `i`, `x`, `s`, result. ARGV: operation, name, ID, expected version, value or increment, `ttlMs`, writer, and the
 * write's deadline. Returns the server's time and `ok`, `no`, `nan`, `late`, or a sum. Writes with the same ID are applied only once.
 */
export const WRITE_SCRIPT = `
local e, i, x, s, m = unpack(KEYS)
local op, name, id, want, value, ttl, writer, til = unpack(ARGV)
local call = redis.call
local time, r = call('TIME'), 'ok'
local now = time[1] * 1000 + time[2] / 1000
local known = call('GET', m)
if known then return { now, known } end
if now > tonumber(til) then return { now, 'late' } end
local old = call('GET', e)
local v = old and '=' .. old:sub(1, 36) or '-'
if want ~= '*' and want ~= v or op == 'delete' and not old then return { now, 'no' } end
local life = ttl == '' and {} or { 'PX', ttl }
if op == 'increment' then
  local was = tonumber((old and old:sub(38) or '0'):match('^%-?%d+$') or '')
  local sum = was and was + value
  if not sum or sum % 1 ~= 0 or math.max(was, -was, sum, -sum) > 9007199254740991 then return { now, 'nan' } end
  value = ('%.0f'):format(sum)
  r = value
  if old then life = { 'KEEPTTL' } end
end
for _, gone in ipairs(call('ZRANGEBYSCORE', x, '-inf', now - 1000, 'LIMIT', 0, 10)) do
  call('ZREM', x, gone)
  call('ZREM', i, gone)
end
if not life[1] then call('ZREM', x, name) end
if op == 'delete' then
  call('DEL', e)
  call('ZREM', i, name)
else
  call('SET', e, id .. ' ' .. value, unpack(life))
  call('ZADD', i, 0, name)
  if life[2] then call('ZADD', x, now + ttl, name) end
end
call('XADD', s, 'MAXLEN', '~', 10000, '*', 'name', name, 'writer', writer)
call('SET', m, r, 'PX', 60000)
return { now, r }`
