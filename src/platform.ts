import type { PendingResponse, UpstreamCall, UpstreamFetch } from './lib/exchange.ts'
import { fetchCall } from './lib/fetch-call.ts'
import type { SyncCrypto } from './records/keyring.ts'
import type { Clock, Logger } from './types.ts'

const { Bun: bun } = globalThis as { Bun?: { env?: Record<string, string | undefined> } } // only Bun has this global
const isBun = bun !== undefined
const isDeno = 'Deno' in globalThis

const startTimer = (ms: number, onExpire: () => void) => {
  const timer = setTimeout(onExpire, ms)
  return () => clearTimeout(timer)
}

/** Starts a timer that doesn't keep the process alive. */
export function startIdleTimer(ms: number, onExpire: () => void): () => void {
  const timer: unknown = setTimeout(onExpire, ms)
  const node = timer as { unref?: () => void } // other platforms return a number
  node.unref?.()
  return () => clearTimeout(timer as ReturnType<typeof setTimeout>)
}

/** The platform's clock. On Workers, timers can't outlive the request that started them. */
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

/** Whether to keep a rejected request's body locked by its reader. `Deno.serve` reads a canceled or untouched body to its end. */
export const holdsRejectedBodies: boolean = isDeno

/** How long a client may keep sending after a response that closes its connection, in ms. A client that is cut off sooner loses the response. */
const LINGER_MS = 500

/**
 * Awaited before ending a response that closes the connection. Needed on Bun, which closes immediately, even while the client is sending. The Node
 * adapter waits on its own.
 */
export const lingerBeforeClose: (() => Promise<void>) | undefined = isBun
  ? () => new Promise((resolve) => setTimeout(resolve, LINGER_MS))
  : undefined

/** Returns a random number in [0, 1); not for secrets. */
export const platformRandom = (): number => Math.random()

const silentLogger: Logger = { warn() {}, error() {} }

/** Returns the logger for the `logger` option. */
export const getLogger = (option: Logger | false | undefined): Logger =>
  option === false ? silentLogger : (option ?? console)

const { setImmediate } = globalThis as { setImmediate?: (task: () => void) => unknown }
let turn: Promise<void> | undefined

/**
 * Resolves in the next turn of the event loop, for all callers together; immediately if the platform has no `setImmediate`. Batching requests keeps
 * caches warm, and wakes threads and peers once per turn instead of once per request. Without load, a turn ends immediately.
 */
export function nextTurn(): Promise<void> {
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

/** Resolves when a batch of requests starts. Only set on Bun, which delivers requests one by one but handles batches faster. */
export const waitForBatch: typeof nextTurn | undefined = isBun ? nextTurn : undefined

/** Returns whether the global `fetch` is Bun's own. Bound functions, proxies, and Bun's mocks also show native code as their source. */
const isBunFetch = () =>
  fetch.name === 'fetch' &&
  /^function fetch\(\)\s*\{\s*\[native code\]/.test(Function.prototype.toString.call(fetch)) &&
  Object.getPrototypeOf(fetch) === Function.prototype

/** Bun's own `fetch`, unless the app replaced it earlier. */
const bunFetch = isBun && isBunFetch() ? fetch : undefined

/** How many concurrent calls Bun's `fetch` allows. Bun reads the variable when it starts. */
const maxBunCalls = Number(bun?.env?.BUN_CONFIG_MAX_HTTP_REQUESTS) || 256

/** The number of calls that the warning suggests. */
const SUGGESTED_MAX_CALLS = 4_096

/**
 * Creates a function that warns once if more requests are in flight than Bun's `fetch` can send concurrently, because Bun silently queues the rest.
 */
export function createBusyWarning(logger: Logger): ((requests: number) => void) | undefined {
  let hasWarned = false
  if (!isBun) return undefined
  return (requests) => {
    if (hasWarned || requests < maxBunCalls || fetch !== bunFetch) return
    hasWarned = true
    logger.warn(
      `More than ${maxBunCalls} requests are in flight, but Bun makes at most ${maxBunCalls} concurrent calls, so the others wait. To allow more, start Bun with BUN_CONFIG_MAX_HTTP_REQUESTS=${SUGGESTED_MAX_CALLS}.`,
    )
  }
}

/** Starts a call on Bun. Batches responses, as `waitForBatch` does for requests. */
const startBunCall = (call: UpstreamCall): PendingResponse => fetchCall(fetch, call, nextTurn)

const nativeFetch = (input: string, init?: RequestInit) => fetch(input, init)

/** The platform's `fetch`, or the app's replacement. */
export const platformFetch: UpstreamFetch = isBun ? Object.assign(nativeFetch, { raw: startBunCall }) : nativeFetch

/** Returns whether this is Cloudflare Workers, which treats every exported function as a Durable Object class, even one with a `fetch` property. */
export const isWorkers = (): boolean => 'navigator' in globalThis && navigator.userAgent === 'Cloudflare-Workers'

/** Returns the runtime and its version, such as `Node.js 24.3.0`. */
export function getRuntimeName(): string {
  const { Deno, process } = globalThis as {
    Deno?: { version?: { deno?: string } }
    process?: { versions?: { node?: string } }
  } // only some runtimes have these globals
  if (isWorkers()) return 'Cloudflare Workers'
  if (isBun) return `Bun ${(bun as { version?: string }).version}`
  if (isDeno) return `Deno ${Deno?.version?.deno}`
  if ('ServiceWorkerGlobalScope' in globalThis) return 'service worker'
  const node = process?.versions?.node
  return node === undefined ? 'browser' : `Node.js ${node}`
}

/** Returns whether instances start and stop with the load: on Workers, AWS Lambda, Deno Deploy, or in a service worker. */
export function isShortLived(): boolean {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } } // only some runtimes have this global
  const { AWS_LAMBDA_FUNCTION_NAME: lambda, DENO_DEPLOYMENT_ID: deploy } = isDeno ? {} : (process?.env ?? {})
  return isWorkers() || 'ServiceWorkerGlobalScope' in globalThis || (lambda ?? deploy) !== undefined
}

/** The part of Node's `crypto` module that the gateway uses. */
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

/** Returns Node's `crypto` module, or `undefined` on other runtimes, which only implement part of it. */
function loadNodeCrypto(): NodeCrypto | undefined {
  const { process: runtime } = globalThis as {
    process?: { versions?: { node?: string }; getBuiltinModule?(name: string): unknown }
  }
  if (isBun || isDeno || isWorkers() || !runtime?.versions?.node) return undefined
  return runtime.getBuiltinModule?.('crypto') as NodeCrypto | undefined // the runtime's own type
}

/** Node's synchronous cryptography, or `undefined` on other platforms. */
export const platformCrypto: SyncCrypto | undefined = createSyncCrypto(loadNodeCrypto())

function createSyncCrypto(node: NodeCrypto | undefined): SyncCrypto | undefined {
  if (!node) return undefined
  return {
    createVerifier(bytes) {
      const key = node.createSecretKey(bytes)
      return (mac, text) => {
        const expected = node.createHmac('sha256', key).update(text).digest()
        return mac.length === expected.length && node.timingSafeEqual(mac, expected)
      }
    },
    createDecrypter(bytes) {
      const key = node.createSecretKey(bytes)
      return (iv, additionalData, cipher) => {
        const tagStart = Math.max(cipher.length - TAG_BYTES, 0)
        const decipher = node.createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES })
        decipher.setAAD(additionalData)
        decipher.setAuthTag(cipher.subarray(tagStart))
        const plaintext = decipher.update(cipher.subarray(0, tagStart)) // `update` returns the entire text, because this is a stream cipher
        decipher.final() // throws unless the tag matches
        return plaintext
      }
    },
  }
}

const TAG_BYTES = 16
