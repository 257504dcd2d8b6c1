import { createPartCollector } from '../../../src/protocols/formats/canonical/response-events.ts'
import { cpuMs } from '../../support/cpu-time.ts'
import { assert, suite } from '../../support/suite.ts'

const test = suite('collecting the parts of a stream')

test('each part contains its start and everything added afterward, in order', () => {
  const parts = createPartCollector()
  const part = { type: 'text' as const, text: 'a', citations: [{ url: 'u1' }] }
  parts.push({ type: 'part-start', key: 1, candidate: 1, part })
  parts.push({ type: 'part-delta', key: 1, text: 'b' })
  parts.push({ type: 'part-citation', key: 1, citation: { url: 'u2' } })
  parts.push({ type: 'part-delta', key: 1, text: 'c' })
  parts.push({ type: 'part-end', key: 1 })
  const [none, some] = parts.getContents()
  assert.equal(none, [])
  assert.equal(some, [{ type: 'text', text: 'abc', citations: [{ url: 'u1' }, { url: 'u2' }] }])
})

test('collecting citations takes linear time', () => {
  const MANY = 100_000
  const parts = createPartCollector()
  parts.push({ type: 'part-start', key: 1, candidate: 0, part: { type: 'text', text: 'a' } })
  const ms = cpuMs(() => {
    for (let index = 0; index < MANY; index++) parts.push({ type: 'part-citation', key: 1, citation: { start: index } })
  })
  const [part] = parts.getContents()[0] ?? []
  assert.is(part?.type === 'text' && part.citations?.length, MANY)
  assert.ok(ms < 1_000, `${ms} ms`)
})
