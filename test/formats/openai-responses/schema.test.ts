import type { AssistantPart } from '../../../src/protocols/formats/canonical/canonical-parts.ts'
import { responsesTranslator } from '../../../src/protocols/formats/openai-responses/responses-translator.ts'
import { assert, suite } from '../../support/suite.ts'
import { contexts } from '../support/contexts.ts'
import { getEvents, usage, written } from './support/events.ts'
import { createValidator } from './support/schema.ts'
import { ours, payloads } from './support/streams.ts'

const test = suite('responses and the Open Responses schema')

const state = { origin: { format: 'gemini', account: 'g' }, kind: 'thought-signature', data: 'z' } as const
const content: AssistantPart[] = [
  { type: 'reasoning', text: 'hm', state },
  {
    type: 'text',
    text: 'abc',
    citations: [{ url: 'https://a', title: 'A' }],
    logprobs: [{ token: 'abc', logprob: -1, bytes: null, topLogprobs: [{ token: 'x', logprob: -2 }] }],
  },
  { type: 'refusal', text: 'no' },
  { type: 'tool-call', id: 'c1', name: 'f', arguments: '{}' },
]
const callOptions = {
  model: 'm',
  instructions: 'be brief',
  input: [{ role: 'user', content: 'hi' }],
  tools: [{ type: 'function', name: 'f' }],
  tool_choice: { type: 'function', name: 'f' },
  text: { format: { type: 'json_object' } },
  reasoning: { effort: 'low' },
  metadata: { a: 'b' },
}

function request(body: object = callOptions) {
  const { warnings } = contexts(responsesTranslator, ours)
  return responsesTranslator.parseRequest({ ...body }, { warnings })
}

test('a non-streaming response matches the Open Responses schema', () => {
  const problems = createValidator()
  const { write } = contexts(responsesTranslator, ours)
  for (const reason of ['stop', 'length', 'malformed-call'] as const)
    for (const body of [callOptions, { input: 'a' }]) {
      const choices = [{ content, finish: { reason } }]
      const response = responsesTranslator.writeResponse({ choices, usage }, write(request(body)))
      assert.equal(problems('ResponseResource', response), [])
    }
})

/** Converts `response.output_text.delta` to `ResponseOutputTextDeltaStreamingEvent`. The schema uses shorter names for two events. */
function getSchema(type: unknown): string {
  if (type === 'error') return 'ErrorStreamingEvent'
  const words = String(type).replace('reasoning_summary_text', 'reasoning_summary').split(/[._]/)
  return `${words.map((word) => (word[0] ?? '').toUpperCase() + word.slice(1)).join('')}StreamingEvent`
}

test('every event in a stream matches the Open Responses schema', () => {
  const problems = createValidator()
  const events = written(getEvents(content), request())
  const error = { kind: 'rate-limit', status: 429, message: 'x' } as const
  const failed = written([...getEvents(content).slice(0, 3), { type: 'error', error }], request())
  for (const event of [...payloads(events), ...payloads(failed)])
    assert.equal(problems(getSchema(event.type), event), [], String(event.type))
})

test('a request matches the Open Responses schema', () => {
  const problems = createValidator()
  const { target } = contexts(responsesTranslator, ours)
  const schema = { type: 'object', properties: {} }
  const { body } = responsesTranslator.writeRequest(
    {
      ...request(),
      output: { type: 'json-schema', schema },
      turns: [
        ...request().turns,
        { role: 'assistant', content: content.filter(({ type }) => type !== 'reasoning') },
        {
          role: 'tool',
          results: [
            {
              callId: 'c1',
              content: [
                { type: 'text', text: 'a' },
                { type: 'image', source: { type: 'url', url: 'https://a.example/i' } },
              ],
            },
          ],
        },
      ],
    },
    target,
  )
  assert.equal(problems('CreateResponseBody', body), [])
})
