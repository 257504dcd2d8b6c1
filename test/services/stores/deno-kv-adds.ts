import process from 'node:process'
import { type DenoKv, denoKvStorage } from '../../../adapters/storage/deno-kv.ts'

/* One of several processes that update the same value in Deno KV. The arguments are the file and the number of updates. */

declare const Deno: { openKv(path: string): Promise<DenoKv> }

const [path = '', times = '0'] = process.argv.slice(2)
const storage = denoKvStorage(await Deno.openKv(path))

async function add(): Promise<void> {
  const stored = await storage.get('sum')
  const sum = String(Number(stored?.value ?? 0) + 1)
  const isDone = await storage.set('sum', sum, { ifVersion: stored?.version ?? null })
  if (isDone === false) await add()
}

for (let left = Number(times); left > 0; left--) {
  await add()
  await storage.increment?.('count', 1)
}
const values = await storage.list('')
console.log(JSON.stringify(values.map(({ key, value }) => [key, value])))
process.exit(0)
