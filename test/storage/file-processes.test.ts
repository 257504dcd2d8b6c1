import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileStorage } from '../../adapters/storage/file.ts'
import { assert, suite } from '../support/suite.ts'
import { type Child, childProgram } from './support/children.ts'
import { inFolder } from './support/folder.ts'
import { listeningLogger } from './support/logger.ts'

const PROCESSES = 4
const TIMES = 200
const CHANGES = 15
const TOLD_WITHIN_MS = 100

const test = suite<{ program?: Awaited<ReturnType<typeof childProgram>> }>('file storage, several processes', {})

test.before(async (context) => {
  context.program = await childProgram()
})
test.after((context) => context.program?.remove())

test(`keeps all of ${PROCESSES} x ${TIMES} read-modify-writes`, { timeoutMs: 60_000 }, async ({ program }) => {
  await inFolder(async (path) => {
    const start = () => program?.start('add', path, 'sum', String(TIMES)) as Child // `before` made it
    const children = Array.from({ length: PROCESSES }, start)
    await Promise.all(children.map((child) => child.said('ready')))
    for (const child of children) child.go()
    await Promise.all(children.map((child) => child.said('done')))
    assert.is((await fileStorage({ path, logger: false }).get('sum'))?.value, String(PROCESSES * TIMES))
  })
})

test('tells of the changes of another process in time', ({ program }) => tellsInTime(program))

test('tells of them in time where the system tells of nothing', async ({ program }) => {
  const { watch } = fs
  Reflect.set(fs, 'watch', () => {
    throw new Error('ENOSPC: System limit for number of file watchers reached')
  })
  syncBuiltinESMExports()
  try {
    await tellsInTime(program)
  } finally {
    Reflect.set(fs, 'watch', watch)
    syncBuiltinESMExports()
  }
})

test('says once that another process writes as well', async ({ program }) => {
  await inFolder(async (path) => {
    const logger = listeningLogger()
    const storage = fileStorage({ path, logger })
    await storage.set('own', '1')
    await storage.set('own', '2')
    assert.equal(logger.lines, [])
    const child = program?.start('add', path, 'sum', '3') as Child
    child.go()
    await child.said('done')
    assert.is((await storage.get('sum'))?.value, '3')
    await fileStorage({ path, logger: false }).set('more', '1')
    await storage.get('more')
    assert.equal(
      logger.lines.map(({ level, message }) => `${level} ${message}`),
      ['info Another process writes to this store as well.'],
    )
  })
})

test('keeps no process alive, watched or not', async ({ program }) => {
  await inFolder(async (path) => {
    const child = program?.start('idle', path) as Child
    child.go()
    assert.equal(await child.ended(), ['ready', 'idle'])
    assert.is(child.process.exitCode, 0)
  })
})

async function tellsInTime(program: Awaited<ReturnType<typeof childProgram>> | undefined): Promise<void> {
  await inFolder(async (path) => {
    const storage = fileStorage({ path, logger: false })
    const heardAt = new Map<string, number>()
    const stop = storage.watch?.((key) => void heardAt.set(key, performance.timeOrigin + performance.now()))
    await storage.list('')
    const child = program?.start('announce', path) as Child
    child.go(String(CHANGES))
    const said = (await child.ended()).slice(1).map((line) => line.split(' '))
    await sleep(TOLD_WITHIN_MS)
    stop?.()
    assert.is(said.length, CHANGES)
    const delays = said.map(([key = '', at]) => (heardAt.get(key) ?? Number.POSITIVE_INFINITY) - Number(at))
    assert.ok(
      delays.every((ms) => ms < TOLD_WITHIN_MS),
      delays.map((ms) => ms.toFixed(1)).join(', '),
    )
  })
}
