import fc from 'fast-check'
import type { AssistantPart } from '../../../src/protocols/formats/canonical/canonical-parts.ts'
import {
  belongsTo,
  type OpaqueState,
  sealState,
  unsealState,
} from '../../../src/protocols/formats/canonical/canonical-state.ts'
import type { StreamEvent } from '../../../src/protocols/formats/canonical/canonical-stream.ts'
import {
  moveStateToReasoning,
  moveStreamStateToReasoning,
  returnStateToParts,
} from '../../../src/protocols/formats/canonical/state-in-reasoning.ts'
import { providerFormats } from '../../../src/types/unions.ts'
import { assert, suite } from '../../support/suite.ts'

const bare = { format: 'anthropic-messages', kind: 'signature' } as const
const signature = (data: string): OpaqueState => ({
  origin: { format: 'gemini', account: 'google/1' },
  kind: 'thought-signature',
  data,
})

const seal = suite('encrypted state')

seal('encrypted state with arbitrary content can be decrypted unchanged', () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1 })
  fc.assert(
    fc.property(text, text, fc.string(), (account, id, data) => {
      const state: OpaqueState = { origin: { format: 'openai-responses', account }, kind: 'encrypted', data, id }
      assert.equal(unsealState(sealState(state), bare), state)
    }),
  )
})

seal('encrypted state from every provider format can be decrypted', () => {
  for (const format of providerFormats) {
    const state: OpaqueState = { origin: { format, account: 'a' }, kind: 'text', data: 'd' }
    assert.equal(unsealState(sealState(state), bare), state)
  }
})

seal("state that the gateway did not encrypt is attributed to the client's format", () => {
  const state = unsealState('EqQBCgIYAh', bare)
  assert.equal(state, { origin: { format: 'anthropic-messages', account: '' }, kind: 'signature', data: 'EqQBCgIYAh' })
  assert.ok(belongsTo(state, { format: 'anthropic-messages', account: 'any' }))
  assert.not(belongsTo(state, { format: 'gemini', account: 'any' }))
  assert.equal(unsealState('signalbox-1:nonsense', bare).kind, 'signature')
})

seal('encrypted state is bound to a single account', () => {
  const state = signature('s')
  assert.ok(belongsTo(state, { format: 'gemini', account: 'google/1' }))
  assert.not(belongsTo(state, { format: 'gemini', account: 'google/2' }))
  assert.not(belongsTo(state, { format: 'openai-chat', account: 'google/1' }))
})

const detach = suite('state in formats that only support it in reasoning')

const parts: AssistantPart[] = [
  { type: 'reasoning', text: 'hm' },
  { type: 'text', text: 'so', state: signature('t') },
  { type: 'tool-call', id: 'a', name: 'f', arguments: '{}', state: signature('a') },
  { type: 'tool-call', id: 'b', name: 'f', arguments: '{}' },
]

detach('state moves into reasoning and returns to its original part', () => {
  const detached = moveStateToReasoning(parts)
  assert.ok(detached.every((part) => part.type === 'reasoning' || !('state' in part)))
  assert.equal(returnStateToParts(detached), parts)
})

detach('state in a stream moves into reasoning and returns to its original part', () => {
  const result: StreamEvent[] = []
  const take = moveStreamStateToReasoning((event) => result.push(event))
  parts.forEach((part, key) => {
    const late = part.type === 'text' ? part.state : undefined
    take({ type: 'part-start', key, candidate: 0, part: late ? { type: 'text', text: 'so' } : part })
    if (late) take({ type: 'part-state', key, state: late })
    take({ type: 'part-end', key })
  })
  const read: AssistantPart[] = []
  for (const event of result) {
    if (event.type === 'part-start') read[event.key] = event.part
    const part = event.type === 'part-state' ? read[event.key] : undefined
    if (event.type === 'part-state' && part?.type === 'reasoning') read[event.key] = { ...part, state: event.state }
  }
  assert.equal(returnStateToParts(read), parts)
})
