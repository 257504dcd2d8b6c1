import { inspect } from 'node:util'
import type { Logger } from '../../src/types.ts'

/*
 * Every credential that a test gives to a gateway is a canary: a test fails when it comes out anywhere but in the header of a call to its
 * provider, whatever else the test looks at.
 */

const canaries = new Set<string>()

/** Until the next file, nobody may see this credential. Short ones and numbers are left out: they occur by chance. */
export function plant(credential: string | undefined): void {
  if (credential !== undefined && credential.length >= 10 && /\D/.test(credential)) canaries.add(credential)
  watchResponses()
}

/** Called with each suite, so that no file depends on others. */
export const forgetCanaries = (): void => canaries.clear()

/** The error when what was shown holds a canary; `undefined` when it holds none. */
export function canaryIn(shown: unknown, where: string): Error | undefined {
  const text = typeof shown === 'string' ? shown : inspect(shown, WHOLE)
  for (const canary of canaries)
    if (text.includes(canary)) return new Error(`${where} shows the credential ${canary}: ${text.slice(0, 500)}`)
  return undefined
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

/** With the causes of errors. */
const WHOLE = { depth: null, maxArrayLength: null, maxStringLength: null, breakLength: Number.POSITIVE_INFINITY }

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
