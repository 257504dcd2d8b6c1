import { damagedRecords } from '../../conformance/damaged-records.ts'
import { type StorageConformance, storageConformance } from '../../conformance/storage.ts'
import { describeError } from '../../runner/describe.ts'
import { type FileRecord, openFile, type TestRecord } from '../../runner/registry.ts'
import { fakeClock } from '../../support/clock.ts'

/** A test as the other process declares it. */
export type Declared = Pick<TestRecord, 'suite' | 'name'>
/** A test's outcome, with its failure if there is one. */
export type Reported = Declared & { failure?: string }

/** Opens a store in the current runtime. May declare more tests. */
export type Subject = () => Opening | Promise<Opening>

/** `holdsDamage` also runs the damaged-record tests, for stores that no other file runs them on. */
type Opening = StorageConformance & { holdsDamage?: true }

/**
 * Runs the conformance suite for stores in the current runtime, without the runner. Writes JSON lines: first the list of tests, and then the outcome
 * of each. Each line is preceded by a line break, because uvu prints dots. `UVU_DEFER` must be set, so that uvu doesn't start the tests itself.
 */
export async function reportSuites(
  names: string[],
  subjects: Record<string, Subject>,
  write: (line: string) => void,
): Promise<void> {
  const queue: Array<() => Promise<unknown>> = []
  Object.assign(globalThis, { UVU_QUEUE: [queue] })
  const send = (line: Declared[] | Reported) => write(`\n${JSON.stringify(line)}\n`)
  const file: FileRecord = {
    timeoutMs: 300_000,
    tests: [],
    starts: [],
    onPhase: () => {},
    onOutcome: ({ suite, name, outcome }) => {
      const failure = outcome?.kind === 'failed' ? outcome.errors.map(describeError).join('\n') : undefined
      send({ suite, name, ...(failure !== undefined && { failure }) })
    },
    onFailure: (title, error) => {
      throw new Error(title, { cause: error })
    },
  }
  openFile(file)
  for (const name of names) {
    const open = subjects[name]
    if (!open) throw new Error(`there is no way to open ${name}`)
    const { holdsDamage, ...subject } = await open()
    storageConformance(name, subject)
    if (holdsDamage)
      damagedRecords(name, async () => {
        const { storage, destroy = () => {} } = await subject.create({ clock: fakeClock() })
        return { storage, destroy }
      })
  }
  send(file.tests.map(({ suite, name }) => ({ suite, name })))
  for (const start of file.starts) start()
  for (const runSuite of queue) await runSuite()
}
