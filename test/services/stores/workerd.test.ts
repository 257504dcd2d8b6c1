import { createRequire } from 'node:module'
import type { Readable } from 'node:stream'
import { findRedis } from '../redis-server.ts'
import { addStoreTests, bundle, startIfFound, startUpstashOver } from './runs-in.ts'

interface Miniflare {
  dispatchFetch(url: string, init: RequestInit): Promise<Response>
  dispose(): Promise<void>
}
type MakesMiniflare = new (options: object) => Miniflare
const require = createRequire(new URL('../../runtimes/package.json', import.meta.url))
const { Miniflare } = require('miniflare') as { Miniflare: MakesMiniflare }

const contents = await bundle('worker.ts', { platform: 'node', conditions: ['workerd'], write: false })

const redis = await startIfFound(findRedis)
const upstash = await startIfFound(() => startUpstashOver(redis))
const missing = new Map(upstash.missing ? [['upstash', upstash.missing]] : [])

await addStoreTests(
  'workerd',
  async (names) => {
    const miniflare = new Miniflare({
      modules: [{ type: 'ESModule', path: 'worker.mjs', contents }],
      compatibilityDate: '2026-06-01',
      compatibilityFlags: ['nodejs_compat'],
      kvNamespaces: ['KV'],
      d1Databases: ['DB'],
      bindings: { UPSTASH: upstash.url },
      handleRuntimeStdio: (...outputs: Readable[]) => outputs.map((output) => output.resume()), // discards uvu's dots
      durableObjects: { STORE: { className: 'SignalboxStore', useSQLite: true } },
    })
    const body = JSON.stringify(names)
    const response = await miniflare.dispatchFetch('https://stores/', { method: 'POST', body })
    if (!response.body) throw new Error('the response has no body')
    const end = async () => {
      await miniflare.dispose()
      await upstash.remove()
      await redis.remove()
    }
    return { written: response.body.pipeThrough(new TextDecoderStream()), end }
  },
  missing,
)
