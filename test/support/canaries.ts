import { inspect, types } from 'node:util'
import type { Logger } from '../../src/types.ts'

/*
 * Every credential that a test gives to a gateway is a canary. A test fails if a canary appears anywhere except in a header of a call to its
 * provider.
 */

const canaries = new Set<string>()

/** The minimum length of a canary. Shorter strings, like numbers, can occur by chance. */
const LEAST_LENGTH = 10

/** Registers a credential that must not be exposed for the rest of the suite. */
export function plant(credential: string | undefined): void {
  if (credential !== undefined && credential.length >= LEAST_LENGTH && /\D/.test(credential)) canaries.add(credential)
  watchResponses()
}

/** Removes all canaries. Called before each suite, so no file depends on another. */
export const forgetCanaries = (): void => canaries.clear()

/** Returns an error if the exposed value contains a canary, or else `undefined`. */
export function canaryIn(shown: unknown, location: string): Error | undefined {
  const canary = canaries.size > 0 ? find(shown, new Set()) : undefined
  if (canary === undefined) return undefined
  const text = typeof shown === 'string' ? shown : inspect(shown, { depth: null })
  return new Error(`${location} exposes the credential ${canary}: ${text.slice(0, 500)}`)
}

function canaryOf(text: string): string | undefined {
  for (const canary of canaries) if (text.includes(canary)) return canary
  return undefined
}

/** Finds the first canary in a value: in its keys and everything inside, including non-enumerable properties such as an error's message and cause. */
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

/** Fails the file if a canary is exposed. Uses an unhandled rejection, because the gateway ignores everything that hooks and loggers throw. */
export function watch(shown: unknown, location: string): void {
  const error = canaryIn(shown, location)
  if (error) void Promise.reject(error)
}

/** Creates a silent logger that fails the file if it receives a canary at any level. */
export function watchfulLogger(): Logger {
  const look = (...line: unknown[]) => {
    for (const part of line) watch(part, 'the log')
  }
  return Object.assign({ warn: look, error: look }, { debug: look, info: look })
}

let isWatching = false

/** Checks every response that is read as text or JSON, which includes reads by the vendors' clients. */
function watchResponses(): void {
  if (isWatching) return
  isWatching = true
  const { text } = Response.prototype
  Response.prototype.text = async function watched(this: Response) {
    const read = await text.call(this)
    const error = canaryIn([...this.headers], 'a response header') ?? canaryIn(read, 'a response body')
    if (error) throw error
    return read
  }
  Response.prototype.json = async function watched(this: Response) {
    return JSON.parse(await this.text())
  }
}
