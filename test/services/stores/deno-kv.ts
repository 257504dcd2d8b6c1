import { setTimeout as sleep } from 'node:timers/promises'
import { type DenoKv, denoKvStorage } from '../../../adapters/storage/deno-kv.ts'
import { assert, type Suite } from '../../support/suite.ts'

declare const Deno: { openKv(path: string): Promise<Kv> }

type Key = Array<string | number>
interface Kv extends DenoKv {
  set(key: Key, value: unknown): Promise<unknown>
  delete(key: Key): Promise<void>
  close(): void
}

/** Tests for Deno KV that run in Deno, in addition to the conformance suite. */
export function denoKvTests(test: Suite<Record<string, unknown>>): void {
  const withKv = (name: string, body: (kv: Kv) => Promise<void>) =>
    test(name, async () => {
      const kv = await Deno.openKv(':memory:')
      await body(kv)
      kv.close()
    })

  withKv('Deno KV storage reports a change within 100 ms', async (kv) => {
    const [storage, other] = [denoKvStorage(kv, { pollMs: 60_000 }), denoKvStorage(kv)]
    const delays: number[] = []
    for (let round = 0; round < 10 && Math.min(...delays) >= 100; round++) {
      await storage.list('')
      const recorded = new Promise<void>((resolve) => storage.watch?.((key) => key === `key/${round}` && resolve()))
      await sleep(50)
      const startedAt = performance.now()
      await other.set(`key/${round}`, 'value')
      await recorded
      delays.push(performance.now() - startedAt)
    }
    assert.ok(Math.min(...delays) < 100, `${delays}`)
    await storage.close?.()
  })

  withKv("watch reports keys that changed since the last read, even if the writer's clock is wrong", async (kv) => {
    const [storage, other] = [denoKvStorage(kv), denoKvStorage(kv)]
    await storage.list('')
    const now = Date.now
    Date.now = () => now() - 120_000
    await other.set('slow', 'value').finally(() => {
      Date.now = now
    })
    await other.set('key', 'value')
    const { keys, gaps } = await received(storage, 2)
    assert.equal([...keys].sort(), ['key', 'slow'])
    assert.is(gaps, 0)
  })

  withKv('watch reports a gap if the names of changed keys are no longer available', async (kv) => {
    const [storage, other] = [denoKvStorage(kv), denoKvStorage(kv)]
    await storage.list('')
    await other.set('lost', 'value')
    const log = kv.list({ start: ['signalbox', 'log'], end: ['signalbox', 'log', Infinity] }, { batchSize: 100 })
    for await (const { key } of log) await kv.delete([...key] as Key) // the key exactly as listed
    const { keys, gaps } = await received(storage, 1)
    assert.equal([keys.size, gaps], [0, 1])
  })

  withKv('an entry written by another program counts as damaged, and can be replaced', async (kv) => {
    const storage = denoKvStorage(kv)
    await storage.set('good', 'value')
    const values = { date: new Date(0), large: 5n, text: 'of another program', row: { value: 5 }, blank: null }
    for (const [key, value] of Object.entries(values)) await kv.set(['signalbox', 'entry', key], value)
    const listed = await storage.list('')
    assert.equal(
      listed.map(({ key, value }) => [key, value]),
      [
        ['blank', 'null'],
        ['date', '"1970-01-01T00:00:00.000Z"'],
        ['good', 'value'],
        ['large', '5'],
        ['row', '{"value":5}'],
        ['text', '"of another program"'],
      ],
    )
    const error = await getError(() => storage.increment?.('text', 1) ?? Promise.resolve())
    assert.is(error.code, 'STORAGE_NOT_A_NUMBER')
    const version = (await storage.get('text'))?.version
    assert.is(await storage.set('text', 'new', { ifVersion: null }), false)
    assert.type(await storage.set('text', 'new', { ifVersion: version ?? '' }), 'string')
    assert.is((await storage.get('text'))?.value, 'new')
    for (const key of Object.keys(values)) assert.is(await storage.delete(key), true, key)
  })

  withKv('keys and values can have the maximum size, with characters of any UTF-8 length', async (kv) => {
    const storage = denoKvStorage(kv, { prefix: 'p'.repeat(100) })
    for (const char of ['a', 'é', '日', '😀', '\u0000'])
      for (const ttlMs of [undefined, 1_000]) {
        const bytes = new TextEncoder().encode(char).length
        const key = char.repeat(Math.floor(960 / bytes))
        const value = char.repeat(Math.floor(65_000 / bytes))
        await storage.set(key, value, ttlMs === undefined ? {} : { ttlMs })
        assert.ok((await storage.get(key))?.value === value, `${bytes} bytes`)
      }
  })

  test('close leaves the database open, and calls on a closed database fail with an error', async () => {
    const kv = await Deno.openKv(':memory:')
    const storage = denoKvStorage(kv)
    await storage.set('key', 'value')
    await storage.close?.()
    assert.is((await getError(() => storage.get('key'))).code, 'STORAGE_CLOSED')
    const later = denoKvStorage(kv)
    assert.is((await later.get('key'))?.value, 'value')
    kv.close()
    const error = await getError(() => later.get('key'))
    assert.is(error.code, 'STORAGE_UNREACHABLE')
    assert.match(error.message, /"signalbox".*Check that the database is open/)
  })

  withKv('denoKvStorage rejects invalid databases and options', async (kv) => {
    assert.throws(() => Reflect.apply(denoKvStorage, undefined, []), /denoKvStorage takes a database/)
    for (const prefix of ['', 'a b', 'p'.repeat(101)]) assert.throws(() => denoKvStorage(kv, { prefix }), /prefix/)
    assert.throws(() => Reflect.apply(denoKvStorage, undefined, [kv, { table: 'a' }]), /table is not an option/)
  })
}

/** Resolves when a new watcher has received `count` keys and gaps. */
async function received(storage: ReturnType<typeof denoKvStorage>, count: number) {
  const keys = new Set<string>()
  let gaps = 0
  const gap = () => {
    gaps++
  }
  const stop = storage.watch?.((key) => void keys.add(key), gap)
  for (const end = performance.now() + 30_000; keys.size + gaps < count && performance.now() < end; ) await sleep(5)
  stop?.()
  return { keys, gaps }
}

async function getError(action: () => Promise<unknown>): Promise<{ code?: string; message: string }> {
  return action().then(
    () => ({ message: 'was not refused' }),
    (error: { code?: string; message: string }) => error,
  )
}
