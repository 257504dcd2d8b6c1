import { createGateway } from '../../../src/gateway.ts'
import type { Storage } from '../../../src/index.ts'
import type { Child, childProgram } from '../../storage/support/children.ts'
import { assert } from '../../support/suite.ts'

/** The number of processes that send requests concurrently. One of them pauses the key. */
export const PROCESSES = 4
/** The secret that encrypts the data of all processes. */
const SECRET = 'a secret that all processes of a test have'

export type Program = Awaited<ReturnType<typeof childProgram>>

/**
 * Returns how long each of the other processes still accepted requests after the pause, in ms. `place` tells the processes where the data in
 * `storage` is.
 */
export async function getDelays(
  program: Program | undefined,
  { place, storage }: { place: string; storage: Storage },
): Promise<number[]> {
  const { api, close } = createGateway({ storage, secret: SECRET, logger: false })
  const { key, id } = await api.keys.create({ name: 'team' })
  await api.connections.create({ provider: 'openai', apiKey: 'sk-test' })
  await close()
  await storage.close?.()

  const children = Array.from({ length: PROCESSES }, () => program?.start(place, SECRET, key, id) as Child) // set by `before`
  await Promise.all(children.map((child) => child.output('ready')))
  for (const child of children) child.go('ask')
  await Promise.all(children.map((child) => child.output('under load')))
  children[0]?.go('pause')
  const pausedAt = Number((await children[0]?.output('paused'))?.split(' ')[1])
  const reports = await Promise.all(children.map((child) => child.output('saw')))
  for (const child of children) child.go('end')
  await Promise.all(children.map((child) => child.ended()))

  const seen = reports.map((report) => JSON.parse(report.slice('saw '.length)))
  for (const { back, others } of seen) assert.equal({ back, others }, { back: 0, others: '' })
  const [own, ...other] = seen.map(({ lastAccepted }) => lastAccepted - pausedAt)
  assert.ok(Number(own) <= 0, `accepted ${own} ms after its own pause`)
  return other
}
