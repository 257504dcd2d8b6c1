import { createTable } from '../../adapters/storage/lib/row-table.ts'
import { cpuMs } from '../support/cpu-time.ts'
import { createRandom } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('rows in memory')
const ROW = { value: '', version: '' }

test('rows in memory are listed in sorted order while thousands are added and removed', () => {
  const random = createRandom()
  const table = createTable()
  const model = new Set<string>()
  const seed = `seed ${random.seed}`
  const keys = Array.from({ length: 4_000 }, (_, index) => index.toString(7)).sort()
  table.list('', { now: 0 })
  for (let step = 0; step < 20_000; step++) {
    const isGrowing = Math.floor(step / 5_000) % 2 === 0
    const key = keys[isGrowing ? random.below(4_000) : step % 4_000] ?? '' // shrinks from the start
    if (random.next() < (isGrowing ? 0.95 : 0.02)) {
      table.put(key, ROW)
      model.add(key)
    } else {
      table.remove(key)
      model.delete(key)
    }
    if (step % 500 !== 0 && step < 19_990) continue
    const [prefix, after] = [random.below(7).toString(7), random.below(4_000).toString(7)]
    const all = [...model].sort()
    assert.equal(getKeys(table.list('', { now: 0 })), all, seed)
    assert.equal(
      getKeys(table.list(prefix, { now: 0 })),
      all.filter((value) => value.startsWith(prefix)),
      seed,
    )
    const page = all.filter((value) => value.startsWith(prefix) && value > after).slice(0, 9)
    assert.equal(getKeys(table.list(prefix, { after, limit: 9, now: 0 })), page, seed)
  }
})

test('listing ten rows in memory stays fast with 100,000 keys while keys are added and removed', () => {
  const small = fastest(createFilled(1_000))
  const large = fastest(createFilled(100_000))
  assert.ok(
    large < Math.max(10, small * 25),
    `${large.toFixed(2)} ms for 200 rounds, compared with ${small.toFixed(2)} ms`,
  )
})

function createFilled(count: number) {
  const table = createTable()
  for (let index = 0; index < count; index++) table.put(`key/${String((index * 7_919) % count).padStart(6, '0')}`, ROW)
  return table
}

/** Returns the fastest run's time, because other processes may use the CPU during the others. */
function fastest(table: ReturnType<typeof createTable>): number {
  const run = () => {
    for (let round = 0; round < 200; round++) {
      table.put(`key/0005${round}`, ROW)
      assert.is(table.list('key/00004', { now: 0 }).length, 10)
      table.remove(`key/0005${round}`)
    }
  }
  return Math.min(...Array.from({ length: 8 }, () => cpuMs(run)))
}

function getKeys(listed: ReadonlyArray<{ key: string }>): string[] {
  return listed.map(({ key }) => key)
}
