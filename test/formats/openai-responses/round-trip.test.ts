import fc from 'fast-check'
import type { AssistantPart, UserPart } from '../../../src/protocols/formats/canonical/canonical-parts.ts'
import type { CanonicalRequest, RequestOptions } from '../../../src/protocols/formats/canonical/canonical-request.ts'
import type { Tool, ToolChoice } from '../../../src/protocols/formats/canonical/canonical-tools.ts'
import type { Turn } from '../../../src/protocols/formats/canonical/canonical-turns.ts'
import { responsesTranslator } from '../../../src/protocols/formats/openai-responses/responses-translator.ts'
import { anyUrl } from '../../support/any-string.ts'
import { assert, suite } from '../../support/suite.ts'
import { contexts } from '../support/contexts.ts'
import { ours } from './support/streams.ts'

const test = suite('Responses request round trips')

const output = fc.string({ minLength: 1, unit: 'grapheme' })
const name = fc.stringMatching(/^[a-z_]{1,12}$/)
const cache = fc.constantFrom({}, { ttl: '30m' as const }, { ttl: '12h' as const })
const text = fc.record({ type: fc.constant('text' as const), text: output, cache }, { requiredKeys: ['type', 'text'] })
const base64 = fc.constant('AAAA')
const media = (mediaType: string) =>
  fc.oneof(
    fc.record({ type: fc.constant('base64' as const), mediaType: fc.constant(mediaType), data: base64 }),
    fc.record({ type: fc.constant('url' as const), url: anyUrl }),
    fc.record({
      type: fc.constant('file-id' as const),
      id: fc.stringMatching(/^file_[a-z]{4}$/),
      format: fc.constant('openai-responses' as const),
    }),
  )
const image = fc.record(
  {
    type: fc.constant('image' as const),
    source: media('image/webp'),
    detail: fc.constantFrom('low' as const, 'high' as const, 'original' as const),
    cache,
  },
  { requiredKeys: ['type', 'source'] },
)
const file = fc.record({
  type: fc.constant('file' as const),
  source: fc.record({ type: fc.constant('base64' as const), mediaType: fc.constant('text/csv'), data: base64 }),
  name: name.map((title) => `${title}.pdf`),
})
const audio = fc.record({
  type: fc.constant('audio' as const),
  source: fc.record({
    type: fc.constant('base64' as const),
    mediaType: fc.constantFrom('audio/wav', 'audio/mpeg'),
    data: base64,
  }),
})
const userPart: fc.Arbitrary<UserPart> = fc.oneof(text, image, file, audio)

const origin = { format: 'openai-responses' as const, account: '' }
const assistantPart: fc.Arbitrary<AssistantPart> = fc.oneof(
  fc.record(
    {
      type: fc.constant('text' as const),
      text: output,
      phase: fc.constantFrom('commentary' as const, 'final_answer' as const),
    },
    { requiredKeys: ['type', 'text'] },
  ),
  fc.record({ type: fc.constant('refusal' as const), text: output }),
  fc.record(
    {
      type: fc.constant('tool-call' as const),
      id: name,
      name,
      arguments: fc.oneof(
        fc.json().filter((text) => text !== 'null'),
        fc.constant('{"cut": "of'),
      ),
      isFreeForm: fc.constant(true as const),
    },
    { requiredKeys: ['type', 'id', 'name', 'arguments'] },
  ),
  output.map(
    (data) => ({ type: 'reasoning', text: '', state: { origin, kind: 'encrypted', data, id: 'rs_1' } }) as const,
  ),
  output.map((thought) => ({ type: 'reasoning', text: thought, state: { origin, kind: 'text', data: '' } }) as const),
  fc
    .tuple(output, output)
    .map(
      ([thought, data]) =>
        ({ type: 'reasoning', text: thought, isSummary: true, state: { origin, kind: 'encrypted', data } }) as const,
    ),
)

const result = fc.record(
  { callId: name, content: fc.array(fc.oneof(text, image), { maxLength: 3 }), isFreeForm: fc.constant(true as const) },
  { requiredKeys: ['callId', 'content'] },
)

/** Merges turns that a request represents as one. */
const conversation: fc.Arbitrary<Turn[]> = fc
  .array(
    fc.oneof(
      fc.record({
        role: fc.constant('system' as const),
        sentAs: fc.constantFrom('system' as const, 'developer' as const),
        content: fc.array(text, { minLength: 1, maxLength: 2 }),
      }),
      fc.record({ role: fc.constant('user' as const), content: fc.array(userPart, { minLength: 1, maxLength: 3 }) }),
      fc.record({
        role: fc.constant('assistant' as const),
        content: fc.array(assistantPart, { minLength: 1, maxLength: 4 }),
      }),
      fc.record({ role: fc.constant('tool' as const), results: fc.array(result, { minLength: 1, maxLength: 2 }) }),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((turns) =>
    turns.filter((turn, index) => {
      const before = turns[index - 1]
      return !(before && before.role === turn.role && (turn.role === 'assistant' || turn.role === 'tool'))
    }),
  )

const instructions: fc.Arbitrary<Turn[]> = fc.oneof(
  fc.constant<Turn[]>([]),
  output.map((recorded): Turn[] => [
    { role: 'system', sentAs: 'instructions', content: [{ type: 'text', text: recorded }] },
  ]),
)

const schema = fc.dictionary(name, fc.jsonValue()).map((fields) => ({ type: 'object', properties: {}, ...fields }))
const tool: fc.Arbitrary<Tool> = fc.oneof(
  fc.record(
    {
      type: fc.constant('function' as const),
      name,
      schema,
      strict: fc.boolean(),
      description: output,
      outputSchema: schema,
    },
    { requiredKeys: ['type', 'name', 'schema', 'strict'] },
  ),
  fc.record(
    {
      type: fc.constant('free-form' as const),
      name,
      description: output,
      grammar: fc.record({ syntax: fc.constantFrom('lark' as const, 'regex' as const), definition: output }),
    },
    { requiredKeys: ['type', 'name'] },
  ),
)
const choice: fc.Arbitrary<ToolChoice> = fc.oneof(
  fc.record({ type: fc.constantFrom('auto' as const, 'none' as const, 'required' as const) }),
  fc.record({ type: fc.constant('tool' as const), name }),
  fc.record({
    type: fc.constant('allowed' as const),
    mode: fc.constantFrom('auto' as const, 'required' as const),
    names: fc.array(name),
  }),
)

const options: fc.Arbitrary<RequestOptions> = fc.record(
  {
    cacheKey: output,
    cacheOptions: fc.constantFrom({ mode: 'explicit' as const }, { ttl: '30m' }),
    cacheRetention: fc.constantFrom('in_memory', '24h'),
    endUser: fc.string({ minLength: 1, maxLength: 100 }),
    labels: fc.dictionary(name, fc.string()),
    logprobs: fc.nat(20),
    maxOutputTokens: fc.integer({ min: 16 }),
    parallelToolCalls: fc.boolean(),
    reasoning: fc.record({
      effort: fc.constantFrom('none' as const, 'low' as const, 'xhigh' as const),
      show: fc.constantFrom('summary' as const, 'full' as const),
    }),
    serviceTier: fc.constantFrom('auto' as const, 'flex' as const, 'priority' as const),
    temperature: fc.double({ min: 0, max: 2, noNaN: true }),
    topP: fc.double({ min: 0, max: 1, noNaN: true }),
    verbosity: fc.constantFrom('low' as const, 'high' as const),
  },
  { requiredKeys: [] },
)

const request: fc.Arbitrary<CanonicalRequest> = fc
  .record(
    {
      model: fc.constant('m'),
      stream: fc.boolean(),
      lead: instructions,
      rest: conversation,
      tools: fc.uniqueArray(tool, { selector: (known) => ('name' in known ? known.name : ''), maxLength: 3 }),
      toolChoice: choice,
      output: fc.oneof(
        fc.constant({ type: 'json' as const }),
        fc.record({ type: fc.constant('json-schema' as const), schema, name, strict: fc.boolean() }),
      ),
      options,
    },
    { requiredKeys: ['model', 'stream', 'lead', 'rest', 'tools', 'options'] },
  )
  .map(({ lead, rest, ...fields }) => ({
    ...fields,
    streamUsage: fields.stream,
    turns: [...(fields.output?.type === 'json' ? [] : lead), ...rest],
  }))

test('writing and reparsing a request keeps every field that the format supports', () => {
  fc.assert(
    fc.property(request, (requested) => {
      const { target, warnings } = contexts(responsesTranslator, ours)
      const { body } = responsesTranslator.writeRequest(requested, target)
      const wire = JSON.parse(JSON.stringify(body))
      const { client: _, ...understood } = responsesTranslator.parseRequest(wire, { warnings })
      assert.equal(understood, JSON.parse(JSON.stringify(requested)))
      assert.equal(warnings.list(), [])
    }),
    { numRuns: 60 },
  )
})
