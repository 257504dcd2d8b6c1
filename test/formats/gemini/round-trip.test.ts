import fc from 'fast-check'
import type { AssistantPart, ToolCallPart, UserPart } from '../../../src/protocols/formats/canonical/canonical-parts.ts'
import type { CanonicalRequest } from '../../../src/protocols/formats/canonical/canonical-request.ts'
import type { OpaqueState } from '../../../src/protocols/formats/canonical/canonical-state.ts'
import type { Turn } from '../../../src/protocols/formats/canonical/canonical-turns.ts'
import { prepareRequest } from '../../../src/protocols/formats/canonical/prepare/prepare.ts'
import { geminiTranslator } from '../../../src/protocols/formats/gemini/gemini-translator.ts'
import { anyText } from '../../support/any-string.ts'
import { assert, suite } from '../../support/suite.ts'
import { contexts } from '../support/contexts.ts'
import { getCalls, json, media, optional, origin, plain, saidPart, words } from './support/arbitraries.ts'

const test = suite('Gemini round trips')

const userPart: fc.Arbitrary<UserPart> = fc.oneof(
  words.map((text): UserPart => ({ type: 'text', text })),
  media('image/webp').map((source): UserPart => ({ type: 'image', source })),
  media('audio/wav').map((source): UserPart => ({ type: 'audio', source })),
  media('application/x-any').map((source): UserPart => ({ type: 'file', source })),
  words.map((text): UserPart => ({ type: 'file', source: { type: 'text', mediaType: 'text/plain', text } })),
  fc
    .record({ fps: optional(fc.constantFrom(1, 24)), startOffset: optional(fc.constant('1.5s')) })
    .map(
      (clip): UserPart =>
        plain({ type: 'video', source: { type: 'url', url: 'https://a.com/b', mediaType: 'video/mp4' }, ...clip }),
    ),
)

/** A user turn, the model's response, and the results of its calls. */
const rounds = fc.array(
  fc.record({
    requested: fc.array(userPart, { minLength: 1 }),
    said: fc.array(saidPart, { minLength: 1 }),
    calls: getCalls(0),
    output: fc.array(fc.oneof(words, json)),
  }),
  { minLength: 1, maxLength: 3 },
)

const conversation = fc.record({ system: fc.array(words), rounds }).map(({ system, rounds: list }): Turn[] => [
  ...(system.length > 0
    ? [
        {
          role: 'system' as const,
          sentAs: 'instructions' as const,
          content: system.map((text) => ({ type: 'text' as const, text })),
        },
      ]
    : []),
  ...list.flatMap(({ requested, said, calls: created, output }, round): Turn[] => {
    const own = created.map(
      (call, index): ToolCallPart => ({
        ...call,
        id: `c${round}_${index}`,
        ...(index === 0 && { state: { origin, kind: 'thought-signature', data: 'c2ln' } }),
      }),
    )
    return [
      { role: 'user', content: requested },
      { role: 'assistant', content: [...said, ...own] },
      {
        role: 'tool',
        results: own.map(({ id, name }, index) => {
          const text = output[index]
          const content = text === undefined ? [] : [{ type: 'text' as const, text }]
          return index === 2 && text !== undefined
            ? { callId: id, name, content, isError: true as const }
            : { callId: id, name, content }
        }),
      },
      { role: 'assistant', content: said },
    ]
  }),
])

const options = fc
  .record({
    candidates: optional(fc.constantFrom(2, 3)),
    frequencyPenalty: optional(fc.constantFrom(-1, 0.5)),
    labels: optional(fc.dictionary(fc.constantFrom('a', 'b_c'), fc.string())),
    logprobs: optional(fc.nat(5)),
    maxOutputTokens: optional(fc.integer({ min: 1, max: 9_000 })),
    modalities: optional(fc.constant(null).map((): ('text' | 'image')[] => ['text', 'image'])),
    presencePenalty: optional(fc.constantFrom(-1, 0.5)),
    reasoning: optional(fc.constantFrom('summary' as const, 'none' as const).map((show) => ({ show }))),
    seed: optional(fc.integer()),
    serviceTier: optional(fc.constantFrom('default' as const, 'flex' as const)),
    speech: optional(fc.constant({ voice: 'Kore' })),
    stop: optional(fc.array(words, { minLength: 1, maxLength: 5 })),
    store: optional(fc.boolean()),
    temperature: optional(fc.constantFrom(0, 1.5)),
    topK: optional(fc.nat(40)),
    topP: optional(fc.constantFrom(0, 0.5)),
  })
  .map(plain)

const schema = fc
  .constantFrom<object>({ type: 'object', properties: { a_b: { type: 'string' } } }, { type: 'object', $defs: {} })
  .map((value) => ({ ...value }))
const functions = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom('f', 'g:h', 'i.j'),
    description: optional(words),
    schema: optional(schema),
    outputSchema: optional(schema),
  }),
  {
    ...{ selector: ({ name }) => name, minLength: 1 },
  },
)

const request: fc.Arbitrary<CanonicalRequest> = fc
  .record({
    turns: conversation,
    tools: functions.map((list) => list.map((tool) => ({ type: 'function', ...tool }))),
    toolChoice: fc.constantFrom(
      undefined,
      { type: 'auto' },
      { type: 'none' },
      { type: 'required' },
      { type: 'tool', name: 'f' },
    ),
    output: fc.oneof(
      fc.constantFrom(undefined, { type: 'json' }),
      schema.map((value) => ({ type: 'json-schema', schema: value })),
    ),
    options,
  })
  .map((fields) => plain({ model: 'm', stream: false, streamUsage: false, ...fields }) as CanonicalRequest)

// its literals have the type's values

/** Keeps the kind of state but not its account, which a client doesn't send. */
const asClient = (value: unknown) =>
  JSON.parse(JSON.stringify(value, (name, inner) => (name === 'origin' ? { format: 'gemini', account: '' } : inner)))

test('writing and reparsing a request preserves its meaning', () => {
  const inputs = [...geminiTranslator.traits.inputs, 'video-url' as const]
  const { target, warnings } = contexts(geminiTranslator, { traits: { lacks: [], inputs } })
  const own = { ...target, origin }
  fc.assert(
    fc.property(request, (requested) => {
      const { request: prepared } = prepareRequest(requested, {
        ...own,
        supportedOptions: geminiTranslator.supportedOptions,
      })
      const { body } = geminiTranslator.writeRequest(prepared, own)
      const again = geminiTranslator.parseRequest(plain(body), { warnings, route: { model: 'm', stream: false } })
      assert.equal(again, asClient(prepared))
    }),
    { numRuns: 40 },
  )
})

test('opaque state makes a round trip through the client on the same parts', () => {
  const foreign = fc.record({
    origin: fc.record({ format: fc.constantFrom('anthropic-messages' as const, 'gemini' as const), account: words }),
    kind: fc.constantFrom('signature' as const, 'redacted' as const, 'thought-signature' as const),
    data: anyText().filter((text) => text.isWellFormed()),
    id: optional(words),
  })
  const { write, warnings } = contexts(geminiTranslator)
  fc.assert(
    fc.property(fc.array(foreign, { minLength: 1 }), (states) => {
      const content = states.map((each, index): AssistantPart => {
        const kept: OpaqueState = plain(each)
        if (index % 3 === 0) return { type: 'tool-call', id: `c${index}`, name: 'f', arguments: '{}', state: kept }
        return index % 3 === 1
          ? { type: 'reasoning', text: '', isSummary: true, state: kept }
          : { type: 'text', text: 'a', state: kept }
      })
      const { candidates } = Object(
        geminiTranslator.writeResponse({ choices: [{ content, finish: { reason: 'stop' } }] }, write()),
      )
      const contents = [{ role: 'user', parts: [{ text: 'q' }] }, candidates[0].content]
      const { turns } = geminiTranslator.parseRequest({ contents }, { warnings })
      assert.equal(turns[1], { role: 'assistant', content })
    }),
    { numRuns: 50 },
  )
})
