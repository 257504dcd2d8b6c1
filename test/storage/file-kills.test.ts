import { readdir } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileStorage } from '../../adapters/storage/file.ts'
import { randomCases } from '../support/ci.ts'
import { createRandom } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'
import { type Child, childProgram } from './support/children.ts'
import { inFolder } from './support/folder.ts'
import { KEYS, plannedWrite } from './support/plan.ts'

const LANES = 2
/** The number of kills. It's lower on developer machines, because each kill takes 0.1 s. */
const KILLS = Math.ceil(randomCases(500, 24) / LANES) * LANES
/** The maximum delay between a random number of acknowledged writes and the kill, in ms. It's about as long as a commit. */
const WINDOW_MS = 8
const MOST_WRITES = 6

const test = suite<{ program?: Awaited<ReturnType<typeof childProgram>> }>(
  'killing a process that uses file storage',
  {},
)

test.before(async (context) => {
  context.program = await childProgram()
})
test.after((context) => context.program?.remove())

test(`file storage loses no acknowledged write when its process is killed ${KILLS} times`, {
  timeoutMs: 600_000,
}, async ({ program }) => {
  const random = createRandom()
  const start = (path: string) => {
    const opened = random.below(3) > 0 ? ['opened'] : [] // the other processes may be killed while they open the store
    return program?.start('write', path, ...opened) as Child // set by `before`
  }
  const counts = { kills: 0, acknowledged: 0, interrupted: 0, lost: [] as string[], unreadable: 0, temporaries: 0 }

  const lane = () =>
    inFolder(async (path) => {
      let expected = new Map<string, string>()
      const fill = fileStorage({ path, logger: false })
      for (let number = 0; number < KEYS; number++) {
        const { key, value } = plannedWrite(number)
        if (value !== undefined) expected.set(key, value)
      }
      await Promise.all(Array.from(expected, ([key, value]) => fill.set(key, value)))
      let child = start(path)
      for (let number = KEYS, round = 0; round < KILLS / LANES; round++) {
        const following = start(path) // starts up while the other process writes
        child.go(String(number))
        await child.saidLines(1 + random.below(MOST_WRITES)).catch(() => {}) // if this fails, `check` finds out why
        await sleep(random.next() * WINDOW_MS)
        child.kill('SIGKILL')
        const acknowledged = new Set((await child.ended()).slice(1).map(Number))
        counts.kills += 1
        counts.acknowledged += acknowledged.size
        if ((await readdir(path)).includes('store.db-wal')) counts.interrupted += 1
        expected = await check(path, { expected, acknowledged, number }, counts)
        number = Math.max(number, ...acknowledged) + 5
        child = following
      }
      child.kill('SIGKILL')
      await child.ended()
    })

  await Promise.all(Array.from({ length: LANES }, lane))
  const { lost, unreadable, temporaries } = counts
  assert.equal({ lost, unreadable, temporaries }, { lost: [], unreadable: 0, temporaries: 0 }, `seed ${random.seed}`)
  assert.is(counts.kills, KILLS)
  assert.ok(
    counts.acknowledged > KILLS && counts.interrupted > KILLS / 10,
    `too few kills interrupted a write: ${JSON.stringify(counts)}`,
  )
})

interface Round {
  /** The store's contents before the process started to write. */
  expected: ReadonlyMap<string, string>
  acknowledged: ReadonlySet<number>
  /** The number of the killed process's first write. */
  number: number
}

/** Opens the store that the killed process has left behind, and counts faults. Resolves to its contents. */
async function check(
  path: string,
  { expected, acknowledged, number }: Round,
  counts: { lost: string[]; unreadable: number; temporaries: number },
) {
  const storage = fileStorage({ path, logger: false })
  const listed = await storage.list('').catch(() => undefined)
  if (!listed) counts.unreadable += 1
  const found = new Map(listed?.map(({ key, value }) => [key, value]))
  /** The last acknowledged value of each key, and the values attempted since then. A process may write the same key more than once. */
  const possible = new Map<string, Array<string | undefined>>()
  for (const key of [...expected.keys(), ...found.keys()]) possible.set(key, [expected.get(key)])
  for (let index = number; index < Math.max(number, ...acknowledged) + 5; index++) {
    const { key, value } = plannedWrite(index)
    possible.set(key, acknowledged.has(index) ? [value] : [...(possible.get(key) ?? [undefined]), value])
  }
  for (const [key, values] of possible)
    if (!values.includes(found.get(key)))
      counts.lost.push(`${key}: ${[...acknowledged]} were acknowledged, from ${number}`)
  counts.temporaries += (await readdir(path)).filter(isTemporary).length
  await storage.close?.()
  return found
}

/** Returns whether this file should have been removed. A database's log may exist while the database is open. */
const isTemporary = (name: string) => !/^store(?:\.db(?:-wal|-shm)?)?$/.test(name)
