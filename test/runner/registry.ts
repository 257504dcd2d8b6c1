/** A file's declared tests and their outcomes, written by `test/support/suite.ts` and read by the worker. */

export type Outcome = { kind: 'passed' } | { kind: 'failed'; errors: unknown[] } | { kind: 'skipped'; reason: string }

export interface TestRecord {
  readonly suite: string
  readonly name: string
  readonly timeoutMs: number
  outcome?: Outcome
}

/** A phase of a file that may hang: loading, a hook, or a test. */
export interface Phase {
  readonly title: string
  readonly timeoutMs: number
}

export interface FileRecord {
  /** The timeout for tests and hooks that don't set one. */
  readonly timeoutMs: number
  readonly tests: TestRecord[]
  /** Functions that start the file's suites, in declaration order. */
  readonly starts: Array<() => void>
  /** Called before each phase, so the parent process can kill a process that blocks. */
  onPhase(phase: Phase): void
  onOutcome(test: TestRecord): void
  /** Called for failures that don't belong to a single test, such as in a hook, or a leftover `.only`. */
  onFailure(title: string, error: unknown): void
}

/** Thrown by `skip(reason)`. */
export class SkipSignal extends Error {
  override name = 'SkipSignal'
}

const slot = Symbol.for('signalbox.test.file')
const holder = globalThis as { [slot]?: FileRecord } // all copies of this module share the current file

export function openFile(record: FileRecord | undefined): void {
  if (record) holder[slot] = record
  else delete holder[slot]
}

/** Returns the file that is being loaded. Throws if a test file is started without the runner, which would report nothing. */
export function currentFile(): FileRecord {
  const file = holder[slot]
  if (!file) throw new Error('test files run under the runner: npm test -- <part of the path>')
  return file
}

/** Runs `body` and settles like it, or rejects if it takes longer than `timeoutMs`. */
export async function within(phase: Phase, body: () => unknown): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`took longer than ${phase.timeoutMs} ms`)), phase.timeoutMs)
  })
  try {
    await Promise.race([body(), late])
  } finally {
    clearTimeout(timer)
  }
}
