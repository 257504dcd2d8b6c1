import {
  type DurableObjectNamespace,
  durableObjectStorage,
  SignalboxStore as Store,
} from '../../../adapters/storage/durable-object.ts'
import { type KvNamespace, kvStorage } from '../../../adapters/storage/kv.ts'
import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { type SqliteDatabase, sqliteStorage } from '../../../adapters/storage/sqlite.ts'
import { upstashConformance } from '../upstash-conformance.ts'
import { reportSuites, type Subject } from './report.ts'

/* A Worker that runs the store suites on Workers, and reports the results. The request body is JSON with the store names. */

interface Env {
  KV: KvNamespace
  DB: SqliteDatabase
  STORE: DurableObjectNamespace
  /** The URL of Upstash's REST API. */
  UPSTASH: string
}

/** A Durable Object with a clock that a test can advance, which triggers its alarm. */
const now = Date.now
let aheadMs = 0
Date.now = () => now() + aheadMs
export class SignalboxStore extends Store {
  override async fetch(request: Request): Promise<Response> {
    const ms = new URL(request.url).searchParams.get('pass')
    if (ms === null) return super.fetch(request)
    aheadMs += Number(ms)
    await this.alarm()
    return Response.json({})
  }
}

let stores = 0

function subjectsOn({ KV, DB, STORE, UPSTASH }: Env): Record<string, Subject> {
  return {
    memory: () => ({
      create({ clock }) {
        const storage = memoryStorage({ clock })
        return { storage, reopen: () => storage }
      },
    }),

    upstash: () => upstashConformance(UPSTASH),

    kv: () => ({
      holdsDamage: true,
      atomic: false,
      has: [],
      create({ clock }) {
        const open = (prefix: string) => kvStorage(KV, { prefix, clock })
        const prefix = `store-${++stores}/`
        return { storage: open(prefix), reopen: () => open(prefix) }
      },
    }),

    D1: () => ({
      holdsDamage: true,
      has: ['increment', 'getLinked'],
      create({ clock }) {
        const table = `records_${++stores}`
        const open = () => sqliteStorage(DB, { table, clock })
        return { storage: open(), reopen: open }
      },
    }),

    'durable-object': () => ({
      holdsDamage: true,
      has: ['increment', 'getLinked'],
      create() {
        const name = `store-${++stores}`
        const open = () => durableObjectStorage(STORE, { name })
        const pass = (ms: number) =>
          STORE.get(STORE.idFromName(name)).fetch(`https://store/?pass=${ms}`, { method: 'POST', body: '' })
        return { storage: open(), reopen: open, passTime: async (ms) => void (await pass(ms)) }
      },
    }),
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const names = (await request.json()) as string[] // the body that workerd.test.ts sends
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const writer = writable.getWriter()
    const encoder = new TextEncoder()
    const done = reportSuites(names, subjectsOn(env), (line) => void writer.write(encoder.encode(line)))
    void done.then(
      () => writer.close(),
      (error: unknown) => writer.abort(error),
    )
    return new Response(readable)
  },
}
