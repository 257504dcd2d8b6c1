/** A script that ages every entry in a store by `ms`. */
export const PASS = `
for _, name in ipairs(redis.call('KEYS', '*' .. ARGV[1] .. 'k:*')) do
  local left = redis.call('PTTL', name) - ARGV[2]
  if left > 0 then redis.call('PEXPIRE', name, left) elseif redis.call('PTTL', name) > 0 then redis.call('DEL', name) end
end`

/** A script that deletes every key whose name contains a store's root. */
export const EMPTY = "for _, name in ipairs(redis.call('KEYS', '*' .. ARGV[1] .. '*')) do redis.call('DEL', name) end"
