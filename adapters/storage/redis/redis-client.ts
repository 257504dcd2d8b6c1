import { createStorageError } from '../lib/storage-error.ts'

/** A client or a cluster from the package `redis`. */
export interface NodeRedisClient {
  sendCommand(...args: never[]): Promise<unknown>
  duplicate(...args: never[]): unknown
}

/** A client or a cluster from the package `ioredis`. */
export interface IoredisClient {
  call(command: string, ...args: string[]): Promise<unknown>
  duplicate(...args: never[]): unknown
}

/** A command and its arguments. */
export type Command = readonly [string, ...string[]]

/** One connection to Redis, with either package. */
export interface Link {
  /** Sends a command whose keys share the hash tag of `key`. */
  send(args: Command, key: string): Promise<unknown>
  /** Opens another connection of the same kind; `connected` resolves when it is open. `end` closes it, even while it connects. */
  duplicate(): Link & { connected: Promise<unknown>; end(): void }
}

/** The members of both packages' clients. Members that only one package has are optional. */
interface AnyClient {
  call?(...args: string[]): Promise<unknown>
  sendCommand(...args: unknown[]): Promise<unknown>
  duplicate(...args: unknown[]): AnyClient
  on(event: 'connect' | 'error', listener: () => void): AnyClient
  connect(): Promise<unknown>
  /** Only set for a `redis` client. */
  destroy?(): void
  disconnect(): void
  /** Only set for an `ioredis` cluster. */
  isCluster?: boolean
  /** Only set for a `redis` cluster. */
  nodeClient?: unknown
}

/** Throws a TypeError if `client` isn't a client of either package. */
export function createLink(client: NodeRedisClient | IoredisClient): Link {
  const anyClient = client as unknown as AnyClient | undefined // the packages' own types have hundreds of overloads
  if (!anyClient?.duplicate) throw new TypeError('redisStorage takes a redis or ioredis client.')
  return connectClient(anyClient)
}

function connectClient(client: AnyClient): Link {
  return {
    async send(args, key) {
      if (client.call) return client.call(...args)
      const options = { typeMapping: {} } // returns replies as strings, regardless of how your client is configured
      return client.nodeClient ? client.sendCommand(key, false, args, options) : client.sendCommand(args, options)
    },
    duplicate() {
      const args = client.isCluster ? [[], LISTENER_OPTIONS] : client.call ? [LISTENER_OPTIONS] : []
      const copy = client.duplicate(...args)
      const destroy = () => {
        try {
          copy.destroy ? copy.destroy() : copy.disconnect()
        } catch {} // the connection is already closed
      }
      copy.on('error', noop) // each failure also rejects a command
      const connected = copy.connect()
      const end = () => {
        copy.on('connect', destroy).on('error', destroy) // `redis` keeps connecting if it is destroyed in the meantime
        connected.then(destroy, destroy)
      }
      return { ...connectClient(copy), connected, end }
    },
  }
}

/** Options for `ioredis`: the listening connection has its own deadlines, and is replaced when it fails. */
const LISTENER_OPTIONS = { lazyConnect: true, retryStrategy: null, commandTimeout: undefined }

/** Resolves to the result of `work`. Rejects if that takes longer than `ms`. */
export function withTimeout<T>(work: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('no response')), ms)
    work.finally(() => clearTimeout(timer)).then(resolve, reject)
  })
}

export const noop = () => {}

/**
 * Matches a server's error replies, which start with a word in capitals, such as `ERR`. Excludes errors from a server that may be ready a moment
 * later.
 */
const ERROR_REPLY_PATTERN = /^(?!(?:LOADING|BUSY|TRYAGAIN|CLUSTERDOWN|MASTERDOWN|READONLY) )[A-Z]+ /
/** Matches error replies from a server that is temporarily not accepting writes. */
const FULL_ERROR_PATTERN = /^(?:OOM|MISCONF|NOREPLICAS) /

const getMessage = (cause: unknown) => (cause instanceof Error ? cause.message : String(cause))

/** Returns whether the same command may succeed a moment later. */
export const isTransient = (cause: unknown): boolean => !ERROR_REPLY_PATTERN.test(getMessage(cause))

/** Converts a client's rejection to an error. Only keeps the message, because clients attach the command with its values. */
export function toStorageError(cause: unknown, store: string): Error {
  const text = getMessage(cause).slice(0, 200)
  const isAway = isTransient(cause)
  return createStorageError(
    isAway ? 'STORAGE_UNREACHABLE' : FULL_ERROR_PATTERN.test(text) ? 'STORAGE_UNWRITABLE' : 'STORAGE_UNREADABLE',
    `${store} ${isAway ? 'is unreachable' : 'rejected the command'}: ${text}. Check the server.`,
  )
}
