import type { Stored } from '../../../src/index.ts'
import { fromOrdered, toOrdered } from '../lib/ordered-text.ts'
import type { RedisConnection } from './redis-connection.ts'
import { parseEntry } from './redis-records.ts'

/**
 * Reads an entry and the entries that it names. KEYS: entry, `k:`. ARGV: the entry's name. Returns the names, and what is stored under them (see
 * scripts.ts).
 */
const LINKED_SCRIPT = `
local text = redis.call('GET', KEYS[1])
if not text then return { {}, {} } end
local names, keys = { ARGV[1] }, { KEYS[1] }
for name in text:sub(38):gmatch('[^\\n]+') do
  if #names == 33 then break end
  names[#names + 1] = name
  keys[#keys + 1] = KEYS[2] .. name
end
return { names, redis.call('MGET', unpack(keys)) }`

/** Creates `Storage.getLinked` for the entries under `root`. */
export const createLinkedReader =
  ({ send }: Pick<RedisConnection, 'send'>, root: string) =>
  async (key: string): Promise<Array<Stored & { key: string }>> => {
    const name = toOrdered(key)
    const reply = await send(() => ['EVAL', LINKED_SCRIPT, '2', `${root}k:${name}`, `${root}k:`, name])
    const [names, texts] = reply as [string[], unknown[]] // the script returns these two values
    return names.flatMap((name, index) => {
      const stored = parseEntry(texts[index])
      return stored ? { key: fromOrdered(name), ...stored } : []
    })
  }
