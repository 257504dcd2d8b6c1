import type { Finish } from './answer.ts'
import type { CanonicalRequest } from './request.ts'

/** Collects what of a provider's answer its client does not get. An answer is paid for, so that no loss of it is ever refused. */
export interface Losses {
  /** `name`: what the provider calls it (`code_execution_tool_result`), or, of what the client's format has no place for, what it is. */
  dropped(name: string): void
  /** `dropped:answer.citations`: each once, in the order of discovery. */
  list(): readonly string[]
}

export function createLosses(): Losses {
  let found: Set<string> | undefined // most answers lose nothing
  return {
    dropped(name) {
      found ??= new Set()
      if (found.size < MOST) found.add(`dropped:answer.${name.slice(0, MAX_NAME)}`)
    },
    list: () => (found ? [...found] : NONE),
  }
}

/** For formats that tell neither which of several sequences ended the text, nor in which words the provider explains a refusal. */
export function loseEnd({ stopSequence, explanation }: Finish, { options }: CanonicalRequest, losses: Losses): void {
  if (stopSequence !== undefined && options.stop && options.stop.length > 1) losses.dropped('stop_sequence')
  if (explanation !== undefined) losses.dropped('explanation')
}

/** Providers choose the names, and how many there are. */
const MOST = 100
const MAX_NAME = 100

const NONE: readonly string[] = []
