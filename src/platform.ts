import type { PendingAnswer, UpstreamCall, UpstreamFetch } from './lib/exchange.ts'
import { fetchCall } from './lib/fetch-call.ts'
import type { CryptoInPlace } from './store/vault.ts'
import type { Clock, Logger } from './types.ts'

const { Bun: bun } = globalThis as { Bun?: { env?: Record<string, string | undefined> } } // the runtime's global
const isBun = bun !== undefined
const isDeno = 'Deno' in globalThis

const startTimer = (ms: number, onTime: () => void) => {
  const timer = setTimeout(onTime, ms)
  return () => clearTimeout(timer)
}

/** The same as `setTimer` of the clock, but that it does not keep a process that has nothing else to do. */
export function startIdleTimer(ms: number, onTime: () => void): () => void {
  const timer: unknown = setTimeout(onTime, ms)
  const node = timer as { unref?: () => void } // other platforms have a number
  node.unref?.()
  return () => clearTimeout(timer as ReturnType<typeof setTimeout>)
}

/** The clock of the platform. On Workers no timer may outlive the request that started it. */
export const platformClock: Clock = {
  now: () => Date.now(),
  setTimer: startTimer,
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }, ms)
      function onAbort() {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', onAbort, { once: true })
    }),
}

/**
 * Is a request body that is refused held, its reader taken? `Deno.serve` reads one that is cancelled or not touched to its end, however long
 * it is; of one whose reader waits, it takes nothing more.
 */
export const holdsRefusedBodies: boolean = isDeno

/** How long a client may go on sending after an answer that closes its connection, in ms: one that is cut off sooner loses the answer. */
const LINGER_MS = 500

/**
 * Awaited before the end of an answer that closes the connection. Bun closes at once, over the head of a client that still sends; Node's
 * mount waits by itself.
 */
export const lingerBeforeClose: (() => Promise<void>) | undefined = isBun
  ? () => new Promise((resolve) => setTimeout(resolve, LINGER_MS))
  : undefined

/** A random number in [0, 1); not for secrets. */
export const platformRandom = (): number => Math.random()

const silentLogger: Logger = { warn() {}, error() {} }

/** The logger of the option `logger`. */
export const loggerFor = (option: Logger | false | undefined): Logger =>
  option === false ? silentLogger : (option ?? console)

const { setImmediate } = globalThis as { setImmediate?: (task: () => void) => unknown }
let turn: Promise<void> | undefined

/**
 * Resolves at the end of the event loop's current turn, for all callers together; at once where the platform has no `setImmediate`.
 * Handling many requests in one batch keeps caches warm, and wakes threads and peers once a turn instead of once a request. Costs nothing
 * when little happens.
 */
export function turnEnd(): Promise<void> {
  turn ??= new Promise((resolve) => {
    const end = () => {
      turn = undefined
      resolve()
    }
    if (setImmediate) setImmediate(end)
    else end()
  })
  return turn
}

/**
 * Where requests and answers are batched by turn, resolves when the batch begins. On Bun, which delivers each by itself, batching pays.
 */
export const requestTurn: typeof turnEnd | undefined = isBun ? turnEnd : undefined

/** Bound functions, proxies and Bun's mocks say that they are native, too. */
const isBunFetch = () =>
  fetch.name === 'fetch' &&
  /^function fetch\(\)\s*\{\s*\[native code\]/.test(Function.prototype.toString.call(fetch)) &&
  Object.getPrototypeOf(fetch) === Function.prototype

/** Bun's own `fetch`, unless the host had put another in its place before. */
const bunFetch = isBun && isBunFetch() ? fetch : undefined

/** What Bun makes of the variable when it starts; 256 unless it names another number. */
const bunCalls = Number(bun?.env?.BUN_CONFIG_MAX_HTTP_REQUESTS) || 256

/** What the operator of a gateway on Bun is advised to set. */
const MORE_CALLS = 4_096

/**
 * What warns once when more requests are under way than Bun's own `fetch` makes calls at once, as the others wait without a word; `undefined`
 * on other platforms.
 */
export function createWaitingWarning(logger: Logger): ((requests: number) => void) | undefined {
  let hasWarned = false
  if (!isBun) return undefined
  return (requests) => {
    if (hasWarned || requests < bunCalls || fetch !== bunFetch) return
    hasWarned = true
    logger.warn(
      `More than ${bunCalls} requests are under way, and Bun makes ${bunCalls} calls at once: the others wait. Start it with BUN_CONFIG_MAX_HTTP_REQUESTS=${MORE_CALLS} for more.`,
    )
  }
}

/** A call on Bun, whose answers are batched as its requests are (`requestTurn`). */
const bunCall = (call: UpstreamCall): PendingAnswer => fetchCall(fetch, call, turnEnd)

const anyFetch = (input: string, init?: RequestInit) => fetch(input, init)

/** The platform's own `fetch`, or what the host has put in its place. */
export const platformFetch: UpstreamFetch = isBun ? Object.assign(anyFetch, { raw: bunCall }) : anyFetch

/** Workers take an exported function for the class of a Durable Object, even one that has a `fetch` property. */
export const isWorkers = (): boolean => 'navigator' in globalThis && navigator.userAgent === 'Cloudflare-Workers'

/** What is used of Node's module `crypto`. */
interface NodeCrypto {
  createSecretKey(key: Uint8Array): object
  createHmac(hash: 'sha256', key: object): { update(text: Uint8Array): { digest(): Uint8Array } }
  timingSafeEqual(a: Uint8Array, b: Uint8Array): boolean
  createDecipheriv(
    cipher: 'aes-256-gcm',
    key: object,
    iv: Uint8Array,
    options: { authTagLength: number },
  ): {
    setAAD(data: Uint8Array): void
    setAuthTag(tag: Uint8Array): void
    update(cipher: Uint8Array): Uint8Array
    final(): Uint8Array
  }
}

/** Of Node alone: other runtimes have the module in part. */
function nodeCrypto(): NodeCrypto | undefined {
  const { process } = globalThis as {
    process?: { versions?: { node?: string }; getBuiltinModule?(name: string): unknown }
  }
  if (isBun || isDeno || isWorkers() || !process?.versions?.node) return undefined
  return process?.getBuiltinModule?.('crypto') as NodeCrypto | undefined // of this runtime
}

/** On Node its own module; elsewhere none. */
export const platformCrypto: CryptoInPlace | undefined = cryptoInPlace(nodeCrypto())

function cryptoInPlace(node: NodeCrypto | undefined): CryptoInPlace | undefined {
  if (!node) return undefined
  return {
    verifier(bytes) {
      const key = node.createSecretKey(bytes)
      return (mac, text) => {
        const own = node.createHmac('sha256', key).update(text).digest()
        return mac.length === own.length && node.timingSafeEqual(mac, own)
      }
    },
    decrypter(bytes) {
      const key = node.createSecretKey(bytes)
      return (iv, additionalData, cipher) => {
        const tagAt = Math.max(cipher.length - TAG_BYTES, 0)
        const decipher = node.createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES })
        decipher.setAAD(additionalData)
        decipher.setAuthTag(cipher.subarray(tagAt))
        const plain = decipher.update(cipher.subarray(0, tagAt)) // its cipher is a stream: all of it comes at once
        decipher.final() // throws unless the tag fits
        return plain
      }
    },
  }
}

const TAG_BYTES = 16
