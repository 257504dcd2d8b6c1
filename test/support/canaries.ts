import { inspect } from 'node:util'
import type { Logger } from '../../src/types.ts'

/*
 * Every credential that a test gives to a gateway is a canary: the test in which it comes out anywhere but in the header of a call to its
 * provider fails, whatever else it looks at.
 */

const canaries = new Set<string>()

/** From now on, and until the next file, nobody may see this credential of a provider. Short ones and numbers stand in other words. */
export function plant(credential: string | undefined): void {
  if (credential !== undefined && credential.length >= 10 && /\D/.test(credential)) canaries.add(credential)
  watchResponses()
}

/** Called for each file, so that none depends on others. */
export const forgetCanaries = (): void => canaries.clear()

/** What is wrong with that which was shown; `undefined` when nothing is. */
export function canaryIn(shown: unknown, where: string): Error | undefined {
  const text = typeof shown === 'string' ? shown : inspect(shown, WHOLE)
  for (const canary of canaries)
    if (text.includes(canary)) return new Error(`${where} shows the credential ${canary}: ${text.slice(0, 500)}`)
  return undefined
}

/** Fails the file, even though the gateway tolerates whatever hooks and loggers throw. */
export function watch(shown: unknown, where: string): void {
  const error = canaryIn(shown, where)
  if (error) void Promise.reject(error)
}

/** A logger of all levels, which shows nothing. */
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
