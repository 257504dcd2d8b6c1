import fc from 'fast-check'
import type { Answer } from '../../../src/formats/canonical/answer.ts'
import type { AssistantPart, ToolCallPart, UserPart } from '../../../src/formats/canonical/parts.ts'
import { prepareRequest } from '../../../src/formats/canonical/prepare/prepare.ts'
import type { CanonicalRequest } from '../../../src/formats/canonical/request.ts'
import type { OpaqueState } from '../../../src/formats/canonical/state.ts'
import type { Turn } from '../../../src/formats/canonical/turns.ts'
import { geminiTranslator } from '../../../src/formats/gemini/translator.ts'
import { translateStream } from '../../../src/formats/translate-stream.ts'
import { encodeUtf8 } from '../../../src/lib/bytes.ts'
import { assert, suite } from '../../support/suite.ts'
import { contexts } from '../support/contexts.ts'

const test = suite('round trips of Gemini')

const words = fc.string({ unit: 'grapheme', minLength: 1 })
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const json = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })).map((value) => JSON.stringify(value))
const base64 = fc.base64String({ minLength: 4, maxLength: 40 })

/** Without the fields that are undefined. */
const plain = <T>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } => JSON.parse(JSON.stringify(value))

const origin = { format: 'gemini', account: 'v/1' } as const
const state = fc
  .record({
    origin: fc.constant(origin),
    kind: fc.constant('thought-signature' as const),
    data: fc.constantFrom('c2ln', 'EpYS_-=='),
  })
  .map((value): OpaqueState => value)

const media = (mediaType: string) =>
  fc.record({ type: fc.constant('base64' as const), mediaType: fc.constant(mediaType), data: base64 })

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

/** Texts that follow each other are one, so each ends with a signature or before another kind of part. */
const saidPart: fc.Arbitrary<AssistantPart> = fc.oneof(
  fc.record({ type: fc.constant('text' as const), text: fc.oneof(words, fc.constant('')), state }),
  fc.record({
    type: fc.constant('reasoning' as const),
    text: fc.oneof(words, fc.constant('')),
    isSummary: fc.constant(true as const),
    state,
  }),
  fc.record({ type: fc.constant('image' as const), source: media('image/webp'), state: optional(state) }).map(plain),
)

const calls = (firstId: number) =>
  fc
    .array(fc.record({ arguments: json, state: optional(state) }), { minLength: 1, maxLength: 3 })
    .map((list) =>
      list.map(
        (call, index): ToolCallPart =>
          plain({ type: 'tool-call', id: `c${firstId + index}`, name: `f.${index}`, ...call }),
      ),
    )

/** What a user says, what the model says to it, and the results of its calls. */
const rounds = fc.array(
  fc.record({
    asked: fc.array(userPart, { minLength: 1 }),
    said: fc.array(saidPart, { minLength: 1 }),
    calls: calls(0),
    output: fc.array(fc.oneof(words, json)),
  }),
  { minLength: 1, maxLength: 3 },
)

const conversation = fc.record({ system: fc.array(words), rounds }).map(({ system, rounds: list }): Turn[] => [
  ...(system.length > 0
    ? [
        {
          role: 'system' as const,
          as: 'instructions' as const,
          content: system.map((text) => ({ type: 'text' as const, text })),
        },
      ]
    : []),
  ...list.flatMap(({ asked, said, calls: made, output }, round): Turn[] => {
    const own = made.map(
      (call, index): ToolCallPart => ({
        ...call,
        id: `c${round}_${index}`,
        ...(index === 0 && { state: { origin, kind: 'thought-signature', data: 'c2ln' } }),
      }),
    )
    return [
      { role: 'user', content: asked },
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
  .map((fields) => plain({ model: 'm', stream: false, streamUsage: false, ...fields }) as CanonicalRequest) // its literals are those of the type

/** A client tells what a state is, not whose account it is from. */
const asClient = (value: unknown) =>
  JSON.parse(JSON.stringify(value, (name, inner) => (name === 'origin' ? { format: 'gemini', account: '' } : inner)))

test('a request means the same when it is read again', () => {
  const { target, warnings } = contexts(geminiTranslator, { traits: { lacks: [] } })
  const own = { ...target, origin }
  fc.assert(
    fc.property(request, (asked) => {
      const { request: prepared } = prepareRequest(asked, { ...own, carries: geminiTranslator.carries })
      const { body } = geminiTranslator.writeRequest(prepared, own)
      const again = geminiTranslator.parseRequest(plain(body), { warnings, route: { model: 'm', stream: false } })
      assert.equal(again, asClient(prepared))
    }),
    { numRuns: 40 },
  )
})

const usage = fc
  .record({
    inputTokens: fc.integer({ min: 1, max: 99 }),
    thoughts: fc.nat(9),
    said: fc.integer({ min: 1, max: 9 }),
    cacheReadTokens: fc.nat(9),
  })
  .map(({ inputTokens, thoughts, said, cacheReadTokens }) => ({
    ...{ inputTokens, outputTokens: thoughts + said, cacheReadTokens, reasoningTokens: thoughts },
  }))

/** Text before and behind a citation. */
const cited = fc.tuple(words, words, words).map(
  ([before, middle, after]): AssistantPart => ({
    type: 'text',
    text: before + middle + after,
    citations: [
      { url: 'https://a.com', title: 'A', start: before.length, end: before.length + middle.length },
      { url: 'https://b.com', quote: 'q' },
      { title: 'C' },
    ],
  }),
)

const choice = fc
  .record({
    said: fc.array(saidPart),
    cited: fc.option(cited, { nil: undefined }),
    calls: fc.oneof(fc.constant([]), calls(0)),
    finish: fc.constantFrom('stop', 'length', 'content-filter', 'pause'),
  })
  .map(({ said, cited: text, calls: made, finish }) => ({
    content: [...said, ...(text ? [text] : []), ...made],
    finish: { reason: finish === 'stop' && made.length > 0 ? 'tool-calls' : finish },
  }))

const answer = fc.record({ choices: fc.array(choice, { minLength: 1, maxLength: 2 }), usage: optional(usage) }).map(
  (fields) => plain(fields) as Answer, // its literals are those of the type
)

/** Sealed on its way to the client, state comes back to the gateway and not to a reader of answers. */
const withoutState = (value: unknown) =>
  JSON.parse(JSON.stringify(value, (name, inner) => (name === 'state' ? undefined : inner)))

/** Ids are only the same within one candidate: each of them has its own calls. */
const numbered = (value: Answer): Answer => ({
  ...value,
  choices: value.choices.map((each, index) => ({
    ...each,
    content: each.content.map((part) => (part.type === 'tool-call' ? { ...part, id: `${part.id}-${index}` } : part)),
  })),
})

test('an answer means the same when it is read again', () => {
  const { read, write } = contexts(geminiTranslator)
  fc.assert(
    fc.property(answer.map(numbered), (given) => {
      const { choices, usage: tokens } = geminiTranslator.parseAnswer(
        plain(geminiTranslator.writeAnswer(given, write())),
        read,
      )
      assert.equal(withoutState({ choices, usage: tokens }), withoutState(given))
    }),
    { numRuns: 50 },
  )
})

test('a client gets the state of any maker back to the gateway, on the same parts', () => {
  const foreign = fc.record({
    origin: fc.record({ format: fc.constantFrom('anthropic-messages' as const, 'gemini' as const), account: words }),
    kind: fc.constantFrom('signature' as const, 'redacted' as const, 'thought-signature' as const),
    data: fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed()),
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
        geminiTranslator.writeAnswer({ choices: [{ content, finish: { reason: 'stop' } }] }, write()),
      )
      const contents = [{ role: 'user', parts: [{ text: 'q' }] }, candidates[0].content]
      const { turns } = geminiTranslator.parseRequest({ contents }, { warnings })
      assert.equal(turns[1], { role: 'assistant', content })
    }),
    { numRuns: 50 },
  )
})

test('a stream says the same as the whole answer, however it is cut', () => {
  fc.assert(
    fc.property(answer.map(numbered), fc.integer({ min: 1, max: 60 }), (given, size) => {
      const { read, write } = contexts(geminiTranslator)
      const { candidates, ...rest } = Object(geminiTranslator.writeAnswer(given, write()))
      const sse = [{ candidates, ...rest }].map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`).join('')
      const chunks: string[] = []
      const sides = { from: geminiTranslator, to: geminiTranslator, read, write: write() }
      const stream = translateStream(sides, (event) => chunks.push(event))
      const bytes = encodeUtf8(sse)
      for (let at = 0; at < bytes.length; at += size) stream.push(bytes.subarray(at, at + size))
      stream.end()
      const told = chunks.map((chunk) => JSON.parse(chunk.slice('data: '.length)))
      const textIn = (
        list: { candidates: { index: number; content: { parts: { text?: string; functionCall?: object }[] } }[] }[],
      ) =>
        given.choices.map((_, index) =>
          list
            .flatMap((chunk) => chunk.candidates.filter((candidate) => candidate.index === index))
            .flatMap(({ content }) => content.parts.map((part) => part.text ?? JSON.stringify(part.functionCall ?? '')))
            .join(''),
        )
      assert.equal(textIn(told), textIn([{ candidates }]))
    }),
    { numRuns: 40 },
  )
})
