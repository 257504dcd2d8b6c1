import { upstashStorage } from '../../adapters/storage/upstash.ts'
import type { StorageConformance } from '../conformance/storage.ts'
import { PASS } from './redis-scripts.ts'

/** The token that the fake server in upstash-server.ts accepts. */
export const TOKEN = 'a token of the REST API'

let stores = 0

/** Returns a new prefix that no other process uses. */
export const newPrefix = () => `upstash ${crypto.randomUUID()} ${++stores}`

/** The conformance suite's options for Upstash's REST API at this URL. */
export const upstashConformance = (url: string): StorageConformance => ({
  has: ['increment', 'getLinked'],
  create() {
    const prefix = newPrefix()
    const root = `{${prefix}}:`
    const open = () => upstashStorage({ url, token: TOKEN, prefix })
    return {
      storage: open(),
      reopen: open,
      passTime: async (ms) => {
        const command = ['EVAL', PASS, '1', root, root, String(ms)]
        const headers = { authorization: `Bearer ${TOKEN}` }
        await (await fetch(url, { method: 'POST', headers, body: JSON.stringify(command) })).text()
      },
    }
  },
})
