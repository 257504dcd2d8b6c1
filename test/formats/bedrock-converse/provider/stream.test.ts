import { converseTranslator } from '../../../../src/protocols/formats/bedrock-converse/converse-translator.ts'
import { createEventSequencer } from '../../../../src/protocols/formats/canonical/canonical-sequence.ts'
import type { StreamEvent } from '../../../../src/protocols/formats/canonical/canonical-stream.ts'
import { assert, suite } from '../../../support/suite.ts'
import { contexts } from '../../support/contexts.ts'

const test = suite('reading a Converse stream')

const start = ['messageStart', { role: 'assistant' }] as const
const call = ['contentBlockStart', { contentBlockIndex: 0, start: { toolUse: { toolUseId: 'a', name: 'f' } } }] as const
const piece = ['contentBlockDelta', { contentBlockIndex: 0, delta: { toolUse: { input: '{"a' } } }] as const
const stop = ['messageStop', { stopReason: 'tool_use' }] as const

function getTypes(...content: ReadonlyArray<readonly [event: string, payload: object]>) {
  const { read } = contexts(converseTranslator, { format: 'bedrock-converse' })
  const events: StreamEvent[] = []
  const sequence = createEventSequencer((event) => events.push(event))
  const reader = converseTranslator.createReader(read, sequence.push)
  for (const [event, payload] of content) reader.observe({ event, data: JSON.stringify(payload) })
  reader.end()
  sequence.end()
  return events.map(({ type }) => type)
}

test("a restarted Converse message ends with an error and doesn't complete the truncated call", () =>
  assert.equal(getTypes(start, call, piece, start, call, stop), ['start', 'part-start', 'part-delta', 'error']))

test('a repeated Converse message start before any block has no effect', () =>
  assert.equal(getTypes(start, start, call, piece, stop), ['start', 'part-start', 'part-delta', 'part-end', 'end']))
