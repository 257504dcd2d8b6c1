import fc from 'fast-check'
import type { AssistantPart } from '../../../src/protocols/formats/canonical/canonical-parts.ts'
import type { CanonicalRequest, RequestOptions } from '../../../src/protocols/formats/canonical/canonical-request.ts'
import type { Turn } from '../../../src/protocols/formats/canonical/canonical-turns.ts'
import { prepareRequest } from '../../../src/protocols/formats/canonical/prepare/prepare.ts'
import { chatTranslator } from '../../../src/protocols/formats/openai-chat/chat-translator.ts'
import { assert, suite } from '../../support/suite.ts'
import { contexts } from '../support/contexts.ts'

const EMPTY: CanonicalRequest = { model: 'm', stream: false, streamUsage: false, turns: [], tools: [], options: {} }

const text = (text: string) => ({ type: 'text', text }) as const

const call: AssistantPart = { type: 'tool-call', id: 'c', name: 'f', arguments: '{"a":12345678901234567890}' }

const trip = suite('Chat Completions request round trips')

/** Converts a value to plain JSON, in the form in which it arrives. */
const plain = (value: object) => JSON.parse(JSON.stringify(value))

const word = fc.string({ minLength: 1, maxLength: 8 })
const arbitraryText = fc.record({ type: fc.constant('text' as const), text: word })
const arbitraryUser: fc.Arbitrary<Turn> = fc.oneof(
  fc.record({ role: fc.constant('user' as const), content: fc.array(arbitraryText, { minLength: 1, maxLength: 3 }) }),
  fc.record({ role: fc.constant('user' as const), content: fc.tuple(arbitraryText), name: word }),
)
const arbitrarySystem: fc.Arbitrary<Turn> = fc.record({
  role: fc.constant('system' as const),
  sentAs: fc.constantFrom('system' as const, 'developer' as const),
  content: fc.tuple(arbitraryText),
})
const arbitraryLoop: fc.Arbitrary<Turn[]> = fc
  .uniqueArray(fc.stringMatching(/^[a-z]{1,6}$/), { minLength: 1, maxLength: 3 })
  .chain((ids) =>
    fc
      .record({
        words: fc.array(arbitraryText, { maxLength: 1 }),
        args: fc.constantFrom('{}', '{"a":1}', '{"a":'),
        out: word,
      })
      .map(({ words, args, out }): Turn[] => [
        {
          role: 'assistant',
          content: [...words, ...ids.map((id) => ({ type: 'tool-call' as const, id, name: 'f', arguments: args }))],
        },
        { role: 'tool', results: ids.map((callId) => ({ callId, content: [text(out)] })) },
      ]),
  )
const arbitraryOptions: fc.Arbitrary<RequestOptions> = fc.record(
  {
    temperature: fc.constantFrom(0, 0.5, 2),
    topP: fc.constantFrom(0.1, 1),
    seed: fc.integer(),
    stop: fc.array(word, { minLength: 1, maxLength: 4 }),
    maxOutputTokens: fc.integer({ min: 1, max: 9_999 }),
    candidates: fc.integer({ min: 2, max: 4 }),
    logprobs: fc.integer({ min: 0, max: 5 }),
    logitBias: fc.dictionary(fc.constantFrom('1', '2'), fc.integer({ min: -100, max: 100 })),
    reasoning: fc.record({ effort: fc.constantFrom('none' as const, 'low' as const, 'high' as const) }),
    endUser: word,
    labels: fc.dictionary(fc.constantFrom('a', 'b'), word),
    serviceTier: fc.constantFrom('auto' as const, 'flex' as const),
    store: fc.boolean(),
    verbosity: fc.constantFrom('low' as const, 'high' as const),
    prediction: word,
    cacheKey: word,
  },
  { requiredKeys: [] },
)

trip('writing and reparsing a request keeps every field that the format supports', () => {
  const conversation = fc
    .array(fc.oneof(fc.tuple(arbitraryUser), fc.tuple(arbitrarySystem), arbitraryLoop), { maxLength: 6 })
    .map((runs) => runs.flat())
  fc.assert(
    fc.property(conversation, arbitraryOptions, fc.boolean(), (turns, requested, stream) => {
      const request: CanonicalRequest = { ...EMPTY, turns, options: requested, stream, streamUsage: stream }
      const { target, warnings } = contexts(chatTranslator)
      const { body } = chatTranslator.writeRequest(request, target)
      assert.equal(chatTranslator.parseRequest(plain(body), { warnings }), plain(request))
      assert.equal(warnings.list(), [])
    }),
    { numRuns: 60 },
  )
})

trip('writing a prepared request causes no additional warnings', () => {
  const { target, warnings } = contexts(chatTranslator)
  const image = { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'AA==' } } as const
  const request: CanonicalRequest = {
    ...EMPTY,
    turns: [
      { role: 'user', content: [text('q')] },
      { role: 'assistant', content: [call] },
      { role: 'tool', results: [{ callId: 'c', content: [text('see'), image] }] },
    ],
  }
  const { request: prepared } = prepareRequest(request, {
    ...target,
    supportedOptions: chatTranslator.supportedOptions,
  })
  const body = chatTranslator.writeRequest(prepared, target).body
  assert.equal(Object(body.messages).slice(2), [
    { role: 'tool', tool_call_id: 'c', content: 'see\n[image: see the message after the results]' },
    {
      role: 'user',
      content: [
        text('From the result of the tool call c:'),
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
      ],
    },
  ])
  assert.equal(warnings.list(), ['moved:messages'])
})
