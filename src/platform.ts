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

/** Starts a timer that does not keep a process alive which has nothing else to do. */
export function startIdleTimer(ms: number, onTime: () => void): () => void {
  const timer: unknown = setTimeout(onTime, ms)
  const node = timer as { unref?: () => void } // on other platforms a timer is a number
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
 * Is the body of a refused request held, with its reader locked? `Deno.serve` reads a body that is cancelled, or not touched, to its end,
 * however long it is; of a body whose reader waits, it reads nothing more.
 */
export const holdsRefusedBodies: boolean = isDeno

/** How long a client may go on sending after a response that closes its connection, in ms: a client that is cut off sooner loses the response. */
const LINGER_MS = 500

/**
 * Awaited before the end of a response that closes the connection. Bun closes at once, even while the client still sends; the mount for Node
 * waits by itself.
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
 * Resolves at the end of the event loop's current turn, for all callers together; at once where the platform has no `setImmediate`. Handling
 * many requests in one batch keeps caches warm, and wakes threads and peers once a turn instead of once a request. Without load a turn ends
 * at once.
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
 * Resolves when a batch of requests begins, on platforms where requests and responses are batched by turn: on Bun, which delivers each by
 * itself, batches are faster.
 */
export const requestTurn: typeof turnEnd | undefined = isBun ? turnEnd : undefined

/** Is the global `fetch` Bun's own? Bound functions, proxies and Bun's mocks also show native code as their text. */
const isBunFetch = () =>
  fetch.name === 'fetch' &&
  /^function fetch\(\)\s*\{\s*\[native code\]/.test(Function.prototype.toString.call(fetch)) &&
  Object.getPrototypeOf(fetch) === Function.prototype

/** Bun's own `fetch`, unless the host has replaced it before. */
const bunFetch = isBun && isBunFetch() ? fetch : undefined

/** How many calls Bun's `fetch` makes at once: the number in the variable when Bun starts, otherwise 256. */
const bunCalls = Number(bun?.env?.BUN_CONFIG_MAX_HTTP_REQUESTS) || 256

/** The number of calls that the warning advises the operator to set. */
const MORE_CALLS = 4_096

/**
 * Makes a function that warns once when more requests are under way than Bun's own `fetch` makes calls at once, since the others wait without
 * notice; `undefined` on other platforms.
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

/** Starts a call on Bun, whose responses are batched as requests are (`requestTurn`). */
const bunCall = (call: UpstreamCall): PendingAnswer => fetchCall(fetch, call, turnEnd)

const anyFetch = (input: string, init?: RequestInit) => fetch(input, init)

/** The platform's own `fetch`, or the function by which the host has replaced it. */
export const platformFetch: UpstreamFetch = isBun ? Object.assign(anyFetch, { raw: bunCall }) : anyFetch

/** Is this Cloudflare Workers, which takes an exported function for the class of a Durable Object, even one with a property `fetch`? */
export const isWorkers = (): boolean => 'navigator' in globalThis && navigator.userAgent === 'Cloudflare-Workers'

/** The runtime and its version, such as `Node.js 24.3.0`. */
export function runtimeName(): string {
  const { Deno, process } = globalThis as {
    Deno?: { version?: { deno?: string } }
    process?: { versions?: { node?: string } }
  } // the runtimes' globals
  if (isWorkers()) return 'Cloudflare Workers'
  if (isBun) return `Bun ${(bun as { version?: string }).version}`
  if (isDeno) return `Deno ${Deno?.version?.deno}`
  if ('ServiceWorkerGlobalScope' in globalThis) return 'service worker'
  const node = process?.versions?.node
  return node === undefined ? 'browser' : `Node.js ${node}`
}

/** Is this one of many instances that come and go with the load: on Workers, on AWS Lambda, on Deno Deploy, or in a service worker? */
export function isShortLived(): boolean {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } } // the runtime's global
  const { AWS_LAMBDA_FUNCTION_NAME: lambda, DENO_DEPLOYMENT_ID: deploy } = isDeno ? {} : (process?.env ?? {})
  return isWorkers() || 'ServiceWorkerGlobalScope' in globalThis || (lambda ?? deploy) !== undefined
}

/** The part of Node's module `crypto` that is used. */
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

/** Node's module `crypto`; `undefined` on other runtimes, which have only a part of it. */
function nodeCrypto(): NodeCrypto | undefined {
  const { process } = globalThis as {
    process?: { versions?: { node?: string }; getBuiltinModule?(name: string): unknown }
  }
  if (isBun || isDeno || isWorkers() || !process?.versions?.node) return undefined
  return process?.getBuiltinModule?.('crypto') as NodeCrypto | undefined // the runtime's own type
}

/** Synchronous cryptography by Node's own module; `undefined` on other platforms. */
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
        const plain = decipher.update(cipher.subarray(0, tagAt)) // `update` returns the whole text, since the cipher is a stream cipher
        decipher.final() // throws unless the tag matches
        return plain
      }
    },
  }
}

const TAG_BYTES = 16
