import { inspect, types } from 'node:util'
import type { Logger } from '../../src/types.ts'

/*
 * Every credential that a test gives to a gateway is a canary: a test fails when it comes out anywhere but in the header of a call to its
 * provider, whatever else the test looks at.
 */

const canaries = new Set<string>()

/** Shorter credentials are none: they occur by chance, as numbers do. */
const LEAST_LENGTH = 10

/** Until the next file, nobody may see this credential. */
export function plant(credential: string | undefined): void {
  if (credential !== undefined && credential.length >= LEAST_LENGTH && /\D/.test(credential)) canaries.add(credential)
  watchResponses()
}

/** Called with each suite, so that no file depends on others. */
export const forgetCanaries = (): void => canaries.clear()

/** The error when what was shown holds a canary; `undefined` when it holds none. */
export function canaryIn(shown: unknown, where: string): Error | undefined {
  const canary = canaries.size > 0 ? find(shown, new Set()) : undefined
  if (canary === undefined) return undefined
  const text = typeof shown === 'string' ? shown : inspect(shown, { depth: null })
  return new Error(`${where} shows the credential ${canary}: ${text.slice(0, 500)}`)
}

function canaryOf(text: string): string | undefined {
  for (const canary of canaries) if (text.includes(canary)) return canary
  return undefined
}

/** The first canary in a value, its keys and all that it holds: hidden members such as an error's message and cause too. */
function find(shown: unknown, seen: Set<unknown>): string | undefined {
  if (typeof shown === 'string') return shown.length < LEAST_LENGTH ? undefined : canaryOf(shown)
  if (typeof shown !== 'object' || shown === null || seen.has(shown) || ArrayBuffer.isView(shown)) return undefined
  seen.add(shown)
  for (const key of Reflect.ownKeys(shown)) {
    const found = find(key, seen) ?? find(Reflect.get(shown, key), seen)
    if (found) return found
  }
  const isHolder = types.isMap(shown) || types.isSet(shown) || shown instanceof Headers
  return isHolder ? find([...shown], seen) : undefined
}

/** Fails the file when a canary is shown, by a rejection of its own: the gateway tolerates whatever hooks and loggers throw. */
export function watch(shown: unknown, where: string): void {
  const error = canaryIn(shown, where)
  if (error) void Promise.reject(error)
}

/** A silent logger of all levels that fails the file when a canary comes to it. */
export function watchfulLogger(): Logger {
  const look = (...line: unknown[]) => {
    for (const part of line) watch(part, 'the log')
  }
  return Object.assign({ warn: look, error: look }, { debug: look, info: look })
}

let isWatching = false

/** What tests read of a response they have as its text or JSON, and so have the vendors' clients. */
function watchResponses(): void {
  if (isWatching) return
  isWatching = true
  const { text } = Response.prototype
  Response.prototype.text = async function watched(this: Response) {
    const read = await text.call(this)
    const error = canaryIn([...this.headers], 'a header of a response') ?? canaryIn(read, 'the body of a response')
    if (error) throw error
    return read
  }
  Response.prototype.json = async function watched(this: Response) {
    return JSON.parse(await this.text())
  }
}
