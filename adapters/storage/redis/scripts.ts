/*
 * What lies in Redis, all under one hash tag: `k:<name>` is an entry, its version and a blank before its value, where the name is the key in
 * the form that Redis orders; `i` has all names in order, `x` those that expire, by time; `s` is a stream of changes; `o:<id>` is the result
 * of an operation, for a client that sends it again.
 */

/**
 * One write. KEYS: entry, `i`, `x`, `s`, result. ARGV: operation, name, id, expected version, value or step, `ttlMs`, writer, the last moment
 * at which it may be made. Returns the time of the server and `ok`, `no`, `nan`, `late` or a sum. The same id is made once.
 */
export const WRITE = `
local entry, index, expiry, stream, memory = unpack(KEYS)
local operation, name, id, expected, value, ttl, writer, latest = unpack(ARGV)
local call = redis.call
local time, result = call('TIME'), 'ok'
local now = time[1] * 1000 + time[2] / 1000
local function answer(result) return { now, result } end
local known = call('GET', memory)
if known then return answer(known) end
if now > tonumber(latest) then return answer('late') end
local old = call('GET', entry)
local version = old and '=' .. string.sub(old, 1, 36) or '-'
if expected ~= '*' and expected ~= version or operation == 'delete' and not old then return answer('no') end
local life = ttl == '' and {} or { 'PX', ttl }
if operation == 'increment' then
  local before = tonumber(string.match(old and string.sub(old, 38) or '0', '^%-?%d+$') or '')
  local sum = before and before + value
  if not sum or sum % 1 ~= 0 or math.max(before, -before, sum, -sum) > 9007199254740991 then return answer('nan') end
  value = string.format('%.0f', sum)
  result = value
  if old then life = { 'KEEPTTL' } end
end
for _, gone in ipairs(call('ZRANGEBYSCORE', expiry, '-inf', now - 1000, 'LIMIT', 0, 10)) do
  call('ZREM', expiry, gone)
  call('ZREM', index, gone)
end
if not life[1] then call('ZREM', expiry, name) end
if operation == 'delete' then
  call('DEL', entry)
  call('ZREM', index, name)
else
  call('SET', entry, id .. ' ' .. value, unpack(life))
  call('ZADD', index, 0, name)
  if life[2] then call('ZADD', expiry, now + ttl, name) end
end
call('XADD', stream, 'MAXLEN', '~', 10000, '*', 'name', name, 'writer', writer)
call('SET', memory, result, 'PX', 60000)
return answer(result)`
