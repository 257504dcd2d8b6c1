import type { AssistantPart } from '../../../src/protocols/formats/canonical/canonical-parts.ts'
import type { CanonicalResponse } from '../../../src/protocols/formats/canonical/canonical-response.ts'
import type { StreamEvent } from '../../../src/protocols/formats/canonical/canonical-stream.ts'
import { restoreResponse, restoreStream } from '../../../src/protocols/formats/canonical/restore.ts'
import { assert, suite } from '../../support/suite.ts'

const restoration = {
  toolNames: new Map([['a_b', 'a.b']]),
  freeFormTools: new Set(['sql']),
  callIds: new Set(['old', 'old_2']),
  outputTool: 'answer',
}
const call = (name: string, args: string): AssistantPart => ({ type: 'tool-call', id: name, name, arguments: args })

/** The same response, complete and streamed: the provider's parts, the client's parts, and the finish. */
const table: Record<string, [given: AssistantPart, expected: AssistantPart, finish: 'tool-calls' | 'stop']> = {
  'a tool under the name that the client used': [
    call('a_b', '{"x":1}'),
    { ...call('a_b', '{"x":1}'), name: 'a.b' } as AssistantPart,
    'tool-calls',
  ],
  'free-form text extracted from its JSON': [
    call('sql', '{"input":"select \\"1\\""}'),
    { type: 'tool-call', id: 'sql', name: 'sql', arguments: 'select "1"', isFreeForm: true },
    'tool-calls',
  ],
  'structured output as text': [call('answer', '{"city":"Bern"}'), { type: 'text', text: '{"city":"Bern"}' }, 'stop'],
  'an ID that another call in the conversation already uses': [
    call('old', '{}'),
    { ...call('old', '{}'), id: 'old_3' } as AssistantPart,
    'tool-calls',
  ],
  'an unchanged response': [call('f', '{}'), call('f', '{}'), 'tool-calls'],
}

const test = suite('undoing request changes in the response')

for (const [name, [input, expected, reason]] of Object.entries(table)) {
  test(`restores a response: ${name}`, () => {
    const response: CanonicalResponse = { choices: [{ content: [input], finish: { reason: 'tool-calls' } }] }
    assert.equal(restoreResponse(response, restoration).choices, [{ content: [expected], finish: { reason } }])
  })

  test(`restores a stream: ${name}`, () => {
    const events: StreamEvent[] = []
    const take = restoreStream(restoration)((event) => events.push(event))
    const message = input.type === 'tool-call' ? input.arguments : ''
    take({ type: 'part-start', key: 0, candidate: 0, part: { ...input, arguments: '' } as AssistantPart })
    for (const piece of message.match(/.{1,3}/g) ?? []) take({ type: 'part-delta', key: 0, text: piece })
    take({ type: 'part-end', key: 0 })
    take({ type: 'end', finishes: [{ reason: 'tool-calls' }] })
    const text = events.map((event) => (event.type === 'part-delta' ? event.text : '')).join('')
    const empty = expected.type === 'text' ? { ...expected, text: '' } : { ...expected, arguments: '' }
    assert.equal(events[0], { type: 'part-start', key: 0, candidate: 0, part: empty })
    assert.is(text, expected.type === 'text' ? expected.text : Object(expected).arguments)
    assert.equal(events.at(-1), { type: 'end', finishes: [{ reason }] })
  })
}
