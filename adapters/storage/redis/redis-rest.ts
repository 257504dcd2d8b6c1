import { createStorageError } from '../lib/storage-error.ts'
import { sleep } from '../lib/wait.ts'
import { type Command, isTransient, toStorageError } from './redis-client.ts'
import type { RedisConnection } from './redis-connection.ts'

/** A REST connection's database. */
export interface RestOptions {
  url: string
  token: string
  fetch: typeof fetch
}

/** A command's time limit, including retries. After a failure, the shorter limit applies until a command succeeds. */
const COMMAND_TIMEOUT_MS = 4_000
const SHORT_TIMEOUT_MS = 1_000
/** How long to wait for a request, in ms. A slower one has probably lost its connection, so it is sent again. */
const REQUEST_TIMEOUT_MS = 2_500
/** The pause before the first retry, in ms; it doubles with each retry. */
const PAUSE_MS = 50

/** Sends each command as one HTTP request; `store` is the store's name in messages. */
export function createRestConnection(
  { url, token, fetch }: RestOptions,
  store: string,
): Pick<RedisConnection, 'send' | 'getDeadline'> {
  let isReachable = true
  /** Identifies this client's latest write, so reads skip replicas without it. */
  let syncToken: string | undefined

  const getDeadline = () => performance.now() + (isReachable ? COMMAND_TIMEOUT_MS : SHORT_TIMEOUT_MS)

  async function sendOnce(args: Command, ms: number): Promise<unknown> {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const response = await fetch(url, {
      method: 'POST',
      headers: syncToken === undefined ? headers : { ...headers, 'upstash-sync-token': syncToken },
      body: JSON.stringify(args),
      signal: AbortSignal.timeout(ms),
      redirect: 'manual',
    })
    const { status } = response
    const text = await response.text()
    if (status === 401 || status === 403)
      throw createStorageError(
        'STORAGE_UNREADABLE',
        `${store} rejected the token (${status}). Check UPSTASH_REDIS_REST_TOKEN or KV_REST_API_TOKEN, or the option "token". The token must be allowed to write.`,
      )
    syncToken = response.headers.get('upstash-sync-token') ?? syncToken
    const reply = parseReply(text)
    if (reply.error !== undefined && status !== 429 && status < 500) throw new Error(reply.error)
    if (status !== 200 || !('result' in reply)) throw new Error(`no response from Redis (status ${status})`)
    return reply.result
  }

  return {
    async send(args, until = getDeadline()) {
      for (let pause = PAUSE_MS; ; pause *= 2) {
        try {
          const remainingMs = Math.max(1, Math.ceil(until - performance.now()))
          const reply = await sendOnce(args(), Math.min(remainingMs, REQUEST_TIMEOUT_MS))
          isReachable = true
          return reply
        } catch (cause) {
          if (Object(cause).name === 'StorageError') throw cause
          const isTransientFailure = isTransient(cause)
          if (!isTransientFailure || performance.now() + pause > until) {
            isReachable = !isTransientFailure
            throw toStorageError(cause, store)
          }
          await sleep(pause)
        }
      }
    },
    getDeadline,
  }
}

/** Parses a response's body: `result`, or `error` as Redis words it. */
function parseReply(text: string): { result?: unknown; error?: string } {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}
