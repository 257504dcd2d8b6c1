import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadCpu, measuredCpu, type Participant, startProcess } from './processes.ts'
import type { ServerName } from './suites.ts'

/** A server's file and environment variables. */
interface Program {
  file: string
  env: Record<string, string>
  runtime?: string
}

export interface Servers {
  /** The servers that can be measured on this machine. */
  names: ReadonlySet<ServerName>
  /** Why each of the other servers can't be measured. */
  missing: string[]
  /** Starts the server on the first call. It is paused except while it is measured. */
  open(name: ServerName): Promise<Participant>
  /** Fills a server's store with usage records, to measure its cold start. */
  seed(name: ServerName): Promise<Program & { key: string }>
  close(): Promise<void>
}

interface ServersOptions {
  /** Whether to start only the servers for the short check. */
  isCheck: boolean
  /** The number of usage records in the store when a server's cold start is measured. */
  records: number
}

interface Database {
  url: string
  remove(): Promise<void>
}

const services = fileURLToPath(new URL('../services/', import.meta.url))
const bun = fileURLToPath(new URL('../runtimes/node_modules/.bin/bun', import.meta.url))

/** Starts the mock provider and the databases. All other servers start when they are first needed. */
export async function createServers({ isCheck, records }: ServersOptions): Promise<Servers> {
  const provider = await startProcess('provider.ts', { cpu: loadCpu })
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-bench-'))
  const names = new Set<ServerName>(['direct', 'proxy', 'translator', 'file', 'identified', 'usage-off', 'memory'])
  const missing: string[] = []
  const databases = new Map<ServerName, Database>()
  if (!isCheck) {
    for (const [name, start] of Object.entries({ redis: startRedis, postgres: startPostgres })) {
      const database = await start().catch((error: Error) => void missing.push(error.message))
      if (!database) continue
      databases.set(name as ServerName, database) // one of the keys above
      names.add(name as ServerName)
    }
    if (existsSync(bun)) names.add('bun-proxy').add('bun')
    else missing.push('Bun: run npm ci in test/runtimes')
  }

  function describe(name: ServerName, store: string): Program {
    const env = {
      PROVIDER: provider.url,
      USAGE: name === 'usage-off' ? 'off' : 'on',
      IDENTIFY: name === 'identified' ? 'on' : 'off',
      STORE: locate(name, store),
    }
    if (name === 'proxy' || name === 'translator') return { file: `${name}.mjs`, env }
    if (name === 'bun-proxy') return { file: 'bun-proxy.mjs', env, runtime: bun }
    return { file: 'gateway.mjs', env, ...(name === 'bun' && { runtime: bun }) }
  }

  function locate(name: ServerName, store: string): string {
    const database = databases.get(name)
    if (name === 'memory') return 'memory'
    if (!database) return join(folder, `${name}-${store}`)
    const url = new URL(database.url)
    url.searchParams.set('name', `bench_${process.pid}_${store}`) // a separate database, because the server may hold other data
    return url.href
  }

  const open = new Map<ServerName, Promise<Participant>>([['direct', Promise.resolve(provider)]])
  const seeded = new Map<ServerName, Promise<Program & { key: string }>>()

  async function seed(name: ServerName): Promise<Program & { key: string }> {
    const program = describe(name, 'seeded')
    if (program.file !== 'gateway.mjs') return { ...program, key: 'none' }
    const env = { ...program.env, RECORDS: String(records) }
    const seeder = await startProcess('seed.mjs', { cpu: measuredCpu, env })
    if (seeder.records !== records)
      throw new Error(`The ${name} store has only ${seeder.records} of ${records} usage records.`)
    return { ...program, key: seeder.key ?? '' }
  }

  return {
    names,
    missing,
    open(name) {
      const server = open.get(name) ?? startPaused(describe(name, 'open'))
      open.set(name, server)
      return server
    },
    seed(name) {
      const program = seeded.get(name) ?? seed(name)
      seeded.set(name, program)
      return program
    },
    async close() {
      for (const server of open.values()) await (await server).stop()
      for (const database of databases.values()) await database.remove()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function startPaused({ file, ...options }: Program): Promise<Participant> {
  const server = await startProcess(file, { ...options, cpu: measuredCpu })
  server.pause()
  return server
}

/** Starts Redis. Databases run on `loadCpu`, like this process. */
async function startRedis(): Promise<Database> {
  const url = process.env.SIGNALBOX_TEST_REDIS_URL
  if (!existsSync(`${services}node_modules/redis`)) throw new Error('Redis: run npm ci in test/services')
  const redis = await import('../services/redis-server.ts')
  return url ? { url, remove: async () => {} } : redis.startRedis('--appendonly', 'no')
}

async function startPostgres(): Promise<Database> {
  if (!existsSync(`${services}node_modules/pg`)) throw new Error('Postgres: run npm ci in test/services')
  const postgres = await import('../services/postgres-server.ts')
  return postgres.startPostgres()
}
