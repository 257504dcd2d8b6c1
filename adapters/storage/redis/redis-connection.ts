import { sleep } from '../lib/wait.ts'
import { type Command, isTransient, type Link, noop, toStorageError, withTimeout } from './redis-client.ts'

/** Sends a store's commands. */
export interface RedisConnection {
  /** Retries a command until it gets a response, so every command may run more than once. Default deadline: `getDeadline()`. */
  send(args: () => Command, until?: number): Promise<unknown>
  /** Returns when a command that is sent now times out, on the clock of `performance.now()`. */
  getDeadline(): number
  /** Returns whether the last command reached the server. */
  isReachable(): boolean
  /** Leaves your client's connection open. */
  end(): void
}

/** A command's time limit, including retries after a lost connection. After a failure, the shorter limit applies until a command succeeds. */
const COMMAND_TIMEOUT_MS = 4_000
const SHORT_TIMEOUT_MS = 250
const PAUSE_MS = 50
/** How long to wait for a new connection before trying another connection, in ms. */
const OPENING_MS = 1_000

/**
 * Sends commands over your client's connection, and replaces it after a failure or silence, because the old connection might return the reply to one
 * command as the reply to another. All keys share the hash tag of `key`; `store` is the store's name in messages.
 */
export function createRedisConnection(link: Link, key: string, store: string): RedisConnection {
  let replacement: ReturnType<Link['duplicate']> | undefined
  let opening: Promise<unknown> | undefined
  let openedAt = -OPENING_MS
  let isReachable = true

  const getDeadline = () => performance.now() + (isReachable ? COMMAND_TIMEOUT_MS : SHORT_TIMEOUT_MS)

  function replace(): void {
    if (performance.now() - openedAt < OPENING_MS) return
    openedAt = performance.now()
    replacement?.end()
    replacement = link.duplicate()
    opening = replacement.connected.catch(noop) // each command also rejects, and reports the failure
  }

  async function sendOnce(args: Command): Promise<unknown> {
    await opening
    return (replacement ?? link).send(args, key)
  }

  return {
    async send(args, until = getDeadline()) {
      for (;;) {
        try {
          const reply = await withTimeout(sendOnce(args()), Math.max(0, until - performance.now()))
          isReachable = true
          return reply
        } catch (cause) {
          const isTransientFailure = isTransient(cause)
          if (isTransientFailure) replace()
          if (!isTransientFailure || performance.now() + PAUSE_MS > until) {
            isReachable = !isTransientFailure
            throw toStorageError(cause, store)
          }
          await sleep(PAUSE_MS)
        }
      }
    },
    getDeadline,
    isReachable: () => isReachable,
    end: () => replacement?.end(),
  }
}
