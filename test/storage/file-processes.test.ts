import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { fileStorage } from '../../adapters/storage/file.ts'
import { times } from '../support/ci.ts'
import { roundsUntil } from '../support/cpu-time.ts'
import { assert, suite } from '../support/suite.ts'
import { type Child, childProgram } from './support/children.ts'
import { inFolder } from './support/folder.ts'
import { listeningLogger } from './support/logger.ts'

const PROCESSES = 4
/** The number of increments per process, which is lower on developer machines. */
const TIMES = times(200)
const CHANGES = 10
const REPORTED_WITHIN_MS = 100

type Program = Awaited<ReturnType<typeof childProgram>>

const test = suite<{ program?: Program }>('file storage with several processes', {})

test.before(async (context) => {
  context.program = await childProgram()
})
test.after((context) => context.program?.remove())

test(`file storage loses none of ${PROCESSES} x ${TIMES} read-modify-writes`, async ({ program }) => {
  await inFolder(async (path) => {
    const start = () => program?.start('add', path, 'sum', String(TIMES)) as Child // set by `before`
    const children = Array.from({ length: PROCESSES }, start)
    await Promise.all(children.map((child) => child.output('ready')))
    for (const child of children) child.go()
    await Promise.all(children.map((child) => child.output('done')))
    assert.is((await fileStorage({ path, logger: false }).get('sum'))?.value, String(PROCESSES * TIMES))
  })
})

test("file storage reports another process's changes within 100 ms", ({ program }) =>
  assertReportsInTime(program, { pollMs: 60_000 }))

test("file storage reports another process's changes within 100 ms even without the system's file watcher", async ({
  program,
}) => {
  const { watch } = fs
  Reflect.set(fs, 'watch', () => {
    throw new Error('ENOSPC: System limit for number of file watchers reached')
  })
  syncBuiltinESMExports()
  try {
    await assertReportsInTime(program, {})
  } finally {
    Reflect.set(fs, 'watch', watch)
    syncBuiltinESMExports()
  }
})

test('file storage logs once that another writer has the store open', async ({ program }) => {
  await inFolder(async (path) => {
    const logger = listeningLogger()
    const storage = fileStorage({ path, logger })
    for (let round = 0; round < 10; round++) {
      const writing = storage.set('own', String(round))
      let isDone = false
      void writing.then(() => {
        isDone = true
      })
      while (!isDone) {
        await storage.get('own') // reads throughout the commit
        await setImmediate()
      }
    }
    assert.equal(logger.lines, [])
    const child = program?.start('add', path, 'sum', '3') as Child
    child.go()
    await child.output('done')
    assert.is((await storage.get('sum'))?.value, '3')
    await fileStorage({ path, logger: false }).set('more', '1')
    await storage.get('more')
    assert.equal(
      logger.lines.map(({ level, message }) => `${level} ${message}`),
      ['info Another writer also has this store open.'],
    )
  })
})

test("file storage reports a gap if it can't determine which keys other processes have changed", () =>
  inFolder(async (path) => {
    const storage = fileStorage({ path, logger: false })
    await storage.set('own', '1')
    const received: string[] = []
    const stop = storage.watch?.(
      (key) => void received.push(key),
      () => void received.push('a gap'),
    )
    await storage.set('own', '2')
    const other = new DatabaseSync(join(path, 'store.db'))
    other.exec(`INSERT INTO changes (seq, writer, keys) SELECT max(seq) + 10000, 'other', '["later"]' FROM changes`)
    other.close()
    while (received.length < 2) await sleep(5)
    stop?.()
    assert.equal(received.sort(), ['a gap', 'later'])
    await storage.close?.()
  }))

test("watched file storage doesn't keep a process alive", async ({ program }) => {
  await inFolder(async (path) => {
    const child = program?.start('idle', path) as Child
    child.go()
    assert.equal(await child.ended(), ['ready', 'idle'])
    assert.is(child.process.exitCode, 0)
  })
})

/** Asserts that in at least one of several rounds, the storage reports every change within the limit. */
async function assertReportsInTime(program: Program | undefined, options: { pollMs?: number }): Promise<void> {
  const latest = await roundsUntil(REPORTED_WITHIN_MS, async () =>
    Math.max(...(await inFolder((path) => getDelays(path, program?.start('announce', path) as Child, options)))),
  )
  assert.ok(
    Math.min(...latest) <= REPORTED_WITHIN_MS,
    `ms until the slowest change in each round was reported: ${latest}`,
  )
}

async function getDelays(path: string, child: Child, options: { pollMs?: number }): Promise<number[]> {
  const storage = fileStorage({ path, logger: false, ...options })
  const heardAt = new Map<string, number>()
  const stop = storage.watch?.((key) => void heardAt.set(key, performance.timeOrigin + performance.now()))
  await storage.list('')
  child.go(String(CHANGES))
  const output = (await child.ended()).slice(1).map((line) => line.split(' '))
  await sleep(REPORTED_WITHIN_MS)
  stop?.()
  assert.is(output.length, CHANGES)
  return output.map(([key = '', at]) => (heardAt.get(key) ?? Number.POSITIVE_INFINITY) - Number(at))
}
