import { indexeddbStorage } from '../../../adapters/storage/indexeddb.ts'
import { memoryStorage } from '../../../adapters/storage/memory.ts'
import type { Storage } from '../../../src/index.ts'
import { storageConformance } from '../../conformance/storage.ts'
import { deleteDatabase } from './run.ts'

/* Runs the conformance suite for browser stores: IndexedDB on a page or in a worker, and memory on a page. */

type Method = 'get' | 'set' | 'delete' | 'list' | 'increment' | 'ownSecret' | 'close'

/** A call to a store that is open in another context. */
export interface RemoteCall {
  /** The ID of the open store, because one context may open a database more than once. */
  id: string
  name: string
  now: number
  method: Method
  args: unknown[]
}

let sendElsewhere: (call: RemoteCall) => Promise<unknown> = () =>
  Promise.reject(new Error('setElsewhere has not been called'))

/** Sets the other context, where tests of the `shared` suite reopen their database. */
export function setElsewhere(send: (call: RemoteCall) => Promise<unknown>): void {
  sendElsewhere = send
}

for (const suite of ['alone', 'shared'])
  storageConformance(suite, {
    create({ clock }) {
      const name = crypto.randomUUID()
      const open = () => indexeddbStorage({ name, clock })
      return {
        storage: open(),
        reopen: suite === 'alone' ? open : () => openElsewhere(name, clock),
        destroy: () => deleteDatabase(name),
      }
    },
  })

storageConformance('memory', {
  create({ clock }) {
    const storage = memoryStorage({ clock })
    return { storage, reopen: () => storage }
  },
})

function openElsewhere(name: string, clock: { now(): number }): Storage {
  const id = crypto.randomUUID()
  const method =
    (method: Method) =>
    (...args: unknown[]) =>
      sendElsewhere({ id, name, now: clock.now(), method, args })
  const calls = { atomic: true, increment: method('increment'), ownSecret: method('ownSecret'), close: method('close') }
  return Object.assign(calls, {
    get: method('get'),
    set: method('set'),
    delete: method('delete'),
    list: method('list'),
  }) as Storage // the other context returns its storage's results
}

const opened = new Map<string, { storage: Storage; setNow(now: number): void }>()

/** Runs a call from another context. */
export async function respond({ id, name, now, method, args }: RemoteCall): Promise<unknown> {
  const { storage, setNow } = opened.get(id) ?? open(id, name)
  setNow(now)
  return Reflect.apply(storage[method] as (...args: unknown[]) => unknown, storage, args)
}

function open(id: string, name: string) {
  let now = 0
  const storage = indexeddbStorage({ name, clock: { now: () => now } })
  const entry = {
    storage,
    setNow(next: number) {
      now = next
    },
  }
  opened.set(id, entry)
  return entry
}
