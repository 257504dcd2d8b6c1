import { createRequire } from 'node:module'
import type { Readable } from 'node:stream'
import { bundle, storesRunIn } from './runs-in.ts'

interface Miniflare {
  dispatchFetch(url: string, init: RequestInit): Promise<Response>
  dispose(): Promise<void>
}
type MakesMiniflare = new (options: object) => Miniflare
const require = createRequire(new URL('../../runtimes/package.json', import.meta.url))
const { Miniflare } = require('miniflare') as { Miniflare: MakesMiniflare }

const contents = await bundle('worker.ts', { platform: 'node', conditions: ['workerd'], write: false })

await storesRunIn('workerd', async (names) => {
  const miniflare = new Miniflare({
    modules: [{ type: 'ESModule', path: 'worker.mjs', contents }],
    compatibilityDate: '2026-06-01',
    compatibilityFlags: ['nodejs_compat'],
    kvNamespaces: ['KV'],
    d1Databases: ['DB'],
    handleRuntimeStdio: (...outputs: Readable[]) => outputs.map((output) => output.resume()), // the dots of uvu
    durableObjects: { STORE: { className: 'SignalboxStore', useSQLite: true } },
  })
  const body = JSON.stringify(names)
  const response = await miniflare.dispatchFetch('https://stores/', { method: 'POST', body })
  if (!response.body) throw new Error('there is nothing to read')
  return { written: response.body.pipeThrough(new TextDecoderStream()), end: () => miniflare.dispose() }
})
