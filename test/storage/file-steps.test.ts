import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileStorage } from '../../adapters/storage/file.ts'
import type { Storage } from '../../src/index.ts'
import { isCi } from '../support/ci.ts'
import { assert, suite } from '../support/suite.ts'
import { type Child, childProgram } from './support/children.ts'
import { inFolder } from './support/folder.ts'
import { inLanes } from './support/lanes.ts'

/*
 * One increment takes some fifteen steps on the file system. Here another process is killed, stopped or failed before each of them.
 */

const LANES = 4
const STRIDE = isCi ? 1 : 4
/** Set in the other processes, too. */
const STALE_MS = 250

const test = suite<{ program?: Awaited<ReturnType<typeof childProgram>>; steps?: number }>(
  'file storage, step by step',
  {},
)

test.before(async (context) => {
  context.program = await childProgram()
})
test.after((context) => context.program?.remove())

test('a write of file storage resolves once the file and its name are on the disk', async (context) => {
  await onStore(async (path) => {
    const child = context.program?.start('step', path, 'tell') as Child // `before` made it
    child.go()
    context.steps = Number((await child.said('steps ')).split(' ')[1])
    assert.ok(context.steps > 10, `${context.steps}`)
    const said = child.lines.map((line) => line.replace('does ', ''))
    const order = ['writeFile', 'sync', 'link', 'rename', 'rename', 'open', 'sync', 'answered 2']
    let at = 0
    for (const name of said) if (name === order[at]) at++
    assert.is(at, order.length, `not in the order of ${order}: ${said}`)
  })
})

test('file storage keeps the store whole when its writer is killed before any step', async ({ program, steps = 0 }) => {
  await eachStep(steps, async (path, step) => {
    const child = program?.start('step', path, 'kill', step) as Child
    child.go()
    const name = await child.said('at ')
    await child.ended()
    await onNextStart(path, async (storage) => {
      const count = await countOf(storage)
      assert.ok(count === 1 || count === 2, `${name}: ${count}`)
      assert.is(await storage.increment?.('count', 1), count + 1)
    })
  })
})

test('file storage keeps the first secret when its maker is killed before any step', async ({ program }) => {
  const steps = await inFolder(async (path) => {
    const child = program?.start('step', path, 'tell', '', 'secret') as Child
    child.go()
    return Number((await child.said('steps ')).split(' ')[1])
  })
  assert.ok(steps > 20, `${steps}`)
  await inLanes(LANES, Math.ceil(steps / STRIDE), (index) =>
    inFolder(async (path) => {
      const step = String(index * STRIDE + 1)
      const child = program?.start('step', path, 'kill', step, 'secret') as Child
      child.go()
      const name = `${step}, ${await child.said('at ')}`
      await child.ended()
      const before = await readFile(join(path, 'secret'), 'utf8').catch(() => undefined)
      const storage = fileStorage({ path, logger: false })
      assert.is(await storage.get('count'), undefined, name)
      const secret = await storage.ownSecret?.()
      assert.ok(before === undefined || before === `${secret}\n`, name)
      await storage.close?.()
      assert.is(await fileStorage({ path, logger: false }).ownSecret?.(), secret, name)
    }),
  )
})

test('file storage does not let a writer that was stopped before any step overwrite its successor', async ({
  program,
  steps = 0,
}) => {
  await eachStep(steps, async (path, step) => {
    const child = program?.start('step', path, 'stop', step) as Child
    child.go()
    const name = await child.said('at ')
    await onNextStart(path, async (storage) => {
      await storage.increment?.('count', 1)
      await storage.set('successor', 'was here')
      child.kill('SIGCONT')
      const answer = await child.said('answered ')
      await child.ended()
      assert.match(answer, /^answered [23]$/, name)
      assert.is(await countOf(storage), 3, name)
      assert.is((await storage.get('successor'))?.value, 'was here', name)
    })
  })
})

test('file storage rejects while the disk fails, and works again afterwards', async ({ program, steps = 0 }) => {
  const answers = new Set<string>()
  await eachStep(steps, async (path, step) => {
    const child = program?.start('step', path, 'fail', step) as Child
    child.go()
    const answer = await child.said('answered ')
    const name = await child.said('at ')
    await child.ended()
    answers.add(answer)
    await onNextStart(path, async (storage) => {
      const count = await countOf(storage)
      if (answer === 'answered 2') assert.is(count, 2, name)
      else assert.is(answer, 'answered STORAGE_UNWRITABLE', name)
      assert.is(await storage.increment?.('count', 1), count + 1, name)
    })
  })
  assert.is(answers.size, 2)
})

/** Does the work on a store for each step, at a desk for some. */
async function eachStep(steps: number, work: (path: string, step: string) => Promise<void>): Promise<void> {
  assert.ok(steps > 0)
  await inLanes(LANES, Math.ceil(steps / STRIDE), (index) => onStore((path) => work(path, String(index * STRIDE + 1))))
}

async function onStore(work: (path: string) => Promise<void>): Promise<void> {
  await inFolder(async (path) => {
    const storage = fileStorage({ path, logger: false })
    await storage.set('count', '0')
    await storage.increment?.('count', 1)
    await storage.close?.()
    await work(path)
  })
}

async function onNextStart(path: string, work: (storage: Storage) => Promise<void>): Promise<void> {
  const storage = fileStorage({ path, logger: false, lockStaleMs: STALE_MS })
  await work(storage)
  await storage.close?.()
  assert.equal((await readdir(path)).sort(), ['store', 'store.previous'])
}

async function countOf(storage: Storage): Promise<number> {
  return Number((await storage.get('count'))?.value)
}
