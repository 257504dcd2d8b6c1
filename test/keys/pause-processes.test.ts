import { fileStorage } from '../../adapters/storage/file.ts'
import { childProgram } from '../storage/support/children.ts'
import { inFolder } from '../storage/support/folder.ts'
import { assert, suite } from '../support/suite.ts'
import { delaysOf, PROCESSES, type Program } from './support/pausing.ts'

const KNOWN_WITHIN_MS = 100

const test = suite<{ program?: Program }>('a key that is paused under load', {})

test.before(async (context) => {
  context.program = await childProgram(new URL('./support/asking.ts', import.meta.url))
})
test.after((context) => context.program?.remove())

test(`a key that is paused under load is refused at once where it was paused, by ${PROCESSES - 1} other processes within ${KNOWN_WITHIN_MS} ms, and never accepted again`, async ({
  program,
}) => {
  const rounds: string[] = []
  for (let round = 0; round < 5; round++) {
    const delays = await inFolder((path) =>
      delaysOf(program, { place: path, storage: fileStorage({ path, logger: false }) }),
    )
    if (delays.every((ms) => ms < KNOWN_WITHIN_MS)) return // in one of five rounds: others may have the processor
    rounds.push(delays.map((ms) => ms.toFixed(0)).join(' '))
  }
  assert.unreachable(`ms until the pause was known: ${rounds.join(' / ')}`)
})
