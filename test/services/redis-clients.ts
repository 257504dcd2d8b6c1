import { createRequire } from 'node:module'
import type { IoredisClient, NodeRedisClient } from '../../adapters/storage/redis.ts'

/** The client packages to test, in different major versions. */
export const PACKAGES = ['redis', 'redis-5', 'ioredis', 'ioredis-5'] as const
export type Package = (typeof PACKAGES)[number]

/** A connected client, with the functions that differ between packages. */
export interface OpenClient {
  client: NodeRedisClient | IoredisClient
  command(...args: string[]): Promise<unknown>
  isOpen(): boolean
  end(): void
}

interface NodeRedis extends NodeRedisClient {
  sendCommand(...args: unknown[]): Promise<unknown>
  on(event: 'error', listener: () => void): unknown
  connect(): Promise<unknown>
  destroy(): void
  isOpen: boolean
}

interface Ioredis extends IoredisClient {
  on(event: 'error', listener: () => void): unknown
  connect(): Promise<unknown>
  disconnect(): void
  status: string
}

/** Resolves packages from the root, where tests run, because a test's program may be bundled elsewhere. */
const require = createRequire(`${process.cwd()}/test/services/`)

/** Opens a client with its package's options, or a cluster if `isCluster` is set. */
export async function openClient(
  name: Package,
  url: string,
  { isCluster = false, ...options }: { isCluster?: boolean; [option: string]: unknown } = {},
): Promise<OpenClient> {
  return name.startsWith('ioredis')
    ? openIoredis(require(name), { url, isCluster, options })
    : openNodeRedis(require(name), { url, isCluster, options })
}

interface How {
  url: string
  isCluster: boolean
  options: object
}

async function openNodeRedis(
  module: { createClient(options: object): NodeRedis; createCluster(options: object): NodeRedis },
  { url, isCluster, options }: How,
): Promise<OpenClient> {
  const client = isCluster
    ? module.createCluster({ rootNodes: [{ url }], ...options })
    : module.createClient({ url, ...options })
  client.on('error', () => {})
  await client.connect()
  return {
    client,
    // On a cluster, the tests only send scripts, which have their first key as the third argument.
    command: (...args) => client.sendCommand(...(isCluster ? [args[3], false, args] : [args])),
    isOpen: () => client.isOpen,
    end: () => client.destroy(),
  }
}

async function openIoredis(
  module: {
    Redis: new (url: string, options: object) => Ioredis
    Cluster: new (nodes: string[], o: object) => Ioredis
  },
  { url, isCluster, options }: How,
): Promise<OpenClient> {
  const all = { lazyConnect: true, ...options }
  const client = isCluster ? new module.Cluster([url], all) : new module.Redis(url, all)
  client.on('error', () => {})
  await client.connect()
  return {
    client,
    command: (command, ...args) => client.call(command ?? '', ...args),
    isOpen: () => client.status === 'ready',
    end: () => client.disconnect(),
  }
}

/** Returns the location of a Redis store with this prefix, and a function that removes its data. */
export const redisPlace = (url: string, prefix: string) => ({
  place: `${url}?prefix=${encodeURIComponent(prefix)}`,
  async remove() {
    const { command, end } = await openClient('ioredis', url)
    await command(
      'EVAL',
      "for _, name in ipairs(redis.call('KEYS', ARGV[1])) do redis.call('DEL', name) end",
      '0',
      `*{${prefix}}:*`,
    )
    end()
  },
})
