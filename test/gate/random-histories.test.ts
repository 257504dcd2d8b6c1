import { randomCases } from '../support/ci.ts'
import { createRandom } from '../support/random.ts'
import { suite } from '../support/suite.ts'
import { History } from './support/history.ts'
import { Instances } from './support/instances.ts'

const test = suite('random request histories of keys with limits')

const HISTORIES = randomCases(5_000, 500)
const BATCH = 100
const PART = 500

for (let part = 0; part < HISTORIES / PART; part++)
  test(`histories ${part * PART + 1} to ${(part + 1) * PART} spend no more than allowed, and leave nothing reserved`, {
    timeoutMs: 600_000,
  }, async () => {
    for (let batch = 0; batch < PART / BATCH; batch++) {
      const instances = new Instances()
      await instances.prepare()
      for (let index = 0; index < BATCH; index++) {
        const random = createRandom()
        const history = new History(random, instances)
        await history.run().catch((error: unknown) => {
          const message = error instanceof Error ? error.message : error
          throw new Error(`seed ${random.seed}: ${message}\n${history.course.join('\n')}`, { cause: error })
        })
      }
    }
  })
