import { fileStorage } from '../../adapters/storage/file.ts'
import { childProgram } from '../storage/support/children.ts'
import { inFolder } from '../storage/support/folder.ts'
import { roundsUntil } from '../support/cpu-time.ts'
import { assert, suite } from '../support/suite.ts'
import { getDelays, PROCESSES, type Program } from './support/pausing.ts'

const KNOWN_WITHIN_MS = 100

const test = suite<{ program?: Program }>('pausing a key under load', {})

test.before(async (context) => {
  context.program = await childProgram(new URL('./support/client-process.ts', import.meta.url))
})
test.after((context) => context.program?.remove())

test(`pausing a key under load takes effect immediately, and in ${PROCESSES - 1} other processes within ${KNOWN_WITHIN_MS} ms`, {
  timeoutMs: 300_000,
}, async ({ program }) => {
  const latest = await roundsUntil(KNOWN_WITHIN_MS, () =>
    inFolder(async (path) => {
      const storage = fileStorage({ path, logger: false })
      return Math.max(...(await getDelays(program, { place: path, storage })))
    }),
  )
  assert.ok(Math.min(...latest) <= KNOWN_WITHIN_MS, `ms until all processes knew of the pause: ${latest}`)
})
