import { fileStorage } from '../../adapters/storage/file.ts'
import { createGateway } from '../../src/gateway.ts'
import { type Child, childProgram } from '../storage/support/children.ts'
import { inFolder } from '../storage/support/folder.ts'
import { assert, suite } from '../support/suite.ts'

const PROCESSES = 4
const KNOWN_WITHIN_MS = 100

type Program = Awaited<ReturnType<typeof childProgram>>

const test = suite<{ program?: Program }>('a key that is paused under load', {})

test.before(async (context) => {
  context.program = await childProgram(new URL('./support/asking.ts', import.meta.url))
})
test.after((context) => context.program?.remove())

test(`is refused at once where it was paused, by ${PROCESSES - 1} other processes within ${KNOWN_WITHIN_MS} ms, and never accepted again`, async ({
  program,
}) => {
  const rounds: string[] = []
  for (let round = 0; round < 5; round++) {
    const delays = await inFolder((path) => delaysOf(path, program))
    if (delays.every((ms) => ms < KNOWN_WITHIN_MS)) return // in one of five rounds: others may have the processor
    rounds.push(delays.map((ms) => ms.toFixed(0)).join(' '))
  }
  assert.unreachable(`ms until the pause was known: ${rounds.join(' / ')}`)
})

/** How long after the pause each of the others still accepted a request. */
async function delaysOf(path: string, program: Program | undefined): Promise<number[]> {
  const storage = fileStorage({ path, logger: false })
  const { api, close } = createGateway({ storage, logger: false })
  const { key, id } = await api.keys.create({ name: 'team' })
  await api.connections.create({ provider: 'openai', apiKey: 'sk-test' })
  await close()
  await storage.close?.()

  const children = Array.from({ length: PROCESSES }, () => program?.start(path, key, id) as Child) // `before` made it
  await Promise.all(children.map((child) => child.said('ready')))
  for (const child of children) child.go('ask')
  await Promise.all(children.map((child) => child.said('under load')))
  children[0]?.go('pause')
  const pausedAt = Number((await children[0]?.said('paused'))?.split(' ')[1])
  const reports = await Promise.all(children.map((child) => child.said('saw')))
  for (const child of children) child.go('end')
  await Promise.all(children.map((child) => child.ended()))

  const seen = reports.map((report) => JSON.parse(report.slice('saw '.length)))
  for (const { back, others } of seen) assert.equal({ back, others }, { back: 0, others: '' })
  const [own, ...elsewhere] = seen.map(({ lastAccepted }) => lastAccepted - pausedAt)
  assert.ok(Number(own) <= 0, `accepted ${own} ms after its own pause`)
  return elsewhere
}
