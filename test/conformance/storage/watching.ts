import { setTimeout as sleep } from 'node:timers/promises'
import { assert } from '../../support/suite.ts'
import type { StorageTest } from '../storage.ts'

/** Tests `watch`, which has five seconds to report a change. Each adapter's own tests check for faster reports. */
export function storageWatching(test: StorageTest): void {
  test('watch reports keys that other instances set, change, or delete', async ({ storage, other }) => {
    await storage.set('kept', '1')
    await storage.set('changed', '1')
    await storage.set('deleted', '1')
    const received = await listen(storage)
    const second = await other()
    await second.set('new', '1')
    await received.includes('new')
    await second.set('changed', '2')
    await received.includes('changed')
    await second.delete('deleted')
    await received.includes('deleted')
    await second.increment?.('count', 1)
    if (second.increment) await received.includes('count')
    assert.not.ok(received.keys.includes('kept'))
  })

  test('by the time watch reports a change, get returns the new value', async ({ storage, other }) => {
    const second = await other()
    await storage.get('key')
    const values: Array<Promise<string | undefined>> = []
    const stop = storage.watch?.((key) => void values.push(storage.get(key).then((stored) => stored?.value)))
    await second.set('key', 'new')
    await until(() => values.length > 0)
    stop?.()
    assert.is(await values[0], 'new')
  })

  test('watch reports to every watcher until the watcher stops', async ({ storage, other }) => {
    const second = await other()
    const first = await listen(storage)
    const both = await listen(storage)
    await second.set('one', '1')
    await first.includes('one')
    await both.includes('one')
    first.stop()
    first.stop()
    await second.set('two', '1')
    await both.includes('two')
    assert.not.ok(first.keys.includes('two'))
    both.stop()
    await second.set('three', '1')
    await storage.list('')
    await sleep(100) // a watcher that uses the server's clock starts a little early
    const third = await listen(storage)
    const writing = second.set('four', '1')
    third.stop()
    await writing
    await sleep(20)
    assert.equal(
      ['three', 'four'].filter((key) => both.keys.includes(key) || third.keys.includes(key)),
      [],
    )
  })
}

async function listen(storage: {
  watch?(onChange: (key: string) => void): () => void
  list(prefix: string): Promise<unknown>
}) {
  const keys: string[] = []
  const stop = storage.watch?.((key) => void keys.push(key))
  if (!stop) throw new Error('the storage has no watch')
  await storage.list('') // so that earlier changes aren't reported
  const includes = (key: string) => until(() => keys.includes(key), `a word of "${key}"`)
  return { keys, stop, includes }
}

async function until(isTrue: () => boolean, label = 'it'): Promise<void> {
  for (const end = performance.now() + 30_000; !isTrue(); ) {
    if (performance.now() > end) throw new Error(`waited 30 s for ${label}`)
    await sleep(2)
  }
}
