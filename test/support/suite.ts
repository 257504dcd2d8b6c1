import { isDeepStrictEqual } from 'node:util'
import { suite as uvuSuite } from 'uvu'
import * as uvuAssert from 'uvu/assert'
import { currentFile, type Outcome, SkipSignal, type TestRecord, within } from '../runner/registry.ts'
import { forgetCanaries } from './canaries.ts'

/**
 * uvu's assertions, except that `equal` treats all keys as data. uvu's own `equal` takes objects with different `constructor` keys for instances of
 * different classes.
 */
export const assert: typeof uvuAssert = {
  ...uvuAssert,
  equal(actual, expected, message) {
    if (!isDeepStrictEqual(actual, expected)) uvuAssert.equal(actual, expected, message)
  },
}

export interface TimeOptions {
  /** The time limit for the body. Default: 90 s. */
  timeoutMs?: number
}

type Body<Context> = (context: Context) => unknown
type Arguments<Context> = [Body<Context>] | [TimeOptions, Body<Context>]

interface Register<Context> {
  (name: string, body: Body<Context>): void
  (name: string, options: TimeOptions, body: Body<Context>): void
}

interface RegisterHook<Context> {
  (body: Body<Context>): void
  (options: TimeOptions, body: Body<Context>): void
}

interface Hook<Context> extends RegisterHook<Context> {
  /** Runs for every test, within the test's time limit. A failure fails the test. */
  each(body: Body<Context>): void
}

export interface Suite<Context> extends Register<Context> {
  /** Runs only this test while you work on it. The run then fails, so `only` is never left behind. */
  only: Register<Context>
  /** Declares a skipped test, with the reason. */
  skip(name: string, reason: string, body?: Body<Context>): void
  before: Hook<Context>
  after: Hook<Context>
}

/** Skips the current test, or every test of the suite in `before`, or the entire file at the top level. */
export function skip(reason: string): never {
  if (!reason) throw new TypeError('skip() needs a reason')
  throw new SkipSignal(reason)
}

/** Declares a suite. The runner runs it once the file is loaded, so there is no `run()` to forget. Every test and hook receives `context`. */
export function suite<Context extends object = Record<string, unknown>>(
  name: string,
  context: Context = {} as Context, // used only if `Context` is the open record
): Suite<Context> {
  const file = currentFile()
  forgetCanaries()
  const inner = uvuSuite<Context>('', context)
  const records: TestRecord[] = []
  const beforeEach: Body<Context>[] = []
  const afterEach: Body<Context>[] = []
  file.starts.push(inner.run)

  const declare = (title: string, timeoutMs = file.timeoutMs): TestRecord => {
    const record = { suite: name, name: title, timeoutMs }
    file.tests.push(record)
    records.push(record)
    return record
  }

  const settle = (record: TestRecord, outcome: Outcome) => {
    record.outcome = outcome
    file.onOutcome(record)
  }

  const run = async (record: TestRecord, body: Body<Context>, value: Context) => {
    const phase = { title: `${name} › ${record.name}`, timeoutMs: record.timeoutMs }
    const errors: unknown[] = []
    const attempt = (steps: Body<Context>[]) => inTurn(steps, value).catch((error: unknown) => void errors.push(error))
    file.onPhase(phase)
    try {
      await within(phase, () => attempt([...beforeEach, body]).then(() => attempt(afterEach)))
    } catch (error) {
      errors.push(error)
    }
    settle(record, getOutcome(errors))
  }

  const register =
    (add: (title: string, handler: (value: Context) => Promise<void>) => void): Register<Context> =>
    (title: string, ...rest: Arguments<Context>) => {
      const { options, body } = parse(title, rest)
      const record = declare(title, options.timeoutMs)
      add(title, (value) => run(record, body, value))
    }

  const hook = (kind: 'before' | 'after', each: Body<Context>[]): Hook<Context> => {
    const add = (...rest: Arguments<Context>) => {
      const { options, body } = parse(kind, rest)
      const phase = { title: `${name} › ${kind}`, timeoutMs: options.timeoutMs ?? file.timeoutMs }
      inner[kind](async (value) => {
        file.onPhase(phase)
        try {
          await within(phase, () => body(value))
        } catch (error) {
          if (!(error instanceof SkipSignal)) file.onFailure(phase.title, error)
          const outcome =
            error instanceof SkipSignal ? getOutcome([error]) : getOutcome([`did not run: ${kind} failed`])
          for (const record of records) if (!record.outcome) settle(record, outcome)
          throw error // keeps uvu from running any of the tests
        }
      })
    }
    return Object.assign(add, { each: (body: Body<Context>) => void each.push(body) })
  }

  const only = register((title, handler) => {
    file.onFailure(`${name} › ${title}`, '.only was left in the file')
    inner.only(title, handler)
  })

  const skipTest = (title: string, reason: string) => {
    if (!reason) throw new TypeError(`the skipped test "${title}" needs a reason`)
    settle(declare(title), { kind: 'skipped', reason })
  }

  return Object.assign(register(inner), {
    only,
    skip: skipTest,
    before: hook('before', beforeEach),
    after: hook('after', afterEach),
  })
}

function parse<Context>(title: string, rest: Arguments<Context>): { options: TimeOptions; body: Body<Context> } {
  const [options, body] = rest.length === 1 ? [{}, rest[0]] : rest
  if (typeof body !== 'function') throw new TypeError(`"${title}" has no body`)
  return { options, body }
}

async function inTurn<Context>(steps: Body<Context>[], value: Context): Promise<void> {
  for (const step of steps) await step(value)
}

/** Returns a test's outcome. Anything thrown is a failure, even a string or `undefined`. A skip only counts if nothing else was thrown. */
function getOutcome(errors: unknown[]): Outcome {
  const failures = errors.filter((error) => !(error instanceof SkipSignal))
  if (failures.length > 0) return { kind: 'failed', errors: failures }
  const [skipped] = errors
  return skipped instanceof SkipSignal ? { kind: 'skipped', reason: skipped.message } : { kind: 'passed' }
}
